"""Families with a parameter that is chosen together with the budget.

The parameters that are looked at follow from the number of values, and which of two is better from these two alone. So
a wish that the best one meets does not make another one best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.tunable import Choices, Family, ForBudget, Tunable
from hush.planning.budgets import LEAST_EPSILON, MOST_EPSILON
from hush.planning.measures import meets, number_of, numbers_of
from hush.planning.named import Named, searched
from hush.planning.objectives import Z95
from hush.planning.wishes import Wishes
from hush.types import Floats

_STEPS = 26
_LOOSE = 1 + 1e-6
"""Closed forms are as good as that; what they choose is measured exactly."""
_BUILT = 24
"""Of the parameters that closed forms find good enough, so many are built until one is."""
_MEASURED = 9
"""So many are built and measured where objectives are named that have no closed form."""


@dataclass(frozen=True)
class Tuned:
    """A family whose numbers are known in closed form, for all its parameters at once."""

    family: Family
    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best; where closed forms find none, that of fewer wishes, if it meets all."""
        if self.wishes.more:
            return self._best_measured()
        for parameter in self._ranked(_BUILT):
            m = Named(self.family.mechanism, self.wishes, ((self.family.parameter, parameter),)).search()
            if m is not None:
                return m
        if self.wishes.metric != "mae":  # which closed forms only know nearly
            return None
        for fewer in (replace(self.wishes, max_asr=None), replace(self.wishes, max_bits=None)):
            m = Tuned(self.family, fewer).search() if fewer != self.wishes else None
            if m is not None and meets(m, self.wishes):
                return m
        return None

    def _best_measured(self) -> FrequencyOracle | None:
        """The best of a few, from the one that closed forms find best to the one they find worst, by all objectives."""
        ranked = list(self._ranked(None))
        places = np.unique(np.geomspace(1, max(len(ranked), 1), _MEASURED).astype(np.int64)) - 1
        named = [(self.family.parameter, ranked[at]) for at in places.tolist() if at < len(ranked)]
        made = [Named(self.family.mechanism, self.wishes, (each,)).search() for each in named]
        able = [m for m in made if m is not None]
        if not able:
            matters = "balance" if self.wishes.matters in self.wishes.more else self.wishes.matters
            return Tuned(self.family, replace(self.wishes, objectives=(), matters=matters)).search()
        return _best(able, self.wishes)

    def _ranked(self, most: int | None) -> Iterator[int | float]:
        """The best parameters that seem to meet the wishes, the best first: so many, or all."""
        w, family = self.wishes, self.family
        parameters = family.grid(w.k)
        bits = family.bits(w.k, parameters)
        budgets = self._budgets(parameters)
        numbers = {"epsilon": budgets, **self._measured(budgets, parameters), "bits": bits}
        if w.matters == "work" and family.work is not None:
            numbers["work"] = family.work(parameters)
        able = budgets <= w.largest_epsilon * _LOOSE
        for name, limit in w.limits.items():
            able &= numbers[name] <= limit * _LOOSE
        at = np.nonzero(able)[0]
        for i in w.best_first({name: column[at] for name, column in numbers.items()})[:most]:
            yield family.written(parameters[at[i]])

    def _budgets(self, parameters: Floats) -> Floats:
        """For each parameter the least budget that the error needs, or the largest that is allowed.

        For a fixed parameter, attack success rises with the budget and error falls: each is bisected.
        """
        w = self.wishes
        if not w.spends:
            return self._crossing("error", parameters, MOST_EPSILON, rises=False)
        if "asr" not in w.limits:
            return np.full(parameters.shape, w.largest_epsilon)
        return self._crossing("asr", parameters, w.largest_epsilon, rises=True)

    def _crossing(self, name: str, parameters: Floats, top: float, *, rises: bool) -> Floats:
        limit, least = self.wishes.limits[name], min(LEAST_EPSILON, self.wishes.largest_epsilon)
        low, high = np.full(parameters.shape, math.log(least)), np.full(parameters.shape, math.log(top))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            below = (self._measured(np.exp(middle), parameters)[name] <= limit) == rises
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.exp(low if rises else high)

    def _measured(self, epsilon: Floats, parameter: Floats) -> dict[str, Floats]:
        w = self.wishes
        got = self.family.measured(w.k, epsilon, parameter, w.judged, worst=w.worst, targets=w.targets)
        error = {"mse": got["mse"], "mae": np.sqrt(got["mse"] * 2 / math.pi), "margin": Z95 * np.sqrt(got["mse"])}
        return {
            "error": error[w.metric],
            "mse": got["mse"],
            "asr": got["asr"],
            "gain": w.fakes * (got["gain"] - w.targets / w.k),
        }


@dataclass(frozen=True)
class ListedParameter:
    """A mechanism with a parameter of few values, each of which is searched for its budget."""

    choices: Choices
    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        w, offer = self.wishes, self.choices
        made = [Named(offer.mechanism, w, ((offer.parameter, value),)).search() for value in offer.values]
        able = [m for m in made if m is not None]
        return _best(able, w) if able else None


@dataclass(frozen=True)
class Anchored:
    """A mechanism with a parameter that is chosen for about the budget that it will have, and for what matters."""

    offer: ForBudget
    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The first that serves, of budgets that it may have."""
        w, offer = self.wishes, self.offer

        def fixed(epsilon: float) -> dict[str, Any]:
            return {offer.parameter: offer.choose(w.k, epsilon, w.matters)}

        return searched(offer.mechanism, w, fixed)


def _best(made: Sequence[FrequencyOracle], wishes: Wishes) -> FrequencyOracle:
    """The one with the best numbers."""
    rows = [{**numbers_of(m, wishes), "mse": number_of(m, "mse", wishes)} for m in made]
    return made[wishes.best_first({name: np.array([row[name] for row in rows]) for name in rows[0]})[0]]


def tuned(offer: Tunable, wishes: Wishes) -> Tuned | ListedParameter | Anchored:
    """How what is offered is searched."""
    if isinstance(offer, Family):
        return Tuned(offer, wishes)
    return ListedParameter(offer, wishes) if isinstance(offer, Choices) else Anchored(offer, wishes)
