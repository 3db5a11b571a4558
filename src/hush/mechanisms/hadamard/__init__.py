"""Rows of Hadamard matrices."""

from hush.mechanisms.hadamard.mechanism import HR

__all__ = ["HR"]
