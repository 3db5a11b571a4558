"""Figures of curves: attack success and variance over budgets, and how parameters are chosen."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush.mechanisms.adaptive import STRATEGIES
from hush_studies.frame import (
    SIGNS,
    THEME,
    Panels,
    below,
    budget_axis,
    entitle,
    frame,
    label,
    logarithmic,
    mark,
    shades,
    size_bar,
)
from hush_studies.refined.protocols import ADAPTIVE, EPSILON, FAMILIES, PROTOCOLS, K, point
from hush_studies.study import Table

_ASR, _MSE = THEME.series[3], THEME.series[2]
_BEFORE = {adaptive: original for original, adaptive in ADAPTIVE.items()}


def attacks(table: Table) -> Figure:
    """Figure 2."""
    figure, panels = frame(3, 4, "Attack success over the privacy budget", sharex=True, sharey=True)
    for axes, name in zip(panels.ravel(), PROTOCOLS, strict=True):
        _by_size(axes, table.where(protocol=name), "asr")
        entitle(axes, name)
    return _over_budgets(figure, panels, table, "attack success (ASR)")


def variances(table: Table) -> Figure:
    """Figure 3."""
    figure, panels = frame(1, 3, "Variance over the privacy budget", tall=3.6, sharey=True)
    groups = {"unary encoding": ("SUE", "OUE", "AUE"), "local hashing": ("BLH", "OLH", "ALH")}
    groups["histogram encoding"] = ("SHE", "THE", "ATHE")
    for axes, (family, (first, second, adaptive)) in zip(panels[0], groups.items(), strict=True):
        _by_size(axes, table.where(protocol=adaptive), "mse")
        for name, dash in ((first, "--"), (second, ":")):
            rows = table.where(protocol=name, k=_sizes(table)[0])
            axes.plot(rows.numbers("epsilon"), rows.numbers("mse"), dash, color=THEME.series[1], lw=2, label=name)
        axes.plot([], [], color=shades(_sizes(table))[_sizes(table)[0]], label=f"{adaptive}, by k")
        axes.legend(frameon=False, fontsize=9, labelcolor=THEME.ink, loc="lower left")
        entitle(axes, family)
    return _over_budgets(figure, panels, table, "variance of one report (MSE)")


def subsets(table: Table) -> Figure:
    """Figure 4."""
    figure, panels = frame(1, 2, "Variance of subset selection over the privacy budget", tall=3.6, sharey=True)
    for axes, name in zip(panels[0], ("SS", "ASS"), strict=True):
        _by_size(axes, table.where(protocol=name), "mse")
        entitle(axes, name)
    return _over_budgets(figure, panels, table, "variance of one report (MSE)")


def weights(table: Table) -> Figure:
    """Figure 6."""
    title = "What the weight of attack success does, at k = 100 and ε = 4"
    figure, panels = frame(2, 4, title, tall=2.5, sharex=True)
    for i, name in enumerate(ADAPTIVE.values()):
        rows = table.where(protocol=name)
        at, usual = rows.numbers("w_asr"), float(rows.numbers("original")[0])
        top, bottom = panels[0, i], panels[1, i]
        top.step(at, rows.numbers("parameter"), where="mid", color=THEME.series[0], lw=2)
        top.axhline(usual, color=THEME.series[1], ls="--", lw=1.6)
        entitle(top, f"{name}: {SIGNS[FAMILIES[name].parameter]}")
        bottom.step(at, rows.numbers("asr"), where="mid", color=_ASR, lw=2)
        bottom.step(at, rows.numbers("mse"), where="mid", color=_MSE, lw=2)
        entitle(bottom, f"{name}: ASR and MSE")
    logarithmic(panels[1], "y")
    label(panels, "weight of ASR", "")
    below(
        figure,
        [
            mark("chosen", THEME.series[0], lw=2),
            mark("of the original protocol", THEME.series[1], lw=1.6, ls="--"),
            mark("ASR", _ASR, lw=2),
            mark("MSE of one report", _MSE, lw=2),
        ],
    )
    return figure


def objectives(table: Table) -> Figure:
    """Figure 7: the objective and its two halves, with what is chosen and what the original protocol has on it."""
    title = "The objective, half ASR and half MSE of one report, at k = 100 and ε = 4"
    figure, panels = frame(2, 2, title, tall=2.8, sharey=True)
    highest = 0.0
    for axes, name in zip(panels.ravel(), ("AUE", "ALH", "ASS", "ATHE"), strict=True):
        rows, sign = table.where(protocol=name), SIGNS[FAMILIES[name].parameter]
        at, cost = rows.numbers("parameter"), rows.numbers("objective")
        axes.plot(at, rows.numbers("asr") / 2, "--", color=_ASR, lw=1.4)
        axes.plot(at, rows.numbers("mse") / 2, ":", color=_MSE, lw=1.8)
        axes.plot(at, cost, color=THEME.series[0], lw=2.2)
        best, usual = int(cost.argmin()), point(_BEFORE[name], K, EPSILON)
        before = float(usual.parameter or 0), (usual.asr + usual.mse) / 2
        axes.plot(at[best], cost[best], "o", color=THEME.series[0], ms=8, zorder=5)
        axes.plot(*before, "s", color=THEME.series[1], ms=7.5, zorder=4)
        chosen = f"{name}: {sign} = {at[best]:.3g} gives {cost[best]:.3f}"
        entitle(axes, f"{chosen}; {_BEFORE[name]}, {before[0]:.3g}: {before[1]:.3f}")
        axes.set_xlabel(sign, color=THEME.faint, fontsize=9.5)
        highest = max(highest, 2 * before[1])
    panels[0, 0].set_ylim(0, highest)
    for axes in panels[:, 0]:
        axes.set_ylabel("objective", color=THEME.faint, fontsize=9.5)
    below(
        figure,
        [
            mark("objective", THEME.series[0], lw=2.2),
            mark("half the ASR", _ASR, lw=1.4, ls="--"),
            mark("half the MSE", _MSE, lw=1.8, ls=":"),
            mark("least objective: chosen", THEME.series[0], marker="o", ms=7, lw=0),
            mark("the original protocol", THEME.series[1], marker="s", ms=7, lw=0),
        ],
    )
    return figure


def strategies(table: Table) -> Figure:
    """Figure 9."""
    ks = sorted(set(table.column("k")))
    figure, panels = frame(len(ks), 4, "Parameters that six strategies choose", sharex=True)
    looks = {
        "weighted": ("#0a66b0", "-", 2.6),
        "utopia": ("#13836a", "--", 2.0),
        "hypervolume": ("#8a4fa3", ":", 2.4),
        "tchebycheff": ("#5d6678", "-.", 1.8),
        "constraint": ("#c99400", "-", 1.6),
        "elbow": ("#c8501e", "-", 1.6),
    }
    assert set(looks) == set(STRATEGIES)
    for line, k in zip(panels, ks, strict=True):
        for axes, name in zip(line, ADAPTIVE.values(), strict=True):
            for strategy, (colour, dash, width) in looks.items():
                rows = table.where(protocol=name, k=k, strategy=strategy)
                axes.plot(rows.numbers("epsilon"), rows.numbers("parameter"), dash, color=colour, lw=width)
            entitle(axes, f"{name}: {SIGNS[FAMILIES[name].parameter]}, k = {k:,}")
    logarithmic(panels[:, [i for i, name in enumerate(ADAPTIVE.values()) if FAMILIES[name].whole]], "y")
    budget_axis(panels)
    label(panels, "budget ε", "")
    below(figure, [mark(name, colour, ls=dash, lw=width) for name, (colour, dash, width) in looks.items()])
    return figure


def _over_budgets(figure: Figure, panels: Panels, table: Table, y: str) -> Figure:
    """Name the axes, and show which colour is which domain size."""
    logarithmic(panels, "y")
    budget_axis(panels)
    label(panels, "budget ε", y)
    size_bar(figure, panels, _sizes(table))
    return figure


def _sizes(table: Table) -> list[int]:
    return sorted(set(table.column("k")))


def _by_size(axes: Axes, rows: Table, column: str) -> None:
    """One curve for each domain size."""
    for k, colour in shades(_sizes(rows)).items():
        here = rows.where(k=k)
        order = np.argsort(here.numbers("epsilon"))
        axes.plot(here.numbers("epsilon")[order], here.numbers(column)[order], color=colour, lw=1.5)
