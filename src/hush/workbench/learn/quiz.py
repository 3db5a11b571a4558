"""A quiz on what the page said. Right answers are computed, and the last one is the crowd's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.reports.statements import lay
from hush.reports.words import percent
from hush.workbench.learn import coins
from hush.workbench.learn.crowd import reported
from hush.workbench.learn.limits import guessed_after
from hush.workbench.learn.odds import moved, of_hundred


@dataclass(frozen=True)
class Puzzle:
    """A question with one right answer.

    Args:
        asked: The question.
        options: What can be answered.
        right: The position of the right one.
        why: Why it is.
    """

    asked: str
    options: tuple[str, ...]
    right: int
    why: str

    def judged(self, chosen: int) -> str:
        """What is said to whoever chose an option."""
        return f"{'Right.' if chosen == self.right else f'Not quite: “{self.options[self.right]}”.'} {self.why}"


READING = "How did you read this page?"
"""The last question, which the crowd answers."""

READ = ("Every word", "Most of it", "I skimmed it", "I came for the quiz")
"""Its answers."""

_SUSPECTED = 0.1
_HOLDING = 0.3
_PEOPLE = 10_000
_DAYS = 30


def puzzles() -> list[Puzzle]:
    """All but the last question."""
    m = coins.mechanism()
    return [_one_report(m), _crowd(m), _error(m), _again(m)]


def _one_report(m: FrequencyOracle) -> Puzzle:
    found = moved(m, _SUSPECTED)
    before, after = of_hundred(found.before), of_hundred(found.after)
    return Puzzle(
        f"You held it {before} in 100 likely that Ann's answer is yes. She flips two coins, and says yes. What now?",
        ("Her answer is yes", f"It is {after} in 100 likely that her answer is yes", "You know no more than before"),
        1,
        f"Yes comes {found.factor:.3g} times as often from people who hold yes as from others, so the odds moved "
        f"{found.odds}: {before} in 100 became {after}.",
    )


def _crowd(m: FrequencyOracle) -> Puzzle:
    seen = reported(m, _HOLDING)
    flipped = reported(m, 0.0)
    told = [_undone(m, seen), seen, seen - flipped]
    return Puzzle(
        f"Of {_PEOPLE:,} reports, {percent(seen)} say yes. About how many people hold yes?",
        tuple(percent(share) for share in told),
        0,
        f"If nobody held it, coins alone would make {percent(flipped)} of reports say yes; if all did, "
        f"{percent(reported(m, 1.0))}. {percent(seen)} lies {percent(_undone(m, seen))} of the way between the two.",
    )


def _undone(m: FrequencyOracle, seen: float) -> float:
    """The share of people that makes so many reports say yes: what `estimate` gives where reports come as expected."""
    yes = round(seen * _PEOPLE)
    reports = np.repeat(np.arange(2), [yes, _PEOPLE - yes]).astype(m.report_dtype)
    return float(m.estimate(m.aggregate(reports)).frequencies[0])


def _error(m: FrequencyOracle) -> Puzzle:
    more = people_for(m, _PEOPLE, 0.5)
    return Puzzle(
        f"The error of {_PEOPLE:,} reports is too large. How many reports halve it?",
        (f"{2 * _PEOPLE:,}", f"{more:,}", f"{10 * more:,}"),
        1,
        f"An error shrinks as the square root of the number of reports: {_PEOPLE:,} give "
        f"±{_reach(m, _PEOPLE):.2g} points, {more:,} give ±{_reach(m, more):.2g}.",
    )


def people_for(m: FrequencyOracle, people: int, share: float) -> int:
    """How many reports have such a share of the error that so many have."""
    return round(m.variance(1, _HOLDING) / (share**2 * m.variance(people, _HOLDING)))


def _reach(m: FrequencyOracle, people: int) -> float:
    return float(100 * 1.96 * m.variance(people, _HOLDING) ** 0.5)


def _again(m: FrequencyOracle) -> Puzzle:
    once, often = (lay.guesses(guessed_after(m, times), 1 / m.k) for times in (1, _DAYS))
    return Puzzle(
        f"An app asks you the same question on {_DAYS} days, with fresh coins each day. How often is the best guess of "
        "your answer right?",
        (f"{once[0]} times in {once[2]}, as after one day", f"{often[0]} times in {often[2]}"),
        1,
        f"Losses add up: {_DAYS} reports lose {_DAYS} times as much as one. An app that asks again must keep the first "
        "answer, or the account.",
    )
