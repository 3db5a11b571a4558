"""Figures of attack success over error: one point for each budget, computed or measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush_studies.frame import (
    MARKERS,
    THEME,
    Panels,
    below,
    budget_bar,
    budget_colours,
    entitle,
    frame,
    label,
    logarithmic,
    mark,
)
from hush_studies.refined.protocols import ADAPTIVE, PROTOCOLS
from hush_studies.study import Table

_ERROR = "variance of one report (MSE)"
_SUCCESS = "attack success (ASR)"


def first(table: Table) -> Figure:
    """Figure 1."""
    title = "Four protocols and their adaptive versions, ε from 2 to 10, k = 100"
    figure, panels = frame(1, 4, title, tall=3.0, sharey=True)
    _pairs(panels[0], table, table.column("epsilon"))
    _pair_legend(figure, panels, table, _ERROR)
    return figure


def clouds(domain: str, regime: str) -> Callable[[Table], Figure]:
    """Figures 5 and 10 to 14."""

    def draw(table: Table) -> Figure:
        title = f"ASR over MSE: {regime} privacy, {domain} domains"
        figure, panels = frame(3, 4, title, sharex=True, sharey=True)
        epsilons, ks = table.column("epsilon"), sorted(set(table.column("k")))
        for axes, name in zip(panels.ravel(), PROTOCOLS, strict=True):
            for k, sign in zip(ks, MARKERS, strict=False):
                rows = table.where(protocol=name, k=k)
                _points(axes, rows, epsilons, marker=sign, s=20)
            entitle(axes, name)
        logarithmic(panels, "x", "y")
        label(panels, _ERROR, _SUCCESS)
        budget_bar(figure, panels, epsilons)
        signs = zip(ks, MARKERS, strict=False)
        below(figure, [mark(f"k = {k:,}", THEME.faint, ls="", marker=sign, ms=6) for k, sign in signs])
        return figure

    return draw


def adult(table: Table) -> Figure:
    """Figure 8."""
    n, runs = int(table.column("n")[0]), int(table.column("runs")[0])
    title = f"Measured and expected: ages of {n:,} people, k = 100, {runs} runs"
    figure, panels = frame(3, 4, title)
    for axes, name in zip(panels.ravel(), PROTOCOLS, strict=True):
        rows = table.where(protocol=name)
        axes.plot(rows.numbers("mse_paper"), rows.numbers("asr_paper"), "--", color=THEME.series[1], lw=1.0)
        _expected(axes, rows)
        reach = 2 * rows.numbers("mse_stderr")
        axes.errorbar(rows.numbers("mse"), rows.numbers("asr"), xerr=reach, fmt="none", ecolor=THEME.faint, lw=1)
        _points(axes, rows, table.column("epsilon"), s=26)
        entitle(axes, name)
    logarithmic(panels, "x")
    label(panels, "MSE of the frequencies", _SUCCESS)
    budget_bar(figure, panels, table.column("epsilon"))
    below(
        figure,
        [
            mark("measured, ± 2 standard errors", THEME.faint, ls="", marker="o", ms=6),
            mark("expected (equation 3)", THEME.series[0], lw=1.8),
            mark("as the paper computes it (equations 4, 15)", THEME.series[1], lw=1.0, ls="--"),
        ],
    )
    return figure


def dirichlet(table: Table) -> Figure:
    """Figure 15."""
    ns, runs = sorted(set(table.column("n"))), int(table.column("runs")[0])
    title = f"Measured on people of a Dirichlet(1) distribution, k = 100, {runs} runs"
    figure, panels = frame(len(ns), 4, title, sharey=True)
    for line, n in zip(panels, ns, strict=True):
        rows = table.where(n=n)
        for axes, pair in zip(line, ADAPTIVE.items(), strict=True):
            for name in pair:
                _expected(axes, rows.where(protocol=name))
        _pairs(line, rows, table.column("epsilon"), joined=False)
        for axes in line:
            axes.set_title(f"{axes.get_title(loc='left')}, n = {n:,}", loc="left", fontsize=9.5, color=THEME.ink)
    expected = mark("expected", THEME.series[0], lw=1.8)
    _pair_legend(figure, panels, table, "MSE of the frequencies", expected)
    return figure


def _pairs(line: Any, table: Table, epsilons: list[float], *, joined: bool = True) -> None:
    """A protocol, squares, and its adaptive version, circles, in each panel."""
    for axes, pair in zip(line, ADAPTIVE.items(), strict=True):
        for name, sign in zip(pair, ("s", "o"), strict=True):
            rows = table.where(protocol=name)
            if joined:
                axes.plot(rows.numbers("mse"), rows.numbers("asr"), color=THEME.truth, lw=1.2, zorder=1)
            _points(axes, rows, epsilons, marker=sign, s=34)
        entitle(axes, " and ".join(pair))


def _pair_legend(figure: Figure, panels: Panels, table: Table, error: str, *more: Any) -> None:
    logarithmic(panels, "x")
    label(panels, error, _SUCCESS)
    budget_bar(figure, panels, table.column("epsilon"))
    signs = {"original": "s", "adaptive": "o"}
    below(figure, [*(mark(name, THEME.faint, ls="", marker=sign, ms=6) for name, sign in signs.items()), *more])


def _expected(axes: Axes, rows: Table) -> None:
    axes.plot(rows.numbers("mse_expected"), rows.numbers("asr_expected"), color=THEME.series[0], lw=1.8, alpha=0.75)


def _points(axes: Axes, rows: Table, epsilons: list[float], **how: Any) -> None:
    """Points coloured by their budget."""
    norm, scale = budget_colours(epsilons)
    colours = rows.numbers("epsilon")
    axes.scatter(
        rows.numbers("mse"), rows.numbers("asr"), c=colours, norm=norm, cmap=scale, zorder=3,
        edgecolors="white", linewidths=0.4, **how,
    )  # fmt: skip
