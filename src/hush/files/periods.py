"""Periods, as their names order them: 2026-02 before 2026-10, and 2 before 10."""

from __future__ import annotations

import re
from collections.abc import Iterable

PERIOD = "period"
"""The column of a report file that says when a report was asked for, in the clear."""


def natural(text: str) -> list[tuple[int, str]]:
    """Pieces to sort by: a run of digits by its length without leading zeros, then all by letter.

    >>> sorted(["2026-10", "2026-2", "10", "9"], key=natural)
    ['9', '10', '2026-2', '2026-10']
    """
    pieces = re.split(r"([0-9]+)", text)
    return [
        (len(each.lstrip("0")) if i % 2 else 0, each.lstrip("0") if i % 2 else each) for i, each in enumerate(pieces)
    ]


def in_order(names: Iterable[str]) -> list[str]:
    """Names of periods in their order."""
    return sorted(names, key=natural)
