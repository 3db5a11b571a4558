"""Estimates of many simulated collections, drawn from the exact law of any mechanism."""

from __future__ import annotations

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.planning.optimus.population import Population
from hush.types import Floats


def estimates(m: FrequencyOracle | Numeric, people: Population, runs: int, rng: np.random.Generator) -> Floats:
    """Raw estimates of so many collections, one a row; those of means have one column."""
    if isinstance(m, Numeric):
        return _totals(m, people, runs, rng)[:, None] / people.n
    if people.drawn is not None:
        tallies = m.forms.sampled_tallies(people.frequencies, people.n, runs, rng)
    else:
        tallies = m.forms.tallies(people.counts[None], runs, rng)
    return m.forms.estimates(tallies, people.n)


def _totals(m: Numeric, people: Population, runs: int, rng: np.random.Generator) -> Floats:
    """Estimated totals; of people who are drawn anew, one by one."""
    if people.drawn is None:
        return m.forms.total_draw(people.amounts, people.counts)(runs, rng)
    drawn = rng.multinomial(people.n, people.frequencies, size=runs)
    return np.concatenate([m.forms.total_draw(people.amounts, counts)(1, rng) for counts in drawn])
