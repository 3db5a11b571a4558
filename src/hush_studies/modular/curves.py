"""Figures of errors and bits over the budget: 1, 2, 4, 5 and 7."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hush_studies.frame import THEME, Panels, below, entitle, frame, label, logarithmic, mark, shades
from hush_studies.modular.settings import MIDDLE, PEOPLE, PROTOCOLS
from hush_studies.modular.strokes import BUDGET, CALLED, COLOURS, SIGNS, beside, legend, lines, points, ticks
from hush_studies.study import Table


def _titled(k: int, crowd: str) -> str:
    return f"{CALLED[crowd]}, k = {k:,}"


def first(table: Table) -> Figure:
    """Figure 1: errors, and errors beside those of SS."""
    k, runs = table.column("k")[0], table.column("runs")[0]
    title = f"Mean squared error, k = {k:,}: points are averages of {runs} trials, lines the exact variance"
    figure, panels = frame(2, 2, title, tall=2.6, sharex=True)
    _averages(panels, table, k)
    legend(figure, _claimed())
    return figure


def _averages(panels: Panels, table: Table, k: int) -> None:
    """Above, errors over the budget; below, over that of SS, where one sees how close the others are."""
    for at, crowd in enumerate(PEOPLE):
        rows = table.where(people=crowd)
        lines(panels[0, at], rows, "mse_expected")
        points(panels[0, at], rows, "mse")
        entitle(panels[0, at], _titled(k, crowd))
        panels[1, at].axhline(1.3, color=THEME.ink, ls="--", lw=1.0)
        beside(panels[1, at], rows, "mse_expected", "mse")
        panels[1, at].set_ylim(0.95, 1.35)
        entitle(panels[1, at], "over that of SS")
    logarithmic(panels[:1], "y")
    panels[0, 1].sharey(panels[0, 0])
    panels[1, 1].sharey(panels[1, 0])
    ticks(panels, table.column("epsilon"))
    label(panels, BUDGET, "MSE")
    panels[1, 0].set_ylabel("ratio", color=THEME.faint, fontsize=9.5)


def _claimed() -> Line2D:
    return mark("1.3, as claimed", THEME.ink, ls="--", lw=1.0)


def bits(table: Table) -> Figure:
    """Figure 2."""
    sizes = list(dict.fromkeys(table.column("k")))
    figure, panels = frame(1, len(sizes), "Bits of a report: SS, and MSS for moduli from different seeds", tall=3.3)
    for axes, k in zip(panels[0], sizes, strict=True):
        rows = table.where(k=k)
        lines(axes, rows, "bits", ("SS",), marker="o", ms=4)
        mine = rows.where(protocol="MSS")
        epsilons = np.array(sorted(set(mine.column("epsilon"))))
        found = np.array([mine.where(epsilon=e).numbers("bits") for e in epsilons])
        style: dict[str, Any] = {
            "color": COLOURS["MSS"],
            "marker": "D",
            "ms": 4,
            "lw": 1.3,
            "elinewidth": 1.0,
            "capsize": 2,
        }
        axes.errorbar(epsilons, found.mean(axis=1), yerr=found.std(axis=1), **style)
        for column, look in (("bits_printed", "--"), ("bits_abstract", ":")):
            told = [mine.where(epsilon=e).numbers(column).mean() for e in epsilons]
            axes.plot(epsilons, told, look, color=COLOURS["MSS"], lw=1.3)
        entitle(axes, f"k = {k:,}; {found.shape[1]} choices of moduli")
    logarithmic(panels, "y")
    ticks(panels, table.column("epsilon"))
    label(panels, BUDGET, "bits")
    legend(
        figure,
        mark("MSS by table 1, without 1/ℓ", COLOURS["MSS"], ls="--"),
        mark("MSS by the abstract", COLOURS["MSS"], ls=":"),
        names=("SS", "MSS"),
    )
    return figure


def both(table: Table) -> Figure:
    """Figure 4."""
    sizes = list(dict.fromkeys(table.column("k")))
    title = f"Analytical and empirical error of SS and MSS, averages of {table.column('runs')[0]} trials"
    figure, panels = frame(2, 2, title, tall=2.6, sharex=True, sharey=True)
    for line, k in zip(panels, sizes, strict=True):
        for axes, crowd in zip(line, PEOPLE, strict=True):
            rows = table.where(k=k, people=crowd)
            lines(axes, rows, "mse_expected", ("SS", "MSS"))
            lines(axes, rows, "mse_printed", ("MSS",), ls=":", lw=1.6)
            points(axes, rows, "mse", ("SS", "MSS"))
            entitle(axes, _titled(k, crowd))
    logarithmic(panels, "y")
    ticks(panels, table.column("epsilon"))
    label(panels, BUDGET, "MSE")
    legend(figure, mark("equation 3 as printed", COLOURS["MSS"], ls=":", lw=1.6), names=("SS", "MSS"))
    return figure


def numbers(table: Table) -> Figure:
    """Figure 5."""
    choices = list(dict.fromkeys(table.column("choice")))
    best = table.where(choice="OPT")
    colours = shades([each for each in choices if each != "OPT"]) | {"OPT": THEME.ink}
    figure, panels = frame(1, 3, f"MSS with ℓ moduli, k = {MIDDLE:,}, Zipf", tall=3.3)
    for axes, column, name in zip(panels[0], ("mse_expected", "bits", "dra"), ("MSE", "bits", "DRA"), strict=True):
        for choice in choices:
            rows = table.where(choice=choice)
            base = np.array([_of(best, e, column) for e in rows.column("epsilon")])
            look = {"color": colours[choice], "lw": 1.4, "ls": "--" if choice == "OPT" else "-"}
            axes.plot(rows.numbers("epsilon"), rows.numbers(column) / base, **look)
            if column == "mse_expected":
                noise = 2 * rows.numbers("mse_stderr") / base
                dots: dict[str, Any] = {"color": colours[choice], "lw": 0, "marker": "o", "ms": 3.5, "elinewidth": 0.9}
                axes.errorbar(rows.numbers("epsilon"), rows.numbers("mse") / base, yerr=noise, **dots)
        entitle(axes, f"{name} over that of OPT")
    ticks(panels, table.column("epsilon"))
    label(panels, BUDGET, "")
    marks = [mark(each.replace("=", " = "), colours[each], lw=1.6) for each in choices if each != "OPT"]
    below(figure, [*marks, mark("OPT: the usual choice", THEME.ink, ls="--", lw=1.6)])
    return figure


def _of(rows: Table, epsilon: float, column: str) -> float:
    return float(rows.where(epsilon=epsilon).numbers(column)[0])


def spreads(table: Table) -> Figure:
    """Figure 7."""
    single = Table(table.columns, [row for row in table.rows if row[-1] is not None])
    means = Table(table.columns, [row for row in table.rows if row[-1] is None])
    sizes, runs = list(dict.fromkeys(single.column("k"))), means.column("runs")[0]
    epsilon = single.column("epsilon")[0]
    title = f"Errors of single trials at ε = {epsilon:g}, and averages of {runs} trials, lines the exact variance"
    figure, panels = frame(4, 2, title, tall=2.2)
    for line, k in zip(panels[:2], sizes, strict=True):
        line[1].sharex(line[0])
        for axes, crowd in zip(line, PEOPLE, strict=True):
            _spread(axes, single.where(k=k, people=crowd))
            far = single.where(k=k, people=crowd, protocol="GRR").numbers("mse")
            entitle(axes, f"{_titled(k, crowd)}; GRR is far to the right, its median {1e5 * np.median(far):,.0f}")
            axes.set_xlabel("MSE of a trial · 10⁵", color=THEME.faint, fontsize=9.5)
        line[0].set_ylabel("share of trials", color=THEME.faint, fontsize=9.5)
    _averages(panels[2:], means, MIDDLE)
    legend(figure, _claimed())
    return figure


def _spread(axes: Axes, rows: Table) -> None:
    """The share of trials up to each error, from 0 to 1, with marks at quarters."""
    near = {name: 1e5 * rows.where(protocol=name).numbers("mse") for name in PROTOCOLS if name != "GRR"}
    ends = min(each.min() for each in near.values()), max(each.max() for each in near.values())
    room = 0.03 * (ends[1] - ends[0])
    for name, found in near.items():
        share = np.arange(1, found.size + 1) / found.size
        at = np.concatenate([[ends[0] - room], found, [ends[1] + room]])
        axes.step(at, [0.0, *share, 1.0], where="post", color=COLOURS[name], lw=1.4)
        quarters = [np.searchsorted(share, q) for q in (0.25, 0.5, 0.75)]
        axes.plot(found[quarters], share[quarters], SIGNS[name], color=COLOURS[name], ms=4.5)
    axes.set_ylim(-0.03, 1.03)
