"""Estimates from the normal law with the mechanism's covariance: fast, smooth in the budget, and nearly right.

They show where to look; what is concluded comes from the exact law. The same normal numbers serve all budgets. The
covariance is exact where a mechanism's forms know it for a fixed population, as those of randomized response, subset
selection and independent coordinates do; or for people drawn at random, as those of Hadamard response, projective
geometry and modular subsets: in a fixed population, they have the exact variances. Of others it has the exact
variances alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.planning.optimus.population import Population
from hush.simulation.normals import Normals, sampled
from hush.types import Floats


@dataclass(eq=False)
class Normal:
    """Normal estimates for so many runs, the same numbers at every budget."""

    people: Population
    runs: int
    rng: np.random.Generator

    @cached_property
    def _normals(self) -> Normals:
        return Normals(self.runs, self.rng)

    @cached_property
    def _sampled(self) -> Floats | float:
        """What drawing the people at random adds."""
        if self.people.drawn is None:
            return 0.0
        people = self.people
        return sampled(self.rng.standard_normal((self.runs, people.k)), people.frequencies) / np.sqrt(people.n)

    @cached_property
    def _one(self) -> Floats:
        return self.rng.standard_normal(self.runs)

    def estimates(self, m: FrequencyOracle | Numeric) -> Floats | None:
        """One a row; None where the mechanism does not know its variances."""
        if isinstance(m, Numeric):
            return self._means(m)
        f, n = self.people.frequencies, self.people.n
        report = m.forms.normal_report(self._normals, f)
        if report is not None:
            whole = report if self.people.drawn is not None else self._fixed(m, report)
            return np.asarray(f + whole / np.sqrt(n), np.float64)
        noise = m.forms.normal_noise(self._normals, f, n)
        return None if noise is None else np.asarray(f + self._sampled + noise, np.float64)

    def _means(self, m: Numeric) -> Floats:
        """Of means: the exact variance, and that of who is drawn."""
        people, a = self.people, self.people.amounts
        middle = float(people.frequencies @ a)
        each = m.forms.total_law(a, people.whole().counts).variance / people.n
        if people.drawn is not None:
            each += float(people.frequencies @ (a - middle) ** 2)
        return np.asarray(middle + self._one * np.sqrt(each / people.n), np.float64)[:, None]

    def _fixed(self, m: FrequencyOracle, report: Floats) -> Floats:
        """What a report adds in a fixed population: the covariance lacks that of a person's value, diag f - f f'."""
        f, exact = self.people.frequencies, m.variances(self.people.frequencies, 1)
        return np.asarray((report + np.outer(self._one, f)) * np.sqrt(exact / (exact + f)), np.float64)
