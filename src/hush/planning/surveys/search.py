"""What a survey can be collected by, and the least total budget that each needs for an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hush.errors import HushError
from hush.mechanisms.registry import registry
from hush.mechanisms.usual import usual_oracles
from hush.multidim import split
from hush.planning.budgets import FINEST, least, rounded
from hush.planning.surveys.courses import Course, Fresh, FreshTuples, Kept
from hush.planning.surveys.wishes import SurveyWishes
from hush.randomness import seeded
from hush.types import Floats

_START = 2.0
_CELLS = 6_000_000
_PEOPLE, _FEWEST = 20_000, 100
_SEED = 7
_HAIR = 1e-12  # in logarithms; an error is as wished within that
_NONE = 1e-300  # in place of an error of zero, which budgets near 40 have, where logarithms are taken


@dataclass(frozen=True)
class SurveyCandidate:
    """A way to collect, before its total budget is known."""

    at: Callable[[float], Course[Any]]

    def error(self, total: float, wishes: SurveyWishes) -> float:
        """The error of the worst attribute in a round, at a total budget; infinite where it takes no such."""
        try:
            return max(errors(self.at(total), wishes))
        except HushError:
            return math.inf

    def least(self, wishes: SurveyWishes) -> float | None:
        """The least round budget that reaches the wished error; None where none up to 40 does.

        Where the next round one is more than is accepted, all that is.
        """
        wished = wishes.error
        assert wished is not None

        def excess(total: float) -> float:
            found = self.error(total, wishes)
            if math.isinf(found):  # too little to divide, or more than the protocol takes
                return math.inf if total < _START else -math.inf
            return math.log(max(found, _NONE) / wished) - _HAIR

        found = least(excess, _START, wishes.max_epsilon)
        return found if found is not None and wishes.reached(self.error(found, wishes)) else None


def candidates(wishes: SurveyWishes) -> Iterator[SurveyCandidate]:
    """Fresh reports of tuples or of one attribute, and protocols that keep answers where there are several rounds."""
    sizes, rounds = tuple(wishes.sizes), wishes.rounds

    def fresh(cls: type[Any], more: dict[str, Any]) -> SurveyCandidate:
        return SurveyCandidate(lambda total: FreshTuples(cls.losing(share_of(total, rounds), sizes, **more), rounds))

    def alone(name: str) -> SurveyCandidate:
        return SurveyCandidate(
            lambda total: Fresh(registry()[name](k=sizes[0], epsilon=share_of(total, rounds)), rounds)
        )

    def kept(cls: type[Any], more: dict[str, Any]) -> SurveyCandidate:
        return SurveyCandidate(lambda total: Kept(cls.lasting(total, wishes.report_share, sizes, **more), rounds))

    if len(sizes) == 1:
        yield from (alone(name) for name in usual_oracles(sizes))
    else:
        yield from (fresh(cls, more) for cls in registry("multidim").values() for more in cls.offers(sizes))
    if rounds > 1:
        yield from (kept(cls, more) for cls in registry("longitudinal").values() for more in cls.offers(sizes))


def share_of(total: float, rounds: int) -> float:
    """A round's share of the total, of few digits and so that all of them never exceed it.

    >>> share_of(4.0, 12), share_of(2.0, 1)
    (0.333333, 2.0)
    """
    share = split.share_of(total, rounds)
    return share if rounds == 1 else rounded(share, math.floor, FINEST)


def errors(course: Course[Any], wishes: SurveyWishes) -> tuple[float, ...]:
    """The error of each attribute in one round, in the metric of the wishes."""
    return tuple(wishes.told(each) for each in course.variances(wishes.n, worst=wishes.worst))


@dataclass(frozen=True)
class Guess:
    """How often the best attacker who has all reports of a person names an attribute that never changed.

    Args:
        attribute: Which, counted from 0.
        rate: How often.
        stderr: Of the simulation; 0 where it is exact.
        luck: How often a blind guess does.
        bound: Whether an even better attack may exist.
    """

    attribute: int
    rate: float
    stderr: float
    luck: float
    bound: bool

    @cached_property
    def advantage(self) -> float:
        """The share of the way from luck to certainty."""
        return (self.rate - self.luck) / (1 - self.luck)


def guesses(course: Course[Any], sizes: tuple[int, ...]) -> tuple[Guess, ...]:
    """The best guess of each attribute after all rounds, all values being equally likely.

    Where no formula tells, the mean over simulated people of how sure the attacker is of the likeliest value.
    """
    known = course.known_guesses()
    if all(rate is not None for rate in known):
        return tuple(Guess(j, float(rate or 0), 0.0, 1 / sizes[j], False) for j, rate in enumerate(known))
    rng = seeded(_SEED)
    people = min(_PEOPLE, max(_FEWEST, _CELLS // (sum(sizes) * len(sizes) * course.rounds)))
    tuples = np.stack([rng.integers(0, k, people) for k in sizes], axis=1)
    found = []
    for j, scores in enumerate(course.scores(tuples, rng)):
        sure = _surest(scores)
        rate, stderr = float(sure.mean()), float(sure.std() / math.sqrt(people))
        found.append(Guess(j, max(rate, 1 / sizes[j]), stderr, 1 / sizes[j], course.guesses_are_bounds))
    return tuple(found)


def _surest(scores: Floats) -> Floats:
    """For each person, how likely the likeliest value is."""
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(1 / likely.sum(axis=1), np.float64)
