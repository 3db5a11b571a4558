"""What a failed check raises."""

from __future__ import annotations


class ConformanceError(AssertionError):
    """A mechanism does not do what it claims; the message says which check failed and how."""

    __module__ = "hush.testing"
