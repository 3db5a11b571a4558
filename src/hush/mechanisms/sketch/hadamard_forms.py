"""Closed forms of the Hadamard sketch."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import information, totals
from hush.analysis.manipulation import Targets, how_many
from hush.exact import SCALE
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.sketch.drawn import DrawnForms
from hush.simulation import batches
from hush.types import Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.sketch.hadamard import HCMS


@dataclass(frozen=True, eq=False)
class HadamardSketchForms(DrawnForms, TwoLevelForms, PureForms):
    """Of the Hadamard sketch; what guesses are worth, under an ideal hash family."""

    m: HCMS

    about: ClassVar[str] = "A sketch: hashes the category to one of many buckets, and sends one noisy bit about it."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """The first coefficient is the same for all values."""
        return self.supported_sum(targets, how_many(targets))

    def random_sum(self, targets: Targets) -> float:
        """Either bit is as likely."""
        return self.supported_sum(targets, how_many(targets) / 2)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Any coefficient, with a member under which all targets agree; where there is none, only the first."""
        m = self.m
        members, bits = np.nonzero(m.binary.sizes_of(targets) == targets.size)
        coefficient = rng.integers(0, m.width, size) * (members.size > 0)
        member, bit = rng.integers(0, MEMBERS, size), np.zeros(size, np.int64)
        if members.size:
            pick = rng.integers(0, members.size, size)
            told = coefficient > 0
            member = np.where(told, (members[pick] - m.shifts[coefficient]) % MEMBERS, member)
            bit = np.where(told, bits[pick], bit)
        return m.packed(member, coefficient, bit)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any member, any coefficient, any bit."""
        m = self.m
        return m.packed(rng.integers(0, MEMBERS, size), rng.integers(0, m.width, size), rng.integers(0, 2, size))

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """Reports under which the two values have different parities."""
        apart = float(1 - self.m.agreement)
        return apart * self.m.p_star, apart * (1 - self.m.p_star)

    def pair_kinds(self) -> list[PairKind]:
        """Any two values have the same parity equally often."""
        keep, same = Fraction(self.m.keep, SCALE), self.m.agreement
        return [((1 - same) * (2 * keep - 1), same * keep)]

    @property
    def number_of_outputs(self) -> int:
        """Members, coefficients and bits."""
        return 2 * MEMBERS * self.m.width

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        """That of binary local hashing, from the reports that say anything."""
        return (1 - 1 / self.m.width) * information.bits(self.m.k, *self.m._told)

    @property
    def server_work(self) -> float:
        """Reports are counted in a table, settled at the end."""
        return 1

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        """The first coefficient supports all values or none, alike; others have the law of independent bits."""
        m = self.m
        silent = batches.thinned(people, 1 / m.width, runs, rng)
        everything = rng.binomial(silent.sum(axis=1), m.p_star)
        return batches.independent_bits(people - silent, *m._told, runs, rng) + everything[:, None]

    # The law of a total.

    def collection_work(self, n: int) -> float:
        """A few binomial numbers for each value."""
        return totals.COLLECTION + 60.0 * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """To the family, all values are alike."""
        return True
