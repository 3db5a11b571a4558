"""Figures of Optimus: 5.1 to 5.6, what a collection costs, and the algorithms as printed."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush_studies.budget.cells import METHODS as NAMES
from hush_studies.budget.people import called
from hush_studies.budget.strokes import BUDGET, METHOD_SIGNS, METHODS, legend, ticks
from hush_studies.frame import THEME, below, entitle, frame, label, logarithmic, mark, shades
from hush_studies.study import Table

_TAU = "wanted coefficient τ"


def budgets(table: Table) -> Figure:
    """Figures 5.1 and 5.2: above, the budgets; below, how they differ from ours."""
    protocols, people = list(dict.fromkeys(table.column("protocol"))), str(table.column("people")[0])
    title = f"{called(people)}: the smallest ε with Pr[τ as wanted] ≥ {table.column('pi')[0]:g}, by six methods"
    figure, panels = frame(2, len(protocols), title, tall=2.6, sharex=True, sharey="row")
    for column, protocol in zip(panels.T, protocols, strict=True):
        rows = table.where(protocol=protocol)
        ours = rows.where(method="direct")
        at, middle = ours.numbers("tau"), ours.numbers("epsilon")
        for name in NAMES:
            mine = rows.where(method=name)
            style = {"color": METHODS[name], "marker": METHOD_SIGNS[name], "ms": 5}
            column[0].plot(mine.numbers("tau"), mine.numbers("epsilon"), lw=1.2, **style)
            if name != "direct":
                shift = 0.12 * (at[1] - at[0]) * (NAMES.index(name) - 2)
                column[1].plot(at + shift, mine.numbers("epsilon") - middle, lw=0, **style)
        column[1].vlines(
            at, ours.numbers("low") - middle, ours.numbers("high") - middle, color=THEME.truth, lw=17, zorder=0
        )
        column[1].axhline(0, color=THEME.ink, lw=1.2)
        column[1].set_xlim(at[0] - 0.5 * (at[1] - at[0]), at[-1] + 0.5 * (at[1] - at[0]))
        entitle(column[0], protocol)
        ticks(column[1], at)
    label(panels, _TAU, BUDGET)
    panels[1, 0].set_ylabel("ε − ε of direct", color=THEME.faint, fontsize=9.5)
    for axes in panels[0]:
        axes.set_ylim(bottom=0)
    interval = mark("where direct says the smallest ε lies, 95 %", THEME.truth, lw=7)
    legend(figure, NAMES, METHODS, METHOD_SIGNS, interval)
    return figure


def times(table: Table) -> Figure:
    """Figures 5.3 and 5.4: a row a method; what was measured, and what it would take to make every report."""
    protocols, people = list(dict.fromkeys(table.column("protocol"))), str(table.column("people")[0])
    taus = sorted(set(table.column("tau")))
    title = f"{called(people)}: time to find the budget, measured; and if every report were made"
    figure, panels = frame(1, len(protocols), title, tall=3.6, sharex=True, sharey=True)
    at, colours = np.arange(len(NAMES)), shades(taus)
    for axes, protocol in zip(panels[0], protocols, strict=True):
        for place, name in zip(at, NAMES, strict=True):
            rows = table.where(protocol=protocol, method=name)
            shift = 0.13 * (np.array([taus.index(tau) for tau in rows.column("tau")]) - (len(taus) - 1) / 2)
            shown = [colours[tau] for tau in rows.column("tau")]
            real, drawn = rows.numbers("seconds_by_reports"), rows.numbers("seconds")
            axes.hlines(place + shift, drawn, real, color=THEME.truth, lw=1.2, zorder=1)
            axes.scatter(drawn, place + shift, c=shown, s=26, zorder=3, linewidths=0)
            axes.scatter(real, place + shift, edgecolors=shown, facecolors=THEME.ground, s=26, zorder=3, linewidths=1.4)
        entitle(axes, protocol)
        axes.grid(visible=False, axis="y")
        axes.set_yticks(at, labels=NAMES)
        axes.tick_params(axis="y", labelcolor=THEME.ink, labelsize=10)
        axes.set_ylim(len(at) - 0.4, -0.6)
    logarithmic(panels, "x")
    clock = {0.01: "10 ms", 1: "1 s", 60: "1 min", 3600: "1 h"}
    low, high = panels[0, 0].get_xlim()
    seen = {second: text for second, text in clock.items() if low <= second <= high}
    for axes in panels[0]:
        axes.set_xticks(list(seen), labels=list(seen.values()))
    marks = [mark(f"τ ≥ {tau:g}", colours[tau], marker="o", ms=5.5, lw=0) for tau in taus]
    hollow = mark("hollow: if every report were made", THEME.faint, marker="o", mfc=THEME.ground, ms=5.5, lw=0)
    below(figure, [*marks, mark("measured", THEME.faint, marker="o", ms=5.5, lw=0), hollow])
    return figure


def certainties(table: Table) -> Figure:
    """Figure 5.5."""
    protocols = list(dict.fromkeys(table.column("protocol")))
    taus = list(dict.fromkeys(table.column("tau")))
    title = "The budget that BS finds as the wanted probability π grows; rings are direct"
    figure, panels = frame(1, len(protocols), title, tall=3.3, sharex=True, sharey=True)
    colours = shades(taus)
    for axes, protocol in zip(panels[0], protocols, strict=True):
        for tau in taus:
            rows = table.where(protocol=protocol, tau=tau)
            for name, style in (("BS", "-o"), ("direct", "o")):
                mine = rows.where(method=name)
                how = {"ms": 9, "mfc": "none", "mew": 1.2} if name == "direct" else {"ms": 4}
                axes.plot(mine.numbers("pi"), mine.numbers("epsilon"), style, color=colours[tau], lw=1.3, **how)
        entitle(axes, protocol)
    panels[0, 0].set_ylim(bottom=0)
    label(panels, "wanted probability π", BUDGET)
    below(figure, [mark(f"τ ≥ {tau:g}", colours[tau], marker="o", ms=4, lw=1.3) for tau in taus])
    return figure


def parameters(table: Table) -> Figure:
    """Figure 5.6: the budget, whether it is enough, and what the search costs."""
    titles = {"g": "RBS: g", "C": "DBS: C", "iter_num": "Bayes: iter_num", "init_points": "Bayes: init_points"}
    row = dict(zip(table.columns, table.rows[0], strict=True))
    title = f"{called(str(row['people']))}, {row['protocol']}, τ ≥ {row['tau']:g}: the methods’ own parameters"
    figure, panels = frame(3, len(titles), title, tall=2.0, sharex="col", sharey="row")
    for column, (name, text) in zip(panels.T, titles.items(), strict=True):
        rows = table.where(parameter=name)
        method = str(rows.column("method")[0])
        style: dict[str, Any] = {"color": METHODS[method], "marker": METHOD_SIGNS[method], "ms": 4.5, "lw": 1.2}
        at, noise = rows.numbers("value"), 2 * rows.numbers("share_stderr")
        column[0].plot(at, rows.numbers("epsilon"), **style)
        column[1].axhline(float(row["pi"] or 0), color=THEME.ink, ls="--", lw=1.2)
        column[1].errorbar(at, rows.numbers("share"), yerr=noise, elinewidth=1.0, **style)
        column[2].plot(at, rows.numbers("runs") / 1000, **style)
        entitle(column[0], text)
        column[2].set_xlabel(name, color=THEME.faint, fontsize=9.5)
        if name == "C":
            column[0].set_xscale("log")
            column[0].set_xticks([1e-6, 1e-3, 1, 1e3, 1e6], labels=["$10^{-6}$", "$10^{-3}$", "1", "$10^3$", "$10^6$"])
            column[0].minorticks_off()
    middle = float(np.median(table.numbers("epsilon")))
    low, high = panels[0, 0].get_ylim()
    panels[0, 0].set_ylim(min(low, 0.9 * middle), max(high, 1.1 * middle))
    panels[2, 0].set_ylim(0, 1.08 * float(table.numbers("runs").max()) / 1000)
    for axes, text in zip(panels[:, 0], (BUDGET, "share that keeps τ", "thousand collections"), strict=True):
        axes.set_ylabel(text, color=THEME.faint, fontsize=9.5)
    wanted = mark(f"wanted, π = {row['pi']:g}", THEME.ink, ls="--", lw=1.2)
    legend(
        figure, ("RBS", "DBS", "Bayes"), METHODS, METHOD_SIGNS, wanted, mark("bars: ± 2 standard errors", THEME.faint)
    )
    return figure


def collections(table: Table) -> Figure:
    """What one collection costs."""
    people = list(dict.fromkeys(table.column("people")))
    figure, panels = frame(1, len(people), "One collection: every report made, or drawn from its exact law", tall=3.2)
    for axes, name in zip(panels[0], people, strict=True):
        rows = table.where(people=name)
        at = np.arange(len(rows.rows))
        real, drawn = 1000 * rows.numbers("seconds_by_reports"), 1000 * rows.numbers("seconds_drawn")
        axes.plot(real, at, "o", color=THEME.series[1], ms=8)
        axes.plot(drawn, at, "o", color=THEME.series[0], ms=8)
        axes.hlines(at, drawn, real, color=THEME.truth, lw=2, zorder=0)
        for height, many in zip(at, real / drawn, strict=True):
            middle = np.sqrt(drawn[height] * real[height])
            axes.annotate(f"{many:,.0f} times", (middle, height), (0, 5), textcoords="offset points", ha="center",
                          fontsize=9, color=THEME.faint)  # fmt: skip
        axes.set_yticks(at, labels=rows.column("protocol"))
        axes.set_ylim(len(at) - 0.5, -0.6)
        row = dict(zip(rows.columns, rows.rows[0], strict=True))
        entitle(axes, f"{called(name)}, {row['n']:,} people, k = {row['k']}")
    logarithmic(panels, "x")
    label(panels, "milliseconds", "")
    marks = [("drawn", THEME.series[0]), ("every report made, tallied and estimated", THEME.series[1])]
    below(figure, [mark(text, colour, marker="o", ms=7, lw=0) for text, colour in marks])
    return figure


def algorithms(table: Table) -> Figure:
    """The algorithms as printed, and corrected."""
    title = "Algorithms 1 to 5 as printed (hollow), and corrected (filled)"
    figure, panels = frame(1, 2, title, tall=4.0, sharey=True)
    at = np.arange(len(table.rows))
    for axes, name in zip(panels[0], ("epsilon", "share"), strict=True):
        printed, right = table.numbers(f"{name}_printed"), table.numbers(f"{name}_corrected")
        axes.hlines(at, np.fmin(printed, right), np.fmax(printed, right), color=THEME.truth, lw=2, zorder=0)
        axes.plot(right, at, "o", color=THEME.series[0], ms=7)
        axes.plot(printed, at, "o", color=THEME.series[1], mfc="none", mew=1.8, ms=9)
        axes.set_yticks(at, labels=table.column("algorithm"))
        axes.set_ylim(len(at) - 0.5, -0.5)
    _remarks(panels[0, 0], table)
    panels[0, 0].set_xlim(-1.5, 22)
    panels[0, 1].set_xlim(-0.05, 1.05)
    panels[0, 1].plot(table.numbers("pi"), at, "|", color=THEME.ink, ms=16, mew=1.6)
    entitle(panels[0, 0], "budget that is returned")
    entitle(panels[0, 1], "share of collections that keep the threshold")
    label(panels, "", "")
    panels[0, 0].set_xlabel(BUDGET, color=THEME.faint, fontsize=9.5)
    panels[0, 1].set_xlabel("share", color=THEME.faint, fontsize=9.5)
    below(
        figure,
        [
            mark("as printed", THEME.series[1], marker="o", mfc="none", mew=1.8, ms=9, lw=0),
            mark("corrected", THEME.series[0], marker="o", ms=7, lw=0),
            mark("wanted, π", THEME.ink, marker="|", ms=14, mew=1.6, lw=0),
        ],
    )
    return figure


def _remarks(axes: Axes, table: Table) -> None:
    """Where no budget is returned, why."""
    words = {
        "BS, no answer": "corrected: none",
        "RBS, g = 2": "printed: never ends",
        "MPass, no answer": "printed: fails; corrected: none",
    }
    for height, name in enumerate(table.column("algorithm")):
        if name in words:
            x = 19 if name == "BS, no answer" else 8
            axes.text(
                x, height, words[name], fontsize=9, color=THEME.faint, va="center", ha="right" if x > 10 else "left"
            )
