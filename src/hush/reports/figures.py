"""Figures, drawn on Figure objects of their own: nothing global is touched, and no display is needed."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from hush.reports.theme import LIGHT, MARKERS, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

MOST_PANELS = 12
_MOST_ROWS = 40
_LONGEST = 26


@dataclass(frozen=True)
class Series:
    """Estimates with intervals, and the truth where it is known."""

    name: str
    labels: list[str]
    centre: Floats
    lower: Floats
    upper: Floats
    truth: Floats | None = None


def png(figure: Figure, dpi: int = 160) -> bytes:
    """The figure as PNG bytes."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=figure.get_facecolor(), metadata={"Software": "hush"})
    return buffer.getvalue()


def estimates(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """One panel for each series: points with intervals, and the truth as bars behind them where it is known."""
    drawn = list(series[:MOST_PANELS])
    columns = min(3, len(drawn))
    rows = -(-len(drawn) // columns)
    values = max(len(each.labels) for each in drawn)
    few = values <= _MOST_ROWS
    tall = (1.2 + 0.27 * values) if few else 3.6
    figure = _figure(max(8.0, 4.2 * columns) if few else 9.5, rows * tall + 0.6, theme)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=few).ravel()
    for axes, each in zip(panels, drawn, strict=False):
        _prepare(axes, theme, "x" if few else "y")
        (_rows if few else _cloud)(axes, [each], theme)
        if each.truth is not None:
            _legend(axes, theme)
        _say(axes.set_title, each.name, loc="left", fontsize=10, color=theme.ink)
    for axes in panels[len(drawn) :]:
        axes.set_visible(False)
    rest = f" (the first {len(drawn)} of {len(series)} groups)" if len(series) > len(drawn) else ""
    _say(figure.suptitle, title + rest, **_head(theme))
    return figure


def comparison(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """Several estimates of the same values in one panel, over the truth."""
    figure = _figure(9.0, 1.4 + 0.35 * len(series[0].labels), theme)
    axes = figure.subplots()
    _prepare(axes, theme, "x")
    _rows(axes, series, theme)
    _legend(axes, theme)
    _say(figure.suptitle, title, **_head(theme))
    return figure


def errors(series: Sequence[Series], title: str, *, theme: Theme = LIGHT) -> Figure:
    """How far each estimate lies from the truth, in percentage points: an interval that touches 0 holds the truth."""
    off = [
        Series(s.name, s.labels, (s.centre - t) * 100, (s.lower - t) * 100, (s.upper - t) * 100)
        for s in series
        for t in [s.centre if s.truth is None else s.truth]
    ]
    figure = _figure(9.0, 1.4 + 0.35 * len(off[0].labels), theme)
    axes = figure.subplots()
    _prepare(axes, theme, "x")
    axes.axvline(0, color=theme.ink, linewidth=1.2)
    _rows(axes, off, theme, percent=False)
    axes.set_xlabel("estimate − truth, in percentage points", color=theme.faint)
    _legend(axes, theme)
    _say(figure.suptitle, title, **_head(theme))
    return figure


def trade_off(
    names: Sequence[str], measures: dict[str, Sequence[float]], title: str, *, theme: Theme = LIGHT
) -> Figure:
    """One small panel for each measure, one bar for each name; in all of them less is better."""
    figure = _figure(9.0, 0.9 + 0.42 * len(names), theme)
    for axes, (measure, values) in zip(figure.subplots(1, len(measures)), measures.items(), strict=True):
        _prepare(axes, theme, None)
        at = np.arange(len(names))
        bars = axes.barh(at, values, color=[theme.series[i % len(theme.series)] for i in at], height=0.62)
        axes.bar_label(bars, [f"{value:.3g}" for value in values], padding=4, color=theme.ink, fontsize=9)
        axes.set(yticks=at, xticks=[], xlim=(0, max(values) * 1.3 or 1.0))
        axes.set_yticklabels(names, color=theme.ink, parse_math=False)
        axes.invert_yaxis()
        axes.spines["bottom"].set_visible(False)
        axes.set_title(measure, loc="left", fontsize=9.5, color=theme.faint)
    _say(figure.suptitle, title, **_head(theme))
    return figure


def _figure(width: float, height: float, theme: Theme) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor=theme.ground)


def _head(theme: Theme) -> dict[str, Any]:
    return {"x": 0.01, "ha": "left", "fontsize": 12, "fontweight": "bold", "color": theme.ink}


def _say(put: Any, text: str, **how: Any) -> None:
    """Set a text in which a dollar sign is a dollar sign."""
    put(text, **how).set_parse_math(False)


def _prepare(axes: Axes, theme: Theme, grid: str | None) -> None:
    axes.set_facecolor(theme.ground)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(theme.grid)
    axes.tick_params(colors=theme.faint, length=0, labelsize=9)
    if grid is not None:
        axes.grid(axis=grid, color=theme.grid, linewidth=0.8)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


def _rows(axes: Axes, series: Sequence[Series], theme: Theme, *, percent: bool = True) -> None:
    """One row a value; several series share a row side by side."""
    scale = 100 if percent else 1
    at = np.arange(len(series[0].labels))
    truth = series[0].truth
    if truth is not None:
        axes.barh(at, truth * scale, height=0.82, color=theme.truth, label="truth", zorder=1)
    for i, each in enumerate(series):
        shift = (i - (len(series) - 1) / 2) * 0.24
        reach = np.stack([each.centre - each.lower, each.upper - each.centre]) * scale
        axes.errorbar(
            each.centre * scale,
            at + shift,
            xerr=reach,
            fmt=MARKERS[i % len(MARKERS)],
            markersize=4,
            color=theme.series[i % len(theme.series)],
            elinewidth=1.6,
            label=each.name or "estimate",
            zorder=3,
        )
    axes.axvline(0, color=theme.faint, linewidth=0.8, zorder=0)
    axes.set_ylim(len(at) - 0.4, -0.6)
    axes.set_yticks(at)
    axes.set_yticklabels([_short(label) for label in series[0].labels], color=theme.ink, parse_math=False)
    if percent:
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} %")


def _cloud(axes: Axes, series: Sequence[Series], theme: Theme) -> None:
    """Too many values for names: points over their index."""
    each = series[0]
    at = np.arange(len(each.labels))
    if each.truth is not None:
        axes.step(at, each.truth * 100, where="mid", color=theme.faint, linewidth=1.2, label="truth", zorder=2)
    axes.vlines(at, each.lower * 100, each.upper * 100, color=theme.series[0], alpha=0.35, linewidth=1.0)
    axes.plot(at, each.centre * 100, ".", color=theme.series[0], markersize=3, label="estimate", zorder=3)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g} %")
    axes.set_xlabel("value, by index in the domain", color=theme.faint)


def _legend(axes: Axes, theme: Theme) -> None:
    axes.legend(loc="best", frameon=False, labelcolor=theme.ink, fontsize=9)


def _short(label: str) -> str:
    """One printable line of at most 26 characters."""
    line = "".join(c if c.isprintable() else " " for c in label)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
