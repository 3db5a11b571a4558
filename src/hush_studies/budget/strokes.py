"""What the study's drawings share: a colour and a mark for every method and protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush_studies.frame import THEME, below, mark

METHODS = {
    "BS": THEME.series[0], "RBS": THEME.series[1], "DBS": THEME.series[2], "MPass": THEME.series[3],
    "Bayes": "#d49a00", "direct": THEME.ink,
}  # fmt: skip
METHOD_SIGNS = {"BS": "o", "RBS": "s", "DBS": "^", "MPass": "D", "Bayes": "v", "direct": "_"}
PROTOCOLS = {
    "GRR": THEME.series[0], "RAPPOR": THEME.series[1], "OUE": THEME.series[2], "OLH": THEME.series[3],
    "SS": "#d49a00", "Duchi": "#d2569a",
}  # fmt: skip
PROTOCOL_SIGNS = {"GRR": "o", "RAPPOR": "s", "OUE": "^", "OLH": "D", "SS": "P", "Duchi": "v"}
WAYS = {"CAPRI": THEME.series[0], "CAPRI-R": THEME.series[1], "Bayes": "#d49a00", "exact": THEME.ink}
WAY_SIGNS = {"CAPRI": "o", "CAPRI-R": "s", "Bayes": "v", "exact": "_"}
BUDGET = "budget ε"


def legend(
    figure: Figure, names: Iterable[str], colours: Mapping[str, str], signs: Mapping[str, str], *more: Line2D
) -> None:
    """What the colours mean, then what else is drawn."""
    marks = [mark(name, colours[name], marker=signs[name], ms=5.5, lw=1.4) for name in names]
    below(figure, [*marks, *more])


def ticks(axes: Axes, values: Iterable[float], which: str = "x") -> None:
    """Labelled ticks at these values only."""
    at = list(values)
    getattr(axes, f"set_{which}ticks")(at, labels=[f"{each:g}" for each in at])
    axes.minorticks_off()
