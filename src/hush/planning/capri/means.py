"""Estimated totals of whole collections with a mechanism for means, without making a report for each person.

A total needs no more than how many people of each grid point sent what. Under Duchi that is a binomial number of ones.
A report of Piecewise is uniform over a window of its own or, with what is left of its probability, over all places; so
people who hold different amounts can be counted together.
"""

from __future__ import annotations

import math

import numpy as np

from hush.exact.thresholds import SCALE
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.mechanisms.numeric.base import Numeric
from hush.planning.capri.population import Population
from hush.planning.capri.total import Draw
from hush.types import Floats, Ints

_AT_ONCE = 256
WORK = 2000.0
"""What one collection costs, in random numbers, roughly."""


def totals(m: Numeric, people: Population) -> Draw | None:
    """Draws of the estimated total; None for a mechanism that is not one of the three here."""
    if type(m) not in (Duchi, Piecewise, Hybrid):
        return None
    held = people.counts > 0
    counts, places = people.counts[held], m._places(people.amounts[held])
    below = np.minimum(np.floor(places), m.steps - 1).astype(np.int64)
    unit = m.width / m.steps

    def draw(runs: int, rng: np.random.Generator) -> Floats:
        risen = rng.binomial(counts, places - below, (runs, counts.size))  # rounded up to the next grid point
        ticks = np.concatenate([below, below + 1])
        return people.n * m.low + unit * _says(m, ticks, np.concatenate([counts - risen, risen], axis=1), rng)

    return draw


def _says(m: Numeric, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
    """What all reports say together about their ticks, for people[run, tick]."""
    if isinstance(m, Hybrid):
        window, coin = m._parts
        chosen = rng.binomial(people, m.choose / SCALE)
        return _says(window, ticks, chosen, rng) + _says(coin, ticks, people - chosen, rng)
    n = people.sum(axis=1)
    if isinstance(m, Duchi):
        ones = rng.binomial(people, (m.base + m.slope * ticks.astype(np.float64)) / SCALE).sum(axis=1)
        zero, one = (float(x) for x in m._says)
        return np.asarray(n * zero + ones * (one - zero), np.float64)
    assert isinstance(m, Piecewise)
    everywhere = (SCALE - m.keep) / SCALE * m.size / m.outside
    inside = rng.binomial(people, 1 - everywhere)
    own = inside.sum(axis=1)
    reported = inside @ (m.height * ticks) + _uniform(own, m.inside, rng) + _uniform(n - own, m.size, rng)
    start, slope = (float(x) for x in m._line)
    return np.asarray((reported - n * start) / slope, np.float64)


def _uniform(people: Ints, places: int, rng: np.random.Generator) -> Ints:
    """Sums of so many uniform numbers from 0 to places - 1: in rows of equal length, what is left over apart."""
    if places <= _AT_ONCE:
        return np.asarray(rng.multinomial(people, np.full(places, 1 / places)) @ np.arange(places), np.int64)
    wide = math.isqrt(places)
    rest = places % wide
    last = rng.binomial(people, rest / places)
    full = people - last
    total = wide * _uniform(full, places // wide, rng) + _uniform(full, wide, rng)
    return total + last * (places - rest) + (_uniform(last, rest, rng) if rest else 0)
