"""What the study's drawings share: a colour and a mark for every protocol, and lines with points on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush_studies.frame import THEME, Panels, below, mark
from hush_studies.modular.settings import PROTOCOLS
from hush_studies.study import Table

COLOURS = {
    "GRR": "#7f8797", "OUE": THEME.series[1], "SS": THEME.series[0], "PGR": THEME.series[2], "MSS": THEME.series[3],
}  # fmt: skip
SIGNS = {"GRR": "v", "OUE": "s", "SS": "o", "PGR": "^", "MSS": "D"}
CALLED = {"zipf": "Zipf", "spike": "spike"}
BUDGET = "budget ε"


def lines(axes: Axes, table: Table, y: str, names: Iterable[str] = PROTOCOLS, **how: Any) -> None:
    """A line over budgets for every protocol."""
    for name in names:
        rows = table.where(protocol=name)
        axes.plot(rows.numbers("epsilon"), rows.numbers(y), **{"color": COLOURS[name], "lw": 1.3, **how})


def points(axes: Axes, table: Table, y: str, names: Iterable[str] = PROTOCOLS, **how: Any) -> None:
    """Measured points, with two standard errors."""
    for name in names:
        rows = table.where(protocol=name)
        style = {"color": COLOURS[name], "marker": SIGNS[name], "ms": 4, "lw": 0, "elinewidth": 0.9, **how}
        axes.errorbar(rows.numbers("epsilon"), rows.numbers(y), yerr=2 * rows.numbers(f"{y}_stderr"), **style)


def beside(
    axes: Axes,
    table: Table,
    exact: str,
    seen: str | None = None,
    *,
    drawn: str | None = None,
    names: Iterable[str] = ("OUE", "SS", "PGR", "MSS"),
    **how: Any,
) -> None:
    """Everybody but GRR over the exact number of SS; lines, and points where something is measured."""
    base = table.where(protocol="SS").numbers(exact)
    for name in names:
        rows = table.where(protocol=name)
        at, look = rows.numbers("epsilon"), {"color": COLOURS[name], "lw": 1.3, **how}
        axes.plot(at, rows.numbers(drawn or exact) / base, **look)
        if seen is not None:
            style: dict[str, Any] = {"color": COLOURS[name], "marker": SIGNS[name], "ms": 4, "lw": 0, "elinewidth": 0.9}
            axes.errorbar(at, rows.numbers(seen) / base, yerr=2 * rows.numbers(f"{seen}_stderr") / base, **style)


def ticks(panels: Panels, budgets: Iterable[float]) -> None:
    """Whole budgets along the bottom, with some room at the ends."""
    for axes in panels.ravel():
        axes.set_xticks(range(int(np.ceil(max(budgets))) + 1))
        axes.set_xlim(0.2, max(budgets) + 0.3)


def legend(figure: Figure, *more: Line2D, names: Iterable[str] = PROTOCOLS) -> None:
    """Protocols, then what else is drawn."""
    below(figure, [*(mark(name, COLOURS[name], marker=SIGNS[name], ms=5, lw=1.5) for name in names), *more])
