"""Figures of bars and points beside a claim: figure 1, and the bugs."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from hush_studies.audit.bugs import METHODS
from hush_studies.frame import MARKERS, THEME, below, frame, label, mark
from hush_studies.study import Table

_PROVED = "privacy loss that is proved, ε"
_END = 12.0  # where an infinite loss is drawn


def example(table: Table) -> Figure:
    """Figure 1."""
    claimed, k = float(table.column("epsilon")[0]), int(table.column("k")[0])
    figure, panels = frame(1, 1, f"What is proved of eight protocols that claim ε = {claimed:g}, k = {k}", tall=3.4)
    axes, at = panels[0, 0], np.arange(len(table.rows))
    attack, ratio = table.numbers("attack"), table.numbers("likelihood")
    axes.bar(at - 0.2, attack, 0.38, yerr=table.numbers("attack_sd"), color=THEME.series[0], ecolor=THEME.ink)
    axes.bar(at + 0.2, ratio, 0.38, color=THEME.series[1])
    for shift, proved in ((-0.2, attack), (0.2, ratio)):
        for x, y in zip(at + shift, proved, strict=True):
            axes.text(x, y - 0.06, f"{y:.2f}", ha="center", va="top", fontsize=8.5, color=THEME.ground)
    axes.hlines(table.numbers("exact"), at - 0.42, at + 0.42, color=THEME.ink, lw=1.6)
    axes.axhline(claimed, color=THEME.faint, ls="--", lw=1.2, zorder=0)
    axes.set_xticks(at, labels=table.column("protocol"))
    axes.tick_params(axis="x", labelcolor=THEME.ink, labelsize=10)
    axes.grid(visible=False, axis="x")
    label(panels, "", _PROVED)
    below(
        figure,
        [
            mark("the paper's attack (average of 5 runs)", THEME.series[0], lw=7),
            mark("likelihood ratio", THEME.series[1], lw=7),
            mark("exact loss", THEME.ink, lw=1.6),
            mark("claimed", THEME.faint, lw=1.2, ls="--"),
        ],
    )
    return figure


def bugs(table: Table) -> Figure:
    """What each method proves of each bug."""
    title = f"Bugs: what three audits prove of mechanisms that claim ε = {table.column('claimed')[0]:g}"
    figure, panels = frame(1, 1, title, tall=0.9 + 0.34 * len(table.rows))
    axes, at = panels[0, 0], np.arange(len(table.rows))
    claimed = float(table.column("claimed")[0])
    axes.axvspan(claimed, 100, color=THEME.series[1], alpha=0.07, lw=0)
    axes.axvline(claimed, color=THEME.faint, ls="--", lw=1.2)
    for method, sign, colour in zip(METHODS, MARKERS, (THEME.series[i] for i in (0, 1, 2)), strict=False):
        axes.plot(table.numbers(method), at, sign, color=colour, ms=7, alpha=0.9)
    for y, exact in zip(at, table.numbers("exact").tolist(), strict=True):
        if math.isinf(exact):
            axes.text(_END, y, "∞", ha="center", va="center", fontsize=13, color=THEME.ink)
        else:
            axes.plot([exact, exact], [y - 0.32, y + 0.32], color=THEME.ink, lw=1.6)
    names = zip(table.column("bug"), table.column("base"), table.column("published"), strict=True)
    axes.set_yticks(at, labels=[f"{base}: {bug}" + (f" ({where})" if where else "") for bug, base, where in names])
    axes.tick_params(axis="y", labelcolor=THEME.ink, labelsize=9.5)
    axes.set(ylim=(len(at) - 0.4, -0.6), xlim=(0, _END + 0.6))
    label(panels, f"{_PROVED}; to the right of the dashed line the claim is false", "")
    signs = zip(METHODS, MARKERS, (THEME.series[i] for i in (0, 1, 2)), strict=False)
    marks = [mark(method, colour, ls="", marker=sign, ms=7) for method, sign, colour in signs]
    below(figure, [*marks, mark("exact loss (∞: infinite)", THEME.ink, lw=1.6)])
    return figure
