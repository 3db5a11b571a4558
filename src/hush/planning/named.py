"""For one mechanism, the round budget that serves the wishes best, if any does.

Budgets are tried one after the other, the most wanted first, and the first that meets all wishes is taken. Where the
error is asked for, which they are follows from the error alone; the other wishes only pass over some of them. So what
serves without a wish, and meets it, serves with it too: a grid of budgets that each wish is held against has no such
promise, and steps over narrow windows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import companion_of
from hush.mechanisms.settings import takes
from hush.planning.budgets import FINEST, MOST_EPSILON, USUAL, Measure, budget, finer, first, place
from hush.planning.measures import likely_epsilon, meets, number_of
from hush.planning.wishes import ASSUMED_EPSILON, Wishes

_HAIR = 2e-12  # in logarithms; a limit is kept within half of it
_NEAR = 0.9


@dataclass(frozen=True)
class Named:
    """A registered mechanism that needs nothing but k, epsilon and perhaps delta; some parameters may be fixed."""

    mechanism: type[FrequencyOracle]
    wishes: Wishes
    fixed: tuple[tuple[str, Any], ...] = ()

    tuned: ClassVar[bool] = False

    def make(self, epsilon: float) -> FrequencyOracle:
        """The mechanism at a budget."""
        extra = {"delta": self.wishes.delta} if "delta" in takes(self.mechanism) else {}
        return self.mechanism(k=self.wishes.k, epsilon=epsilon, **extra, **dict(self.fixed))

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        w = self.wishes
        for epsilon in self._tried():
            if epsilon > w.largest_epsilon:
                continue
            try:
                m = self.make(epsilon)
                if meets(m, w):
                    return m
            except HushError:  # a limit of this mechanism's own
                continue
        return None

    def _tried(self) -> Iterator[float]:
        """Budgets, the most wanted first."""
        yield from self._largest() if self.wishes.spends else self._least()

    def _least(self) -> Iterator[float]:
        """The least that the error allows, with more digits where the next round one may be too much.

        Then the largest that is allowed, if that is near, since error and attack success may fall and rise unevenly, or
        below all that are looked at.
        """
        error = self._excess("error")
        at = first(error, likely_epsilon(self.wishes))
        if at is None:
            return
        yield budget(at)
        if at > 0 and self._bearable(budget(at - 1)):
            yield from (finer(error, at, digits) for digits in range(USUAL + 1, FINEST + 1))
        if at == 0 or self._bearable(_NEAR * budget(at)):
            yield from self._largest()

    def _bearable(self, epsilon: float) -> bool:
        """Whether a budget would do but for the error."""
        limit = self.wishes.limits.get("asr", math.inf)
        try:
            return epsilon <= self.wishes.largest_epsilon and number_of(self.make(epsilon), "asr", self.wishes) <= limit
        except HushError:
            return False

    def _largest(self) -> Iterator[float]:
        """The largest that is allowed; the one that is assumed stands in where a mechanism does not take so much."""
        w = self.wishes
        yield w.largest_epsilon
        if "asr" in w.limits:
            exceeds = self._excess("asr")

            def left(epsilon: float) -> float:
                return _HAIR - exceeds(epsilon)

            at = first(left, w.largest_epsilon)
            if at is None:
                yield MOST_EPSILON
            elif at > 0:
                yield budget(at - 1)
                if w.spends and "error" in w.limits:
                    for digits in range(USUAL + 1, FINEST + 1):
                        yield budget(place(finer(left, at, digits), digits) - 1, digits)
        yield ASSUMED_EPSILON

    def _excess(self, name: str) -> Measure:
        """How far a limit is exceeded at a budget, in logarithms; far below it where the mechanism takes no such."""
        limit, free = self.wishes.limits[name], self.wishes.unbound()

        def excess(epsilon: float) -> float:
            try:
                found = _number(Named(self.mechanism, free, self.fixed), name, epsilon)
            except HushError:
                return -math.inf
            return math.log(max(found, 1e-300) / limit) if found < math.inf else math.inf

        return excess


@lru_cache(maxsize=4096)
def _number(one: Named, name: str, epsilon: float) -> float:
    """A number at a budget; kept, since wishes that cannot be met are asked for again with one of them relaxed."""
    return number_of(one.make(epsilon), name, one.wishes)


@dataclass(frozen=True)
class Usual:
    """A registered mechanism as it is, but for what it would choose anew at each budget that is looked at."""

    mechanism: type[FrequencyOracle]
    wishes: Wishes

    tuned: ClassVar[bool] = False

    def make(self, epsilon: float) -> FrequencyOracle:
        """Return the mechanism at a budget, with what it chooses for that."""
        settled = companion_of(self.mechanism).settled(self.wishes.k, epsilon)
        return Named(self.mechanism, self.wishes, tuple(settled.items())).make(epsilon)

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        forms = companion_of(self.mechanism)
        return searched(self.mechanism, self.wishes, lambda epsilon: forms.settled(self.wishes.k, epsilon))


def searched(
    mechanism: type[FrequencyOracle], wishes: Wishes, fixed: Callable[[float], Mapping[str, Any]]
) -> FrequencyOracle | None:
    """The one that serves best with what is fixed for about the budget it will have, or for another if none does."""
    tried: set[tuple[tuple[str, Any], ...]] = set()
    for epsilon in _likely(wishes):
        held = tuple(fixed(epsilon).items())
        if held in tried:
            continue
        tried.add(held)
        m = Named(mechanism, wishes, held).search()
        if m is not None:
            return m
    return None


def _likely(wishes: Wishes) -> Iterator[float]:
    """Budgets that what serves may have, the likeliest first."""
    if not wishes.spends:
        yield likely_epsilon(wishes)
    if wishes.max_epsilon is not None:
        yield wishes.max_epsilon
    yield ASSUMED_EPSILON
