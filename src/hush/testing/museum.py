"""The bug museum: samplers that broke their own promise, rewritten as mechanisms, and likely kin of them.

Each claims the law of the mechanism that it derives from, as the code that it remembers did. The conformance suite must
reject every one, and audits should find those that lose more than they claim: `true_epsilon` says how much.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hush.analysis import success
from hush.estimation import possible
from hush.exact.thresholds import SCALE, exp_below, log_ratio
from hush.mechanisms.collected import Tallied
from hush.mechanisms.direct import GRR
from hush.mechanisms.hashing import LH, OLH
from hush.mechanisms.histogram import SHE
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.mechanisms.numeric.base import Words
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import OUE, SUE, UE
from hush.types import Floats, Ints, Reports, Values

Bits = np.ndarray


class Exhibit(Tallied):
    """A mechanism with a bug."""

    @classmethod
    def honest(cls) -> type[Any]:
        """The mechanism that it claims to be."""
        bases = (base for base in cls.__mro__ if issubclass(base, Tallied))
        return next(base for base in bases if not issubclass(base, Exhibit))

    def true_epsilon(self) -> float:
        """What one report truly loses: what it claims, unless the bug is in the sampler."""
        claimed: float = self.exact_epsilon()  # type: ignore[attr-defined]  # which every kind of mechanism has
        return claimed


class Telling(Exhibit):
    """A bug by which some output excludes a value: the loss is infinite."""

    def true_epsilon(self) -> float:
        """What one report truly loses."""
        return math.inf


# Bits.


def _bits(m: UE, reports: Reports) -> Bits:
    return np.unpackbits(reports["bits"], axis=1, bitorder="little", count=m.k)


def _pack(reports: Reports, bits: Bits) -> Reports:
    reports["bits"] = np.packbits(bits, axis=1, bitorder="little")
    return reports


class MissingReset(Exhibit, UE):
    """All bits are set with probability q, then the value's own with p; nothing clears it where only q had set it.

    Unary encoding of pure-LDP 1.1.2, after a speed-up: epsilon 0.25 became 1.19.
    """

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest bits, and the value's own again."""
        reports = super().sample(values, rng)
        byte, bit = values >> 3, (1 << (values & 7)).astype(np.uint8)
        reports["bits"][np.arange(values.size), byte] |= np.where(rng.random(values.size) < self.q_star, bit, 0)
        return reports

    @property
    def _own(self) -> int:
        """Out of 2^128, the true probability of a one in the value's own bit: p + (1 - p) q."""
        p, q = self._ones
        return p * SCALE + (SCALE - p) * q

    def true_epsilon(self) -> float:
        """What one report truly loses."""
        q = self._ones[1]
        return log_ratio(self._own * (SCALE - q), q * (SCALE**2 - self._own))

    def true_asr(self) -> float:
        """How often a guess among the ones is truly right, uniform prior."""
        return float(success.independent_bits(self.k, self._own / SCALE**2, self.q_star))


class MissingResetOUE(MissingReset, OUE):
    """The bug in OUE."""


class MissingResetSUE(MissingReset, SUE):
    """The bug in SUE."""


class LastBitUnprotected(Telling, SUE):
    """The last bit is sent as it is: OpenDP's randomized response on bit vectors, for twenty months."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest bits, but the last one as it is."""
        reports = super().sample(values, rng)
        bits = _bits(self, reports)
        bits[:, -1] = values == self.k - 1
        return _pack(reports, bits)


class TwinBits(Telling, OUE):
    """Every bit has its law, but two are always equal, and which two depends on the value."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest bits, one of them copied from another."""
        reports = super().sample(values, rng)
        bits, rows = _bits(self, reports), np.arange(values.size)
        bits[rows, (values + 2) % self.k] = bits[rows, (values + 1) % self.k]
        return _pack(reports, bits)


class LeftoverBits(Exhibit, OUE):
    """Unused bits of the last byte are not zero: room for a tracking mark."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest bits, and one more."""
        reports = super().sample(values, rng)
        reports["bits"][:, -1] |= 0x80
        return reports


# One value among k.


class ShiftByOne(Telling, GRR):
    """Skipping the true value is off by one, so that value x never reports x-1: the public code of a survey."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """The value, or another one, wrongly skipped."""
        other = rng.integers(0, self.k - 1, values.size)
        other = np.where(other >= values - 1, (other + 1) % self.k, other)
        return _kept(self, values, other, rng)


class LastNeverFake(Telling, GRR):
    """Other values are drawn from 0..k-2: the last value is never a lie."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """The value, or one of all but the last."""
        other = rng.integers(0, self.k - 1, values.size)
        other = np.where(other == values, (other + 1) % (self.k - 1), other)
        return _kept(self, values, other, rng)


class BiasedUniform(Exhibit, GRR):
    """Others come from a few random bits modulo their number, so that the first ones come twice as often."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """The value, or another one, not uniform."""
        narrow = rng.integers(0, self._words, values.size) % (self.k - 1)
        return _kept(self, values, narrow + (narrow >= values), rng)

    @property
    def _words(self) -> int:
        return 1 << (self.k - 1).bit_length()

    def true_epsilon(self) -> float:
        """That of a value beside the lie that is told least often."""
        least = self._words // (self.k - 1)
        return math.log(self.p_star / (1 - self.p_star) * self._words / least)


def _kept(m: GRR, values: Values, other: Ints, rng: np.random.Generator) -> Reports:
    """The value with probability p, else the other one."""
    kept = rng.random(values.size) < m.p_star
    return np.where(kept, values, other).astype(m.report_dtype)


class FloatReports(Exhibit, GRR):
    """Reports leave as floats, a quarter above what they mean: they are cut to integers on their way into a record."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest reports of another kind of number."""
        return super().sample(values, rng) + 0.25


class FloatThreshold(Exhibit, GRR):
    """The threshold is rounded to nearest in floating point: now and then the loss is a hair above epsilon."""

    @cached_property
    def keep(self) -> int:
        """Rounded to nearest, not down."""
        return int(np.exp(self.epsilon) / (np.exp(self.epsilon) + self.k - 1) * SCALE)

    @property
    def breaks_its_promise(self) -> bool:
        """Whether rounding went the wrong way for these parameters."""
        return self.keep * (self.k - 1) > exp_below(self.epsilon) * (SCALE - self.keep)


# Subsets, hashing, noise.


class TrueValueFirst(Telling, SS):
    """The subset is right, but lists the true value first when it holds it: the public code of a toolbox."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest subset in a telling order."""
        reports = super().sample(values, rng)
        order = np.argsort(reports["subset"] != values[:, None], axis=1, kind="stable")
        reports["subset"] = np.take_along_axis(reports["subset"], order, axis=1)
        return reports


class SeedTellsValue(Telling, OLH):
    """The lowest bit of the hash function is that of the value."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report with a telling hash function."""
        reports = super().sample(values, rng)
        reports["b"] = (reports["b"] & np.uint32(0xFFFFFFFE)) | (values % 2).astype(np.uint32)
        return reports


class MiddleBits(Telling, OLH):
    """The value is written into bits 12 to 19 of the hash function."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report with a telling hash function."""
        reports = super().sample(values, rng)
        reports["b"] = (reports["b"] & np.uint32(0xFFF00FFF)) | (values.astype(np.uint32) << np.uint32(12))
        return reports


class EvenSteps(Telling, SHE):
    """The last bit of the noise tells: the value's own step is even, the next one's odd."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest noise with two telling steps."""
        reports = super().sample(values, rng)
        rows = np.arange(values.size)
        reports["steps"][rows, values] &= ~1
        reports["steps"][rows, (values + 1) % self.k] |= 1
        return reports


class LouderHashing(Exhibit, OLH):
    """Randomizes with a tenth more budget than it states."""

    @property
    def _real(self) -> LH:
        return LH(k=self.k, epsilon=1.1 * self.epsilon, g=self.g)

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report for a larger budget."""
        return self._real.sample(values, rng)

    def true_epsilon(self) -> float:
        """That of the larger budget."""
        return self._real.exact_epsilon()


class LouderNoise(Exhibit, SHE):
    """Adds the noise of a tenth more budget than it states."""

    @property
    def _real(self) -> SHE:
        return SHE(k=self.k, epsilon=1.1 * self.epsilon)

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report for a larger budget."""
        return self._real.sample(values, rng)

    def true_epsilon(self) -> float:
        """That of the larger budget."""
        return self._real.exact_epsilon()


# Honest reports, read wrongly.


class OptimisticVariance(Exhibit, OUE):
    """Error bars are a third too small."""

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Less than half of what they are."""
        return super().variances(frequencies, n) / 2.25


class ClippedEstimate(Exhibit, GRR):
    """The raw estimate is clipped, so that it is no longer unbiased."""

    def decode(self, tally: Ints, n: int) -> Floats:
        """Within 0 and 1, whatever was counted."""
        return np.clip(super().decode(tally, n), 0.0, 1.0)


class StrictTally(Exhibit, GRR):
    """Refuses tallies in which a value was never reported, as few reports have."""

    def check_tally(self, tally: Ints, n: int) -> None:
        """Wants at least one of each."""
        possible.within(tally, 1, n)


# Numbers.


class RoundedDown(Exhibit, Duchi):
    """Numbers are cut to the grid, as a cast to an integer does, so that the mean is too small."""

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """Honest reports of the tick below."""
        return super().sample(floors, np.zeros_like(parts), rng)


class LouderCoin(Exhibit, Duchi):
    """Randomizes with a tenth more budget than it states."""

    @property
    def _real(self) -> Duchi:
        return Duchi(**{**self.parameters, "epsilon": 1.1 * self.epsilon})

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """An honest report for a larger budget."""
        return self._real.sample(floors, parts, rng)

    def true_epsilon(self) -> float:
        """That of the larger budget."""
        return self._real.exact_epsilon()


class RoundedUpCoin(Exhibit, Duchi):
    """The slope is rounded up, so that the two ends lose a hair more than epsilon."""

    @cached_property
    def slope(self) -> int:
        """One even part of a step more than epsilon allows."""
        return Duchi(**self.parameters).slope + 2


class OneSided(Telling, Piecewise):
    """What falls outside the window lands above it, wherever there is a place; the two sides are two runs, and
    sampling forgets one.
    """

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """An honest report; one that lies below the window is drawn again, above."""
        reports = super().sample(floors, np.zeros_like(parts), rng)
        edge = floors * np.uint64(self.height)
        above = np.uint64(self.outside) - edge
        again = edge + np.uint64(self.inside) + rng.integers(0, np.maximum(above, 1), dtype=np.uint64)
        return np.where((reports < edge) & (above > 0), again, reports).astype(self.report_dtype)


class TellingChoice(Telling, Hybrid):
    """The coin that chooses between the two mechanisms looks at the number: the lower half never sends a place."""

    def sample(self, floors: Words, parts: Words, rng: np.random.Generator) -> Reports:
        """A bit from the lower half, an honest report from the upper one."""
        window, coin = self._parts
        reports = super().sample(floors, parts, rng)
        bits = window.size + coin.sample(floors, parts, rng).astype(np.int64)
        return np.where(2 * floors < self.steps, bits, reports).astype(self.report_dtype)


class ClippedNumbers(Exhibit, Duchi):
    """What a report says is clipped to the range, so that means shrink towards the middle."""

    @property
    def _says(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(self.steps)


class OptimisticMean(Exhibit, Piecewise):
    """Error bars are a third too small."""

    def variance(self, n: int = 1, values: Any = None, weights: Any = None) -> float:
        """Less than half of what it is."""
        return super().variance(n, values, weights) / 2.25
