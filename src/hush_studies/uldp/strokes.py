"""What the study's drawings share: a colour and a mark for every mechanism, and lines with points on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush_studies.frame import THEME, below, mark
from hush_studies.study import Table
from hush_studies.uldp.readings import MECHANISMS

COLOURS = {
    "uRR": "#7f8797", "uRAP": "#d49a00", "uHR": THEME.series[3], "uSS": THEME.series[0],
    "uUE": THEME.series[1], "uLH": THEME.series[2], "uWheel": "#d2569a",
}  # fmt: skip
SIGNS = {"uRR": "v", "uRAP": "P", "uHR": "D", "uSS": "o", "uUE": "s", "uLH": "^", "uWheel": "p"}
WORDS = {"paper": "as in the paper", "ours": "ours"}


def lines(axes: Axes, table: Table, x: str, y: str, names: Iterable[str] = MECHANISMS, **how: Any) -> None:
    """A line for every mechanism."""
    for name in names:
        rows = table.where(mechanism=name)
        axes.plot(rows.numbers(x), rows.numbers(y), **{"color": COLOURS[name], "lw": 1.4, **how})


def points(
    axes: Axes, table: Table, x: str, y: str, names: Iterable[str] = MECHANISMS, *, apart: float = 0.0, **how: Any
) -> None:
    """Measured points, with two standard errors where the table has them; hollow where more than ε is spent.

    Those of different mechanisms stand so far apart, that equal ones do not hide each other.
    """
    for name, shift in zip(names, shifts(names, apart), strict=True):
        rows = table.where(mechanism=name)
        noise = 2 * rows.numbers(f"{y}_stderr") if f"{y}_stderr" in table.columns else np.zeros(len(rows.rows))
        axes.errorbar(rows.numbers(x) + shift, rows.numbers(y), yerr=noise, **{**looks(name, rows), **how})


def looks(name: str, rows: Table) -> dict[str, Any]:
    """How a mechanism's points are drawn."""
    honest = bool((rows.numbers("true_epsilon") < rows.numbers("epsilon") + 1e-9).all())
    fill = COLOURS[name] if honest else THEME.ground
    return {"color": COLOURS[name], "marker": SIGNS[name], "mfc": fill, "ms": 4, "lw": 0, "elinewidth": 0.9}


def shifts(names: Iterable[str], apart: float) -> list[float]:
    """Small distances around 0, one for each name."""
    number = len(list(names))
    return [apart * (i - (number - 1) / 2) for i in range(number)]


def legend(figure: Figure, *more: Line2D, names: Iterable[str] = MECHANISMS) -> None:
    """Mechanisms, then what else is drawn."""
    marks = [mark(name, COLOURS[name], marker=SIGNS[name], ms=5, lw=1.6) for name in names]
    hollow = mark("hollow: spends more than ε", THEME.faint, marker="^", mfc=THEME.ground, ms=5, lw=0)
    below(figure, [*marks, hollow, *more])
