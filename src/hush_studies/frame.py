"""What the study's drawings share: panels in the theme, shades for domain sizes and budgets, legends below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush.reports import scales
from hush.reports.panels import LEGEND, figure_of, head, prepare, say
from hush.reports.theme import LIGHT

THEME = LIGHT
MARKERS = ("o", "s", "D", "^")
WIDE = 10.0
SIGNS = {"omega": "ω", "p": "p", "g": "g", "theta": "θ"}
_END = 0.92  # the palest yellow is hard to see on white

Panels = npt.NDArray[Any]


def frame(rows: int, columns: int, title: str, *, tall: float = 2.3, **how: Any) -> tuple[Figure, Panels]:
    """A figure of panels, with a title."""
    figure = figure_of(WIDE, rows * tall + 1.0, THEME)
    panels = figure.subplots(rows, columns, squeeze=False, **how)
    for axes in panels.ravel():
        prepare(axes, THEME, "both")
        axes.tick_params(which="both", length=0)
    say(figure.suptitle, title, **head(THEME))
    return figure, panels


def entitle(axes: Axes, text: str) -> None:
    """A panel's name."""
    say(axes.set_title, text, loc="left", fontsize=10.5, color=THEME.ink)


def label(panels: Panels, x: str, y: str) -> None:
    """Names of the axes, at the left and the bottom only."""
    for axes in panels[-1]:
        axes.set_xlabel(x, color=THEME.faint, fontsize=9.5)
    for axes in panels[:, 0]:
        axes.set_ylabel(y, color=THEME.faint, fontsize=9.5)


def logarithmic(panels: Panels, *axes_of: str) -> None:
    """Logarithmic axes, "x" or "y", of all these panels."""
    for axes in panels.ravel():
        scales.logarithmic(axes, *axes_of)


def budget_axis(panels: Panels) -> None:
    """Even budgets along the bottom."""
    for axes in panels.ravel():
        axes.set_xticks([2, 4, 6, 8, 10])


def shades(values: Sequence[Any]) -> dict[Any, Any]:
    """A colour for each value, from dark to light."""
    scale = colormaps["viridis"]
    return {value: scale(_END * i / max(len(values) - 1, 1)) for i, value in enumerate(values)}


def budget_colours(epsilons: Sequence[float]) -> tuple[Normalize, Any]:
    """A scale from the smallest to the largest budget."""
    scale = ListedColormap(colormaps["viridis"](np.linspace(0, _END, 256)))
    return Normalize(min(epsilons), max(epsilons)), scale


def budget_bar(figure: Figure, panels: Panels, epsilons: Sequence[float]) -> None:
    """The budget's colours, beside the panels."""
    norm, scale = budget_colours(epsilons)
    bar = figure.colorbar(ScalarMappable(norm, scale), ax=panels, aspect=40, pad=0.015, fraction=0.03)
    _plain(bar, "budget ε")


def size_bar(figure: Figure, panels: Panels, ks: Sequence[int]) -> None:
    """The colours of domain sizes, beside the panels."""
    scale = ListedColormap(list(shades(ks).values()))
    norm = BoundaryNorm(np.arange(len(ks) + 1) - 0.5, len(ks))
    bar = figure.colorbar(ScalarMappable(norm, scale), ax=panels, aspect=40, pad=0.015, fraction=0.03)
    bar.set_ticks(list(range(len(ks))), labels=[f"{k:,}" for k in ks])
    _plain(bar, "domain size k")


def _plain(bar: Any, text: str) -> None:
    bar.set_label(text, color=THEME.faint, fontsize=9.5)
    bar.outline.set_visible(False)
    bar.ax.tick_params(which="both", colors=THEME.faint, length=0, labelsize=9)


def below(figure: Figure, marks: Sequence[Line2D]) -> None:
    """What the marks mean, under the panels; in as many lines as it takes."""
    for lines in range(1, len(marks) + 1):
        columns = -(-len(marks) // lines)
        drawn = figure.legend(handles=marks, loc="outside lower center", ncols=columns, **LEGEND, labelcolor=THEME.ink)
        if drawn.get_window_extent().width <= figure.bbox.width or columns == 1:
            return
        drawn.remove()


def mark(name: str, colour: str, **how: Any) -> Line2D:
    """One entry of a legend."""
    return Line2D([], [], color=colour, label=name, **how)
