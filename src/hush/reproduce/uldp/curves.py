"""Figures over budgets, numbers and shares of sensitive values: 1, 3, 4, 5, 8 and 9."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush.reproduce.refined.frame import THEME, entitle, frame, label, logarithmic, mark
from hush.reproduce.study import Table
from hush.reproduce.uldp.people import called, titled
from hush.reproduce.uldp.readings import READINGS
from hush.reproduce.uldp.strokes import COLOURS, WORDS, legend, lines, points

_BUDGET = "budget ε"
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
    figure = _compared(groups, "Exact error of one report", "mse", "mse", "n · MSE")
    legend(figure, _ours())
    return figure


def squared(table: Table) -> Figure:
    """Figure 4."""
    names = list(dict.fromkeys(table.column("people")))
    groups = [(titled(name), table.where(people=name)) for name in names]
    runs = table.column("runs")[0]
    title = f"Mean squared error: points are averages of {runs} runs, lines the exact variance"
    figure = _compared(groups, title, "mse_expected", "mse", "MSE")
    legend(figure, _ours())
    return figure


def _ours() -> Line2D:
    return mark("right: ours", THEME.faint, ls="--", lw=1.4)


def _compared(groups: Sequence[tuple[str, Table]], title: str, exact: str, seen: str, up: str) -> Figure:
    """A row a group: the paper's reading, ours, and both beside the paper's uSS."""
    figure, panels = frame(len(groups), 3, title, tall=2.25, sharex=True)
    for line, (name, rows) in zip(panels, groups, strict=True):
        line[1].sharey(line[0])
        for axes, reading in zip(line[:2], READINGS, strict=True):
            mine = rows.where(reading=reading)
            lines(axes, mine, "epsilon", exact)
            points(axes, mine, "epsilon", seen)
            entitle(axes, name if reading == "paper" else WORDS[reading])
        _beside(line[2], rows, exact)
        entitle(line[2], "over the paper's uSS")
    logarithmic(panels, "y")
    for line in panels:
        line[2].set_yticks([0.25, 0.5, 1, 2, 5, 10], labels=["¼", "½", "1", "2", "5", "10"])
        line[2].set_ylim(0.25, 12)
    label(panels, _BUDGET, up)
    return figure


def _beside(axes: Axes, rows: Table, exact: str) -> None:
    base = rows.where(reading="paper", mechanism="uSS").numbers(exact)
    axes.axhline(1, color=THEME.truth, lw=2.0, zorder=0)
    for reading, style in zip(READINGS, ("-", "--"), strict=True):
        for name, colour in COLOURS.items():
            mine = rows.where(reading=reading, mechanism=name)
            axes.plot(mine.numbers("epsilon"), mine.numbers(exact) / base, style, color=colour, lw=1.3)


def shares(table: Table) -> Figure:
    """Figure 5."""
    epsilon = table.column("epsilon")[0]
    title = f"Error over the share of values that are sensitive, ε = {epsilon:g}; at 100 % it is plain LDP"
    return _readings(table, title, "share", "mse_expected", "mse", "share of sensitive values, %", "MSE", _percents)


def absolute(table: Table) -> Figure:
    """Figure 8."""
    title = f"Sum of absolute errors: points are averages of {table.column('runs')[0]} runs, lines the exact law"
    return _readings(table, title, "epsilon", "mae_expected", "mae", _BUDGET, "MAE")


def _percents(axes: Axes) -> None:
    axes.set_xticks([0.1, 0.4, 0.7, 1.0], labels=["10", "40", "70", "100"])
    axes.axvline(1.0, color=THEME.truth, lw=2.0, zorder=0)


def _readings(
    table: Table, title: str, x: str, exact: str, seen: str, across: str, up: str, finish: Callable[[Axes], object] = id
) -> Figure:
    """Two populations a row, each as in the paper and as ours."""
    names = list(dict.fromkeys(table.column("people")))
    figure, panels = frame(-(-len(names) // 2), 4, title, tall=2.5, sharex=True)
    for i, name in enumerate(names):
        pair = panels[i // 2, 2 * (i % 2) : 2 * (i % 2) + 2]
        pair[1].sharey(pair[0])
        for axes, reading in zip(pair, READINGS, strict=True):
            rows = table.where(people=name, reading=reading)
            lines(axes, rows, x, exact)
            points(axes, rows, x, seen)
            entitle(axes, called(name) if reading == "paper" else WORDS[reading])
            finish(axes)
    for axes in panels.ravel()[2 * len(names) :]:
        axes.set_visible(False)
    logarithmic(panels.ravel()[None, : 2 * len(names)], "y")
    label(panels, across, up)
    legend(figure)
    return figure


def tops(table: Table) -> Figure:
    """Figure 9."""
    names = list(dict.fromkeys(table.column("people")))
    figure, panels = frame(
        len(names), 4, "The 30 most frequent values: F1 and NDCG", tall=2.1, sharex=True, sharey=True
    )
    for line, name in zip(panels, names, strict=True):
        cells = [(measure, reading) for measure in ("f1", "ndcg") for reading in READINGS]
        for axes, (measure, reading) in zip(line, cells, strict=True):
            rows = table.where(people=name, reading=reading)
            lines(axes, rows, "epsilon", measure)
            points(axes, rows, "epsilon", measure)
            short = f"{measure.upper()}, {reading}"
            entitle(axes, f"{called(name)}: {short}" if axes is line[0] else short)
            axes.set_ylim(-0.03, 1.03)
    label(panels, _BUDGET, "")
    legend(figure)
    return figure
