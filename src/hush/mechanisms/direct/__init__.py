"""Direct randomization: the value itself, or another."""

from hush.mechanisms.direct.mechanism import AGRR, GRR, counted, unsigned

__all__ = ["AGRR", "GRR", "counted", "unsigned"]
