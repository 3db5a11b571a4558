"""Improve what a search found: the least ε that gives nearly the same, and nothing that is much better in something.

Mechanisms are compared at the budgets that they may have, and ranked by a balance. Neither sees that a smaller ε would
do as well, nor that another mechanism is as good in all and much better in what weighs little. Both are repaired here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.tunable import Choices, Family
from hush.planning import balance
from hush.planning.budgets import LEAST_EPSILON, budget, first, place
from hush.planning.families import tunable
from hush.planning.measures import meets, number_of, numbers_of
from hush.planning.objectives import OBJECTIVES
from hush.planning.wishes import Wishes

_SAVED = 0.9
"""A smaller ε is taken where it is at most this share of what was accepted: 0.96 for 1 would only look exact."""
_FALLING = {*balance.ERRORS, "gain"}
"""What a larger budget makes smaller."""


def at_budget(m: FrequencyOracle, epsilon: float) -> FrequencyOracle:
    """Return a mechanism with the same parameters at another budget."""
    return type(m)(**{**m.parameters, "epsilon": epsilon})


def lower_budget(m: FrequencyOracle, wishes: Wishes) -> FrequencyOracle:
    """Return a mechanism at the least round ε at which everything else stays within 5 % and every wish is met.

    Errors below the sampling error count as that. The mechanism is returned as it is where that saves less than a
    tenth of ε, or where it already takes only what a stated error needs.
    """
    if not wishes.spends:
        return m
    names = [name for name in dict.fromkeys((*wishes.compared, "error")) if name in _FALLING]
    enough = _comparable(wishes, {name: number_of(m, name, wishes) for name in names})
    limit = wishes.limits.get("error", math.inf)

    def excess(epsilon: float) -> float:
        try:
            other = at_budget(m, epsilon)
            found = {name: number_of(other, name, wishes) for name in names}
        except HushError:
            return math.inf
        within = (math.log(x / (balance.NEAR * enough[name])) for name, x in _comparable(wishes, found).items())
        return max(*within, math.log(max(found["error"], 1e-300) / limit) if limit < math.inf else -math.inf)

    own = number_of(m, "epsilon", wishes)
    if own * _SAVED <= LEAST_EPSILON or excess(own * _SAVED) > 0:
        return m
    at = first(excess, own * _SAVED)
    if at is None or budget(at) > own * _SAVED:
        return m
    less = at_budget(m, budget(at))
    return less if meets(less, wishes) else m


def _comparable(wishes: Wishes, numbers: Mapping[str, float]) -> dict[str, float]:
    columns = {name: np.array(number) for name, number in numbers.items()}
    return {name: float(number) for name, number in balance.comparable(wishes, columns).items()}
