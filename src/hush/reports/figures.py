"""Figures, drawn on Figure objects of their own: nothing global is touched, and no display is needed."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush.reports import fonts
from hush.reports.multiples import Page, attributes, most_panels
from hush.reports.multiples import small_multiples as estimates
from hush.reports.panels import LEGEND, Series, figure_of, head, legend, prepare, rows_in, say
from hush.reports.theme import LIGHT, Theme
from hush.reports.timelines import MOST_LINES, Timeline, timelines, unspellable

__all__ = [
    "MOST_LINES",
    "Series",
    "Timeline",
    "attributes",
    "comparison",
    "errors",
    "estimates",
    "most_panels",
    "png",
    "timelines",
    "trade_off",
    "unprintable",
    "unspellable",
]

_WIDE = 7.5
"""Inches: narrow, so that the type stays large on a small screen."""


def png(figure: Figure, dpi: int = 160) -> bytes:
    """The figure as PNG bytes."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=figure.get_facecolor(), metadata={"Software": "hush"})
    return buffer.getvalue()


def unprintable(series: Sequence[Series]) -> list[str]:
    """The names and labels in `estimates` of these series that its font cannot spell."""
    page = Page(max(len(each.labels) for each in series), len(series))
    drawn = series[: page.most]
    texts = [each.name for each in drawn] + [label for each in drawn for label in each.labels if page.few]
    return fonts.unprintable(dict.fromkeys(texts))


def comparison(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """Several estimates of the same values in one panel, over the truth."""
    figure = figure_of(_WIDE, 1.4 + 0.35 * len(series[0].labels), theme)
    axes = figure.subplots()
    prepare(axes, theme, "x")
    rows_in(axes, series, theme)
    legend(figure, theme)
    say(figure.suptitle, title, **head(theme))
    return figure


def errors(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """How far each estimate lies from the truth, in percentage points: an interval that touches 0 holds the truth."""
    off = [
        Series(s.name, s.labels, (s.centre - t) * 100, (s.lower - t) * 100, (s.upper - t) * 100)
        for s in series
        for t in [s.centre if s.truth is None else s.truth]
    ]
    figure = figure_of(_WIDE, 1.4 + 0.35 * len(off[0].labels), theme)
    axes = figure.subplots()
    prepare(axes, theme, "x")
    axes.axvline(0, color=theme.ink, linewidth=1.2)
    rows_in(axes, off, theme, percent=False)
    axes.set_xlabel("estimate − truth, in percentage points", color=theme.faint)
    legend(figure, theme)
    say(figure.suptitle, title, **head(theme))
    return figure


def trade_off(
    names: Sequence[str],
    measures: dict[str, Sequence[float]],
    title: str,
    *,
    seen: dict[str, Sequence[float]] | None = None,
    theme: Theme = LIGHT,
) -> Figure:
    """One small panel for each measure, one bar for each name; in all of them less is better.

    Args:
        names: What is compared.
        measures: Numbers of each, by what they measure. Where chance plays, they are expectations.
        title: Of the figure.
        seen: What one run gave of some measures, as points on the bars: chance moves these, and they compare nothing.
        theme: Colours.
    """
    seen = seen or {}
    figure = figure_of(_WIDE, 0.9 + 0.42 * len(names) + (0.3 if seen else 0.0), theme)
    at = np.arange(len(names))
    colours = theme.series[: len(names)] if len(names) <= len(theme.series) else theme.series[:1]
    panels = figure.subplots(1, len(measures))
    for axes, (measure, values) in zip(panels, measures.items(), strict=True):
        prepare(axes, theme, None)
        axes.barh(at, values, color=colours, height=0.62)
        run = seen.get(measure, values)
        if measure in seen:
            axes.plot(run, at, "o", color=theme.ground, mec=theme.ink, mew=1.2, ms=6, zorder=3)
        most = max(*values, *run)
        for place, value, end in zip(at, values, np.maximum(values, run), strict=True):
            told = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
            within = measure in seen and value > 0.3 * most  # beside a point it would look like the point's
            how: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 9}
            where, colour = ((0, place), theme.ground) if within else ((end, place), theme.ink)
            axes.annotate(told, where, (6, 0), color=colour, **how)
        axes.set(yticks=at, xticks=[], xlim=(0, most * 1.3 or 1.0))
        axes.set_yticklabels(names if axes is panels[0] else [], color=theme.ink, parse_math=False)
        axes.invert_yaxis()
        axes.spines["bottom"].set_visible(False)
        axes.set_title(measure, loc="left", fontsize=9.5, color=theme.faint)
    if seen:
        dot = Line2D([], [], marker="o", color=theme.ground, mec=theme.ink, mew=1.2, ms=6, lw=0, label="this run")
        bar = Line2D([], [], color=theme.faint, lw=7, label="expected, exact")
        figure.legend(handles=[bar, dot], loc="outside lower left", ncols=2, labelcolor=theme.ink, **LEGEND)
    say(figure.suptitle, title, **head(theme))
    return figure
