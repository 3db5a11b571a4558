"""Who will report: fixed counts, or n people drawn from a distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush import rules
from hush.columns import as_array
from hush.datasets import Dataset
from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Estimate
from hush.estimation.consistency import simplex
from hush.estimation.possible import total
from hush.simulation import batches
from hush.types import Floats, Ints

MOST_PEOPLE = 10**12


@dataclass(frozen=True, eq=False)
class Population:
    """The people of every simulated collection.

    Args:
        truth: The frequencies that a loss compares estimates with.
        n: How many people report.
        counts: How many hold each value, where that is fixed; None where they are drawn anew in every run.
    """

    truth: Floats
    n: int
    counts: Ints | None

    @property
    def k(self) -> int:
        """Number of values."""
        return self.truth.size

    def people(self, runs: int, rng: np.random.Generator) -> Ints:
        """Counts for every run, or one row for all."""
        if self.counts is not None:
            return self.counts[None]
        return batches.populations(self.truth, self.n, runs, rng)


def population(given: object, n: int | None) -> Population:
    """From counts; from weights and n; or from an earlier estimate, projected onto the simplex, and n or its own."""
    if isinstance(given, Estimate):
        return _drawn(simplex(np.asarray(given.frequencies, np.float64)), given.n if n is None else n)
    array = as_array("population", given.counts if isinstance(given, Dataset) else given)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        rule = "must be a row of counts, or of weights with n beside them"
        got = Unsaid("none") if array.size == 0 else given
        raise ParameterError(message("population", rule, got, "say how many people hold each value"))
    rules.domain_size(int(array.size))
    if not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
        rule = "must be finite, non-negative and not all zero"
        raise ParameterError(message("population", rule, given, "say how many people hold each value"))
    if n is not None:
        return _drawn(array.astype(np.float64), n)
    if array.dtype.kind == "f":
        rule = "must be whole counts where n is left out"
        raise ParameterError(message("population", rule, given, "give n, the number of people, beside a distribution"))
    counts = array.astype(np.int64)
    people = rules.integer("n", total(array), 1, MOST_PEOPLE, "count the people who will report")
    return Population(np.asarray(counts / people, np.float64), people, counts)


def _drawn(weights: Floats, n: object) -> Population:
    people = rules.integer("n", n, 1, MOST_PEOPLE, "count the people who will report")
    return Population(weights / weights.sum(), people, None)
