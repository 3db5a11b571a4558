"""What mechanisms with a public hash function share: local hashing and the wheel.

A report carries its hash function (a, b) and supports the values whose keys fall into an interval of hashes, as
described in `hush.kernels.hashing`; or it names a member of a public family, described in `hush.kernels.family`.
Closed forms are those of an ideal hash, under which support has the law of independent bits; the tests hold both real
ones against it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import success
from hush.estimation import Aggregate
from hush.mechanisms.hashing.family import MEMBERS, HashFamily
from hush.mechanisms.inference import shares
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.two_level import TwoLevel
from hush.simulation import tallies
from hush.types import Ints, Reports, Values

RING = 1 << 32
"""Number of 32-bit hashes."""

Words = npt.NDArray[np.uint32]
_BLOCK = 1 << 14  # reports that are unpacked together, so that the cache holds them until they are counted


@dataclass(frozen=True, kw_only=True)
class Affine(TwoLevel, PureOracle):
    """A mechanism whose report names a hash function of its own, (a, b)."""

    @cached_property
    def _keys(self) -> Words:
        from hush.kernels.hashing import keys

        return keys(self.k)

    def _columns(self, n: int) -> list[npt.NDArray[Any]]:
        """Room for each field of n records, side by side, so that kernels see one kind of array."""
        return [np.empty(n, self.report_dtype[name]) for name in self.report_dtype.names or ()]

    def _packed(self, columns: list[npt.NDArray[Any]]) -> Reports:
        """Records from their fields."""
        out = np.empty(columns[0].size, self.report_dtype)
        for name, column in zip(self.report_dtype.names or (), columns, strict=True):
            out[name] = column
        return out

    def publics(self) -> Sequence[Any]:
        """A few hash functions; the first (a, b) sends all values to one hash, all others scatter them."""
        return [(0x9E3779B1 * i % RING, 0x85EBCA6B * i % RING) for i in range(4)]

    def public(self, report: Any) -> Any:
        """The hash function of a report."""
        return int(report["a"]), int(report["b"])


@dataclass(frozen=True, kw_only=True)
class Hashed(Affine):
    """A mechanism whose report names a hash function, which may be of a public family, and an interval of hashes."""

    @abstractmethod
    def _interval(self, reports: Reports) -> tuple[Words, Words, Words]:
        """(a, b, length): a report supports the value with key x where a·x + b < length, in 32-bit arithmetic."""

    @property
    def _family(self) -> HashFamily | None:
        """The public family that hash functions come from, if they do."""
        return None

    def _hashes(self, public: tuple[int, int]) -> Words:
        a, b = (np.uint32(part) for part in public)
        return a * self._keys + b

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        if self._family:
            return self._family.supports(reports, values)
        a, b, length = self._interval(reports)
        return np.asarray(a * self._keys[values] + b < length)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        if self._family:
            return self._family.support_matrix(reports)
        a, b, length = self._interval(reports)
        return np.asarray(a[:, None] * self._keys + b[:, None] < length[:, None])

    def support_sizes(self, reports: Reports) -> Ints:
        """How many values each report supports."""
        from hush.kernels.hashing import support_sizes

        array = self._reports(reports)
        if self._family:
            return self._family.support_sizes(array)
        sizes = np.empty(array.size, np.int64)
        support_sizes(*self._interval(array), self._keys, sizes)
        return sizes

    def tally(self, reports: Reports) -> Ints:
        from hush.kernels.hashing import support_counts

        if self._family:
            return self._family.tally([reports])[0]
        counts = np.zeros(self.k, np.int64)
        for at in range(0, reports.size, _BLOCK):
            support_counts(*self._unpacked(reports[at : at + _BLOCK]), self._keys, counts)
        return counts

    def _unpacked(self, reports: Reports) -> tuple[Words, Words, Words]:
        """What `_interval` gives, for many reports."""
        return self._interval(reports)

    def _aggregate(self, reports: Reports | Iterable[Reports], spec_hash: str) -> Aggregate:
        """With a family, all reports together, since what they share is done once."""
        if not self._family or not isinstance(reports, (np.ndarray, np.generic, Iterable)):
            return super()._aggregate(reports, spec_hash)
        parts = [reports] if isinstance(reports, (np.ndarray, np.generic)) else reports
        tally, n = self._family.tally(self._reports(part) for part in parts)
        return Aggregate(n, tally, spec_hash, self.check_tally)

    def _distinct(self, reports: Reports | Aggregate, spec_hash: str) -> tuple[Reports, Ints]:
        if not self._family or isinstance(reports, Aggregate):
            return super()._distinct(reports, spec_hash)
        return self._family.distinct(self._reports(reports))

    def validate(self, reports: Reports) -> None:
        """Cheaper than a tally: only the interval can be malformed, or the member and the bucket."""
        if self._family:
            self._family.validate(reports)
        else:
            self._check(self._reports(reports))

    def _check(self, reports: Reports) -> None:
        """Raise ReportError where there is no such interval; here, any point will do."""

    def publics(self) -> Sequence[Any]:
        """A few hash functions, or members of the family."""
        return [0, 1, 40_000, MEMBERS - 1] if self._family else super().publics()

    def public(self, report: Any) -> Any:
        """The hash function of a report: its member, or (a, b)."""
        return int(report["member"]) if self._family else super().public(report)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Equation 21 with q = q*, exact under an ideal hash (equation 15 of the paper is not)."""
        if prior is None:
            return float(success.independent_bits(self.k, self.p_star, self.q_star))
        law = success.first_bit(self.k, self.p_star, self.q_star)
        return success.first_supported(shares(prior, self.k), *law)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return tallies.independent_bits(counts, self.p_star, self.q_star, rng)
