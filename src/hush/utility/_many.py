"""Tallies of utility-optimized mechanisms for all runs at once, as `_simulate` draws one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hush.exact.thresholds import SCALE
from hush.simulation import batches
from hush.types import Floats, Ints
from hush.utility import simulating
from hush.utility._moments import output_chances, revealing_outputs
from hush.utility._revelation import Leveled, Revelation, Silent

if TYPE_CHECKING:
    from hush.utility.oracle import UtilityOracle


def known(m: UtilityOracle) -> bool:
    """Whether tallies are drawn without reports."""
    return not m._others.size or simulating.fast(m._revelation)


def tallies(m: UtilityOracle, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
    """Base tallies, then how often each other value was revealed, then how often alone: a row for each run."""
    others = people[:, m._others]
    hidden = batches.thinned(others, m._revelation.hide / SCALE, runs, rng)
    pairs = batches.thinned(hidden, min(max(m._revelation.mean, 0.0), 1.0), runs, rng)
    alone, revealed = (others - hidden).sum(axis=1), pairs.sum(axis=1)
    kept = hidden.sum(axis=1) - revealed
    together, by_itself = (revealed, alone) if m.reveal == "pair" else (np.zeros_like(revealed), alone + revealed)
    base = _based(m, np.ascontiguousarray(people[:, m._sensitive]), kept, together, rng)
    return np.concatenate([base, others - hidden + pairs, by_itself[:, None]], axis=1)


def _based(m: UtilityOracle, held: Ints, kept: Ints, together: Ints, rng: np.random.Generator) -> Ints:
    """Base tallies of people with sensitive values, and of those in disguise, protected or revealed beside it."""
    revelation, base, runs = m._revelation, m.base, kept.size
    if m._others.size and revelation.constant is not None and not isinstance(revelation, Silent):
        # A disguise is any sensitive value: these people are as many more of each.
        held = held + batches.multinomials(np.full(base.k, 1 / base.k), kept + together, rng)
        return base.forms.tallies(held, runs, rng).reshape(runs, -1)
    rows = base.forms.tallies(held, runs, rng).reshape(runs, -1)
    return rows + _disguised(revelation, kept, together, rng).reshape(runs, -1) if m._others.size else rows


def _disguised(revelation: Revelation, kept: Ints, pairs: Ints, rng: np.random.Generator) -> Ints:
    """Base tallies of people in disguise, some of whom reveal their value too, where z goes by the report."""
    base, runs = revelation.base, kept.size
    if isinstance(revelation, Silent):
        alike = np.repeat((kept + pairs)[:, None], base.k, axis=1)
        return batches.thinned(alike, revelation.unary.q_star, runs, rng)
    assert isinstance(revelation, Leveled)
    if revelation.shape.numbered is not None:
        return _both(output_chances(revelation), revealing_outputs(revelation), kept, pairs, rng)
    return batches.uniform_sets(_both(revelation.shape.law, revelation.chances, kept, pairs, rng), rng)


def _both(law: Floats, reveals: Floats, kept: Ints, pairs: Ints, rng: np.random.Generator) -> Ints:
    """How many reports are of each kind, given that each of them reveals, or does not."""
    counts = np.zeros((kept.size, law.size), np.int64)
    for people, part in ((kept, law * (1 - reveals)), (pairs, law * reveals)):
        if people.any():
            counts += batches.multinomials(part / part.sum(), people, rng)
    return counts
