"""Cells of CSV files that people open in spreadsheets."""

from __future__ import annotations

from typing import Any

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: labels are whatever somebody wrote.

    >>> safe_cell("=1+1"), safe_cell("tea"), safe_cell(-1)
    ("'=1+1", 'tea', -1)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
