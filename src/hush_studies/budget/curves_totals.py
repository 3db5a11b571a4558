"""Figures of CAPRI: 4.1, 5.7 to 5.9, 6.6 and 6.7."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush_studies.budget import bound
from hush_studies.budget.people import called
from hush_studies.budget.strokes import BUDGET, PROTOCOL_SIGNS, PROTOCOLS, WAY_SIGNS, WAYS, legend, ticks
from hush_studies.budget.totals import PANELS, THESIS
from hush_studies.frame import THEME, below, entitle, frame, label, logarithmic, mark, shades
from hush_studies.study import Table

_BOUNDS = {"chebyshev": THEME.series[1], "cantelli": THEME.series[2], "exact": THEME.series[0]}
_METRICS = {"tp": "Pr[TP] ≥", "fp": "Pr[FP] <"}


def bounds(table: Table) -> Figure:
    """Figure 4.1: above, what the thesis prints beside what is right; below, curves, on a scale that shows both."""
    figure, panels = frame(2, 2, f"How likely an overload is missed: N = {bound.N}, two values, GRR", tall=2.9)
    panels[0, 1].remove()
    panels[0, 0].set_subplotspec(panels[0, 0].get_gridspec()[0, :])
    _printed(panels[0, 0], table.where(panel="a"))
    for axes, (panel, (cap, total)) in zip(panels[1], list(bound.CURVES.items())[:2], strict=True):
        rows = table.where(panel=panel)
        at = rows.numbers("epsilon")
        for name, colour in _BOUNDS.items():
            axes.plot(at, np.minimum(rows.numbers(name), 1.0), color=colour, lw=1.6)
        seen, noise = rows.numbers("simulated"), 2 * rows.numbers("simulated_stderr")
        shown = np.where(seen > 0, seen, np.nan)
        low = np.minimum(noise, 0.9 * seen)
        axes.errorbar(at, shown, yerr=[low, noise], fmt="o", color=_BOUNDS["exact"], ms=4, elinewidth=1.0)
        axes.set_ylim(0.3 / float(rows.numbers("runs")[0]), 1.6)
        entitle(axes, f"{panel}: cap {cap}, total {total}")
        axes.set_xlabel(BUDGET, color=THEME.faint, fontsize=9.5)
    logarithmic(panels[1:], "y")
    panels[1, 1].sharey(panels[1, 0])
    panels[1, 0].set_ylabel("Pr[FN]", color=THEME.faint, fontsize=9.5)
    below(
        figure,
        [
            mark("Chebyshev, cut at 1 below", _BOUNDS["chebyshev"], lw=2),
            mark("Cantelli", _BOUNDS["cantelli"], lw=2),
            mark("exact", _BOUNDS["exact"], lw=2),
            mark("simulated, ± 2 standard errors", _BOUNDS["exact"], marker="o", ms=4, lw=0),
            mark("hollow: as printed", THEME.faint, marker="o", mfc=THEME.ground, ms=8, lw=0),
        ],
    )
    return figure


def _printed(axes: Axes, rows: Table) -> None:
    """The five cases of panel a, and the one of panel d, in which nothing can be missed."""
    names = [f"cap {cap}, total {total}, ε = {epsilon:g}" for cap, total, epsilon in bound.PRINTED]
    said = np.array([[float(each) for each in pair] for pair in bound.PRINTED.values()]).T
    at = np.arange(len(names))
    for column, told, shift in zip(("chebyshev", "exact"), said, (-0.17, 0.17), strict=True):
        colour, found = _BOUNDS[column], rows.numbers(column)
        axes.hlines(at + shift, np.minimum(found, told), np.maximum(found, told), color=colour, lw=1.4, alpha=0.5)
        axes.plot(found, at + shift, "o", color=colour, ms=6)
        axes.plot(told, at + shift, "o", color=colour, mfc="none", mew=1.5, ms=9.5)
    cap, total = bound.CURVES["d"]
    axes.text(0.0, len(at), "d: no overload, so none can be missed; the printed bound divides by zero", va="center",
              fontsize=9.5, color=THEME.faint, backgroundcolor=THEME.ground)  # fmt: skip
    axes.set_yticks([*at, len(at)], labels=[*names, f"cap {cap}, total {total}"])
    axes.tick_params(axis="y", labelcolor=THEME.ink)
    axes.set(ylim=(len(at) + 0.5, -0.6), xlim=(-0.03, 1.18))
    axes.set_xlabel("Pr[FN], and Chebyshev's bound on it", color=THEME.faint, fontsize=9.5)
    entitle(axes, "a: as printed (hollow), and as it is (filled)")


def thresholds(table: Table) -> Figure:
    """Figure 5.7."""
    cases = list(dict.fromkeys(zip(table.column("people"), table.column("metric"), strict=True)))
    figure, panels = frame(2, 2, "The budget over the threshold: GRR, several caps", tall=2.8)
    for axes, (people, metric) in zip(panels.ravel(), cases, strict=True):
        rows = table.where(people=people, metric=metric)
        caps = list(dict.fromkeys(rows.column("cap")))
        total = rows.column("total")[0]
        for cap, colour in shades(caps).items():
            mine = rows.where(cap=cap)
            axes.plot(mine.numbers("threshold"), mine.numbers("epsilon"), color=colour, lw=1.5, label=f"cap {cap:,}")
            axes.plot(mine.numbers("threshold"), mine.numbers("epsilon_capri"), "o", color=colour, ms=5)
        axes.set_ylim(bottom=-0.03)
        axes.legend(
            frameon=False, fontsize=9, labelcolor=THEME.faint, loc="upper left" if metric == "tp" else "upper right"
        )
        entitle(axes, f"{called(people)}, total {total:,.0f}")
        axes.set_xlabel(f"threshold: {_METRICS[metric]}", color=THEME.faint, fontsize=9.5)
    for axes in panels[:, 0]:
        axes.set_ylabel(BUDGET, color=THEME.faint, fontsize=9.5)
    below(
        figure,
        [mark("exact", THEME.faint, lw=1.5), mark("CAPRI, 50,000 runs a budget", THEME.faint, marker="o", ms=5, lw=0)],
    )
    return figure


def repeats(table: Table) -> Figure:
    """Figure 5.8."""
    numbers = list(dict.fromkeys(table.column("num_runs")))
    columns = min(3, len(numbers))
    title = "What CAPRI answers, 100 times: bars are counts, lines their exact law"
    figure, panels = frame(-(-len(numbers) // columns), columns, title, tall=2.5, sharex=True, sharey=True)
    for axes, runs in zip(panels.ravel(), numbers, strict=True):
        rows = table.where(num_runs=runs)
        at = rows.numbers("epsilon")
        axes.bar(at, rows.numbers("count"), 0.008, color=THEME.series[0], alpha=0.75)
        axes.plot(at, rows.numbers("expected"), "_", color=THEME.ink, ms=10, mew=1.8)
        entitle(axes, f"num_runs = {runs:,}")
        axes.set_ylim(0, 100)
        axes.set_xlim(0.53, 0.73)
        ticks(axes, (0.55, 0.6, 0.65, 0.7))
    label(panels, "selected ε", "answers of 100")
    below(
        figure,
        [
            mark("seen", THEME.series[0], lw=6, alpha=0.75),
            mark("expected", THEME.ink, marker="_", ms=11, mew=1.8, lw=0),
        ],
    )
    return figure


def protocols(table: Table) -> Figure:
    """Figure 5.9."""
    n, total = table.column("n")[0], table.column("total")[0]
    figure, panels = frame(2, 2, f"Protocols compared: {n} clients, total {total:,.0f}, exact budgets", tall=2.7)
    names = list(dict.fromkeys(table.column("protocol")))
    for axes, (panel, (metric, caps, levels)) in zip(panels.ravel(), PANELS.items(), strict=True):
        for name in names:
            rows = table.where(panel=panel, protocol=name)
            x = rows.numbers("threshold" if len(caps) == 1 else "cap")
            style = "-" if name in THESIS else "--"
            axes.plot(
                x, rows.numbers("epsilon"), style, color=PROTOCOLS[name], marker=PROTOCOL_SIGNS[name], ms=4.5, lw=1.3
            )
        sign = _METRICS[metric]
        entitle(axes, f"{panel}: cap {caps[0]:,}" if len(caps) == 1 else f"{panel}: {sign} {levels[0]:g}")
        axes.set_xlabel(f"threshold: {sign}" if len(caps) == 1 else "cap", color=THEME.faint, fontsize=9.5)
        axes.set_ylim(bottom=0)
        if len(caps) > 1:
            axes.set_xticks(caps, labels=[f"{cap:,}" for cap in caps])
    for axes in panels[:, 0]:
        axes.set_ylabel(BUDGET, color=THEME.faint, fontsize=9.5)
    legend(figure, names, PROTOCOLS, PROTOCOL_SIGNS, mark("dashed: ours", THEME.faint, ls="--", lw=1.3))
    return figure


def ways(table: Table) -> Figure:
    """Figure 6.6: budgets; how far they are from the exact ones; and by how much the wish is met or missed."""
    names, at = list(dict.fromkeys(table.column("protocol"))), sorted(set(table.numbers("threshold").tolist()))
    step = min(np.diff(at)) if len(at) > 1 else 0.1
    searched = [way for way in WAYS if way != "exact"]
    figure, panels = frame(3, len(names), _title(table, "budgets"), tall=2.0, sharex=True, sharey="row")
    for column, protocol in zip(panels.T, names, strict=True):
        exact = table.where(protocol=protocol, method="exact")
        wide = exact.numbers("threshold")
        column[0].hlines(exact.numbers("epsilon"), wide - 0.4 * step, wide + 0.4 * step, color=WAYS["exact"], lw=1.4)
        for i, way in enumerate(searched):
            rows = table.where(protocol=protocol, method=way)
            x = rows.numbers("threshold") + 0.22 * step * (i - (len(searched) - 1) / 2)
            style: dict[str, Any] = {"color": WAYS[way], "marker": WAY_SIGNS[way], "ms": 5.5, "lw": 0}
            column[0].plot(x, rows.numbers("epsilon"), **style)
            for axes, off in (
                (column[1], rows.numbers("epsilon") - exact.numbers("epsilon")),
                (column[2], 100 * (rows.numbers("probability") - rows.numbers("threshold"))),
            ):
                axes.plot(x, off, **style)
                axes.vlines(x, 0, off, color=WAYS[way], lw=1.2, alpha=0.6)
        column[2].axhspan(-100, 0, color=THEME.series[1], alpha=0.07, lw=0)
        for axes in column[1:]:
            axes.axhline(0, color=WAYS["exact"], lw=1.2)
        column[0].set_xlim(at[0] - 0.6 * step, at[-1] + 0.6 * step)
        entitle(column[0], protocol)
        ticks(column[2], at)
    off = 100 * (table.numbers("probability") - table.numbers("threshold"))
    room = 0.12 * float(off.max() - off.min()) + 0.05
    panels[2, 0].set_ylim(min(float(off.min()), 0.0) - room, max(float(off.max()), 0.0) + room)
    label(panels, "threshold: Pr[TP] ≥", BUDGET)
    panels[1, 0].set_ylabel("ε − exact ε", color=THEME.faint, fontsize=9.5)
    panels[2, 0].set_ylabel("Pr[TP] − threshold, points", color=THEME.faint, fontsize=9.5)
    missed = mark("the wish is missed", THEME.series[1], lw=7, alpha=0.15)
    legend(figure, WAYS, WAYS, WAY_SIGNS, missed)
    return figure


def efforts(table: Table) -> Figure:
    """Figure 6.7: time, and collections."""
    names = list(dict.fromkeys(table.column("protocol")))
    figure, panels = frame(1, len(names), _title(table, "measured time"), tall=3.2, sharex=True, sharey=True)
    for axes, protocol in zip(panels[0], names, strict=True):
        for way, colour in WAYS.items():
            rows = table.where(protocol=protocol, method=way)
            axes.plot(
                rows.numbers("threshold"), rows.numbers("seconds"), color=colour, marker=WAY_SIGNS[way], ms=5, lw=1.2
            )
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_yticks([0.01, 0.1, 1, 10], labels=["10 ms", "100 ms", "1 s", "10 s"])
        entitle(axes, protocol)
        ticks(axes, dict.fromkeys(table.numbers("threshold")))
    label(panels, "threshold: Pr[TP] ≥", "")
    legend(figure, WAYS, WAYS, WAY_SIGNS)
    return figure


def _title(table: Table, what: str) -> str:
    return f"CAPRI, CAPRI-R, Bayesian optimisation and exact probabilities: {what}, {table.column('n')[0]:,} clients"
