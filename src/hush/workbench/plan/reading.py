"""From what a form or a link says to a question; what is wrong is said in words, field by field."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from hush.errors import HushError
from hush.people.domain import Domain, Label
from hush.workbench.plan.question import (
    AVERAGE,
    EACH,
    MATTERS,
    MOST_EPSILON,
    MOST_PEOPLE,
    MOST_POINTS,
    Mistakes,
    Question,
)
from hush.workbench.written import written_number

FIELDS = (
    "points",
    "held",
    "people",
    "answers",
    "labels",
    "other",
    "sensitive",
    "guesses",
    "epsilon",
    "matters",
    "rounds",
    "changing",
    "chosen",
)
"""Everything that a form or a link can say."""

MOST_ANSWERS = 100_000
MOST_LABELS = 5_000
MOST_ROUNDS = 10_000
_NEEDS_A_BOUND = ("accuracy", "manipulation")
_NONE: tuple[int, ...] = ()
T = TypeVar("T")


def read(said: Mapping[str, str]) -> Question:
    """The question, checked.

    Args:
        said: Texts by the names of `FIELDS`; what is left out or empty is not said.

    Raises:
        Mistakes: What is wrong, by field.

    >>> read({"points": "1", "people": "20,000", "answers": "12"}).people
    20000
    """
    wrong: dict[str, str] = {}

    def taken(name: str, reader: Callable[[str], T], without: T) -> T:
        given = said.get(name, "").strip()
        try:
            return reader(given) if given else without
        except ValueError as error:
            wrong[name] = str(error)
            return without

    def needed(name: str, reader: Callable[[str], T], without: T, words: str) -> T:
        if not said.get(name, "").strip():
            wrong[name] = words
        return taken(name, reader, without)

    labels = taken("labels", listed, None)
    other = taken("other", lambda text: text, None)
    count = _domain(labels, other, wrong)
    every = labels if labels is None or other is None or other in labels else (*labels, other)
    if labels is None:
        words = "Say how many answers there are, or list them."
        count = needed("answers", lambda text: whole(text, 2, MOST_ANSWERS), 2, words)
    people = needed("people", lambda text: whole(text, 1, MOST_PEOPLE), 1, "Say about how many people will report.")
    luck = 100 / count
    question = {
        "points": taken("points", lambda text: real(text, 0.0, MOST_POINTS), None),
        "held": taken("held", lambda text: one_of(text, (EACH, AVERAGE)), EACH),
        "people": people,
        "answers": count,
        "labels": every,
        "other": other if labels is not None else None,
        "sensitive": taken("sensitive", lambda text: _places(text, every, count), _NONE),
        "guesses": taken("guesses", lambda text: _guesses(text, luck), None),
        "epsilon": taken("epsilon", lambda text: real(text, 0.0, MOST_EPSILON), None),
        "matters": taken("matters", lambda text: one_of(text, tuple(MATTERS)), "balance"),
        "rounds": taken("rounds", lambda text: whole(text, 1, MOST_ROUNDS), 1),
        "changing": taken("changing", lambda text: text in ("1", "true", "yes", "on"), False),
        "chosen": taken("chosen", lambda text: text[:80], ""),
    }
    if not wrong:
        _together(question, wrong)
    if wrong:
        raise Mistakes(wrong)
    return Question(**question)  # type: ignore[arg-type]


def _domain(labels: tuple[Label, ...] | None, other: str | None, wrong: dict[str, str]) -> int:
    """How many answers a list has, if it can be one."""
    if labels is None:
        if other is not None:
            wrong["other"] = "List the answers first: this one is added to the list."
        return 2
    try:
        return Domain(labels=labels, other=other).size
    except HushError as error:
        wrong["labels"] = f"The list {error.rule or 'cannot be taken'}; {error.remedy or 'change it'}."
        return 2


def _together(question: Mapping[str, object], wrong: dict[str, str]) -> None:
    """Rules between fields."""
    bounded = question["epsilon"] is not None or question["guesses"] is not None
    if question["points"] is None and not bounded:
        wrong["points"] = "Say how exact a percentage must be, or below how much risk you accept."
    if question["matters"] in _NEEDS_A_BOUND and not bounded:
        wrong["matters"] = "More ε always helps that: say below how many right guesses, or how large an ε, you accept."
    if question["sensitive"]:
        if question["rounds"] != 1:
            wrong["sensitive"] = "With several rounds all answers are protected: leave this empty, or ask once."
        if question["matters"] != "balance":
            wrong["matters"] = "With sensitive answers the least ε matters: leave it at a balance."
        if question["guesses"] is not None:
            wrong["guesses"] = "Harmless answers may be revealed where only some are protected: bound ε instead."
    elif question["rounds"] != 1:
        if question["guesses"] is not None:
            wrong["guesses"] = "Over several rounds, bound ε instead: it is then a person's total."
        if question["matters"] != "balance":
            wrong["matters"] = "Over several rounds the least total ε matters: leave it at a balance."


def whole(text: str, least: int, most: int) -> int:
    """A whole number as people write it.

    >>> whole("20 000", 1, 10**6), whole("1e4", 1, 10**6)
    (20000, 10000)
    """
    number = _number(text)
    if number != math.floor(number):
        raise ValueError("This must be a whole number.")
    if not least <= number <= most:
        raise ValueError(f"This must be from {least:,} to {most:,}.")
    return int(number)


def real(text: str, above: float, most: float) -> float:
    """A number above one and up to another."""
    number = _number(text)
    if not above < number <= most:
        raise ValueError(f"This must be above {above:g}, and at most {most:g}.")
    return number


def _number(text: str) -> float:
    try:
        number = written_number(text)
    except ValueError as error:
        raise ValueError(f"This {error}.") from None
    if not math.isfinite(number):
        raise ValueError("This must be a finite number.")
    return number


def one_of(text: str, known: tuple[str, ...]) -> str:
    """One of some words."""
    if text not in known:
        raise ValueError(f"This must be one of {', '.join(known)}.")
    return text


def listed(text: str) -> tuple[str, ...]:
    r"""Labels, one a line; a single line is cut at its commas or semicolons.

    >>> listed("red, green, blue"), listed("a\n\n b, c ")
    (('red', 'green', 'blue'), ('a', 'b, c'))
    """
    lines = text.splitlines()
    parts = lines if len(lines) > 1 else re.split("[,;]", text)
    found = tuple(part.strip() for part in parts if part.strip())
    if len(found) < 2:
        raise ValueError("Name at least two answers, one a line.")
    if len(found) > MOST_LABELS:
        raise ValueError(f"A list has at most {MOST_LABELS:,} answers here; say how many there are instead.")
    return found


def _guesses(text: str, luck: float) -> float:
    number = real(text, 0.0, 100.0)
    if number < luck:
        raise ValueError(f"Luck alone is right {luck:.3g} times in 100: this must be at least that, and at most 100.")
    return number


def _places(text: str, labels: tuple[Label, ...] | None, count: int) -> tuple[int, ...]:
    """The places of some answers, by name or by number, one a line or by commas."""
    domain = Domain(size=count) if labels is None else Domain(labels=labels)
    parts: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):  # a label may have commas
        parts += [line] if domain.find(line) is not None else [x.strip() for x in re.split("[,;]", line) if x.strip()]
    found = {part: domain.find(part) for part in parts}
    strangers = [part for part, place in found.items() if place is None]
    if strangers:
        known = f"a number from 0 to {count - 1:,}" if labels is None else "one of the answers"
        raise ValueError(f"“{strangers[0][:60]}” must be {known}.")
    places = tuple(sorted({place for place in found.values() if place is not None}))
    if len(places) == count:
        raise ValueError("If all answers are sensitive, leave this empty: then all are protected.")
    return places
