"""Closed forms of what has independent supports: unary bits, ideal hashing, numbers compared with a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hush.analysis import adds, capacity, totals, waves
from hush.mechanisms.forms import PureForms
from hush.simulation import batches
from hush.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class IndependentForms(PureForms):
    """Of a pure oracle whose report supports each value independently of the others."""

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        return batches.independent_bits(people, self.m.p_star, self.m.q_star, runs, rng)

    def estimates(self, tallies: Ints, n: int) -> Floats:
        return self.m.decode(tallies, n)

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """Independent bits: those of other values, and the own one."""
        return adds.independent_bits(amounts, self.m.p_star, self.m.q_star)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of many binomial numbers, each times an amount."""
        p, q = self.m.p_star, self.m.q_star
        return totals.scaled(
            amounts,
            counts,
            p - q,
            capacity.independent_bits(amounts, counts, p, q),
            waves.independent_bits_wave(amounts, counts, p, q),
            waves.independent_bits_swings(amounts, counts, p, q),
            shift=-int(counts.sum()) * q * float(amounts.sum()),
            step=capacity.lattice(amounts.tolist()),
            draw=self.total_draw(amounts, counts),
            work=2.0 * amounts.size,
        )

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """From the numbers of supports, which are binomial."""
        p, q, n, k = self.m.p_star, self.m.q_star, int(counts.sum()), amounts.size

        def draw(runs: int, rng: np.random.Generator) -> Floats:
            supports = rng.binomial(counts, p, (runs, k)) + rng.binomial(n - counts, q, (runs, k))
            return np.asarray((supports @ amounts - n * q * amounts.sum()) / (p - q))

        return totals.in_parts(draw, k)

    def collection_work(self, n: int) -> float:
        """A binomial number or two for each value."""
        return totals.COLLECTION + 40.0 * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """Nothing tells values apart but their names."""
        return True
