"""Local hashing: LH(g), BLH, OLH, their approximate variants, and hashing without noise (LHO).

BLH: Bassily and Smith (STOC 2015); OLH: Wang et al. (USENIX Security 2017); ABLH, AOLH: Wang et al. (2021), as in
appendix B of "Revealing the true cost of LDP protocols". A report is a hash function, drawn anew by every user, and
the bucket of the user's value, randomized. Hash functions are described in `hush.kernels.hashing` and, for the public
family, in `hush.kernels.family`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import optimal, portable
from hush.errors import ParameterError, ReportError, message
from hush.exact.thresholds import SCALE
from hush.guarantee import Guarantee
from hush.mechanisms import chosen
from hush.mechanisms.direct import unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.hashing.family import MEMBERS, HashFamily, checked_buckets, nearest
from hush.mechanisms.hashing.forms import LocalHashingForms
from hush.mechanisms.hashing.hashed import RING, Hashed, Words
from hush.people.domain import integers
from hush.types import Floats, Reports, Values

HASHES = ("affine", "family")
TABLED = 1 << 16  # up to so many buckets are looked up in a table, which is faster than two divisions a report


def most_buckets(k: int) -> int:
    """So many buckets that two values still collide at the ideal rate, to a few parts in a hundred at worst.

    Keys share up to log2(k) low bits, so hashes of two values differ by a multiple of that power of two; buckets
    must be much wider than it.
    """
    return max(2, 2**26 // k)


class Collisions(NamedTuple):
    """How often two values share a bucket: as q* states it, and the least, mean and most of all pairs."""

    stated: Fraction
    least: Fraction
    mean: Fraction
    most: Fraction

    @property
    def bias(self) -> Fraction:
        """The largest bias of an estimated frequency, when everybody else holds the worst other value."""
        return max(self.most - self.stated, self.stated - self.least) / (1 - self.stated)


def _pair_rate(g: int, shared: int) -> Fraction:
    """How often two values with so many common low bits share one of g intervals of affine hashes."""
    size, larger = divmod(RING, g)
    step = 1 << shared
    both = [length * length + length % step * (step - length % step) for length in (size, size + 1)]
    return Fraction((g - larger) * both[0] + larger * both[1], RING**2)


def _pairs(k: int, shared: int) -> int:
    """How many pairs of values below k have at least so many common low bits."""
    each, more = divmod(k, 1 << shared)
    return ((1 << shared) - more) * math.comb(each, 2) + more * math.comb(each + 1, 2)


@dataclass(frozen=True, kw_only=True)
class LH(Hashed):
    """Hash the value to one of ``g`` buckets, then randomize the bucket.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        g: Number of buckets, at least 2; with a family, a power of two up to 256.
        hash: "affine" draws two 32-bit numbers; "family" draws one of 65,535 public functions, for a report of three
            bytes and a server that takes a moment for any number of reports. It hashes at most 65,535 values.

    >>> round(LH(k=100, epsilon=4.0, g=56).asr(), 6)
    0.233788
    >>> LH(k=100, epsilon=4.0, g=64, hash="family").report_dtype.itemsize
    3
    """

    g: int
    hash: str = "affine"

    full_name: ClassVar[str] = "local hashing"
    shown_with: ClassVar[Mapping[str, Any]] = {"g": 4}
    companion: ClassVar[type[Forms]] = LocalHashingForms
    family: ClassVar[str] = "hashing"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(hash=rules.named("hash", self.hash, HASHES, "leave it out for affine"))
        if self.hash == "affine":
            most = most_buckets(self.k)
            self._set(g=rules.integer("g", self.g, 2, most, "use e.g. 2, or OLH for the best"))
        else:
            self._set(g=checked_buckets(self.k, self.g))

    @cached_property
    def _family(self) -> HashFamily | None:
        return HashFamily(self.k, self.g) if self.hash == "family" else None

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes; affine hashing, which was there first, goes without saying."""
        return {name: value for name, value in super().parameters.items() if (name, value) != ("hash", "affine")}

    @cached_property
    def report_dtype(self) -> np.dtype[Any]:
        """The bucket as the smallest unsigned integer that holds g-1, after u4 a, u4 b, or after u2 member."""
        if self._family:
            return self._family.report_dtype
        return np.dtype([("a", "<u4"), ("b", "<u4"), ("bucket", unsigned(self.g - 1))])

    @property
    def _sizes(self) -> tuple[int, int]:
        return 1, self.g - 1

    @cached_property
    def collision(self) -> float:
        """Probability that two values share a bucket: 1/g, up to the rounding of bucket sizes or the family's."""
        return float(Fraction(self._family.shared, MEMBERS) if self._family else _pair_rate(self.g, 0))

    def collisions(self) -> Collisions:
        """How often two values share a bucket, over all pairs, and how far that can bias an estimate."""
        if self._family:
            rate = Fraction(self._family.shared, MEMBERS)
            return Collisions(rate, rate, rate, rate)
        rates = [_pair_rate(self.g, shared) for shared in range((self.k - 1).bit_length())]
        pairs = [_pairs(self.k, shared) for shared in range(len(rates) + 1)]
        total = sum((rate * (pairs[i] - pairs[i + 1]) for i, rate in enumerate(rates)), start=Fraction(0))
        return Collisions(rates[0], min(rates), total / pairs[0], max(rates))

    def bucket_sizes(self, values: npt.ArrayLike | None = None) -> npt.NDArray[np.uint16]:
        """How many values each member of the family sends to each bucket, shape (65535, g).

        Args:
            values: Those that count, each once; all of them when left out, in a table that is made once and read-only.
        """
        if not self._family:
            rule = "must be 'family', since other hash functions are too many for a table"
            raise ParameterError(message("hash", rule, self.hash, "use support_sizes(reports), or hash='family'"))
        if values is None:
            return self._family.sizes
        return self._family.sizes_of(np.unique(integers(values, self.k)))

    @property
    def q_star(self) -> float:
        """1/g under an ideal hash, whatever the noise; here from the stated collision rate."""
        return self.p_star * self.collision + (1 - self.p_star) * (1 - self.collision) / (self.g - 1)

    @property
    def bits(self) -> int:
        return (16 if self._family else 64) + math.ceil(math.log2(self.g))

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.hashing import bucket_reports
        from hush.kernels.words import rejection

        columns = self._columns(values.size)
        if self._family:
            self._family.reports(values, rng, self.keep, columns)
            return self._packed(columns)
        bucket_reports(rng, values, self._keys, self.g, np.uint64(self.keep), rejection(self.g - 1), *columns)
        return self._packed(columns)

    def _interval(self, reports: Reports) -> tuple[Words, Words, Words]:
        """A report supports the value with key x where a·x + b < length, in 32-bit arithmetic."""
        self._check(reports)
        bucket = reports["bucket"]
        if self.g <= TABLED:
            start, size = (column[bucket] for column in self._buckets)
        else:
            start, size = self._extent(bucket.astype(np.uint64))
        return np.ascontiguousarray(reports["a"]), reports["b"] - start, size

    def _unpacked(self, reports: Reports) -> tuple[Words, Words, Words]:
        """In one pass over the records, which checks them, too."""
        from hush.kernels.hashing import bucket_intervals

        if self.g > TABLED:
            return self._interval(reports)
        records = np.ascontiguousarray(reports).view(np.uint8).reshape(reports.size, reports.dtype.itemsize)
        records.setflags(write=False)  # as those of a file are: one kernel for both
        a, b, length = (np.empty(reports.size, np.uint32) for _ in range(3))
        self._known(int(bucket_intervals(records, *self._buckets, a, b, length)))
        return a, b, length

    def _check(self, reports: Reports) -> None:
        if reports.size:
            self._known(int(reports["bucket"].max()))

    def _known(self, bucket: int) -> None:
        if bucket >= self.g:
            raise ReportError(message("reports", f"must have buckets below {self.g}", bucket, "check their spec"))

    def _extent(self, bucket: npt.NDArray[np.uint64]) -> tuple[Words, Words]:
        """The first hash of a bucket, and how many hashes it holds."""
        g, ring = np.uint64(self.g), np.uint64(RING)
        start, end = ((edge * ring + g - np.uint64(1)) // g for edge in (bucket, bucket + np.uint64(1)))
        return start.astype(np.uint32), (end - start).astype(np.uint32)

    @cached_property
    def _buckets(self) -> tuple[Words, Words]:
        return self._extent(np.arange(self.g, dtype=np.uint64))

    def _home(self, public: Any) -> npt.NDArray[np.uint64]:
        """The buckets that hold a value under this hash function."""
        if self._family:
            return np.unique(self._family.homes(public)).astype(np.uint64)
        return np.unique((self._hashes(public).astype(np.uint64) * np.uint64(self.g)) >> np.uint64(32))

    def outputs(self, public: Any = None) -> Reports:
        """Each bucket that holds a value, and one bucket for all that hold none."""
        function = self.publics()[0] if public is None else public
        taken = self._home(function)
        spare = [j for j in range(min(taken.size + 1, self.g)) if j not in taken][:1]
        shown = np.append(taken, np.array(spare, np.uint64))
        out = np.empty(shown.size, self.report_dtype)
        for name, part in zip(self.report_dtype.names or (), (*np.atleast_1d(function), shown), strict=True):
            out[name] = part
        return out

    def copies(self, report: Any) -> int:
        taken = self._home(self.public(report))
        return 1 if report["bucket"] in taken else self.g - taken.size


@dataclass(frozen=True, kw_only=True)
class BLH(LH):
    """Binary local hashing: two buckets."""

    full_name: ClassVar[str] = "binary local hashing"

    g: int = field(init=False, default=2)


@dataclass(frozen=True, kw_only=True)
class Optimized(chosen.Chosen, LH):
    """Local hashing whose number of buckets is chosen; see `OLH` and `AOLH`."""

    g: int = None  # type: ignore[assignment]

    choice: ClassVar[str] = "g"

    def __post_init__(self) -> None:
        if self.g is None:
            best, whole = self._best(), self.hash != "family"
            buckets = max(2, round(best)) if whole else nearest(best)
            self._set(g=min(buckets, most_buckets(rules.domain_size(self.k))))
        super().__post_init__()

    @abstractmethod
    def _best(self) -> float:
        """The best number of buckets, as a real number that is the same on every processor."""

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> int:
        return 1 + round(chosen.others_for_each(entries, thresholds["keep"]))


@dataclass(frozen=True, kw_only=True)
class OLH(Optimized):
    """Optimized local hashing: g is the nearest integer to e^epsilon + 1, which minimises the variance.

    With a family, it is the power of two up to 256 with the least variance.

    >>> OLH(k=100, epsilon=4.0).g
    56
    """

    full_name: ClassVar[str] = "optimized local hashing"

    def _best(self) -> float:
        return portable.exp(min(rules.epsilon(self.epsilon), 20.0)) + 1


@dataclass(frozen=True, kw_only=True)
class ABLH(BLH):
    """Binary local hashing that is (epsilon, delta)-private."""

    full_name: ClassVar[str] = "approximate binary local hashing"

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(delta=rules.delta(self.delta))


@dataclass(frozen=True, kw_only=True)
class AOLH(Optimized):
    """Local hashing that is (epsilon, delta)-private, with g at the local minimum of its variance.

    >>> AOLH(k=100, epsilon=1.0, delta=1e-5).g
    4
    """

    full_name: ClassVar[str] = "approximate optimized local hashing"

    delta: float

    def __post_init__(self) -> None:
        self._set(epsilon=rules.epsilon(self.epsilon, most=20.0), delta=rules.delta(self.delta))
        super().__post_init__()

    def _best(self) -> float:
        return optimal.approximate_hash_range(self.epsilon, self.delta)


@dataclass(frozen=True, kw_only=True)
class LHO(LH):
    """Local hashing only: the bucket is sent as it is. A baseline for audits, with no guarantee.

    Whoever sees a report rules out every value that hashes elsewhere: the loss is infinite.
    """

    full_name: ClassVar[str] = "local hashing only, without noise"
    companion: ClassVar[type[Forms]] = LocalHashingForms

    epsilon: float = field(init=False, default=math.inf)

    def __post_init__(self) -> None:
        self._set(epsilon=1.0)
        super().__post_init__()
        self._set(epsilon=math.inf)

    @property
    def guarantee(self) -> Guarantee:
        """None: a hash is not noise."""
        return None

    @cached_property
    def keep(self) -> int:
        """Certainty."""
        return SCALE

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.hashing import bucket_only

        columns = self._columns(values.size)
        if self._family:
            self._family.reports(values, rng, self.keep, columns)
            return self._packed(columns)
        bucket_only(rng, values, self._keys, self.g, *columns)
        return self._packed(columns)

    def scores(self, reports: Reports) -> Floats:
        return np.where(self.support_matrix(reports), 0.0, -np.inf)
