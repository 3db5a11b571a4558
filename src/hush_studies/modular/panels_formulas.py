"""Figures of formulas beside what is right: table 1, and the part of ours on what is corrected."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush.reports.scales import beyond
from hush_studies.frame import THEME, below, entitle, frame, logarithmic, mark, shades
from hush_studies.modular.settings import PROTOCOLS
from hush_studies.modular.strokes import BUDGET, COLOURS
from hush_studies.study import Table

_RIGHT, _PRINTED, _BOUND = THEME.truth, COLOURS["PGR"], COLOURS["GRR"]
_ROWS = {"OUE": "RAPPOR"}
"""What table 1 calls a protocol, where that is not its name."""

_LARGEST = 1e10
"""Condition numbers up to here are drawn where they are, and larger ones at the edge: rounding hides them anyway."""


def formulas(table: Table) -> Figure:
    """Table 1: what its formulas give over what is right; a row a protocol, so that equal ones hide no other."""
    sizes, budgets = list(dict.fromkeys(table.column("k"))), sorted(set(table.column("epsilon")))
    title = "Table 1: what is printed over what is right; on the line, both are the same"
    figure, panels = frame(len(sizes), 3, title, tall=2.3, sharex="col", sharey=True)
    colours, at = shades(budgets), np.arange(len(PROTOCOLS))
    spread = np.linspace(-0.3, 0.3, len(budgets))
    for line, k in zip(panels, sizes, strict=True):
        for axes, column, name in zip(line, ("bits", "mse", "dra"), ("bits", "error", "attack success"), strict=True):
            axes.axvline(1, color=THEME.faint, lw=1.2, zorder=1)
            axes.grid(visible=False, axis="y")
            for place in at[::2]:
                axes.axhspan(place - 0.5, place + 0.5, color=THEME.grid, alpha=0.35, lw=0, zorder=0)
            for place, each in zip(at, PROTOCOLS, strict=True):
                rows = table.where(k=k, protocol=each)
                ratio = rows.numbers(f"{column}_printed") / rows.numbers(column)
                heights = place + spread[[budgets.index(e) for e in rows.column("epsilon")]]
                shown = [colours[e] for e in rows.column("epsilon")]
                axes.scatter(ratio, heights, c=shown, s=20, zorder=3, linewidths=0)
            entitle(axes, f"{name}, k = {k:,}")
            axes.set_yticks(at, labels=[_ROWS.get(each, each) for each in PROTOCOLS])
            axes.set_ylim(len(at) - 0.45, -0.55)
            axes.tick_params(axis="y", labelcolor=THEME.ink)
    logarithmic(panels, "x")
    for column in panels.T:
        low, high = column[0].get_xlim()
        column[0].set_xlim(min(low, 1 / 1.6), max(high, 1.6))
        column[-1].set_xlabel("printed / right", color=THEME.faint, fontsize=9.5)
    some = (
        budgets if len(budgets) <= 5 else [budgets[i] for i in np.linspace(0, len(budgets) - 1, 5).round().astype(int)]
    )
    below(figure, [mark(f"ε = {e:g}", colours[e], marker="o", ms=5.5, lw=0) for e in some])
    return figure


def corrections(table: Table) -> Figure:
    """What is corrected."""
    figure, panels = frame(2, 2, "Formulas as printed, as they should be, and what is measured", tall=2.9)
    error, guess, ridge = (table.where(about=about) for about in ("equation 3", "equation 7", "ridge"))
    _over_budgets(panels[0, 0], error, "MSE, k = 30, moduli 5 7 11 13", _PRINTED, ":")
    panels[0, 0].plot(error.numbers("epsilon"), error.numbers("bound"), "--", color=_BOUND, lw=1.4)
    _condition(panels[0, 1], table.where(about="theorem 4"))
    _over_budgets(panels[1, 0], guess, "attack success (DRA), k = 30, moduli 2 7 11 13", _PRINTED, ":")
    _over_budgets(panels[1, 1], ridge, "estimate of a frequency of 1 with a ridge: mean", THEME.series[1], "-.")
    logarithmic(panels[:1, :1], "y")
    below(
        figure,
        [
            mark("right", _RIGHT, lw=4),
            mark("printed", _PRINTED, ls=":", lw=1.8),
            mark("bound of theorem 3", _BOUND, ls="--", lw=1.4),
            mark("expected with the ridge", THEME.series[1], ls="-.", lw=1.8),
            mark("measured, ± 2 standard errors", THEME.ink, marker="o", ms=4, lw=0),
        ],
    )
    return figure


def _over_budgets(axes: Axes, rows: Table, name: str, colour: str, look: str) -> None:
    """What is right, what a formula gives and what is measured, over the budget."""
    at = rows.numbers("epsilon")
    axes.plot(at, rows.numbers("right"), color=_RIGHT, lw=4)
    axes.plot(at, rows.numbers("printed"), look, color=colour, lw=1.8)
    noise = 2 * rows.numbers("measured_stderr")
    axes.errorbar(at, rows.numbers("measured"), yerr=noise, fmt="o", color=THEME.ink, ms=3.5, elinewidth=0.9)
    axes.set_xticks(range(1, 6))
    axes.set_xlabel(BUDGET, color=THEME.faint, fontsize=9.5)
    entitle(axes, name)


def _condition(axes: Axes, rows: Table) -> None:
    """Theorem 4, a column for each number of primes: condition numbers, and the bounds that they should keep to."""
    told, found = rows.numbers("printed"), rows.numbers("right")
    sizes = [int(str(setting).split()[0].removeprefix("k=")) for setting in rows.column("setting")]
    counts = [len(str(setting).split()) - 1 for setting in rows.column("setting")]
    groups, ks = sorted(set(counts)), sorted(set(sizes))
    at = np.zeros(len(counts))
    for group in {(count, k) for count, k in zip(counts, sizes, strict=True)}:
        mine = [i for i, each in enumerate(zip(counts, sizes, strict=True)) if each == group]
        beside = sorted({k for count, k in zip(counts, sizes, strict=True) if count == group[0]})
        centre = groups.index(group[0]) + 0.4 * (beside.index(group[1]) - (len(beside) - 1) / 2)
        at[mine] = centre + np.linspace(-0.13, 0.13, len(mine)) * (len(mine) > 1)
    inside = found <= _LARGEST
    axes.hlines(told, at - 0.06, at + 0.06, color=_PRINTED, lw=2.4, zorder=3)
    axes.vlines(at, np.minimum(told, found), np.fmin(np.maximum(told, found), _LARGEST), color=_RIGHT, lw=1.2, zorder=1)
    for k, sign in zip(ks, ("o", "s", "D"), strict=False):
        mine = inside & (np.array(sizes) == k)
        axes.plot(at[mine], found[mine], sign, color=THEME.series[3], ms=4.5, lw=0, zorder=4, label=f"κ, k = {k:,}")
    axes.hlines([], [], [], color=_PRINTED, lw=2.4, label="theorem 4's bound on κ")
    logarithmic(np.array([axes]), "y")
    top = float(found[inside].max(initial=told.max()))
    axes.set_ylim(1, min(1000 * top, 1000 * _LARGEST))
    many = beyond(axes, at, np.where(inside, 1.0, np.inf), THEME.series[3])
    if many:
        axes.plot([], [], "^", color=THEME.series[3], ms=6, label="κ beyond this panel")
    axes.set_xticks(range(len(groups)), labels=[f"ℓ = {count}" for count in groups])
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("number of primes", color=THEME.faint, fontsize=9.5)
    entitle(axes, "condition number κ, and theorem 4's bound on it")
    axes.legend(frameon=False, fontsize=8.5, labelcolor=THEME.ink, loc="upper left")
