"""Figures of curves: attack success and variance over budgets, and how parameters are chosen."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush.mechanisms.adaptive import STRATEGIES
from hush.reproduce.refined.frame import (
    SIGNS,
    THEME,
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
from hush.reproduce.refined.protocols import ADAPTIVE, EPSILON, FAMILIES, PROTOCOLS, K, point
from hush.reproduce.study import Table

_BEFORE = {adaptive: original for original, adaptive in ADAPTIVE.items()}


def attacks(table: Table) -> Figure:
    """Figure 2."""
    figure, panels = frame(3, 4, "Attack success over the privacy budget", sharex=True, sharey=True)
    for axes, name in zip(panels.ravel(), PROTOCOLS, strict=True):
        _by_size(axes, table.where(protocol=name), "asr")
        entitle(axes, name)
    logarithmic(panels, "y")
    budget_axis(panels)
    label(panels, "budget ε", "attack success (ASR)")
    size_bar(figure, panels, _sizes(table))
    return figure


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
    logarithmic(panels, "y")
    budget_axis(panels)
    label(panels, "budget ε", "variance of one report (MSE)")
    size_bar(figure, panels, _sizes(table))
    return figure


def subsets(table: Table) -> Figure:
    """Figure 4."""
    figure, panels = frame(1, 2, "Variance of subset selection over the privacy budget", tall=3.6, sharey=True)
    for axes, name in zip(panels[0], ("SS", "ASS"), strict=True):
        _by_size(axes, table.where(protocol=name), "mse")
        entitle(axes, name)
    logarithmic(panels, "y")
    budget_axis(panels)
    label(panels, "budget ε", "variance of one report (MSE)")
    size_bar(figure, panels, _sizes(table))
    return figure


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
        bottom.step(at, rows.numbers("asr"), where="mid", color=THEME.series[3], lw=2)
        bottom.step(at, rows.numbers("mse"), where="mid", color=THEME.series[2], lw=2)
        entitle(bottom, f"{name}: ASR and MSE")
    logarithmic(panels[1], "y")
    label(panels, "weight of ASR", "")
    below(
        figure,
        [
            mark("chosen", THEME.series[0], lw=2),
            mark("of the original protocol", THEME.series[1], lw=1.6, ls="--"),
            mark("ASR", THEME.series[3], lw=2),
            mark("MSE of one report", THEME.series[2], lw=2),
        ],
    )
    return figure


def objectives(table: Table) -> Figure:
    """Figure 7."""
    title = "The objective, half ASR and half MSE, at k = 100 and ε = 4"
    figure, panels = frame(2, 2, title, tall=2.6)
    for axes, name in zip(panels.ravel(), ("AUE", "ALH", "ASS", "ATHE"), strict=True):
        rows, sign = table.where(protocol=name), SIGNS[FAMILIES[name].parameter]
        at, cost = rows.numbers("parameter"), rows.numbers("objective")
        best, usual = float(at[cost.argmin()]), float(point(_BEFORE[name], K, EPSILON).parameter or 0)
        axes.plot(at, cost, color=THEME.series[0], lw=2)
        axes.axvline(best, color=THEME.series[2], ls="--", lw=1.8)
        axes.axvline(usual, color=THEME.series[1], ls="-.", lw=1.8)
        entitle(axes, f"{name}: {sign} = {best:.3g}, where {_BEFORE[name]} has {usual:.3g}")
        axes.set_xlabel(sign, color=THEME.faint, fontsize=9.5)
        axes.set_ylabel("objective", color=THEME.faint, fontsize=9.5)
    logarithmic(panels.ravel()[:3], "y")
    below(
        figure,
        [
            mark("objective", THEME.series[0], lw=2),
            mark("its least, chosen by the adaptive protocol", THEME.series[2], lw=1.8, ls="--"),
            mark("the original protocol", THEME.series[1], lw=1.8, ls="-."),
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


def _sizes(table: Table) -> list[int]:
    return sorted(set(table.column("k")))


def _by_size(axes: Axes, rows: Table, column: str) -> None:
    """One curve for each domain size."""
    for k, colour in shades(_sizes(rows)).items():
        here = rows.where(k=k)
        order = np.argsort(here.numbers("epsilon"))
        axes.plot(here.numbers("epsilon")[order], here.numbers(column)[order], color=colour, lw=1.5)
