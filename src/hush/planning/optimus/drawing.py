"""Estimates of many simulated collections, drawn from the exact law of any mechanism."""

from __future__ import annotations

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.planning.optimus.population import Population
from hush.types import Floats


def estimates(m: FrequencyOracle, people: Population, runs: int, rng: np.random.Generator) -> Floats:
    """Raw estimates of so many collections, one a row."""
    if people.drawn is not None:
        tallies = m.forms.sampled_tallies(people.frequencies, people.n, runs, rng)
    else:
        tallies = m.forms.tallies(people.counts[None], runs, rng)
    return m.forms.estimates(tallies, people.n)
