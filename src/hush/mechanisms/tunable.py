"""What of a mechanism can be tuned: the ways in which its forms offer a free parameter to a planner.

A planner chooses a parameter together with the budget. It looks at a `Family` through closed forms, all parameters and
budgets at once; it builds every mechanism of `Choices`; a parameter that fits a budget it has from `ForBudget`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.analysis import success, variance
from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle

Fixed = tuple[tuple[str, Any], ...]
"""Parameters that are set, with their values."""


def _all(targets: int, parameter: Floats) -> Floats:
    return np.full(parameter.shape, float(targets))


def _bits(k: int, p: Floats, q: Floats, parameter: Floats) -> Floats:
    return np.asarray(success.independent_bits(k, p, q), np.float64)


@dataclass(frozen=True)
class Family:
    """A class of pure oracles with one free parameter, whose numbers are known in closed form.

    Args:
        mechanism: The class.
        parameter: Its free parameter.
        grid: The parameters to look at, all of few digits, from k alone: no wish takes one away.
        support: Probabilities p*, q* at (k, e^epsilon, parameter).
        bits: Information bits of a report, about.
        whole: Whether the parameter is an integer.
        asr: Attack success at (k, p*, q*, parameter); that of independent bits if left out.
        reach: How many of so many targets one report can support; all if left out.
        work: Counters that a report touches, where the parameter says so.
        fewest: Bits of the shortest report with this law, where another class has a shorter one.
    """

    mechanism: type[FrequencyOracle]
    parameter: str
    grid: Callable[[int], Floats]
    support: Callable[[int, Floats, Floats], tuple[Floats, Floats]]
    bits: Callable[[int, Floats], Floats]
    whole: bool = False
    asr: Callable[[int, Floats, Floats, Floats], Floats] = _bits
    reach: Callable[[int, Floats], Floats] = _all
    work: Callable[[Floats], Floats] | None = None
    fewest: Callable[[int, Floats], Floats] | None = None

    def make(self, k: int, epsilon: float, parameter: float) -> FrequencyOracle:
        """One of them."""
        return self.mechanism(k=k, epsilon=float(epsilon), **{self.parameter: self.written(parameter)})

    def written(self, parameter: float) -> int | float:
        """A parameter of the grid, as the class takes it."""
        return int(parameter) if self.whole else float(parameter)

    def measured(
        self, k: int, epsilon: Floats, parameter: Floats, n: int, *, worst: bool, targets: int
    ) -> dict[str, Floats]:
        """Squared error, attack success and manipulation gain per fake, over a grid (broadcast)."""
        p, q = self.support(k, np.exp(epsilon), parameter)
        ends = [variance.pure(p, q, n, f) for f in ((0.0, 1.0) if worst else (1 / k,))]
        return {
            "mse": np.maximum.reduce(ends),
            "asr": self.asr(k, p, q, parameter),
            "gain": (self.reach(targets, parameter) - targets * q) / (p - q),
        }


@dataclass(frozen=True)
class Choices:
    """A class with a parameter of few values, each of which is worth a look.

    Args:
        mechanism: The class.
        parameter: Its free parameter.
        values: All that are looked at.
    """

    mechanism: type[FrequencyOracle]
    parameter: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class ForBudget:
    """A class with a parameter that is chosen for a budget and for what matters.

    Args:
        mechanism: The class.
        parameter: Its free parameter.
        choose: The parameter at (k, epsilon, what matters).
    """

    mechanism: type[FrequencyOracle]
    parameter: str
    choose: Callable[[int, float, str], Any]


Tunable = Family | Choices | ForBudget


def decimals(least: float, most: float) -> Floats:
    """Numbers of up to three decimal digits between two, ascending."""
    low, high = math.floor(math.log10(least)), math.floor(math.log10(most))
    rows = [np.arange(100, 1000) / 10.0 ** (2 - e) if e < 2 else np.arange(100, 1000) * 10.0 ** (e - 2)
            for e in range(low, high + 1)]  # fmt: skip
    found = np.concatenate(rows)
    return np.asarray(found[(found >= least * (1 - 1e-12)) & (found <= most * (1 + 1e-12))])


def integers(least: int, most: int) -> Floats:
    """Those of up to three digits."""
    found = decimals(least, max(most, least))
    return np.asarray(found[found == np.round(found)])
