"""The picture of a survey's plan: what a person's total budget buys, for every layout and way over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from hush.reports.panels import LEGEND, figure_of, head, prepare, say
from hush.reports.scales import logarithmic
from hush.reports.survey_in_words import title
from hush.reports.theme import LIGHT, Theme

if TYPE_CHECKING:
    from hush.planning.surveys import SurveyChoice, SurveyPlan

_POINTS = 28
_MOST = 40.0
_LINES = 6
_AROUND = 6.0
_BELOW = 30.0
"""How far below the wished error the picture ends."""


def survey_figure(plan: SurveyPlan, choice: SurveyChoice | None, *, theme: Theme = LIGHT) -> Figure:
    """Error of the worst attribute in a round against the total budget of a person, a line for each way."""
    figure = figure_of(8.2, 5.4, theme)
    axes = figure.subplots()
    prepare(axes, theme, "both")
    w, scale = plan.wishes, 100.0 if plan.wishes.metric == "margin" else 1.0
    shown = _shown(plan, choice)
    totals = [each.course.total for each in shown] or [w.spent]
    low, high = max(min(totals) / _AROUND, 0.01), min(max(totals) * 2, _MOST)
    budgets = np.geomspace(low, high, _POINTS)
    for i, each in enumerate(shown):
        found = np.array([each.candidate.error(float(total), w) for total in budgets]) * scale
        seen = np.isfinite(found)
        line = {"linestyle": "-" if i < len(theme.series) else "-.", "linewidth": 2}
        how: dict[str, Any] = {"color": theme.series[i % len(theme.series)], **line}
        way = f", {each.course.way}" if w.rounds > 1 else ""
        axes.plot(budgets[seen], found[seen], label=f"{each.name}{way}", **how)
    if choice is not None:
        at = (choice.course.total, scale * choice.error)
        axes.plot(*at, "*", ms=17, color=theme.ink, zorder=4, lw=0, label="the choice")
    logarithmic(axes, "x", "y")
    how = {"color": theme.faint, "linewidth": 1.2, "linestyle": "--"}
    if w.error is not None:
        axes.axhline(scale * w.error, label="your wishes", **how)
    if w.max_epsilon is not None:
        axes.axvline(w.max_epsilon, label=None if w.error is not None else "your wishes", **how)
    axes.set_xlim(low, high)
    near = scale * (w.error if w.error is not None else min(each.error for each in shown))
    axes.set_ylim(max(axes.get_ylim()[0], near / _BELOW), min(axes.get_ylim()[1], scale * 3))
    axes.set_xlabel("total ε of a person whose values never change", color=theme.faint)
    error = "± at 95 %, percentage points" if w.metric == "margin" else "mean squared error"
    each_round = " in one round" if w.rounds > 1 else ""
    whose = "of the worst attribute " if w.d > 1 else ""
    axes.set_ylabel(f"error: {error}", color=theme.faint)
    words = f"the error {whose}{each_round.strip()}".strip()
    say(axes.set_title, f"{words}, for what a person may lose in all", loc="left", fontsize=10, color=theme.ink)
    figure.legend(loc="outside lower center", ncols=2, labelcolor=theme.ink, **LEGEND)
    say(figure.suptitle, title(plan).partition(":")[0], **{**head(theme), "fontsize": 11})
    return figure


def _shown(plan: SurveyPlan, choice: SurveyChoice | None) -> list[SurveyChoice]:
    """The choice, and the best of every other way; where nothing meets the wishes, what comes nearest."""
    if not plan.choices:
        near = [each for each in (plan.least, plan.nearest) if each is not None]
        return list({each.name: each for each in near}.values())
    rows = [plan.first, *plan.worth_a_thought, *plan.beyond]
    own = [] if choice is None or choice in rows else [choice]
    return [*rows[: _LINES - len(own)], *own]
