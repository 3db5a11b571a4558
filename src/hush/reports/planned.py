"""The planner's picture: the choices where they differ, and what another error would cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from hush.analysis import pareto
from hush.planning.families import reachable
from hush.planning.objectives import Z95
from hush.reports.labels import Spot, place
from hush.reports.panels import LEGEND, figure_of, head, prepare, say
from hush.reports.scales import logarithmic
from hush.reports.theme import LIGHT, Theme
from hush.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hush.planning.plan import Choice, Plan


_ERRORS = {"margin": "± at 95 %, percentage points", "mse": "mean squared error", "mae": "mean absolute error"}
_AXES = {
    "epsilon": "budget ε of one report",
    "asr": "attack success on one report",
    "reidentification": "re-identification: chance to find a person",
    "attribute": "attribute inference: advantage over a blind guess",
    "pools": "pool inference: advantage over a blind guess",
    "changes": "detection of changes: advantage over a coin",
    "variance": "variance of a value that nobody holds",
    "mse": "mean squared error",
    "mae": "mean absolute error",
    "margin": "margin: half the width of a 95 % interval",
    "information": "share of the information that is lost",
    "gain": "frequency that fake users gain",
    "bits": "bits of a report",
    "work": "counters that the server touches for a report",
}
_SHARES = ("asr", "reidentification", "attribute", "pools", "changes", "information")
"""What is one at most."""
_SIZES = ((16, "up to 16 bits", "o", 2), (128, "up to 128 bits", "s", 0), (math.inf, "more bits", "^", 3))
"""Report sizes: up to how many bits, in words, the mark and the colour."""

_AROUND = 5.0
_CERTAIN = 1.005
"""Where axes of shares end at the latest: no attack succeeds more often than always."""


def front_figure(plan: Plan, choice: Choice | None, *, theme: Theme = LIGHT) -> Figure:
    """On the left the mechanisms that meet the wishes, on the right the best attack success for every error.

    The left panel has the two of budget, attack success and error that differ most: where every mechanism just meets a
    wish, all are the same in that, and a picture of it shows nothing. Where objectives were named, it has the first two
    of them, and the right panel is there if error and attack success are among them.
    """
    w = plan.wishes
    both = bool(plan.choices) and (not w.objectives or {"error", "asr"} <= set(w.objectives))
    figure = figure_of(11.0 if both else 7.5 if plan.choices else 6.5, 5.4, theme)
    if plan.choices:
        left, *right = figure.subplots(1, 2, width_ratios=(1.75, 1)) if both else [figure.subplots()]
        for axes in right:
            _front(axes, plan, choice, theme)
        names = _choices(left, plan, choice, theme)
        figure.legend(loc="outside lower center", ncols=4 if both else 3, labelcolor=theme.ink, **LEGEND)
    else:
        left = figure.subplots()
        _front(left, plan, choice, theme)
        figure.legend(loc="outside lower center", ncols=2, labelcolor=theme.ink, **LEGEND)
    found = "nothing meets these wishes" if choice is None else f"{choice.name}, ε = {choice.numbers['epsilon']:.4g}"
    say(figure.suptitle, f"{w.n:,} people, {w.k:,} values: {found}", **head(theme))
    if plan.choices:
        place(left, names, theme)
    return figure


def _choices(axes: Axes, plan: Plan, choice: Choice | None, theme: Theme) -> list[Spot]:
    """Every mechanism that meets the wishes, in the two numbers that tell them apart; returns what to name."""
    prepare(axes, theme, "both")
    x, y = _axes(plan)
    for limit, words, sign, colour in _SIZES:
        least = max((each[0] for each in _SIZES if each[0] < limit), default=0)
        rows = [c for c in plan.choices if least < c.numbers["bits"] <= limit]
        for kept in (True, False):
            mine = [c for c in rows if c.on_front is kept]
            fill = theme.series[colour] if kept else theme.ground
            how: dict[str, Any] = {"marker": sign, "color": theme.series[colour], "mfc": fill, "ms": 7, "lw": 0}
            axes.plot([_number(plan, c, x) for c in mine], [_number(plan, c, y) for c in mine], zorder=3, **how)
        if rows:
            axes.plot([], [], sign, color=theme.series[colour], ms=7, label=words)
    if any(not c.on_front for c in plan.choices):
        hollow: dict[str, Any] = {"color": theme.faint, "mfc": theme.ground, "ms": 7, "lw": 0}
        axes.plot([], [], marker="o", label="hollow: another is no worse in anything", **hollow)
    if choice is not None:
        at = (_number(plan, choice, x), _number(plan, choice, y))
        axes.plot(*at, "*", ms=19, color=theme.series[1], zorder=4, clip_on=False)
    if plan.wishes.objectives:
        _edge(axes, plan, (x, y), theme)
    logarithmic(axes, *(which for which, name in zip("xy", (x, y), strict=True) if min(_values(plan, name)) > 0))
    _window(axes, plan, (x, y))
    _lines(axes, plan, (x, y), theme)
    axes.set_xlabel(_called(plan, x), color=theme.faint)
    axes.set_ylabel(_called(plan, y), color=theme.faint)
    say(axes.set_title, _same(plan, x, y), loc="left", fontsize=10, color=theme.ink)
    ordered = sorted(plan.choices, key=lambda c: c is not choice)
    return [Spot(_number(plan, c, x), _number(plan, c, y), c.name, strong=c is choice) for c in ordered]


def _edge(axes: Axes, plan: Plan, names: tuple[str, str], theme: Theme) -> None:
    """The front in these two alone, of which all that are filled are not a part where there are more objectives."""
    counted = [plan.wishes.counted(c.numbers) for c in plan.choices]
    kept = pareto.front(np.array([[numbers[name] for name in names] for numbers in counted]))
    edge = np.array([[_number(plan, c, name) for name in names] for c in plan.choices])[kept]
    edge = edge[np.lexsort((edge[:, 1], edge[:, 0]))]
    how: dict[str, Any] = {"color": theme.faint, "linewidth": 1.2, "linestyle": ":", "zorder": 2, "where": "post"}
    axes.step(edge[:, 0], edge[:, 1], label="front in these two", **how)


def _axes(plan: Plan) -> tuple[str, str]:
    """The first two objectives; where none were named, two of budget, attack success and error that differ most."""
    if plan.wishes.objectives:
        first, second, *_ = plan.wishes.objectives
        return first, second
    names = ("epsilon", "error", "asr")
    spread = {name: max(_values(plan, name)) / min(_values(plan, name)) for name in names}
    least = min(names, key=lambda name: (spread[name], names.index(name)))
    x, y = (name for name in names if name != least)
    return x, y


def _same(plan: Plan, x: str, y: str) -> str:
    """What a reader of the panel should know: what is not on its axes, and where to look."""
    rows = len(plan.choices)
    meet = f"{rows} {'meets' if rows == 1 else 'meet'} the wishes"
    if plan.wishes.objectives:
        more = len(plan.wishes.objectives) - 2
        beside = f", {more} more {'objective' if more == 1 else 'objectives'}" if more else ""
        return f"{meet}{beside}; lower left is better"
    (third,) = {"epsilon", "error", "asr"} - {x, y}
    low, high = (f"{end(_values(plan, third)):.3g}" for end in (min, max))
    span = low if low == high else f"{low} to {high}"
    points = plan.wishes.metric == "margin"
    error = f"±{span} points" if points else f"error {span}"
    told = {"epsilon": f"ε = {span}", "error": error, "asr": f"attack success {span}"}[third]
    return f"{meet}, {told}; lower left is better"


def _number(plan: Plan, choice: Choice, name: str) -> float:
    """A number of a choice, as it is shown."""
    return (_scale(plan) if name == "error" else 1.0) * choice.numbers[name]


def _values(plan: Plan, name: str) -> list[float]:
    return [_number(plan, choice, name) for choice in plan.choices]


def _called(plan: Plan, name: str) -> str:
    """The name of an axis."""
    return f"error: {_ERRORS[plan.wishes.metric]}" if name == "error" else _AXES[name]


def _window(axes: Axes, plan: Plan, names: tuple[str, str]) -> None:
    """Room around the points, for their names; more where they hardly differ."""
    for which, name in zip("xy", names, strict=True):
        values = _values(plan, name)
        low, high = min(values), max(values)
        after = 2 if which == "x" else 1
        if low > 0:
            room = max((high / low) ** 0.16, 1.06)
            bottom, top = low / room, high * room**after
        else:
            room = 0.16 * (high - low) or 1.0
            bottom, top = low - room, high + after * room
        getattr(axes, f"set_{which}lim")(bottom, min(top, _CERTAIN) if name in _SHARES else top)


def _front(axes: Axes, plan: Plan, choice: Choice | None, theme: Theme) -> None:
    """The best attack success for every error, within the budget and the size that are accepted."""
    w = plan.wishes
    prepare(axes, theme, "y")
    points = _in_metric(
        reachable(w.k, w.judged, w.largest_epsilon, worst=w.worst, most_bits=w.limits.get("bits", math.inf)), plan
    )
    edge = points[pareto.front(points)] if len(points) else points
    edge = edge[np.argsort(edge[:, 0])]
    bits = f" and {w.max_bits} bits" if w.max_bits is not None else ""
    label = f"least attack success, ε up to {w.largest_epsilon:g}{bits}"
    axes.plot(edge[:, 0], edge[:, 1], color=theme.series[0], linewidth=2, label=label)
    shown = [] if choice is None else [(_number(plan, choice, "error"), choice.numbers["asr"])]
    for at in shown:
        axes.plot(*at, "*", ms=17, color=theme.series[1], zorder=4, lw=0, clip_on=False, label="the choice")
    logarithmic(axes, "x", "y")
    _limits(axes, plan, edge, shown)
    _lines(axes, plan, ("error", "asr"), theme, label="your wishes")
    axes.set_xlabel(_called(plan, "error"), color=theme.faint)
    axes.set_ylabel(_called(plan, "asr"), color=theme.faint)
    say(axes.set_title, "what another error would cost", loc="left", fontsize=10, color=theme.ink)


def _in_metric(points: Floats, plan: Plan) -> Floats:
    """Rows with the error in the metric that was asked for."""
    root = np.sqrt(points[:, 0])
    error = {"margin": Z95 * root, "mae": math.sqrt(2 / math.pi) * root, "mse": points[:, 0]}[plan.wishes.metric]
    return np.stack([_scale(plan) * error, points[:, 1]], axis=1)


def _scale(plan: Plan) -> float:
    """A margin is shown in percentage points."""
    return 100.0 if plan.wishes.metric == "margin" else 1.0


def _lines(axes: Axes, plan: Plan, names: tuple[str, str], theme: Theme, label: str | None = None) -> None:
    """Lines where the wishes end, as far as they are near what is seen."""
    limits = {name: (_scale(plan) if name == "error" else 1.0) * at for name, at in plan.wishes.limits.items()}
    how: dict[str, Any] = {"color": theme.series[2], "linewidth": 1.2, "linestyle": "--"}
    for name, draw, ends in zip(names, (axes.axvline, axes.axhline), (axes.get_xlim(), axes.get_ylim()), strict=True):
        if name in limits and ends[0] <= limits[name] <= ends[1]:
            draw(limits[name], label=label, **how)
            label = None


def _limits(axes: Axes, plan: Plan, edge: Floats, shown: list[tuple[float, float]]) -> None:
    """A window around the choice; where there is none, around the front and the wishes that it does not reach."""
    if not edge.size:
        return
    if not shown:
        wished = {name: at for name, at in plan.wishes.limits.items() if name in ("error", "asr")}
        best = float(edge[:, 0].min())
        error = _scale(plan) * wished.get("error", best / _scale(plan))
        axes.set_xlim(min(error, best) / 1.5, max(error, best) * _AROUND)
        attacks = [edge[:, 1].min(), edge[:, 1].max(), wished.get("asr", edge[:, 1].max())]
        axes.set_ylim(min(attacks) / 1.1, min(max(attacks) * 1.1, _CERTAIN))
        return
    ((error, attack),) = shown
    left, right = max(error / _AROUND, float(edge[:, 0].min())), error * _AROUND
    inside = edge[(edge[:, 0] >= left) & (edge[:, 0] <= right), 1].tolist()
    attacks = [attack, *inside]
    axes.set(xlim=(left / 1.2, right * 1.2), ylim=(min(attacks) / 1.3, min(max(attacks) * 1.5, _CERTAIN)))
