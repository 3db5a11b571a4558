"""The front as a plot: which two numbers tell the options apart, and where each stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hush.workbench.plan import words
from hush.workbench.plan.answer import Answer, PlanOption

Series = tuple[str, tuple[float, ...], tuple[float, ...], tuple[str, ...], int | None]

_NAMES = ("epsilon", "asr", "error", "changing", "bits")
_CALLED = {
    "epsilon": "ε, smaller is more private",
    "asr": "right guesses in 100",
    "error": "± percentage points",
    "changing": "ε where answers change",
    "bits": "bits of a report",
}
_SAID: dict[str, Callable[[float], str]] = {
    "epsilon": lambda value: f"ε = {words.epsilon(value)}",
    "asr": lambda share: f"{words.hundred(share)} right guesses in 100",
    "error": lambda share: f"±{words.points(share)}",
    "changing": lambda value: f"ε = {words.rounded_up(value)} where answers change",
    "bits": lambda bits: f"{bits:,.0f} bit{'' if bits == 1 else 's'}",
}
"""As the recommendation says them."""
_SHARES = ("asr", "error")
_FAR = 8.0
_MEETS, _BEATEN = "no other beats it", "another is no worse in anything"


@dataclass(frozen=True)
class PlotOfFront:
    """A plot of options.

    Args:
        name: What it shows.
        words: What to do with it.
        summary: What it tells, in a sentence.
        x: The name of the axis.
        y: The name of the axis.
        log_x: Whether its scale is logarithmic, since numbers are far apart.
        log_y: The same of the other.
        series: Points with their names, and the place of the chosen one.
    """

    name: str
    words: str
    summary: str
    x: str
    y: str
    log_x: bool
    log_y: bool
    series: tuple[Series, ...]


def front(answer: Answer) -> PlotOfFront:
    """The two numbers in which the options differ most, of those that most of them have."""
    first, second = _axes(answer)
    rows = [option for option in answer.options if first in option.numbers and second in option.numbers]
    assert answer.chosen is not None
    series = []
    known = len({tuple(option.numbers) for option in answer.options}) == 1
    for name, kept in ((_MEETS, True), (_BEATEN if known else f"{_BEATEN} that is known of both", False)):
        mine = [option for option in rows if option.on_front is kept]
        if mine:
            x, y = (tuple(_shown(option, axis) for option in mine) for axis in (first, second))
            labels = tuple(option.name for option in mine)
            at = labels.index(answer.chosen.name) if answer.chosen.name in labels else None
            series.append((name, x, y, labels, at))
    told = f"The large point is {answer.chosen.name}: {_told(answer.chosen, first, second)}."
    left = "" if len(rows) == len(answer.options) else f" {len(answer.options) - len(rows)} have no such number."
    return PlotOfFront(
        "The mechanisms that meet the wish",
        f"{_counted(len(answer.options))} Lower and further left is better; select a point to choose it.",
        told + left,
        _CALLED[first],
        _CALLED[second],
        _spread(answer, first) > _FAR,
        _spread(answer, second) > _FAR,
        tuple(series),
    )


def _counted(count: int) -> str:
    return "There is one." if count == 1 else f"There are {count}."


def _axes(answer: Answer) -> tuple[str, str]:
    """Those that differ most; ties go to the first ones."""
    spread = {name: _spread(answer, name) for name in _NAMES}
    ranked = sorted(_NAMES[:4], key=lambda name: (-min(spread[name], 1e6), _NAMES.index(name)))
    able = [name for name in ranked if spread[name] > 1.02]
    chosen = (*able, *(name for name in ("bits", "epsilon", "error") if name not in able))[:2]
    first, second = sorted(chosen, key=_NAMES.index)
    return first, second


def _spread(answer: Answer, name: str) -> float:
    """The largest over the least, of a number that most options have; else 0."""
    values = [option.numbers[name] for option in answer.options if name in option.numbers]
    known = len(values) > len(answer.options) / 2
    return max(values) / max(min(values), 1e-300) if known else 0.0


def _shown(option: PlanOption, name: str) -> float:
    return (100 if name in _SHARES else 1) * option.numbers[name]


def _told(option: PlanOption, *names: str) -> str:
    return words.listed([_SAID[name](option.numbers[name]) for name in names])
