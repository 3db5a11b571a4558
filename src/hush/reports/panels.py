"""The parts of a figure: a panel prepared in a theme, values as rows or as a cloud of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from hush.reports.theme import MARKERS, Theme
from hush.reports.words import shortened
from hush.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_ROWS = 40
"""Values beyond which a panel shows points over an index, without names."""

LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 9}
_LONGEST = 26
_LETTERS = 9.5
"""Letters of a title for each inch, all of them wide."""
_ALL = "all groups together"


@dataclass(frozen=True)
class Series:
    """Estimates with intervals, and beside them the truth and a projection where there are any.

    Of a group, `whole` has the estimates of everybody, to compare with.
    """

    name: str
    labels: list[str]
    centre: Floats
    lower: Floats
    upper: Floats
    truth: Floats | None = None
    projected: Floats | None = None
    whole: Floats | None = None


def figure_of(width: float, height: float, theme: Theme) -> Figure:
    """An empty figure."""
    return Figure(figsize=(width, height), layout="constrained", facecolor=theme.ground)


def head(theme: Theme) -> dict[str, Any]:
    """How its title is set."""
    return {"x": 0.01, "ha": "left", "fontsize": 12, "fontweight": "bold", "color": theme.ink}


def entitle(figure: Figure, title: str, theme: Theme) -> None:
    """Set the title of a whole figure, in as many lines as its width asks for."""
    letters = int(_LETTERS * figure.get_figwidth())
    lines = [line for part in title.split("\n") for line in wrap(part, letters, break_on_hyphens=False) or [""]]
    say(figure.suptitle, "\n".join(lines), **head(theme))


def say(put: Any, text: str, **how: Any) -> None:
    """Set a text in which a dollar sign is a dollar sign."""
    put(text, **how).set_parse_math(False)


def prepare(axes: Axes, theme: Theme, grid: str | None) -> None:
    """A panel in the theme, with grid lines across one axis or none."""
    axes.set_facecolor(theme.ground)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(theme.grid)
    axes.tick_params(colors=theme.faint, length=0, labelsize=9)
    if grid is not None:
        axes.grid(axis=grid, color=theme.grid, linewidth=0.8)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


def rows_in(axes: Axes, series: Sequence[Series], theme: Theme, *, percent: bool = True) -> None:
    """One row a value; several series share a row side by side."""
    scale = 100 if percent else 1
    at = np.arange(len(series[0].labels))
    truth = series[0].truth
    if truth is not None:
        axes.barh(at, truth * scale, height=0.82, color=theme.truth, label="truth", zorder=1)
    for i, each in enumerate(series):
        shift = (i - (len(series) - 1) / 2) * 0.24
        color = theme.series[i % len(theme.series)]
        # An interval keeps to 0..1, a raw estimate does not, so one need not hold the other.
        axes.hlines(at + shift, each.lower * scale, each.upper * scale, color=color, linewidth=1.6, zorder=3)
        axes.plot(
            each.centre * scale,
            at + shift,
            linestyle="",
            marker=MARKERS[i % len(MARKERS)],
            markersize=4,
            color=color,
            label=each.name or "estimate",
            zorder=3,
        )
        if each.projected is not None:
            axes.plot(each.projected * scale, at + shift, **_hollow(theme), label="projected")
        if each.whole is not None:
            axes.plot(each.whole * scale, at + shift, "|", color=theme.faint, ms=13, mew=1.4, zorder=2, label=_ALL)
    axes.axvline(0, color=theme.faint, linewidth=0.8, zorder=0)
    axes.set_ylim(len(at) - 0.4, -0.6)
    axes.set_yticks(at)
    axes.set_yticklabels([shortened(label, _LONGEST) for label in series[0].labels], color=theme.ink, parse_math=False)
    if percent:
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} %")


def cloud(axes: Axes, series: Sequence[Series], theme: Theme) -> None:
    """Too many values for names: points over their index."""
    each = series[0]
    at = np.arange(len(each.labels))
    if each.truth is not None:
        axes.step(at, each.truth * 100, where="mid", color=theme.faint, linewidth=1.2, label="truth", zorder=2)
    axes.vlines(at, each.lower * 100, each.upper * 100, color=theme.series[0], alpha=0.35, linewidth=1.0)
    axes.plot(at, each.centre * 100, ".", color=theme.series[0], markersize=3, label="estimate", zorder=3)
    if each.projected is not None:
        axes.plot(at, each.projected * 100, **_hollow(theme), label="projected")
    if each.whole is not None:
        axes.step(at, each.whole * 100, where="mid", color=theme.faint, linewidth=0.9, zorder=2, label=_ALL)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g} %")
    axes.set_xlabel("value, by index in the domain", color=theme.faint)


def legend(figure: Figure, theme: Theme) -> None:
    """What the marks mean, below the panel, where it covers none."""
    figure.legend(loc="outside lower right", ncols=4, labelcolor=theme.ink, **LEGEND)


def _hollow(theme: Theme) -> dict[str, Any]:
    """Open diamonds: a projection has no error bar."""
    return {
        "linestyle": "",
        "marker": "D",
        "markersize": 5,
        "markerfacecolor": "none",
        "color": theme.series[1],
        "zorder": 4,
    }
