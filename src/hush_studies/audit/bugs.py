"""Samplers that broke their own promise, rewritten as mechanisms: what published code did, and likely kin of it.

Each claims the law of the mechanism it derives from. `MissingResetOUE` and `MissingResetSUE` also state the law they
truly have, so that the attack on them can be computed.
"""

from __future__ import annotations

import math

import numpy as np

from hush.analysis import success
from hush.exact.thresholds import SCALE, log_ratio
from hush.mechanisms.direct import GRR
from hush.mechanisms.hashing import LH, OLH
from hush.mechanisms.histogram import SHE
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import OUE, SUE, UE
from hush.types import Reports, Values

Bits = np.ndarray


def _bits(m: UE, reports: Reports) -> Bits:
    return np.unpackbits(reports["bits"], axis=1, bitorder="little", count=m.k)


def _pack(reports: Reports, bits: Bits) -> Reports:
    reports["bits"] = np.packbits(bits, axis=1, bitorder="little")
    return reports


class _MissingReset(UE):
    """All bits are set with probability q, then the value's own with p; nothing clears it where only q had set it."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        reports = super().sample(values, rng)
        byte, bit = values >> 3, (1 << (values & 7)).astype(np.uint8)
        reports["bits"][np.arange(values.size), byte] |= np.where(rng.random(values.size) < self.q_star, bit, 0)
        return reports

    @property
    def _own(self) -> int:
        """Out of 2^128, the true probability of a one in the value's own bit: p + (1 - p) q."""
        p, q = self._ones
        return p * SCALE + (SCALE - p) * q

    def exact_epsilon(self) -> float:
        """The loss that the sampler truly has."""
        q = self._ones[1]
        return log_ratio(self._own * (SCALE - q), q * (SCALE**2 - self._own))

    def asr(self, prior: object = None) -> float:
        """The success of a guess among the ones, uniform prior."""
        return float(success.independent_bits(self.k, self._own / SCALE**2, self.q_star))


class MissingResetOUE(_MissingReset, OUE):
    """OUE of pure-LDP 1.1.2."""


class MissingResetSUE(_MissingReset, SUE):
    """SUE of pure-LDP 1.1.2."""


class LastBitUnprotected(SUE):
    """The last bit is sent as it is: OpenDP's randomized response on bit vectors, for twenty months."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest bits, but the last one as it is."""
        reports = super().sample(values, rng)
        bits = _bits(self, reports)
        bits[:, -1] = values == self.k - 1
        return _pack(reports, bits)

    def exact_epsilon(self) -> float:
        """Only the last value sets the last bit."""
        return math.inf


class ShiftByOne(GRR):
    """Skipping the true value is off by one, so that value x never reports x-1: the public code of a survey."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """The value, or another one, wrongly skipped."""
        other = rng.integers(0, self.k - 1, values.size)
        other = np.where(other >= values - 1, (other + 1) % self.k, other)
        kept = rng.random(values.size) < self.p_star
        return np.where(kept, values, other).astype(self.report_dtype)

    def exact_epsilon(self) -> float:
        """Value x never reports x-1."""
        return math.inf


class TrueValueFirst(SS):
    """The subset is right, but lists the true value first when it holds it."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest subset in a telling order."""
        reports = super().sample(values, rng)
        order = np.argsort(reports["subset"] != values[:, None], axis=1, kind="stable")
        reports["subset"] = np.take_along_axis(reports["subset"], order, axis=1)
        return reports

    def exact_epsilon(self) -> float:
        """A first member that is not the smallest must be the value."""
        return math.inf


class LastNeverFake(GRR):
    """Other values are drawn from 0..k-2: the last value is never a lie."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """The value, or one of all but the last."""
        other = rng.integers(0, self.k - 1, values.size)
        other = np.where(other == values, (other + 1) % (self.k - 1), other)
        kept = rng.random(values.size) < self.p_star
        return np.where(kept, values, other).astype(self.report_dtype)

    def exact_epsilon(self) -> float:
        """Who reports the last value holds it."""
        return math.inf


class SeedTellsValue(OLH):
    """The lowest bit of the hash function is that of the value."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report with a telling hash function."""
        reports = super().sample(values, rng)
        reports["b"] = (reports["b"] & np.uint32(0xFFFFFFFE)) | (values % 2).astype(np.uint32)
        return reports

    def exact_epsilon(self) -> float:
        """Odd and even values never send the same hash function."""
        return math.inf


class TwinBits(OUE):
    """Every bit has its law, but two are always equal, and which two depends on the value."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest bits, one of them copied from another."""
        reports = super().sample(values, rng)
        bits, rows = _bits(self, reports), np.arange(values.size)
        bits[rows, (values + 2) % self.k] = bits[rows, (values + 1) % self.k]
        return _pack(reports, bits)

    def exact_epsilon(self) -> float:
        """Two bits that differ exclude a value."""
        return math.inf


class EvenSteps(SHE):
    """The last bit of the noise tells: the value's own step is even, the next one's odd."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Honest noise with two telling steps."""
        reports = super().sample(values, rng)
        rows = np.arange(values.size)
        reports["steps"][rows, values] &= ~1
        reports["steps"][rows, (values + 1) % self.k] |= 1
        return reports

    def exact_epsilon(self) -> float:
        """An odd step excludes a value."""
        return math.inf


class LouderHashing(OLH):
    """Randomizes with a tenth more budget than it states."""

    @property
    def _real(self) -> LH:
        return LH(k=self.k, epsilon=1.1 * self.epsilon, g=self.g)

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report for a larger budget."""
        return self._real.sample(values, rng)

    def exact_epsilon(self) -> float:
        """That of the larger budget."""
        return self._real.exact_epsilon()


class LouderNoise(SHE):
    """Adds the noise of a tenth more budget than it states."""

    @property
    def _real(self) -> SHE:
        return SHE(k=self.k, epsilon=1.1 * self.epsilon)

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """An honest report for a larger budget."""
        return self._real.sample(values, rng)

    def exact_epsilon(self) -> float:
        """That of the larger budget."""
        return self._real.exact_epsilon()
