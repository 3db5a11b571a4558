"""Wishes near one that cannot be met, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hush.workbench.plan.answer import WayOut
from hush.workbench.plan.question import MOST_EPSILON, MOST_PEOPLE, MOST_POINTS, Question

_MOST = {"points": MOST_POINTS, "guesses": 100.0, "epsilon": MOST_EPSILON}


def changed(question: Question, changes: Mapping[str, float]) -> tuple[WayOut, ...]:
    """The same wish with some of it changed, where that can still be wished: no percentage is off by 117 points.

    Args:
        question: What cannot be met.
        changes: New values of points, guesses or epsilon.
    """
    if any(value > _MOST[name] for name, value in changes.items()):
        return ()
    said = [_WORDS[name](getattr(question, name), value) for name, value in changes.items()]
    return (WayOut(f"Accept {' and '.join(said)}.", replace(question, chosen="", **changes)),)  # type: ignore[arg-type]


def asking_more(question: Question, people: int | None) -> tuple[WayOut, ...]:
    """The same wish with more people, where some number would do."""
    if people is None or not question.people < people <= MOST_PEOPLE:
        return ()
    words = f"Ask {people:,} people instead of {question.people:,}."
    return (WayOut(words, replace(question, chosen="", people=people)),)


def _points(old: float | None, new: float) -> str:
    return f"±{new:g} points instead of ±{old:g}"


def _guesses(old: float | None, new: float) -> str:
    return f"{new:g} right guesses in 100 instead of {old:g}"


def _epsilon(old: float | None, new: float) -> str:
    return f"ε = {new:g}" + ("" if old is None else f" instead of {old:g}")


_WORDS = {"points": _points, "guesses": _guesses, "epsilon": _epsilon}
