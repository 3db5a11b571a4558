"""Pictures of a budget: what was lost at every budget that was tried, and how often a capacity decision is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from hush.planning.relax import up
from hush.reports.panels import LEGEND, figure_of, head, prepare, say
from hush.reports.scales import logarithmic
from hush.reports.theme import LIGHT, Theme
from hush.reports.words import many

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hush.planning import capri, optimus
    from hush.planning.optimus.question import BudgetQuestion

_LEAST = 1e-12
"""Probabilities below this are not drawn on a logarithmic scale."""


def budget_figure(answer: optimus.BudgetAnswer, curve: Sequence[optimus.Tried], *, theme: Theme = LIGHT) -> Figure:
    """Loss against epsilon above, the share of satisfied collections below, and the answer across both.

    Args:
        answer: What was found.
        curve: What runs at budgets around the answer showed, rising.
        theme: Colours.
    """
    q = answer.question
    figure = figure_of(7.5, 6.8, theme)
    above, below = figure.subplots(2, 1, sharex=True)
    left, right = curve[0].epsilon, curve[-1].epsilon
    for axes in (above, below):
        prepare(axes, theme, "y")
    _losses(above, curve, q, theme)
    _shares(below, curve, [t for t in answer.evidence if t.law == "exact" and left <= t.epsilon <= right], q, theme)
    between = "the smallest lies here, if more is never worse" if answer.refuted is not None else "not shown"
    _marked((above, below), answer.epsilon, answer.interval, between, theme)
    _budgets(below, left, right, theme)
    figure.legend(loc="outside lower center", ncols=2, labelcolor=theme.ink, **LEGEND)
    seems = "is" if answer.confidence is not None else "seems"
    none = "no budget was shown to be enough" if answer.undecided else "no budget is enough"
    found = none if answer.epsilon is None else f"ε = {answer.epsilon:.12g} {seems} enough"
    people = many(q.people.n, "person", "people")
    say(figure.suptitle, f"{q.name}, {people}, {q.people.k:,} values: {found}", **head(theme))
    return figure


def _losses(axes: Axes, curve: Sequence[optimus.Tried], q: BudgetQuestion, theme: Theme) -> None:
    at = [t.epsilon for t in curve]
    axes.plot(at, [t.mean for t in curve], color=theme.series[2], linewidth=1.5, label="mean loss")
    name = f"loss that {100 * q.probability:g} % of the collections keep to"
    axes.plot(at, [t.quantile for t in curve], color=theme.series[0], linewidth=2, label=name)
    axes.axhline(q.threshold, color=theme.series[1], linewidth=1.2, linestyle="--", label="accepted, and wanted")
    axes.set_ylim(bottom=-0.03 * axes.get_ylim()[1])  # a threshold of zero is seen
    axes.set_ylabel(f"loss ({q.loss})", color=theme.faint)


def _shares(
    axes: Axes, curve: Sequence[optimus.Tried], tested: Sequence[optimus.Tried], q: BudgetQuestion, theme: Theme
) -> None:
    at, ends = [t.epsilon for t in curve], np.array([t.interval for t in curve])
    axes.fill_between(at, ends[:, 0], ends[:, 1], color=theme.series[0], alpha=0.15, linewidth=0)
    axes.plot(at, [t.share for t in curve], color=theme.series[0], linewidth=1.5)
    if tested:
        _bars(axes, [(t.epsilon, t.share, *t.interval) for t in tested], "budgets tested, with 95 % intervals", theme)
    axes.axhline(q.probability, color=theme.series[1], linewidth=1.2, linestyle="--")
    axes.set_ylim(-0.03, 1.05)
    axes.set_ylabel("share of satisfied collections", color=theme.faint)


def _bars(axes: Axes, rows: Sequence[tuple[float, float, float, float]], label: str, theme: Theme) -> None:
    """Shares with their intervals, at budgets."""
    at, shares, low, high = np.array(rows, np.float64).T
    reach = np.maximum([shares - low, high - shares], 0.0)
    how: dict[str, Any] = {"fmt": "o", "markersize": 4, "linewidth": 1.2, "capsize": 2.5, "zorder": 4}
    axes.errorbar(at, shares, yerr=reach, color=theme.ink, label=label, **how)


def capacity_figure(
    answer: capri.CapacityAnswer, curve: Sequence[capri.Evidence], *, real: float | None = None, theme: Theme = LIGHT
) -> Figure:
    """The probability of the decision against epsilon: by the law, and as variance alone bounds it.

    Args:
        answer: What was found.
        curve: What the law says at budgets around the answer, rising.
        real: The true total, where a simulated first round planned the answer, and the curve is that of the people as
            they are.
        theme: Colours.
    """
    figure = figure_of(7.5, 4.6, theme)
    axes = figure.subplots()
    prepare(axes, theme, "y")
    at = [e.epsilon for e in curve]
    wanted = answer.metric in ("tp", "tn")

    def turned(wrong: float) -> float:
        return 1 - min(wrong, 1.0) if wanted else min(wrong, 1.0)

    laws = {e.law for e in curve}
    law = "normal, not exact" if "normal" in laws else "nearly exact" if "near" in laws else "exact"
    lines = {
        law: [e.probability if e.exact is None else e.exact for e in curve],
        "Cantelli's bound": [turned(e.cantelli) for e in curve],
        "Chebyshev's bound": [turned(e.chebyshev) for e in curve],
    }
    possible = any(value > _LEAST for value in lines[law])
    for (name, values), style, colour in zip(lines.items(), ("-", "-.", ":"), theme.series, strict=False):
        drawn = values if wanted or not possible else [value if value > _LEAST else np.nan for value in values]
        if possible or name == law:
            axes.plot(at, drawn, color=colour, linewidth=2, linestyle=style, label=name)
    runs = [e for e in (*(answer.evidence if real is None else ()), answer.confirmation) if e is not None and e.runs]
    inside = [(e.epsilon, e.hits / e.runs, e.low, e.high) for e in runs if at[0] <= e.epsilon <= at[-1]]
    if inside:
        _bars(axes, inside, "simulated, with 95 % intervals", theme)
    limit = f"{'at least' if wanted else 'below'} {answer.threshold:g}"
    axes.axhline(answer.threshold, color=theme.faint, linewidth=1.2, linestyle="--", label=f"wanted, {limit}")
    if possible and not wanted:
        least = min(value for value in lines[law] if value > _LEAST)
        logarithmic(axes, "y")
        axes.set_ylim(max(least, answer.threshold / 1000), 1.5)
    else:
        axes.set_ylim(-0.03, 1.05)
    _marked((axes,), answer.epsilon, None, "", theme)
    _budgets(axes, at[0], at[-1], theme)
    axes.set_ylabel(f"Pr[{'wrong' if answer.metric == 'error' else answer.metric.upper()}]", color=theme.faint)
    axes.legend(labelcolor=theme.ink, **LEGEND)
    say(figure.suptitle, _title(answer, real), **head(theme))
    return figure


def _title(answer: capri.CapacityAnswer, real: float | None) -> str:
    """Whose total it is, and for whom the budget is enough."""
    total, known = (answer.total, "an estimated" if answer.estimated else "a") if real is None else (real, "a")
    side = "exceeds" if total > answer.cap else "stays within"
    what = "total" if answer.above is None else f"number above {answer.above:g}"
    whose = f"{answer.mechanism}: {known} {what} of {total:,.12g} that {side} {answer.cap:,.12g}"
    enough = "no budget is enough" if answer.epsilon is None else f"ε = {up(answer.epsilon):.4g} is enough"
    if not answer.estimated:
        return f"{whose}; {enough}"
    found = f"{enough} for the people that the {'earlier' if real is None else 'first'} round saw"
    if answer.truth is None:
        return f"{whose};\n{found}"
    return f"{whose};\n{found},\n{'and' if answer.truth.satisfied else 'but not enough'} for the people as they are"


def _marked(
    panels: Sequence[Axes], answer: float | None, interval: tuple[float, float] | None, between: str, theme: Theme
) -> None:
    """The answer as a line, and what lies between it and what was shown to be too little as a band."""
    for i, axes in enumerate(panels):
        if answer is not None:
            axes.axvline(answer, color=theme.series[3], linewidth=1.5, label=None if i else "the answer")
        if interval is not None and interval[0] < interval[1]:
            label = None if i else between
            axes.axvspan(*interval, color=theme.series[3], alpha=0.15, linewidth=0, label=label)


def _budgets(axes: Axes, left: float, right: float, theme: Theme) -> None:
    """A logarithmic axis with plain numbers."""
    logarithmic(axes, "x")
    axes.set_xlim(left / 1.05, right * 1.05)
    axes.set_xlabel("budget ε of one report", color=theme.faint)
