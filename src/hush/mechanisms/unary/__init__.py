"""A bit for every value, each randomized on its own."""

from hush.mechanisms.unary.mechanism import ASUE, OUE, SUE, THE, UE, checked_theta

__all__ = ["ASUE", "OUE", "SUE", "THE", "UE", "checked_theta"]
