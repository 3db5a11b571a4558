"""What an attack achieved, and the rules that truths obey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.estimation.intervals import proportion
from hush.mechanisms.base import FrequencyOracle
from hush.people.columns import as_array, kind
from hush.people.domain import integers
from hush.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an attack guessed, and how often it was right.

    Args:
        guesses: What was guessed for each person, one row each.
        success: The share of people for whom the guess was right.
        interval: Clopper-Pearson interval of the success rate, at 95 %, for people who are independent.
        n: How many people were attacked.
        chance_level: Success of the best guess that looks at no report.
        expected: Exact mean success of the attack, where there is a formula; None elsewhere.
    """

    guesses: Ints = field(repr=False)
    success: float
    interval: tuple[float, float]
    n: int
    chance_level: float
    expected: float | None = None

    def within(self, level: float) -> tuple[float, float]:
        """The interval of the success rate at another level."""
        return proportion(round(self.success * self.n), self.n, level)

    def __str__(self) -> str:
        low, high = self.interval
        known = "" if self.expected is None else f"; expected {self.expected:.4g}"
        shown = f"{self.success:.4g} of {self.n} (95 %: {low:.4g} to {high:.4g})"
        return f"{shown}; by chance {self.chance_level:.4g}{known}"


def scored(guesses: Ints, right: Bools, chance_level: float, expected: float | None = None) -> Outcome:
    """The outcome of guesses of which some were right."""
    hits, n = int(right.sum()), right.size
    return Outcome(guesses, hits / n, proportion(hits, n), n, float(chance_level), expected)


def truth(name: str, values: npt.ArrayLike, size: int, n: int) -> Ints:
    """The truth about each of n people: integers in 0..size-1."""
    checked = integers(values, size)
    one_each(name, checked.size, n)
    return checked


def flags(name: str, values: npt.ArrayLike, n: int) -> Bools:
    """Yes or no for each of n people."""
    array = as_array(name, values)
    if array.dtype.kind != "b" or array.ndim != 1:
        rule = "must be true or false for each person"
        raise ParameterError(message(name, rule, f"{kind(array)}, shape {array.shape}", "pass an array of booleans"))
    one_each(name, array.size, n)
    return array


def one_each(name: str, given: int, n: int) -> None:
    """As many as there are reports, and at least one."""
    if n == 0:
        raise ParameterError(message("reports", "must hold at least one", 0, "collect reports first"))
    if given != n:
        raise ParameterError(message(name, f"must be {n}, one for each person who reports", given, "pass the truth"))


def expected_success(m: FrequencyOracle, prior: npt.ArrayLike | None = None) -> float | None:
    """The success of the best guess from one report; None for a mechanism that can neither say it nor be enumerated."""
    try:
        return m.asr(prior)
    except (NotImplementedError, ParameterError):
        return None


def product(factors: Sequence[float | None]) -> float | None:
    """Of numbers that are all known."""
    total = 1.0
    for factor in factors:
        if factor is None:
            return None
        total *= factor
    return total


def mean(terms: Sequence[float | None]) -> float | None:
    """Of numbers that are all known."""
    known: Floats = np.array([term for term in terms if term is not None])
    return float(known.mean()) if known.size == len(terms) else None
