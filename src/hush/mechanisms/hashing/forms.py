"""Closed forms of local hashing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hush.analysis import information, most_support
from hush.analysis.manipulation import Targets, how_many
from hush.mechanisms.forms import PairKind, TwoLevelForms
from hush.mechanisms.hashing.fakes import gathered
from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.hashing.hashed import RING
from hush.mechanisms.independent import IndependentForms
from hush.mechanisms.shape import Shape, bit_sizes, seen_buckets
from hush.mechanisms.tunable import Family, Fixed, Tunable, integers
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle
    from hush.mechanisms.hashing.hashed import Hashed
    from hush.mechanisms.hashing.mechanism import LH

_TRIED = 512  # hash functions among which one with an output that supports few values is looked for
_FEW = 64  # values up to which it is


MOST_BUCKETS = 50_000
"""Some e^11: more serve no budget that is looked at, unless there are as many values."""
_FAMILY_FOR = 4_096


@dataclass(frozen=True, eq=False)
class HashedForms(TwoLevelForms, IndependentForms):
    """Of whatever hashes, under an ideal hash family."""

    m: Hashed

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """A hash function can send all targets to one interval."""
        return self.supported_sum(targets, how_many(targets))

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """Reports that support one of the two values, which share an interval as often as any two."""
        p, q = self.m.p_star, self.m.q_star
        both = p * self.collision
        return p - both, q - both

    @property
    def collision(self) -> float:
        """How often another value is supported by a report that supports its own."""
        return self.m.q_star

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """Any supported value is guessed; where none is, any value."""
        sizes = self.m.support_sizes(reports)
        return np.where(sizes > 0, self.m.supports(reports, values) / np.maximum(sizes, 1), 1 / self.m.k)

    def most_voted(self, tau: int) -> float:
        """Votes for all values are independent under an ideal hash."""
        return most_support.independent_votes(self.m.k, self.m.p_star, self.m.q_star, tau)

    @property
    def shape(self) -> Shape:
        """A report supports as many values as it would with independent bits; over a public family they are counted."""
        m = self.m
        low, high = m._weights
        law = self._family_sizes if m._family else partial(bit_sizes, m.k, m.p_star, m.q_star)
        return Shape(m.k, high, low, law, lambda: range(m.k + 1), lambda r, at: m.support_sizes(r[at]))

    def _family_sizes(self) -> Floats:
        """How likely a report supports 0..k values, counted over all members of a public family and all buckets."""
        m = self.m
        assert m._family is not None
        inside, outside = (weight / m.denominator for weight in reversed(m._weights))
        sizes = np.arange(m.k + 1)
        cells = np.bincount(m._family.sizes.ravel(), minlength=m.k + 1)
        return np.asarray(cells * (sizes * inside + (m.k - sizes) * outside) / (m.k * MEMBERS), np.float64)

    @property
    def telling_publics(self) -> Sequence[Any]:
        """A few hash functions, and one with an output that supports as few values as can be found."""
        m = self.m
        known = list(m.publics())
        if m.k > _FEW:
            return known
        numbers: list[Any] = list(range(_TRIED))
        tried = numbers if m._family else [(0x2545F491 * i % RING, 0x6C8E9CF5 * i % RING) for i in numbers[1:]]
        return [*known, min(tried, key=self._fewest)]

    def _fewest(self, public: Any) -> int:
        sizes = self.m.support_matrix(self.m.outputs(public)).sum(axis=1)
        return int(sizes[sizes > 0].min())

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        return information.bits(self.m.k, self.m.p_star, self.m.q_star)

    # The law of a total.


@dataclass(frozen=True, eq=False)
class LocalHashingForms(HashedForms):
    """Of local hashing, its public families included."""

    m: LH

    about: ClassVar[str] = "Local hashing: hashes the category to a few buckets, then randomizes the bucket."

    # What fakes gain, what tells values apart, and what guesses are worth.

    @property
    def shape(self) -> Shape:
        """Given the hash function, one bucket is the value's own."""
        return replace(super().shape, look=lambda: seen_buckets(self.m.k, self.m.g))

    def maximal_sum(self, targets: Targets) -> float:
        """A hash function can send all values to one bucket, unless it must be of a public family."""
        m, number = self.m, how_many(targets)
        if m.hash != "family":
            return self.supported_sum(targets, number)
        sizes = m.bucket_sizes() if isinstance(targets, int) else m.bucket_sizes(targets)
        return self.supported_sum(targets, min(number, int(sizes.max())))

    def random_sum(self, targets: Targets) -> float:
        """A value is in one of g buckets."""
        return self.supported_sum(targets, how_many(targets) / self.m.g)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """All targets in the reported bucket, which may be any; of a public family, the buckets that hold most."""
        m = self.m
        if m.hash == "family":
            sizes = m.bucket_sizes(targets)
            members, buckets = np.nonzero(sizes == sizes.max())
            pick = rng.integers(0, members.size, size)
            return m._packed([members[pick], buckets[pick]])
        bucket = rng.integers(0, m.g, size, dtype=np.uint64)
        start, _ = m._extent(bucket)
        a, shift = gathered(m, RING // m.g, targets, size, rng)
        return m._packed([a, shift + start, bucket])

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any bucket of any hash function."""
        m = self.m
        if m.hash == "family":
            return m._packed([rng.integers(0, MEMBERS, size), rng.integers(0, m.g, size)])
        a, b = (rng.integers(0, RING, size, dtype=np.uint32) for _ in range(2))
        return m._packed([a, b, rng.integers(0, m.g, size, dtype=np.uint64)])

    @property
    def collision(self) -> float:
        """How often two values share a bucket."""
        return self.m.collision

    def pair_kinds(self) -> list[PairKind]:
        """Two values are told apart where they do not collide, and hidden where they do."""
        low, high = (Fraction(weight, self.m.denominator) for weight in self.m._weights)
        rates = self.m.collisions()
        return [((1 - rates.least) * (high - low), high * rates.most)]

    @property
    def number_of_outputs(self) -> int:
        """Every bucket of every hash function."""
        return (1 << 16 if self.m._family else RING**2) * self.m.g

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    @property
    def server_work(self) -> float:
        """A public family's reports are counted in a table, settled at the end."""
        return 1 if self.m.hash == "family" else self.m.k

    @classmethod
    def variants(cls, k: int) -> Sequence[tuple[type[FrequencyOracle], Fixed]]:
        """Hashing by a public family; for more values, going through all of it for what fakes gain takes long."""
        from hush.mechanisms.hashing.mechanism import OLH

        return [(OLH, (("hash", "family"),))] if k <= _FAMILY_FOR else []

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.hashing.mechanism import LH

        return (Family(LH, "g", _buckets, _support, _bits, whole=True, fewest=_fewest),)

    # The law of a total.


def _buckets(k: int) -> Floats:
    from hush.mechanisms.hashing.mechanism import most_buckets

    return integers(2, min(max(k, MOST_BUCKETS), most_buckets(k)))


def _support(k: int, e: Floats, g: Floats) -> tuple[Floats, Floats]:
    p = e / (e + g - 1)
    return p, np.broadcast_to(1 / g, p.shape)


def _bits(k: int, g: Floats) -> Floats:
    return np.asarray(64 + np.ceil(np.log2(g)), np.float64)


def _fewest(k: int, g: Floats) -> Floats:
    """One block of Hadamard response has the law of two buckets, in far fewer bits."""
    return np.where(g == 2, np.minimum(_bits(k, g), (k + 1).bit_length()), _bits(k, g))
