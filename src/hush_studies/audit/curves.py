"""Figures of one report: what is proved over budgets, deltas and numbers of buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hush.audit import bounds
from hush.types import Floats
from hush_studies.audit.proof import TRIALS
from hush_studies.audit.protocols import APPROXIMATE, PURE
from hush_studies.frame import THEME, Panels, below, entitle, frame, label, logarithmic, mark, shades, size_bar
from hush_studies.study import Table

CLAIMED, RATIO, EXACT = THEME.ink, THEME.series[1], THEME.series[2]
_PROVED = "proved ε"
_BUDGET = "claimed ε"


def pure(table: Table) -> Figure:
    """Figure 2."""
    return _over_budgets(table, PURE, 2, 4, "Proved and claimed loss of eight protocols")


def approximate(table: Table) -> Figure:
    """Figure 3."""
    delta = float(table.column("delta")[0])
    title = f"Proved and claimed loss of six approximate protocols, δ = {scientific(delta)}"
    return _over_budgets(table, APPROXIMATE, 2, 3, title)


def _over_budgets(table: Table, names: Sequence[str], rows: int, columns: int, title: str) -> Figure:
    figure, panels = frame(rows, columns, title, tall=2.6, sharex=True, sharey=True)
    for axes, name in zip(panels.ravel(), names, strict=True):
        mine = table.where(protocol=name)
        _claimed(axes, table.numbers("epsilon"))
        by_size(axes, mine, "epsilon", "likelihood", color=RATIO, lw=1.3, alpha=0.8)
        by_size(axes, mine, "epsilon", "attack", marker="o", ms=3.5, lw=1.3)
        exact = mine.where(k=mine.column("k")[0])
        axes.plot(exact.numbers("epsilon"), exact.numbers("exact"), ":", color=EXACT, lw=1.8)
        entitle(axes, name)
    _log_both(panels)
    label(panels, _BUDGET, _PROVED)
    size_bar(figure, panels, sorted(set(table.column("k"))))
    below(figure, _marks())
    return figure


def deltas(table: Table) -> Figure:
    """Figures 4 and 10."""
    ks, found = sorted(set(table.column("k"))), sorted(set(table.column("delta")))
    title = "What δ does: proved and claimed loss of six approximate protocols"
    figure, panels = frame(len(ks), len(APPROXIMATE), title, tall=2.5, sharex=True, sharey=True)
    colours = shades(found)
    for line, k in zip(panels, ks, strict=True):
        for axes, name in zip(line, APPROXIMATE, strict=True):
            _claimed(axes, table.numbers("epsilon"), ls="-", color=THEME.truth, lw=2.0)
            for delta, colour in colours.items():
                rows = table.where(protocol=name, k=k, delta=delta)
                at = rows.numbers("epsilon")
                axes.plot(at, rows.numbers("likelihood"), "--", color=colour, lw=1.2)
                axes.plot(at, rows.numbers("attack"), "-o", color=colour, lw=1.2, ms=3.5)
            axes.set_xticks([0.25, 0.5, 0.75, 1.0], labels=["¼", "½", "¾", "1"])
            entitle(axes, f"{name}, k = {k}")
    label(panels, _BUDGET, _PROVED)
    styles = [
        mark("attack", THEME.faint, ls="-", marker="o", ms=4, lw=1.2),
        mark("likelihood ratio", THEME.faint, ls="--", lw=1.2),
        mark("claimed", THEME.truth, lw=2.0),
    ]
    below(figure, [*(mark(f"δ = {scientific(delta)}", colour, lw=3) for delta, colour in colours.items()), *styles])
    return figure


def hashing_only(table: Table) -> Figure:
    """Figure 5."""
    ceiling = bounds.best_provable(TRIALS)
    figure, panels = frame(1, 2, "Hashing without noise: what is proved of an infinite loss", tall=3.2)
    for axes, column, name in zip(panels[0], ("attack", "likelihood"), ("attack", "likelihood ratio"), strict=True):
        by_size(axes, table, "g", column, marker="o", ms=4, lw=1.5)
        axes.set_xticks(sorted(set(table.column("g"))))
        entitle(axes, f"proved by the {name}")
    panels[0, 0].set_ylim(bottom=0)
    panels[0, 1].axhline(ceiling, color=THEME.faint, ls="--", lw=1.2)
    panels[0, 1].set_ylim(0, ceiling * 1.12)
    panels[0, 1].text(
        2, ceiling * 1.02, f"the most that 10⁶ trials can prove: {ceiling:.3f}", fontsize=9, color=THEME.faint
    )
    label(panels, "number of buckets g", _PROVED)
    size_bar(figure, panels, sorted(set(table.column("k"))))
    return figure


def missing_reset(table: Table) -> Figure:
    """Figure 8."""
    title = "The bug of pure-LDP 1.1.2: proved loss beside the claim"
    figure, panels = frame(1, 2, title, tall=3.8, sharex=True, sharey=True)
    at = [table.columns.index(name) for name in ("attack", "attack_sd", "likelihood", "exact", "epsilon")]
    beside = [(*row, *(row[i] / row[at[-1]] for i in at[:-1])) for row in table.rows]  # type: ignore[operator]
    wide = Table((*table.columns, *(f"{name}_beside" for name in ("attack", "sd", "ratio", "exact"))), beside)
    for axes, name in zip(panels[0], ("SUE", "OUE"), strict=True):
        mine = wide.where(protocol=name)
        axes.axhspan(1, 100, color=RATIO, alpha=0.07, lw=0)
        axes.axhline(1, color=CLAIMED, ls="--", lw=1.0)
        exact = mine.where(k=mine.column("k")[0])
        axes.plot(exact.numbers("epsilon"), exact.numbers("exact_beside"), color=EXACT, lw=4, alpha=0.45)
        by_size(axes, mine, "epsilon", "ratio_beside", color=RATIO, lw=1.3, marker="D", ms=3.5, mfc=THEME.ground)
        by_size(axes, mine, "epsilon", "attack_beside", noise="sd_beside", marker="o", ms=4, lw=1.4)
        axes.text(0.98, 0.96, "the claim is shown to be false", transform=axes.transAxes, ha="right", va="top",
                  fontsize=9.5, color=RATIO)  # fmt: skip
        entitle(axes, f"{name}, true value's bit never cleared")
    _log_both(panels)
    lowest = float(np.nanmin(positive(wide.numbers("attack_beside"))))
    panels[0, 0].set_ylim(lowest / 1.25, 1.5 * float(wide.numbers("exact_beside").max()))
    label(panels, _BUDGET, "proved ε ÷ claimed ε")
    size_bar(figure, panels, sorted(set(table.column("k"))))
    below(
        figure,
        [
            mark("the paper's attack, by k (± its deviation over runs)", THEME.faint, marker="o", ms=4, lw=1.3),
            mark("likelihood ratio, all k", RATIO, marker="D", ms=3.5, mfc=THEME.ground, lw=1.3),
            mark("exact loss", EXACT, lw=4, alpha=0.45),
            mark("claimed", CLAIMED, ls="--", lw=1.0),
        ],
    )
    return figure


def by_size(axes: Axes, rows: Table, x: str, y: str, *, noise: str | None = None, **how: Any) -> None:
    """One curve for each domain size, in its shade unless a colour is given; bars where a column has their length."""
    for k, colour in shades(sorted(set(rows.column("k")))).items():
        here = rows.where(k=k)
        order = np.argsort(here.numbers(x))
        reach = None if noise is None else here.numbers(noise)[order]
        style: dict[str, Any] = {"color": colour, "elinewidth": 0.9, **how}
        axes.errorbar(here.numbers(x)[order], positive(here.numbers(y))[order], yerr=reach, **style)


def positive(proved: Floats) -> Floats:
    """What is proved; a gap where nothing is."""
    return np.where(proved > 0, proved, np.nan)


def scientific(value: float) -> str:
    """A small number, short."""
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")


def _claimed(axes: Axes, epsilons: Floats, **how: Any) -> None:
    ends = [epsilons.min(), epsilons.max()]
    axes.plot(ends, ends, **{"ls": "--", "color": CLAIMED, "lw": 1.0, **how})


def _log_both(panels: Panels) -> None:
    logarithmic(panels, "x", "y")
    for axes in panels.ravel():
        axes.set_xticks([0.25, 0.5, 1, 2, 4, 10], labels=["¼", "½", "1", "2", "4", "10"])


def _marks() -> list[Any]:
    return [
        mark("the paper's attack, by k", THEME.faint, marker="o", ms=4, lw=1.3),
        mark("likelihood ratio, all k", RATIO, lw=1.5),
        mark("exact loss", EXACT, ls=":", lw=1.8),
        mark("claimed", CLAIMED, ls="--", lw=1.0),
    ]
