"""Families with a parameter that is chosen together with the budget.

The parameters that are looked at follow from the number of values, and which of two is better from these two alone. So
a wish that the best one meets does not make another one best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from hush.analysis.projective import dimension, points
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hadamard import HR
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import ANCHORS, choose_moduli, usual_moduli
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.planning.budgets import LEAST_EPSILON, MOST_EPSILON
from hush.planning.families import Family
from hush.planning.measures import likely_epsilon, meets, numbers_of
from hush.planning.named import Named
from hush.planning.objectives import Z95
from hush.planning.wishes import ASSUMED_EPSILON, Wishes
from hush.types import Floats

MODULAR_FOR = 1 << 14
"""Values up to which modular subset selection is planned with: beyond, PGR is shorter and as exact at any budget up to
nine, and the error of modular subset selection takes longer to find than everything else together."""

_ORDERS = (2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 19, 23, 27, 32, 37, 43, 49, 59, 64, 73, 81, 97, 121, 149, 181, 223, 256)
"""Fields that are tried for projective geometry response; others are between them."""
_MODULI_FOR = 4_096
"""Values up to which moduli are chosen for what matters."""
_WANTED: dict[str, str | dict[str, float]] = {"bits": "bits", "work": "bits", "attack": "asr", "accuracy": "mse"}
_BALANCE = {"mse": 0.5, "asr": 1.0, "bits": 0.25}
_STEPS = 26
_LOOSE = 1 + 1e-6
"""Closed forms are as good as that; what they choose is measured exactly."""
_BUILT = 24
"""Of the parameters that closed forms find good enough, so many are built until one is."""


@dataclass(frozen=True)
class Tuned:
    """A family whose numbers are known in closed form, for all its parameters at once."""

    family: Family
    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best; where closed forms find none, that of fewer wishes, if it meets all."""
        for parameter in self._ranked():
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

    def _ranked(self) -> Iterator[int | float]:
        """The best parameters that seem to meet the wishes, the best first."""
        w, family = self.wishes, self.family
        parameters = family.grid(w.k)
        bits = family.bits(w.k, parameters)
        budgets = self._budgets(parameters)
        numbers = {"epsilon": budgets, **self._measured(budgets, parameters), "bits": bits}
        if w.matters == "work" and family.mechanism is SS:
            numbers["work"] = parameters
        able = budgets <= w.largest_epsilon * _LOOSE
        for name, limit in w.limits.items():
            able &= numbers[name] <= limit * _LOOSE
        at = np.nonzero(able)[0]
        for i in w.best_first({name: column[at] for name, column in numbers.items()})[:_BUILT]:
            chosen = float(parameters[at[i]])
            yield int(chosen) if family.whole else chosen

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
        got = self.family.measured(w.k, epsilon, parameter, w.n, worst=w.worst, targets=w.targets)
        error = {"mse": got["mse"], "mae": np.sqrt(got["mse"] * 2 / math.pi), "margin": Z95 * np.sqrt(got["mse"])}
        return {"error": error[w.metric], "asr": got["asr"], "gain": got["gain"]}


@dataclass(frozen=True)
class Listed:
    """A mechanism with a parameter of few values, each of which is searched for its budget."""

    mechanism: type[FrequencyOracle]
    parameter: str
    values: tuple[Any, ...]
    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        w = self.wishes
        made = [Named(self.mechanism, w, ((self.parameter, value),)).search() for value in self.values]
        able = [m for m in made if m is not None]
        if not able:
            return None
        rows = [numbers_of(m, w) for m in able]
        return able[w.best_first({name: np.array([row[name] for row in rows]) for name in rows[0]})[0]]


def hadamard(wishes: Wishes) -> Listed:
    """Hadamard response with any number of blocks."""
    return Listed(HR, "blocks", tuple(2**i for i in range((2 * wishes.k).bit_length())), wishes)


def projective(wishes: Wishes) -> Listed:
    """Projective geometry response over many fields."""
    orders = (q for q in _ORDERS if q <= wishes.k and points(q, dimension(wishes.k, q)) <= 64 * wishes.k)
    return Listed(PGR, "q", tuple(orders), wishes)


@dataclass(frozen=True)
class Modular:
    """Modular subset selection, with the usual moduli or with those chosen for what matters."""

    wishes: Wishes
    tuned: bool

    def search(self) -> FrequencyOracle | None:
        """With moduli for about the budget that it will have, or for another one if they do not serve."""
        w = self.wishes
        if w.k > (_MODULI_FOR if self.tuned else MODULAR_FOR):
            return None
        near = [] if w.spends else [likely_epsilon(w)]
        near += [epsilon for epsilon in (w.max_epsilon, ASSUMED_EPSILON) if epsilon is not None]
        for anchor in dict.fromkeys(min(ANCHORS, key=lambda each: (abs(each - x), each)) for x in near):
            moduli = _moduli(w.k, anchor, w.matters) if self.tuned else usual_moduli(w.k, anchor)
            m = Named(MSS, w, (("moduli", moduli),)).search()
            if m is not None:
                return m
        return None


@lru_cache(maxsize=256)
def _moduli(k: int, epsilon: float, matters: str) -> tuple[int, ...]:
    """Moduli for what matters; kept, since they take a while and wishes are often asked for again."""
    return choose_moduli(k, epsilon, objective=_WANTED.get(matters, _BALANCE))
