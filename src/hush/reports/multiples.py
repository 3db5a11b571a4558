"""Small multiples: the same panel for every group, on common axes, on a page of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush.reports.panels import LEGEND, MOST_ROWS, Series, cloud, entitle, figure_of, prepare, rows_in, say
from hush.reports.scales import beyond
from hush.reports.theme import LIGHT, Theme

MOST_PANELS = 48
_TALLEST = 48.0
"""Inches of a page, at most."""

_ROOM = 0.15
"""Shares lie between 0 and 1: how far beyond them an axis goes for the sake of wide intervals."""


@dataclass(frozen=True)
class Page:
    """How panels of so many values are laid out.

    Args:
        values: Of the panel that has most.
        panels: How many there are.
    """

    values: int
    panels: int

    @property
    def few(self) -> bool:
        """Whether values are few enough to have a named row each."""
        return self.values <= MOST_ROWS

    @property
    def columns(self) -> int:
        """Panels beside one another."""
        return min(self.panels, 3 if self.panels <= 9 else 4)

    @property
    def tall(self) -> float:
        """Inches of one panel."""
        if not self.few:
            return 3.6 if self.panels == 1 else 2.4
        return (1.2 if self.panels == 1 else 0.75) + 0.27 * self.values

    @property
    def most(self) -> int:
        """How many panels the page takes."""
        return max(1, min(MOST_PANELS, self.columns * int(_TALLEST // self.tall)))


def most_panels(values: int) -> int:
    """How many groups of so many values one page shows.

    >>> most_panels(10), most_panels(40), most_panels(1000)
    (48, 16, 48)
    """
    return Page(values, MOST_PANELS).most


def small_multiples(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """One panel for each series: points with intervals, and the truth as bars behind them where it is known.

    All have the same axes, so that groups can be compared. An interval that leaves them ends at the edge, and an
    estimate beyond it is a triangle there.
    """
    page = Page(max(len(each.labels) for each in series), len(series))
    drawn = list(series[: page.most])
    page = replace(page, panels=len(drawn))
    lines = -(-len(drawn) // page.columns)
    alike = page.few and all(each.labels == drawn[0].labels for each in drawn)
    wide = max(8.0 if page.few else 9.5, (3.3 if alike or not page.few else 4.2) * page.columns)
    figure = figure_of(wide, lines * page.tall + 0.9, theme)
    panels = figure.subplots(lines, page.columns, squeeze=False).ravel().tolist()
    for axes in panels[len(drawn) :]:
        axes.set_visible(False)
    for axes, each in zip(panels, drawn, strict=False):
        prepare(axes, theme, "x" if page.few else "y")
        (rows_in if page.few else cloud)(axes, [replace(each, name="")], theme)
        say(axes.set_title, each.name, loc="left", fontsize=10 if page.columns == 1 else 9.5, color=theme.ink)
    _common(panels[: len(drawn)], drawn, page, theme)
    for i, axes in enumerate(panels[: len(drawn)]):
        if i < len(drawn) - page.columns:
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
        if i % page.columns and (alike or not page.few):
            axes.tick_params(labelleft=False)
    _legend(figure, panels[0], drawn[0], theme)
    rest = f" (the first {len(drawn)} of {len(series)} groups)" if len(series) > len(drawn) else ""
    entitle(figure, title + rest, theme)
    return figure


def attributes(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """One panel for each series, which are of different values: each as tall as its values need, on its own axes."""
    drawn = list(series[:MOST_PANELS])
    pages = [Page(len(each.labels), len(drawn)) for each in drawn]
    columns = min(len(drawn), 2 if len(drawn) == 4 else 3)
    rows = [range(at, min(at + columns, len(drawn))) for at in range(0, len(drawn), columns)]
    tall = [max(pages[i].tall for i in row) for row in rows]
    figure = figure_of(max(8.0, 4.2 * columns), min(sum(tall) + 0.9, _TALLEST), theme)
    panels = figure.subplots(len(rows), columns, squeeze=False, height_ratios=tall).ravel().tolist()
    for axes in panels[len(drawn) :]:
        axes.set_visible(False)
    for axes, each, page in zip(panels, drawn, pages, strict=False):
        prepare(axes, theme, "x" if page.few else "y")
        (rows_in if page.few else cloud)(axes, [replace(each, name="")], theme)
        say(axes.set_title, each.name, loc="left", fontsize=9.5, color=theme.ink)
        _common([axes], [each], page, theme)
    _legend(figure, panels[0], drawn[0], theme)
    rest = f" (the first {len(drawn)} of {len(series)} attributes)" if len(series) > len(drawn) else ""
    entitle(figure, title + rest, theme)
    return figure


def _legend(figure: Figure, panel: Axes, first: Series, theme: Theme) -> None:
    """What the marks mean, where there are several kinds."""
    if any(each is not None for each in (first.truth, first.projected, first.whole)):
        handles, names = panel.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower right", ncols=3, **LEGEND, labelcolor=theme.ink)


def _common(panels: Sequence[Axes], drawn: Sequence[Series], page: Page, theme: Theme) -> None:
    """The same limits for all panels, around what is possible; marks for estimates that are not.

    Set one by one: matplotlib's shared axes take time that grows with the square of their number.
    """
    parts = [each for one in drawn for each in (one.lower, one.upper, one.truth, one.projected) if each is not None]
    low, high = (float(end([end(each) for each in parts])) for end in (np.nanmin, np.nanmax))
    inside = np.array([max(min(low, 0.0), -_ROOM), min(high, 1 + _ROOM)]) * 100
    room = 0.04 * (inside[1] - inside[0])
    limits = inside + np.array([-room if low >= -_ROOM else 0.0, room if high <= 1 + _ROOM else 0.0])
    which = "x" if page.few else "y"
    for axes, each in zip(panels, drawn, strict=True):
        getattr(axes, f"set_{which}lim")(*limits)
        beyond(axes, np.arange(len(each.labels)), each.centre * 100, theme.series[0], which=which, ms=5)
