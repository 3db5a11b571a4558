"""Figures of CAPRI: 4.1, 5.7 to 5.9, 6.6 and 6.7."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from hush.reproduce.budget import bound
from hush.reproduce.budget.people import called
from hush.reproduce.budget.strokes import BUDGET, PROTOCOL_SIGNS, PROTOCOLS, WAY_SIGNS, WAYS, legend, ticks
from hush.reproduce.budget.totals import PANELS, THESIS
from hush.reproduce.refined.frame import THEME, below, entitle, frame, label, mark, shades
from hush.reproduce.study import Table

_BOUNDS = {"chebyshev": THEME.series[1], "cantelli": THEME.series[2], "exact": THEME.series[0]}
_METRICS = {"tp": "Pr[TP] ≥", "fp": "Pr[FP] <"}


def bounds(table: Table) -> Figure:
    """Figure 4.1."""
    figure, panels = frame(2, 2, f"How likely an overload is missed: N = {bound.N}, two values, GRR", tall=2.7)
    first = table.where(panel="a")
    names = [f"{cap} / {total} / {epsilon:g}" for cap, total, epsilon in bound.PRINTED]
    at, axes = np.arange(len(names)), panels[0, 0]
    axes.barh(at - 0.2, first.numbers("chebyshev"), 0.36, color=_BOUNDS["chebyshev"], alpha=0.85)
    axes.barh(at + 0.2, first.numbers("exact"), 0.36, color=_BOUNDS["exact"])
    said = np.array([[float(each) for each in pair] for pair in bound.PRINTED.values()])
    axes.plot(said[:, 0], at - 0.2, "|", color=THEME.ink, ms=13, mew=2)
    axes.plot(said[:, 1], at + 0.2, "|", color=THEME.ink, ms=13, mew=2)
    axes.set_yticks(at, labels=names)
    axes.set_ylim(len(at) - 0.45, -0.55)
    axes.set_xlim(-0.02, 1.19)
    entitle(axes, "a: cap / total / ε")
    for axes, (panel, (cap, total)) in zip(panels.ravel()[1:], bound.CURVES.items(), strict=True):
        rows = table.where(panel=panel)
        for name, colour in _BOUNDS.items():
            values = np.minimum(rows.numbers(name), 1.0)
            axes.plot(rows.numbers("epsilon"), values, color=colour, lw=1.6)
        axes.plot(rows.numbers("epsilon"), rows.numbers("simulated"), "o", color=_BOUNDS["exact"], ms=4)
        axes.set_ylim(-0.03, 1.05)
        entitle(axes, f"{panel}: cap {cap}, total {total}")
        axes.set_xlabel(BUDGET, color=THEME.faint, fontsize=9.5)
        if cap == total:
            axes.text(1.05, 0.5, "the printed bound divides by zero;\nno false negative is possible", fontsize=9.5,
                      color=THEME.faint, ha="center")  # fmt: skip
    panels[0, 1].set_ylabel("Pr[FN]", color=THEME.faint, fontsize=9.5)
    panels[1, 0].set_ylabel("Pr[FN]", color=THEME.faint, fontsize=9.5)
    below(
        figure,
        [
            mark("printed", THEME.ink, marker="|", ms=12, mew=2, lw=0),
            mark("Chebyshev, cut at 1", _BOUNDS["chebyshev"], lw=2),
            mark("Cantelli", _BOUNDS["cantelli"], lw=2),
            mark("exact; points are simulated", _BOUNDS["exact"], marker="o", ms=4, lw=2),
        ],
    )
    return figure


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
    """Figure 6.6: budgets, and how far they are from the exact ones."""
    names = list(dict.fromkeys(table.column("protocol")))
    figure, panels = frame(2, len(names), _title(table, "budgets"), tall=2.4, sharex=True, sharey="row")
    for column, protocol in zip(panels.T, names, strict=True):
        exact = table.where(protocol=protocol, method="exact").numbers("epsilon")
        for i, (way, colour) in enumerate(WAYS.items()):
            rows = table.where(protocol=protocol, method=way)
            style = {"color": colour, "marker": WAY_SIGNS[way], "ms": 5}
            column[0].plot(rows.numbers("threshold"), rows.numbers("epsilon"), lw=1.2, **style)
            if way != "exact":
                column[1].plot(
                    rows.numbers("threshold") + 0.004 * (i - 1), rows.numbers("epsilon") - exact, lw=0, **style
                )
        column[1].axhline(0, color=THEME.ink, lw=1.2)
        entitle(column[0], protocol)
        ticks(column[1], dict.fromkeys(table.numbers("threshold")))
    label(panels, "threshold: Pr[TP] ≥", BUDGET)
    panels[1, 0].set_ylabel("ε − exact ε", color=THEME.faint, fontsize=9.5)
    legend(figure, WAYS, WAYS, WAY_SIGNS)
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
