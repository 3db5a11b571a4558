"""Subsets of values that hold the true one more often than not."""

from hush.mechanisms.subset.mechanism import SS, checked, known

__all__ = ["SS", "checked", "known"]
