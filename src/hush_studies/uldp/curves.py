"""Figures over budgets, numbers and shares of sensitive values: 1, 3, 4, 5, 8 and 9."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from hush.reports.scales import beyond
from hush.types import Floats
from hush_studies.frame import THEME, Panels, entitle, frame, label, logarithmic, mark
from hush_studies.study import Table
from hush_studies.uldp.people import called, titled
from hush_studies.uldp.readings import MECHANISMS, READINGS
from hush_studies.uldp.strokes import COLOURS, WORDS, legend, lines, looks, points, shifts

_BUDGET = "budget ε"
_RATIOS = (0.4, 14.0)
"""What panels of ratios show; beyond, there is a mark at the edge."""

_OPEN = (0.02, 0.999)
_TICKS = {at: f"{at:g}" for at in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)} | {_OPEN[1]: "≈ 1"}
_FIRST = ("uRR", "uRAP", "uHR", "uSS", "uUE", "uLH")


def first(table: Table) -> Figure:
    """Figure 1."""
    row = dict(zip(table.columns, table.rows[0], strict=True))
    setting = f"d = {row['d']}, θ = {row['theta']:g}, ε = {row['epsilon']:g}"
    figure, panels = frame(1, 3, f"Error and bits of a report as more values are sensitive, {setting}", tall=3.3)
    panels[0, 1].sharey(panels[0, 0])
    for axes, reading in zip(panels[0, :2], READINGS, strict=True):
        rows = table.where(reading=reading)
        lines(axes, rows, "s", "mse", _FIRST)
        points(axes, rows, "s", "mse", _FIRST)
        entitle(axes, f"Error, {WORDS[reading]}")
    right, mine = panels[0, 2], table.where(reading="paper")
    lines(right, mine, "s", "bits", _FIRST)
    points(right, mine, "s", "bits", _FIRST)
    lines(right, mine, "s", "bits_without_hash", ("uLH",), ls=":", lw=2.0)
    entitle(right, "Bits, as in the paper")
    logarithmic(panels, "x", "y")
    label(panels, "number of sensitive values s", "n · MSE")
    right.set_ylabel("bits", color=THEME.faint, fontsize=9.5)
    legend(figure, mark("uLH without its hash function", COLOURS["uLH"], ls=":", lw=2.0), names=_FIRST)
    return figure


def scenarios(table: Table) -> Figure:
    """Figure 3."""
    pairs = list(dict.fromkeys(zip(table.column("s"), table.column("theta"), strict=True)))
    groups = [(f"s/d = {s}/1000, θ = {theta:g}", table.where(s=s, theta=theta)) for s, theta in pairs]
    return _compared(groups, "Exact error of one report", "epsilon", ("mse", "mse"), (_BUDGET, "n · MSE"))


def squared(table: Table) -> Figure:
    """Figure 4."""
    title = f"Mean squared error: points are averages of {table.column('runs')[0]} runs, lines the exact variance"
    return _compared(_populations(table, titled), title, "epsilon", ("mse_expected", "mse"), (_BUDGET, "MSE"))


def shares(table: Table) -> Figure:
    """Figure 5."""
    epsilon = table.column("epsilon")[0]
    title = f"Error over the share of values that are sensitive, ε = {epsilon:g}; at 100 % it is plain LDP"
    across = "share of sensitive values, %"
    figure = _compared(_populations(table, called), title, "share", ("mse_expected", "mse"), (across, "MSE"))
    for axes in figure.axes:
        axes.set_xticks([0.1, 0.4, 0.7, 1.0], labels=["10", "40", "70", "100"])
        axes.axvline(1.0, color=THEME.truth, lw=2.0, zorder=0)
    return figure


def absolute(table: Table) -> Figure:
    """Figure 8."""
    title = f"Sum of absolute errors: points are averages of {table.column('runs')[0]} runs, lines the exact law"
    return _compared(_populations(table, called), title, "epsilon", ("mae_expected", "mae"), (_BUDGET, "MAE"))


def _populations(table: Table, name: Callable[[str], str]) -> list[tuple[str, Table]]:
    return [(name(each), table.where(people=each)) for each in dict.fromkeys(table.column("people"))]


def _compared(
    groups: Sequence[tuple[str, Table]], title: str, x: str, numbers: tuple[str, str], names: tuple[str, str]
) -> Figure:
    """A row a group: the paper's reading; and it and ours beside the paper's uSS, where one sees who is better."""
    figure, panels = frame(len(groups), 3, title, tall=2.25, sharex=True)
    exact, seen = numbers
    many = 0
    for line, (name, rows) in zip(panels, groups, strict=True):
        mine = rows.where(reading="paper")
        lines(line[0], mine, x, exact)
        points(line[0], mine, x, seen)
        entitle(line[0], name)
        base = mine.where(mechanism="uSS").numbers(exact)
        for axes, reading in zip(line[1:], READINGS, strict=True):
            many += _beside(axes, rows.where(reading=reading), base, x, numbers)
            entitle(axes, f"{WORDS[reading]}, over the paper's uSS")
    logarithmic(panels, "y")
    for axes in panels[:, 1:].ravel():
        axes.set_yticks([0.5, 1, 2, 5, 10], labels=["½", "1", "2", "5", "10"])
    label(panels, *names)
    legend(figure, *([mark("at the edge: beyond it", THEME.faint, marker="^", ms=4, lw=0)] if many else []))
    return figure


def _beside(axes: Axes, rows: Table, base: Floats, x: str, numbers: tuple[str, str]) -> int:
    """Errors over others at the same place; how many lie beyond the panel."""
    axes.set(yscale="log", ylim=_RATIOS)
    axes.axhline(1, color=THEME.truth, lw=2.0, zorder=0)
    exact, seen = numbers
    at = rows.where(mechanism="uSS").numbers(x)
    apart = 0.01 * float(at[-1] - at[0])
    many = 0
    for name, shift in zip(MECHANISMS, shifts(MECHANISMS, apart), strict=True):
        mine = rows.where(mechanism=name)
        ratio = mine.numbers(exact) / base
        axes.plot(at + shift, ratio, color=COLOURS[name], lw=1.3)
        shown = mine.numbers(seen) / base
        noise = 2 * mine.numbers(f"{seen}_stderr") / base if f"{seen}_stderr" in rows.columns else np.zeros(at.size)
        shown = np.where(np.isnan(shown), ratio, shown)
        inside = (shown > _RATIOS[0]) & (shown < _RATIOS[1])
        noise = np.where(np.isnan(noise) | ~inside, 0.0, noise)
        axes.errorbar(at + shift, np.where(inside, shown, np.nan), yerr=noise, **looks(name, mine))
        many += beyond(axes, at + shift, ratio, COLOURS[name], ms=4)
    return many


def tops(table: Table) -> Figure:
    """Figure 9: on a scale that is wide at both ends, for most are close to 1; the last tick stands for all beyond."""
    groups = _populations(table, called)
    title = f"The 30 most frequent values: F1 and NDCG, averages of {table.column('runs')[0]} runs, ± 2 standard errors"
    figure, panels = frame(len(groups), 4, title, tall=2.3, sharex=True, sharey="row")
    cells = [(measure, reading) for measure in ("f1", "ndcg") for reading in READINGS]
    for line, (name, table_of) in zip(panels, groups, strict=True):
        for axes, (measure, reading) in zip(line, cells, strict=True):
            rows = table_of.where(reading=reading)
            for each, shift in zip(MECHANISMS, shifts(MECHANISMS, 0.05), strict=True):
                mine = rows.where(mechanism=each)
                at, found = mine.numbers("epsilon") + shift, mine.numbers(measure)
                noise = 2 * mine.numbers(f"{measure}_stderr")
                low, middle, high = (np.clip(found + by, *_OPEN) for by in (-noise, 0.0, noise))
                axes.errorbar(at, middle, yerr=[middle - low, high - middle], **{**looks(each, mine), "lw": 1.0})
            entitle(axes, f"{measure.upper()}, {WORDS[reading]}")
        _wide_ends(line)
        line[0].set_ylabel(name, color=THEME.ink, fontsize=10.5)
    for axes in panels[-1]:
        axes.set_xlabel(_BUDGET, color=THEME.faint, fontsize=9.5)
    legend(figure)
    return figure


def _wide_ends(line: Panels) -> None:
    """A logit scale around all that is drawn in a row, with ticks in plain numbers."""
    ends = np.array([axes.dataLim.intervaly for axes in line])
    low, high = max(float(ends[:, 0].min()), _OPEN[0]), float(ends[:, 1].max())
    odds = np.array([low / (1 - low) / 1.5, high / (1 - high) * 1.5])
    limits = odds / (1 + odds)
    shown = {at: text for at, text in _TICKS.items() if limits[0] <= at <= limits[1]}
    for axes in line:
        axes.set(yscale="logit", ylim=limits)
        axes.set_yticks(list(shown), labels=list(shown.values()))
        axes.yaxis.set_minor_locator(NullLocator())
