"""How a check speaks up."""

from __future__ import annotations

from collections.abc import Callable

from hush.errors import HushError


class ConformanceError(AssertionError):
    """A mechanism does not do what it claims; the message says which check failed and how."""

    __module__ = "hush.testing"  # where it is public


def expect(condition: bool, m: object, problem: str) -> None:
    """Raise unless it is so."""
    if not condition:
        raise ConformanceError(f"{m}: {problem}")


def expect_refusal(m: object, act: Callable[[], object], problem: str) -> None:
    """Raise unless the act is refused with an error of Hush."""
    try:
        act()
    except HushError:
        return
    raise ConformanceError(f"{m}: {problem}")
