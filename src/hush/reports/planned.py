"""The planner's picture: error against attack success, the front, and the choice on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from hush.analysis import pareto
from hush.planning.families import reachable
from hush.planning.objectives import Z95
from hush.reports.panels import LEGEND, figure_of, head, prepare, say
from hush.reports.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hush.planning.plan import Choice, Plan

Floats = npt.NDArray[np.float64]

_ERRORS = {"margin": "± at 95 %, percentage points", "mse": "mean squared error", "mae": "mean absolute error"}
_NAMED = 12
_AROUND = 5.0
_APART = 0.05
"""Least distance of two names, as a share of the panel's height."""


def front_figure(plan: Plan, choice: Choice | None, *, theme: Theme = LIGHT) -> Figure:
    """The best attack success for every error, the mechanisms that meet the wishes, and the one that was chosen."""
    w = plan.wishes
    figure = figure_of(8.5, 5.2, theme)
    axes = figure.subplots()
    prepare(axes, theme, "y")
    points = _in_metric(
        reachable(w.k, w.n, w.largest_epsilon, worst=w.worst, most_bits=w.limits.get("bits", math.inf)), plan
    )
    edge = points[pareto.front(points)] if len(points) else points
    edge = edge[np.argsort(edge[:, 0])]
    bits = f" and {w.max_bits} bits" if w.max_bits is not None else ""
    label = f"best possible with ε up to {w.largest_epsilon:g}{bits}"
    axes.plot(edge[:, 0], edge[:, 1], color=theme.series[0], linewidth=2, label=label)
    axes.set(xscale="log", yscale="log")
    _wishes(axes, plan, theme)
    scale = _scale(plan)
    rows = [(scale * c.numbers["error"], c.numbers["asr"], c.name) for c in plan.choices]
    if rows:
        axes.scatter([r[0] for r in rows], [r[1] for r in rows], color=theme.faint, zorder=3, label=_counted(rows))
    if choice is not None:
        at = scale * choice.numbers["error"], choice.numbers["asr"]
        axes.scatter(*at, marker="*", s=260, color=theme.series[1], zorder=4, label=f"the choice, {choice.name}")
    _limits(axes, edge, [(r[0], r[1]) for r in rows])
    _names(axes, rows[:_NAMED], theme)
    axes.set_xlabel(f"error: {_ERRORS[w.metric]}", color=theme.faint)
    axes.set_ylabel("attack success on one report", color=theme.faint)
    figure.legend(loc="outside lower center", ncols=2, labelcolor=theme.ink, **LEGEND)
    outcome = "lower left is better" if plan.feasible else "nothing meets these wishes"
    say(figure.suptitle, f"{w.n:,} people, {w.k:,} values: {outcome}", **head(theme))
    return figure


def _counted(rows: list[tuple[float, float, str]]) -> str:
    named = f" (the first {_NAMED} are named)" if len(rows) > _NAMED else ""
    return f"meets your wishes{named}"


def _in_metric(points: Floats, plan: Plan) -> Floats:
    """Rows with the error in the metric that was asked for."""
    root = np.sqrt(points[:, 0])
    error = {"margin": Z95 * root, "mae": math.sqrt(2 / math.pi) * root, "mse": points[:, 0]}[plan.wishes.metric]
    return np.stack([_scale(plan) * error, points[:, 1]], axis=1)


def _scale(plan: Plan) -> float:
    """A margin is shown in percentage points."""
    return 100.0 if plan.wishes.metric == "margin" else 1.0


def _wishes(axes: Axes, plan: Plan, theme: Theme) -> None:
    """Lines where the wishes end."""
    limits = plan.wishes.limits
    how: dict[str, Any] = {"color": theme.series[2], "linewidth": 1.2, "linestyle": "--"}
    if "error" in limits:
        axes.axvline(_scale(plan) * limits["error"], label="your wishes", **how)
    if "asr" in limits:
        axes.axhline(limits["asr"], label=None if "error" in limits else "your wishes", **how)


def _limits(axes: Axes, edge: Floats, rows: list[tuple[float, float]]) -> None:
    """A window around the choices, or around the whole front where there are none; plain numbers at its ticks."""
    from matplotlib.ticker import LogLocator, NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda x, _: f"{x:g}")
    if not rows:
        if edge.size:
            axes.set_xlim(right=edge[:, 0].min() * _AROUND**2)
        return
    errors = [r[0] for r in rows]
    left, right = max(min(errors) / _AROUND, float(edge[:, 0].min())), max(errors) * _AROUND
    inside = edge[(edge[:, 0] >= left) & (edge[:, 0] <= right)]
    attacks = [r[1] for r in rows] + inside[:, 1].tolist()
    axes.set(xlim=(left / 1.2, right * 1.2), ylim=(min(attacks) / 1.3, min(max(attacks) * 2, 1.5)))


def _names(axes: Axes, rows: list[tuple[float, float, str]], theme: Theme) -> None:
    """Names in a column on the right of the panel, pushed apart, each with a thin line to its point."""
    low, high = (math.log(y) for y in axes.get_ylim())
    spots = sorted(((math.log(y) - low) / (high - low), x, y, name) for x, y, name in rows)
    at = -1.0
    for height, x, y, name in spots:
        at = max(height, at + _APART)
        axes.annotate(
            name,
            xy=(x, y),
            xytext=(1.02, at),
            textcoords="axes fraction",
            va="center",
            fontsize=9,
            color=theme.ink,
            arrowprops={"arrowstyle": "-", "color": theme.truth, "linewidth": 0.8},
            annotation_clip=False,
        )
