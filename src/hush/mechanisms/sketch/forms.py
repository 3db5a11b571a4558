"""Closed forms of sketches."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis.manipulation import Targets, how_many
from hush.exact import SCALE
from hush.mechanisms.forms import PairKind, PureForms, by_support
from hush.mechanisms.hashing.family import MEMBERS
from hush.types import Bools, Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.sketch.mechanism import CMS


@dataclass(frozen=True, eq=False)
class SketchForms(PureForms):
    """Of the count-mean sketch; what guesses are worth, under an ideal hash family."""

    m: CMS

    about: ClassVar[str] = "A sketch: hashes the category to one of some buckets, and sends a noisy bit for each."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """Ones for the buckets of all targets."""
        return self.supported_sum(targets, how_many(targets))

    def random_sum(self, targets: Targets) -> float:
        """Every second bit is one."""
        return self.supported_sum(targets, how_many(targets) / 2)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Ones for the buckets of all targets; others make up for the ones that a genuine report has on average."""
        m = self.m
        member = rng.integers(0, MEMBERS, size)
        ones = np.zeros((size, m.width), np.bool_)
        ones[np.arange(size)[:, None], m.buckets_of(member, targets)] = True
        taken = ones.sum(axis=1, keepdims=True)
        p, q = m.bit_chances
        missing = np.maximum(p + (m.width - 1) * q - taken, 0.0) / np.maximum(m.width - taken, 1)
        return self._reports(member, ones | (rng.random(ones.shape) < missing))

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

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """One value's bit is one and the other's is not, or nothing tells them apart."""
        return by_support(self.m, reports, first, second, self.m.exact_epsilon())

    @property
    def votes_for_likeliest(self) -> bool:
        """A one makes the values of its bucket likelier."""
        return True

    @property
    def votes_add_up(self) -> bool:
        """Every one makes the values of its bucket likelier by the same factor."""
        return True

    @property
    def number_of_outputs(self) -> int:
        """Members, and rows of bits."""
        return MEMBERS << self.m.width

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    @property
    def server_work(self) -> float:
        """One for each bit that is one, on average; members and buckets are counted in a table, settled at the end."""
        p, q = self.m.bit_chances
        return p + (self.m.width - 1) * q

    @classmethod
    def planned(cls, k: int) -> bool:
        """No: local hashing has less error in fewer bits."""
        return False

    # The law of a total.

    def wrong_guesses_alike(self) -> bool:
        """To the family, all values are alike."""
        return True
