"""Periods, as their names order them: 2026-02 before 2026-10, and 2 before 10."""

from __future__ import annotations

import re
from collections.abc import Iterable

PERIOD = "period"
"""The column of a report file that says when a report was asked for, in the clear."""


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """What to sort a name by: its numbers count as numbers.

    >>> sorted(["2026-10", "2026-2", "10", "9"], key=natural)
    ['9', '10', '2026-2', '2026-10']
    """
    parts = [part for part in re.split(r"([0-9]+)", name) if part]
    return tuple((0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts)


def in_order(names: Iterable[str]) -> list[str]:
    """Names of periods in their order."""
    return sorted(names, key=natural)
