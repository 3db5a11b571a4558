"""Estimates over time: a panel for each attribute, a line for each value, and error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from hush.reports import fonts
from hush.reports.panels import entitle, figure_of, prepare, say
from hush.reports.theme import LIGHT, MARKERS, Theme
from hush.reports.words import shortened
from hush.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 6
"""Values of an attribute that have a line and a name each, unless more are asked for; the others are faint."""
_MOST_PANELS = 12
_LONGEST = 16
_TICKS = 44  # letters that fit under a panel
_GAP = 0.062  # of a panel's height, between two names
_STYLES = ("-", (0, (4, 1.5)), (0, (1.2, 1.2)))


@dataclass(frozen=True)
class Timeline:
    """One attribute over time: shape (periods, values) each, the first `named` values with names."""

    name: str
    periods: list[str]
    labels: list[str]
    centre: Floats
    lower: Floats
    upper: Floats
    named: int
    unit: str = " %"


def unspellable(courses: Sequence[Timeline]) -> list[str]:
    """The names in the figure that its font cannot spell."""
    texts = [text for each in courses for text in (each.name, *each.periods, *each.labels[: each.named])]
    return fonts.unprintable(dict.fromkeys(texts))


def timelines(courses: Sequence[Timeline], title: str, *, theme: Theme = LIGHT) -> Figure:
    """A panel for each course, on axes of its own."""
    drawn = list(courses[:_MOST_PANELS])
    columns = 1 if len(drawn) == 1 else 2
    rows = -(-len(drawn) // columns)
    figure = figure_of(8.0 if columns == 1 else 11.0, 0.8 + 3.4 * rows, theme)
    panels = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in panels[len(drawn) :]:
        axes.set_visible(False)
    for axes, each in zip(panels, drawn, strict=False):
        prepare(axes, theme, "y")
        _lines(axes, each, theme, wide=columns == 1)
    rest = f" (the first {len(drawn)} of {len(courses)} attributes)" if len(courses) > len(drawn) else ""
    entitle(figure, title + rest, theme)
    return figure


def _lines(axes: Axes, course: Timeline, theme: Theme, *, wide: bool) -> None:
    at = np.arange(len(course.periods))
    others = len(course.labels) - course.named
    for v in range(course.named, len(course.labels)):
        axes.plot(at, course.centre[:, v], color=theme.truth, linewidth=0.9, zorder=1)
    ends = []
    for v in range(course.named):
        color = theme.series[v % len(theme.series)]
        style = _STYLES[v // len(theme.series) % len(_STYLES)]
        shift = at + (v - (course.named - 1) / 2) * 0.07
        axes.vlines(shift, course.lower[:, v], course.upper[:, v], color=color, linewidth=1.1, alpha=0.55, zorder=2)
        marker = MARKERS[v % len(MARKERS)]
        axes.plot(shift, course.centre[:, v], color=color, linestyle=style, linewidth=1.5, marker=marker, ms=3.2)
        ends.append((float(course.centre[-1, v]), course.labels[v], color))
    faint = f", {others} others faint" if others else ""
    say(axes.set_title, f"{course.name}{faint}" if course.name else faint.removeprefix(", "), loc="left", fontsize=10)
    axes.title.set_color(theme.ink)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}{course.unit}")
    axes.set_xlim(-0.4, len(at) - 1 + 0.4)
    low, high = _reach(course)
    axes.set_ylim(low, high)
    letters = _TICKS * (2 if wide else 1)
    step = max(1, -(-len(at) * 3 // letters))
    shown = [shortened(name, _LONGEST) for name in course.periods[::step]]
    turned = sum(map(len, shown)) + 2 * len(shown) > letters
    axes.set_xticks(at[::step])
    axes.set_xticklabels(shown, rotation=45 if turned else 0, ha="right" if turned else "center", parse_math=False)
    if course.labels[: course.named] != ["mean"]:
        _names(axes, ends, (low, high))


def _reach(course: Timeline) -> tuple[float, float]:
    """What the named lines and their bars take, with some room."""
    parts = [part[:, : course.named] for part in (course.centre, course.lower, course.upper)]
    low, high = min(part.min() for part in parts), max(part.max() for part in parts)
    room = 0.06 * (high - low) or 1.0
    return float(low - room), float(high + room)


def _names(axes: Axes, ends: Sequence[tuple[float, str, str]], span: tuple[float, float]) -> None:
    """The name of each line at its end, moved apart where they would meet."""
    low, high = span
    wanted = sorted(ends, key=lambda end: end[0])
    heights = np.array([(y - low) / (high - low) for y, _, _ in wanted])
    placed = _apart(heights)
    for (_, label, color), before, height in zip(wanted, heights, placed, strict=True):
        axes.plot(
            [1.0, 1.025],
            [before, height],
            color=color,
            linewidth=0.7,
            clip_on=False,
            transform=axes.transAxes,
            zorder=1,
        )
        text = axes.text(
            1.035, height, shortened(label, _LONGEST), color=color, fontsize=9, va="center", transform=axes.transAxes
        )
        text.set_parse_math(False)


def _apart(heights: Floats) -> Floats:
    """Ascending heights, moved as little as needed to keep a gap."""
    placed = heights.copy()
    for _ in range(60):
        moved = False
        for i in range(len(placed) - 1):
            short = _GAP - (placed[i + 1] - placed[i])
            if short > 1e-9:
                placed[i] -= short / 2
                placed[i + 1] += short / 2
                moved = True
        if not moved:
            break
    return placed
