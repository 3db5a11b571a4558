"""The data reconstruction attack (DRA): one guess from one report, in two readings, exactly and on real reports.

In section 4.4 the attacker holds all values equally likely and guesses one that the report supports. How often that is
right depends on the value: under MSS on how many values share its residues, under PGR, where the geometry is cut to
k values, on how many of them lie on its lines. In section 1 the attacker knows how frequent values are.
"""

from __future__ import annotations

import math

import numpy as np

from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.projective.counts import over_hyperplanes
from hush.randomness import seeded
from hush.types import Floats, Ints, Reports, Values


def by_value(m: FrequencyOracle) -> Floats:
    """For each value, how often its holder is found out by an attacker who holds all values equally likely; exact."""
    if isinstance(m, MSS):
        return sum(map(_residue_success, [m.k] * len(m.moduli), m.moduli, m.omegas, m.blocks.p), np.zeros(m.k)) / len(
            m.moduli
        )
    if isinstance(m, PGR):
        favoured, (inside, outside) = supported(m), m._sizes
        shares = np.where(favoured > 0, 1 / np.maximum(favoured, 1), 0.0)
        nobody = int((favoured == 0).sum()) / m.k * (1 - m.p_star) / outside
        return np.asarray(m.p_star / inside * over_hyperplanes(shares, m.k, m._space) + nobody)
    return np.full(m.k, m.asr())


def _residue_success(k: int, m: int, omega: int, p: float) -> Floats:
    """Equation 11: one over the values whose residues are in the subset, which holds its own and omega - 1 others."""
    from scipy.stats import hypergeom

    each, rest = divmod(k, m)
    found = np.empty(2)
    for crowded in (0, 1):  # a residue of `each` values, or of one more
        more = np.arange(omega)
        law = hypergeom.pmf(more, m - 1, max(rest - crowded, 0), omega - 1)
        found[crowded] = p * float((law / (each * omega + crowded + more)).sum())
    return np.asarray(found[(np.arange(k) % m < rest).astype(np.intp)])


def supported(m: PGR) -> Ints:
    """For each message, how many values it favours."""
    return m.favoured_sums(np.ones(m.k, np.int64))


def chances(m: FrequencyOracle, reports: Reports, values: Values, favoured: Ints | None = None) -> Floats:
    """Given each report, the chance that its guess is right, averaged over the guess's own coin."""
    if isinstance(m, MSS):
        which = m.opened(reports)[0].astype(np.intp)
        sizes, omegas = (part[which] for part in m._arrays[:2])
        members = m.members(reports)
        inside = np.arange(members.shape[1]) < omegas[:, None]
        crowded = ((members < (m.k % sizes)[:, None]) & inside).sum(axis=1)
        return np.asarray(m.supports(reports, values) / (m.k // sizes * omegas + crowded))
    if isinstance(m, PGR) and favoured is not None:
        there = favoured[reports.astype(np.intp)]
        return np.where(there > 0, m.supports(reports, values) / np.maximum(there, 1), 1 / m.k)
    return m.forms.guess_chance(reports, values)


def attacked(m: FrequencyOracle, counts: Ints, runs: int, seed: list[int]) -> tuple[float, float]:
    """How often real reports give their sender away, and the standard error; trial i uses `seeded([*seed, i])`."""
    values = np.repeat(np.arange(m.k, dtype=np.int64), counts)
    favoured = supported(m) if isinstance(m, PGR) else None
    chances(m, m.privatize(values[:1], rng=seeded(seed)), values[:1], favoured)  # compiles before threads start

    def run(start: int, stop: int) -> tuple[float, float]:
        right = chances(m, m.privatize(values, rng=seeded([*seed, start])), values, favoured)
        return float(right.mean()), float(np.square(right).mean())

    means, squares = np.array(chunks.each(runs, 1, run)).mean(axis=0)
    return float(means), math.sqrt(max(squares - means**2, 0.0) / (runs * values.size))
