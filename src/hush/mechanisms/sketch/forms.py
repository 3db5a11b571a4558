"""Closed forms of sketches."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import information, totals
from hush.exact import SCALE
from hush.mechanisms.bits import BitForms, lacking
from hush.mechanisms.forms import PairKind
from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.shape import bit_counts
from hush.mechanisms.sketch.drawn import DrawnForms
from hush.types import Bools, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.sketch.mechanism import CMS


@dataclass(frozen=True, eq=False)
class SketchForms(DrawnForms, BitForms):
    """Of the count-mean sketch; what guesses are worth, under an ideal hash family."""

    m: CMS

    about: ClassVar[str] = "A sketch: hashes the category to one of some buckets, and sends a noisy bit for each."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Ones for the buckets of all targets; others make up for the ones that a genuine report has on average."""
        m = self.m
        member = rng.integers(0, MEMBERS, size)
        ones = np.zeros((size, m.width), np.bool_)
        ones[np.arange(size)[:, None], m.buckets_of(member, targets)] = True
        chance = lacking(m.bit_chances, ones.sum(axis=1, keepdims=True), m.width)
        return self._reports(member, ones | (rng.random(ones.shape) < chance))

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any member, and fair bits."""
        return self._reports(rng.integers(0, MEMBERS, size), rng.random((size, self.m.width)) < 0.5)

    def _reports(self, member: npt.NDArray[np.int64], ones: Bools) -> Reports:
        out = np.empty(member.size, self.m.report_dtype)
        out["member"], out["bits"] = member, np.packbits(ones, axis=1, bitorder="little")
        return out

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """A one for one of the two values' buckets and a zero for the other's, where a member parts them."""
        p, q = self.m.bit_chances
        apart = 1 - self.m.collision
        return apart * p * (1 - q), apart * q * (1 - p)

    def pair_kinds(self) -> list[PairKind]:
        """Any two values share a bucket under as many members."""
        own, other = (Fraction(threshold, SCALE) for threshold in self.m.bit_thresholds)
        shared = Fraction(self.m.hashes.shared, MEMBERS)
        return [((1 - shared) * (own - other), own * (shared + (1 - shared) * other))]

    def pure_loss(self) -> float:
        """Of a one for one of the two values' buckets, and a zero for the other's."""
        return self.m.exact_epsilon()

    @property
    def number_of_outputs(self) -> int:
        """Members, and rows of bits."""
        return MEMBERS << self.m.width

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        """By how many buckets have a one, and how many values fall into those."""
        m, (p, q) = self.m, self.m.bit_chances
        sizes = np.zeros(m.k + 1)
        for ones, chance in enumerate(bit_counts(m.width, q)):
            share = ones / m.width
            if 0 < ones < m.width:  # else all values are supported, or none is, and nothing is told
                sizes += chance * bit_counts(m.k, share)
        return information.two_levels(m.k, np.arange(m.k + 1.0), p / q, (1 - p) / (1 - q), sizes)

    @property
    def server_work(self) -> float:
        """One for each bit that is one, on average; members and buckets are counted in a table, settled at the end."""
        p, q = self.m.bit_chances
        return p + (self.m.width - 1) * q

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        return self.m.kinds_of_reports.tallies(people, runs, rng)

    # The law of a total.

    def collection_work(self, n: int) -> float:
        """For each value, two numbers for each kind of report."""
        return totals.COLLECTION + 160.0 * self.m.width * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """To the family, all values are alike."""
        return True
