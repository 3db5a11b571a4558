"""What charts draw: plain numbers with their names, and the tables of the same numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Row = tuple[str, ...]


@dataclass(frozen=True)
class Bars:
    """A bar for each label, with an error bar where low and high are given.

    Args:
        name: Of the series.
        labels: Of the bars.
        values: Their heights.
        low: The lower ends of the error bars.
        high: The upper ends.
        quiet: Whether it stands behind the others, as what is true does.
    """

    name: str
    labels: Sequence[str]
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    quiet: bool = False

    def header(self, unit: str) -> Row:
        """Columns of the table beside the labels."""
        named = f"{self.name} ({unit})" if unit else self.name
        return (named, "from", "to") if len(self.low) else (named,)

    def row(self, i: int) -> Row:
        """The numbers of one label."""
        ends = (number(self.low[i]), number(self.high[i])) if len(self.low) else ()
        return (number(self.values[i]), *ends)


@dataclass(frozen=True)
class Points:
    """Points in a plane, each with a name.

    Args:
        name: Of the series.
        x: Where they are.
        y: Where they are.
        labels: What each is called.
        chosen: The number of the point that stands out, if any.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    labels: Sequence[str] = ()
    chosen: int | None = None


@dataclass(frozen=True)
class LineSeries:
    """A curve.

    Args:
        name: Of the series.
        x: Where it goes.
        y: Where it goes.
        low: The lower edge of a band around it.
        high: The upper edge.
        dashed: Whether it is drawn so, as a goal is.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = field(default=())
    high: Sequence[float] = field(default=())
    dashed: bool = False


def number(value: float) -> str:
    """A number as a table shows it.

    >>> number(0.123456), number(12), number(1234567.0), number(float("nan"))
    ('0.1235', '12', '1,234,567', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
