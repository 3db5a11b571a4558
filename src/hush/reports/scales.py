"""Axes that people can read: few ticks on a logarithmic scale wherever it ends, and marks where a value lies beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import Formatter, Locator, MaxNLocator, NullLocator

_BETWEEN = (((1.0,), 3), ((1.0, 3.0), 4), ((1.0, 2.0, 5.0), 3), ((1.0, 1.5, 2.0, 3.0, 5.0, 7.0), 3))
"""Steps within a power of ten, from few to many, and how many ticks they should give."""

_FEW = 3
_WIDE, _TALL = 0.5, 0.22
"""Inches that a label takes, at least, so that it does not touch the next."""


def ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two ends, not too many; where there are fewer than three, numbers between them.

    >>> ticks(0.5, 2e3), ticks(0.12, 0.6)
    ([1.0, 10.0, 100.0, 1000.0], [0.15, 0.2, 0.3, 0.5])
    """
    if not 0 < low <= high < math.inf:
        return []
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = 1 + (last - first) // 7
    for between, enough in _BETWEEN:
        found = [m * 10.0**i for i in range(first, last + 1, step) for m in between]
        inside = [float(f"{tick:.12g}") for tick in found if low <= tick * (1 + 1e-9) and tick <= high * (1 + 1e-9)]
        if len(inside) >= enough:
            return inside
    for many in range(3, 12):
        even = MaxNLocator(many, steps=[1, 2, 5, 10]).tick_values(low, high)
        inside = [float(f"{tick:.12g}") for tick in even if low <= tick <= high]
        if len(inside) >= _FEW:
            break
    return inside


def written(at: Sequence[float]) -> list[str]:
    """Labels of ticks: plain digits where these are short, else powers of ten.

    >>> written([0.2, 0.5, 1]), written([1e-6, 1e-3])
    (['0.2', '0.5', '1'], ['$10^{-6}$', '$10^{-3}$'])
    """
    if not len(at) or (min(at) >= 0.01 and max(at) <= 1000):
        return [f"{tick:g}" for tick in at]
    exponents = [math.floor(math.log10(tick) + 1e-9) for tick in at]
    factors = [f"{tick / 10.0**exponent:.3g}" for tick, exponent in zip(at, exponents, strict=True)]
    leads = ["" if factor == "1" else rf"{factor}{{\cdot}}" for factor in factors]
    return [f"${lead}10^{{{exponent}}}$" for lead, exponent in zip(leads, exponents, strict=True)]


def _thinned(found: list[float], most: float) -> list[float]:
    """As many ticks as there is room for, powers of ten rather than others."""
    tens = [tick for tick in found if abs(math.log10(tick) - round(math.log10(tick))) < 1e-9]
    if len(found) > most and len(tens) >= 2:
        found = tens
    while len(found) > most:
        found = found[::2]
    return found


class _Few(Locator):
    """`ticks` of what is seen of the axis, whenever that is."""

    def __call__(self) -> list[float]:
        axis: Any = self.axis
        found = self.tick_values(*sorted(axis.get_view_interval()))
        across = axis.axis_name == "x"
        inches = getattr(axis.axes.bbox, "width" if across else "height") / axis.axes.get_figure(root=True).dpi
        return _thinned(found, max(inches / (_WIDE if across else _TALL), 2))

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        return ticks(vmin, vmax)


class _Written(Formatter):
    """`written`, for all ticks of an axis together."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return written([x])[0] if x > 0 else ""

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return written(list(values))


def logarithmic(axes: Axes, *which: str) -> None:
    """Logarithmic axes, "x" or "y": a few labelled ticks, and no others."""
    for each in which:
        getattr(axes, f"set_{each}scale")("log")
        axis = getattr(axes, f"{each}axis")
        axis.set_minor_locator(NullLocator())
        axis.set_major_locator(_Few())
        axis.set_major_formatter(_Written())


def beyond(axes: Axes, at: npt.ArrayLike, values: npt.ArrayLike, colour: str, *, which: str = "y", **how: Any) -> int:
    """Mark values that lie outside a panel by triangles at its edge, once its limits are set; how many there are.

    Args:
        axes: The panel.
        at: Where they are along the other axis.
        values: On the axis `which`.
        colour: Of the triangles.
        which: "x" or "y".
        how: More about the triangles.
    """
    places, numbers = np.asarray(at, np.float64), np.asarray(values, np.float64)
    low, high = sorted(axes.get_ylim() if which == "y" else axes.get_xlim())
    over = axes.get_xaxis_transform() if which == "y" else axes.get_yaxis_transform()
    total = 0
    for sign, outside, edge in (("^>"[which == "x"], numbers > high, 1.0), ("v<"[which == "x"], numbers < low, 0.0)):
        if outside.any():
            ends = np.full(int(outside.sum()), edge)
            x, y = (places[outside], ends) if which == "y" else (ends, places[outside])
            style: dict[str, Any] = {"color": colour, "marker": sign, "lw": 0, "ms": 6, "zorder": 5, **how}
            axes.plot(x, y, transform=over, clip_on=False, **style)
            total += int(outside.sum())
    return total
