"""Local hashing over a balanced hash family (BalancedLH).

A value's bucket is its rank among the hashes of all values, times g over their number: all buckets hold as many values
as each other, give or take one, whatever the hash function. Two values collide a little less often than 1/g, and
every bucket holds s//g values or more, which is what makes a constant z safe and useful (errata of document 002).
Closed forms are those of an ideal family: all balanced assignments equally likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import optimal, success
from hush.errors import ReportError, message
from hush.estimation import possible
from hush.exact.enumeration import check_few
from hush.mechanisms.direct import unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.hashing.hashed import Affine, Words
from hush.mechanisms.inference import shares
from hush.simulation.subsets import MOST_TOGETHER, sets_with_own
from hush.types import Ints, Reports, Values
from hush.utility.forms import BalancedForms

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class BalancedLH(Affine):
    """Hash the value to one of ``g`` buckets that hold equally many values, then randomize the bucket.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        g: Number of buckets, 2..k; the nearest integer to e^epsilon + 1, or k if that is less, when left out.

    >>> m = BalancedLH(k=10, epsilon=1.0, g=3)
    >>> round(m.q_star, 9)
    0.309054978
    """

    g: int = None  # type: ignore[assignment]

    companion: ClassVar[type[Forms]] = BalancedForms
    family: ClassVar[str] = "hashing"

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = min(optimal.hash_range(min(self.epsilon, 20.0)), self.k) if self.g is None else self.g
        self._set(g=rules.integer("g", chosen, 2, self.k, "use at most as many buckets as there are values"))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """u4 a, u4 b (the hash function), and the bucket as the smallest unsigned integer that holds g-1."""
        return np.dtype([("a", "<u4"), ("b", "<u4"), ("bucket", unsigned(self.g - 1))])

    @property
    def _sizes(self) -> tuple[int, int]:
        return 1, self.g - 1

    @cached_property
    def edges(self) -> Ints:
        """The rank at which each bucket starts, and the number of values at the end."""
        return -(-np.arange(self.g + 1) * self.k // self.g)

    @property
    def _buckets(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """How many values a bucket holds, and how many buckets hold so many."""
        held, more = divmod(self.k, self.g)
        return (held, self.g - more), (held + 1, more)

    @property
    def collision(self) -> float:
        """Probability that two values share a bucket."""
        pairs = sum(number * held * (held - 1) for held, number in self._buckets)
        return float(pairs) / float(self.k * (self.k - 1))

    @property
    def q_star(self) -> float:
        """Another value shares the true one's bucket, or lies in the one that was drawn instead."""
        return self.p_star * self.collision + (1 - self.p_star) * (1 - self.collision) / (self.g - 1)

    @property
    def bits(self) -> int:
        """The hash function's, and the bucket's."""
        return 64 + math.ceil(math.log2(self.g))

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """The bucket of each value's rank, randomized."""
        from hush.kernels.utility import ranked_buckets
        from hush.kernels.words import rejection

        columns = self._columns(values.size)
        ranked_buckets(rng, values, self._keys, self.g, np.uint64(self.keep), rejection(self.g - 1), *columns)
        return self._packed(columns)

    def _bounds(self, reports: Reports) -> tuple[Words, Words, Hashes, Hashes]:
        """The hash functions, and the least and the greatest hash in each report's bucket."""
        from hush.kernels.utility import ranked_bounds

        bucket = reports["bucket"].astype(np.int64)
        if bucket.size and int(bucket.max()) >= self.g:
            rule = f"must have buckets below {self.g}"
            raise ReportError(message("reports", rule, int(bucket.max()), "check their spec"))
        a, b = (np.ascontiguousarray(reports[name]) for name in ("a", "b"))
        low, high = np.empty(bucket.size, np.uint64), np.empty(bucket.size, np.uint64)
        ranked_bounds(a, b, self.edges[bucket], self.edges[bucket + 1], self._keys, low, high)
        return a, b, low, high

    def _hashes(self, a: Words, b: Words, values: Values) -> npt.NDArray[np.uint64]:
        """Hashes with the value's number behind them, so that no two are equal."""
        hashes = (a * self._keys[values] + b).astype(np.uint64)
        return np.asarray((hashes << np.uint64(32)) | values.astype(np.uint64))

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        """Whether the value's rank lies in the bucket."""
        a, b, low, high = self._bounds(reports)
        at = self._hashes(a, b, values)
        return np.asarray((low <= at) & (at <= high))

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which values each report supports."""
        a, b, low, high = self._bounds(reports)
        at = self._hashes(a[:, None], b[:, None], np.arange(self.k)[None, :])
        return np.asarray((low[:, None] <= at) & (at <= high[:, None]))

    def tally(self, reports: Reports) -> Ints:
        """How many reports support each value."""
        from hush.kernels.utility import between

        counts = np.zeros(self.k, np.int64)
        between(*self._bounds(reports), self._keys, counts)
        return counts

    def check_tally(self, tally: Ints, n: int) -> None:
        """Every bucket holds as many values as another, give or take one."""
        super().check_tally(tally, n)
        held = np.diff(self.edges)
        possible.summing(tally, n * int(held.min()), n * int(held.max()), "supports")

    def validate(self, reports: Reports) -> None:
        """Only the bucket can be malformed."""
        if reports.size and int(reports["bucket"].max()) >= self.g:
            self._bounds(reports)

    def outputs(self, public: Any = None) -> Reports:
        """Every bucket."""
        check_few(self.g, self.k)
        out = np.empty(self.g, self.report_dtype)
        out["a"], out["b"] = self.publics()[0] if public is None else public
        out["bucket"] = np.arange(self.g)
        return out

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Any value of the bucket is the best guess; with a prior, its likeliest member or the likeliest of all."""
        if prior is None:
            return self.g * self.p_star / self.k
        first = np.zeros(self.k)  # how many buckets have each value, in order of falling prior, as their first member
        for held, number in zip(*np.unique(np.diff(self.edges), return_counts=True), strict=True):
            first += number * held / self.k * success.first_member(self.k, int(held), 1.0)[0]
        p, q = self.p_star, (1 - self.p_star) / (self.g - 1)
        return success.first_supported(shares(prior, self.k), p * first, q * first, 0.0)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """A report supports its own value or not; the rest of its bucket is any of the others."""
        if counts.sum() > MOST_TOGETHER:
            half = counts // 2
            return self._simulate(half, rng) + self._simulate(counts - half, rng)
        held = np.diff(self.edges)
        included = rng.binomial(counts, self.p_star).astype(np.int64)
        with_own = np.bincount(held - 1, held / self.k, self.k + 1)
        without = np.bincount(held, (1 - held / self.k) / (self.g - 1), self.k + 1)
        kept = rng.multinomial(int(included.sum()), with_own / with_own.sum())
        lost = rng.multinomial(int((counts - included).sum()), without / without.sum())
        return sets_with_own(counts, included, kept, lost, rng)
