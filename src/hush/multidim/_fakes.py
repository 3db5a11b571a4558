"""How an attribute that was not sampled is reported in its place, and the exact law of that.

Fakes of randomized response are values themselves. Fakes of unary encoding are randomized by it: a vector of zeros
(z), or the one-hot vector of a random value (r). Those of modular subsets are in a file of their own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import variance
from hush.estimation.laws import EstimateLaw, by_value
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.unary import UE
from hush.multidim.chances import Chances
from hush.multidim.loss import Extremes
from hush.types import Floats, Ints, Reports


class Fake(ABC):
    """The fake of one attribute, beside the mechanism that it imitates."""

    real: FrequencyOracle

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Reports:
        """Fake reports."""

    @property
    @abstractmethod
    def denominator(self) -> int:
        """What weights are divided by."""

    @abstractmethod
    def weight(self, report: Any) -> int:
        """The exact probability of a fake report, given its public randomness, times `denominator`."""

    @abstractmethod
    def log_prob(self, reports: Reports) -> Floats:
        """The logarithm of each fake report's probability, given its public randomness."""

    @abstractmethod
    def extremes(self) -> Extremes:
        """How much likelier a report can be when real than when fake."""

    @abstractmethod
    def decode(self, tally: Ints, n: int, d: int) -> Floats:
        """Unbiased frequencies from n reports of which one in d, drawn at random, is real."""

    @abstractmethod
    def variances(self, frequencies: npt.ArrayLike, n: int, d: int) -> Floats:
        """Variance of every estimate in a fixed population."""

    @abstractmethod
    def law(self, tally: Ints, n: int, d: int) -> EstimateLaw | None:
        """How the estimate is distributed; None where that is unknown."""


class PureFake(Fake):
    """A fake of a pure oracle: fakes support values as reports do."""

    real: PureOracle

    @property
    @abstractmethod
    def support(self) -> Floats:
        """How likely a fake supports each value."""

    def supports(self, d: int) -> tuple[Floats, Floats]:
        """How likely a report supports each value: for those who hold it, and for others."""
        faked = (1 - 1 / d) * self.support
        return self.real.p_star / d + faked, self.real.q_star / d + faked

    def decode(self, tally: Ints, n: int, d: int) -> Floats:
        """Support counts, less what fakes and noise are due to add."""
        gap = (self.real.p_star - self.real.q_star) / d
        return np.asarray((tally / n - self.supports(d)[1]) / gap, dtype=np.float64)

    def variances(self, frequencies: npt.ArrayLike, n: int, d: int) -> Floats:
        """Exact: a report supports a value or not, independently of other reports."""
        return variance.pure(*self.supports(d), n, frequencies)

    def law(self, tally: Ints, n: int, d: int) -> EstimateLaw:
        """Two binomials: fakes support a value no matter who holds it."""
        return by_value(tally, n, *self.supports(d))


@dataclass(frozen=True)
class ValueFake(Fake):
    """The report of a value that is drawn from the chances."""

    chances: Chances

    def draw(self, n: int, rng: np.random.Generator) -> Reports:
        """As if somebody held the value."""
        return self.real.sample(self.chances.draw(n, rng), rng)

    @property
    def denominator(self) -> int:
        """That of the chances, times that of the mechanism."""
        return self.chances.total * self.real.denominator

    def weight(self, report: Any) -> int:
        """The mechanism's weights, mixed."""
        return sum(w * self.real.weight(report, v) for v, w in enumerate(self.chances.weights))


@dataclass(frozen=True)
class DirectFake(PureFake):
    """A value drawn from the chances, as it is."""

    real: GRR
    chances: Chances

    def draw(self, n: int, rng: np.random.Generator) -> Reports:
        """Values."""
        return self.chances.draw(n, rng).astype(self.real.report_dtype)

    @property
    def denominator(self) -> int:
        """That of the chances."""
        return self.chances.total

    def weight(self, report: Any) -> int:
        """The value's weight."""
        return self.chances.weights[int(report)]

    def log_prob(self, reports: Reports) -> Floats:
        """The value's chance."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.chances.shares)[reports], dtype=np.float64)

    @property
    def support(self) -> Floats:
        """A fake supports its own value."""
        return self.chances.shares

    def extremes(self) -> Extremes:
        """The rarer a value among fakes, the more its report looks real; one that is never a fake must be real."""
        p, q = Fraction(self.real.keep, SCALE), Fraction(SCALE - self.real.keep, SCALE * (self.real.k - 1))
        weights = [Fraction(weight, self.chances.total) for weight in self.chances.weights if weight]
        rare, common = min(weights), max(weights)
        pairs = tuple((p / share, q / share) for share in (rare, common))
        return Extremes(pairs, q / common, p / q if 0 in self.chances.weights else None)


@dataclass(frozen=True)
class UnaryFake(PureFake):
    """What fakes of unary encoding share: thresholds and the law of a vector of zeros."""

    real: UE

    @property
    def _ones(self) -> tuple[int, int]:
        thresholds = self.real.thresholds
        return int(thresholds["p"]), int(thresholds["q"])

    @cached_property
    def _ratios(self) -> tuple[Fraction, Fraction]:
        """How much likelier a zero and a one are in the own bit than in another."""
        p, q = self._ones
        return Fraction(SCALE - p, SCALE - q), Fraction(p, q)

    def _zero_log_prob(self, reports: Reports) -> Floats:
        q, k = self.real.q_star, self.real.k
        ones = np.bitwise_count(reports["bits"]).sum(axis=1, dtype=np.int64)
        return np.asarray(ones * math.log(q) + (k - ones) * math.log1p(-q), dtype=np.float64)


@dataclass(frozen=True)
class ZeroFake(UnaryFake):
    """A vector of zeros, randomized."""

    def draw(self, n: int, rng: np.random.Generator) -> Reports:
        """Bits that are all one with probability q: an own bit that is like any other."""
        from hush.kernels.unary import encode

        out = np.empty(n, self.real.report_dtype)
        q = np.uint64(self._ones[1])
        encode(rng, np.zeros(n, np.int64), self.real.k, q, q, out["bits"])
        return out

    @property
    def denominator(self) -> int:
        """2^64 for each bit."""
        return SCALE**self.real.k

    def weight(self, report: Any) -> int:
        """k independent bits."""
        q = self._ones[1]
        ones = int(np.bitwise_count(report["bits"]).sum())
        return int(q**ones * (SCALE - q) ** (self.real.k - ones))

    def log_prob(self, reports: Reports) -> Floats:
        """k independent bits."""
        return self._zero_log_prob(reports)

    @property
    def support(self) -> Floats:
        """Every bit is one with probability q."""
        return np.full(self.real.k, self.real.q_star)

    def extremes(self) -> Extremes:
        """Only the own bit tells."""
        zero, one = self._ratios
        return Extremes(((one, zero),), zero)


@dataclass(frozen=True)
class OneHotFake(ValueFake, UnaryFake):
    """The one-hot vector of a value drawn from the chances, randomized."""

    def log_prob(self, reports: Reports) -> Floats:
        """The law of a vector of zeros, times the mean ratio of the own bit."""
        zero, one = (float(ratio) for ratio in self._ratios)
        held = self.real.support_matrix(reports) @ self.chances.shares
        return np.asarray(self._zero_log_prob(reports) + np.log(zero + (one - zero) * held), dtype=np.float64)

    @property
    def support(self) -> Floats:
        """p where the fake value is drawn, else q."""
        return self.real.q_star + (self.real.p_star - self.real.q_star) * self.chances.shares

    def extremes(self) -> Extremes:
        """A single one at the value that fakes hold least looks most real; ones everywhere else, least."""
        zero, one = self._ratios
        rare = Fraction(min(self.chances.weights), self.chances.total)
        fewest, most = zero + (one - zero) * rare, one - (one - zero) * rare
        pairs = tuple((one / mean, zero / mean) for mean in (fewest, most))
        return Extremes(pairs, zero / most)
