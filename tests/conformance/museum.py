"""The bug museum: samplers that broke their own promise, rewritten as mechanisms.

Each claims the law of the mechanism it derives from, as the code that it remembers did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import hush
from hush.estimation import possible
from hush.exact.thresholds import SCALE, exp_below
from hush.types import Ints, Reports, Values


class MissingReset(hush.OUE):
    """The true value's bit is set with probability p but never cleared, so it is one with p + (1-p)q.

    pure-LDP 1.1.2, after a speed-up; epsilon 0.25 became 1.19.
    """

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        honest = super().sample(values, rng)
        bits = np.unpackbits(honest["bits"], axis=1, bitorder="little", count=self.k)
        rows = np.arange(values.size)
        noise = rng.random(values.size) < self.q_star
        bits[rows, values] |= noise
        honest["bits"] = np.packbits(bits, axis=1, bitorder="little")
        return honest


class LastBitUnprotected(hush.SUE):
    """The last bit is sent as it is. OpenDP's randomized response on bit vectors, for twenty months."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        honest = super().sample(values, rng)
        bits = np.unpackbits(honest["bits"], axis=1, bitorder="little", count=self.k)
        bits[:, -1] = values == self.k - 1
        honest["bits"] = np.packbits(bits, axis=1, bitorder="little")
        return honest


class ShiftByOne(hush.GRR):
    """Skipping the true value is off by one, so value x never reports x-1. A survey's public code."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        other = rng.integers(0, self.k - 1, values.size)
        other = np.where(other >= values - 1, (other + 1) % self.k, other)
        kept = rng.random(values.size) < self.p_star
        return np.where(kept, values, other).astype(self.report_dtype)


class FloatReports(hush.GRR):
    """Reports leave as floats, a quarter above what they mean: they are cut to integers on their way into a record."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        return super().sample(values, rng) + 0.25


class UnsortedSubset(hush.SS):
    """The subset is right, but lists the true value first when it holds it."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        for subset, value in zip(reports["subset"], values, strict=True):
            if value in subset:
                subset[:] = [value, *(v for v in subset if v != value)]
        return reports


class OffByOneDomain(hush.GRR):
    """Other values are drawn from 0..k-2: the last value is never a lie."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        other = rng.integers(0, self.k - 1, values.size)
        other = np.where(other == values, (other + 1) % (self.k - 1), other)
        kept = rng.random(values.size) < self.p_star
        return np.where(kept, values, other).astype(self.report_dtype)


class BiasedUniform(hush.GRR):
    """Others come from a few random bits modulo their number, so the first ones come twice as often."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        narrow = rng.integers(0, 1 << (self.k - 1).bit_length(), values.size) % (self.k - 1)
        other = narrow + (narrow >= values)
        kept = rng.random(values.size) < self.p_star
        return np.where(kept, values, other).astype(self.report_dtype)


class FloatThreshold(hush.GRR):
    """The threshold is rounded to nearest in floating point: now and then the loss is a hair above epsilon."""

    @cached_property
    def keep(self) -> int:
        return int(np.exp(self.epsilon) / (np.exp(self.epsilon) + self.k - 1) * SCALE)

    @property
    def breaks_its_promise(self) -> bool:
        """Whether rounding went the wrong way for these parameters."""
        return self.keep * (self.k - 1) > exp_below(self.epsilon) * (SCALE - self.keep)


@dataclass(frozen=True, kw_only=True)
class SeedTellsValue(hush.OLH):
    """The hash function is not drawn independently of the value: its lowest bit is the value's."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        reports["b"] = (reports["b"] & np.uint32(0xFFFFFFFE)) | (values % 2 == self.k % 2).astype(np.uint32)
        return reports


class OptimisticVariance(hush.OUE):
    """Reports are right, but error bars are a third too small."""

    def variances(self, frequencies: np.ndarray, n: int = 1) -> np.ndarray:
        return super().variances(frequencies, n) / 2.25


class ClippedEstimate(hush.GRR):
    """The raw estimate is clipped, so that it is no longer unbiased."""

    def decode(self, tally: np.ndarray, n: int) -> np.ndarray:
        return np.clip(super().decode(tally, n), 0.0, 1.0)


class LeftoverBits(hush.OUE):
    """Unused bits of the last byte are not zero: room for a tracking mark."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        reports["bits"][:, -1] |= 0x80
        return reports


class MiddleBits(hush.OLH):
    """The value is written into bits 12 to 19 of the hash function."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        shown = values.astype(np.uint32) << np.uint32(12)
        reports["b"] = (reports["b"] & np.uint32(0xFFF00FFF)) | shown
        return reports


class EvenSteps(hush.SHE):
    """The last bit of the noise tells: the value's own step is even, the next one's odd."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        rows = np.arange(values.size)
        reports["steps"][rows, values] &= ~1
        reports["steps"][rows, (values + 1) % self.k] |= 1
        return reports


class TwinBits(hush.OUE):
    """Every bit has its law, but two of them are always equal, and which two depends on the value."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        bits = np.unpackbits(reports["bits"], axis=1, bitorder="little", count=self.k)
        rows = np.arange(values.size)
        bits[rows, (values + 2) % self.k] = bits[rows, (values + 1) % self.k]
        reports["bits"] = np.packbits(bits, axis=1, bitorder="little")
        return reports


class LouderHashing(hush.OLH):
    """Randomizes with a tenth more budget than it states."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        return hush.LH(k=self.k, epsilon=1.1 * self.epsilon, g=self.g).sample(values, rng)


class LouderNoise(hush.SHE):
    """Adds the noise of a tenth more budget than it states."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        return hush.SHE(k=self.k, epsilon=1.1 * self.epsilon).sample(values, rng)


class StrictTally(hush.GRR):
    """Refuses tallies in which a value was never reported, as few reports have."""

    def check_tally(self, tally: Ints, n: int) -> None:
        possible.within(tally, 1, n)
