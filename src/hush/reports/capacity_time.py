"""A picture of a total over time, as collections estimated it, and of the budgets that they planned for each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from hush.reports.panels import LEGEND, figure_of, head, prepare, say
from hush.reports.theme import LIGHT, Theme

if TYPE_CHECKING:
    from hush.planning import capri

_NAMED = 20


def capacity_time_figure(
    steps: Sequence[capri.Step], times: Sequence[str], mechanism: str, *, theme: Theme = LIGHT
) -> Figure:
    """Totals and the capacity above, budgets below.

    Args:
        steps: The collections, in order.
        times: What each time is called.
        mechanism: Its name.
        theme: Colours.
    """
    figure = figure_of(7.5, 6.0, theme)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    at = np.arange(len(steps))
    for axes in (above, below):
        prepare(axes, theme, "y")
    above.plot(at, [s.total for s in steps], color=theme.series[2], linewidth=1.5, marker=".", label="true total")
    above.step(at, [s.cap for s in steps], where="mid", color=theme.faint, linestyle="--", label="capacity")
    right = np.array([s.outcome in ("tp", "tn") for s in steps])
    estimated = np.array([s.estimated for s in steps])
    if right.any():
        above.plot(at[right], estimated[right], "o", color=theme.series[0], label="estimated, decided rightly")
    if not right.all():
        above.plot(at[~right], estimated[~right], "X", color=theme.series[1], label="estimated, decided wrongly")
    above.set_ylabel("total", color=theme.faint)
    above.yaxis.set_major_formatter(lambda total, _: f"{total:,.12g}")
    above.legend(labelcolor=theme.ink, **LEGEND)
    none = np.array([s.planned is not None and not s.planned.feasible for s in steps])
    budgets = np.array([s.epsilon for s in steps])
    below.bar(at[~none], budgets[~none], color=theme.series[0], width=0.6, label="first, or planned")
    if none.any():
        below.bar(at[none], budgets[none], color=theme.series[1], width=0.6, label="no budget was enough: the largest")
        below.legend(labelcolor=theme.ink, **LEGEND)
    below.set_ylabel("budget ε", color=theme.faint)
    shown = at if at.size <= _NAMED else at[:: -(-at.size // _NAMED)]
    turned = max(len(times[i]) for i in shown) * shown.size > 80
    below.set_xticks(shown, [times[i] for i in shown], rotation=45 if turned else 0, ha="right" if turned else "center")
    title = f"{mechanism}: {int(right.sum())} of {len(steps)} decisions right, ε = {steps[-1].spent:.6g} spent in all"
    say(figure.suptitle, title, **head(theme))
    return figure
