"""Longitudinal unary encoding: L-SUE (basic RAPPOR), L-OSUE, L-OUE, L-SOUE.

L-SUE: Erlingsson et al., "RAPPOR: randomized aggregatable privacy-preserving ordinal response" (CCS 2014). The others:
Arcolezi et al., "Improving the utility of locally differentially private protocols for longitudinal and
multidimensional frequency estimates" (Digital Communications and Networks 2022). The first letter after L names the
permanent round, the last ones the fresh round: symmetric bits (S), or a one kept with probability 1/2 (O).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import most_support
from hush.exact.thresholds import SCALE, log_ratio
from hush.longitudinal import _histories, _rounds, likelihoods
from hush.longitudinal._first_bits import FirstLOSUE, FirstLOUE, FirstLSOUE, FirstLSUE, FirstLUE
from hush.longitudinal._two import TwoRounds
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True, kw_only=True)
class LUE(TwoRounds):
    """Keep k random bits for each value; report them through fresh noise."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.first_report.rounds

    @property
    @abstractmethod
    def first_report(self) -> FirstLUE:
        """The law of one report."""

    @property
    def kept(self) -> int:
        """One row of bits for each value. Two values differ in two bits, which together lose epsilon_permanent."""
        return self.k

    @property
    def pseudonym(self) -> str:
        """What a client shows again."""
        return "a row of bits, behind fresh noise"

    @property
    def epsilon_fresh(self) -> float:
        """Loss of the fresh round alone, over two rows of bits that differ everywhere."""
        p, q = self.first_report.rounds[1]
        one = max(log_ratio(p, q), log_ratio(SCALE - q, SCALE - p))
        return _rounds.times(one, self.k)

    @property
    def _supports(self) -> tuple[float, float, float, float]:
        (p, q), (p_again, q_again) = self.first_report.rounds
        return p / SCALE, q / SCALE, p_again / SCALE, q_again / SCALE

    def sequence_epsilon(self, tau: float) -> float:
        """Exact loss of tau reports of a value that does not change, rounded up; `math.inf` gives the limit."""
        return _rounds.bit_loss(*self.first_report.rounds, _rounds.reports_of(tau, endless=True))

    def _memoize(self, states: Ints, rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.first_report.permanent(k=self.k, epsilon=self.epsilon_permanent).sample(states, rng)  # type: ignore[call-arg]

    def _refresh(self, memos: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.first_report._fresh(memos, rng)

    def _likelihood(self, core: npt.NDArray[Any], states: Ints) -> Floats:
        return likelihoods.bits(core["bits"], states, self.k, *self.first_report.rounds)

    def _answers(self) -> npt.NDArray[Any]:
        return self.first_report.outputs()

    def _ratios(self, first: Ints, second: Ints) -> tuple[float, float]:
        """Bits are independent, so their losses add up; those of values that neither history has are alike."""

        def likelihood(chosen: Ints, states: Ints) -> Floats:
            return likelihoods.bits(chosen[:, :, None].astype(np.uint8), states, 1, *self.first_report.rounds)

        values = np.union1d(first, second)
        low = high = 0.0
        for value, times in [*((value, 1) for value in values), (self.k, self.k - values.size)]:
            one, other = (np.where(states == value, 0, 1 + states) for states in (first, second))  # 0 owns the bit
            least, greatest = _histories.extremes(one, other, lambda *_: ((0, 1), ()), likelihood)
            low, high = low + times * least, high + times * greatest
        return low, high

    def sequence_log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """Only the bits of the two values tell, by how often each is one."""
        bits = self._reports(reports)["bits"]
        own, other, p, q = self._supports
        tau = bits.shape[1]
        ones = np.arange(tau + 1)
        high, low = (ones * math.log(x) + (tau - ones) * math.log1p(-x) for x in (p, q))
        mine, others = (np.logaddexp(math.log(x) + high, math.log1p(-x) + low) for x in (own, other))
        seen = [(bits[:, :, v // 8] >> np.uint8(v % 8) & 1).sum(axis=1, dtype=np.int64) for v in (first, second)]
        favour = mine - others
        return np.asarray(favour[seen[0]] - favour[seen[1]], np.float64)

    def most_voted(self, tau: int) -> float:
        """Votes for all values are independent; a kept bit decides how often it is one."""
        own, other, p, q = self._supports
        high, low = most_support.binomial(tau, p), most_support.binomial(tau, q)
        return most_support.independent(own * high + (1 - own) * low, other * high + (1 - other) * low, self.k)

    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""
        array = self._reports(reports)
        self.first_report.validate(array.ravel())
        return likelihoods.bit_scores(array["bits"], self.k, *self.first_report.rounds)


@dataclass(frozen=True, kw_only=True)
class LSUE(LUE):
    """Basic RAPPOR: symmetric bits, twice. One report has the law of SUE with epsilon_report.

    >>> round(LSUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0).first_report.p_star, 6)
    0.622459
    """

    @cached_property
    def first_report(self) -> FirstLSUE:
        """The law of one report."""
        return FirstLSUE(k=self.k, epsilon=self.epsilon_report, epsilon_permanent=self.epsilon_permanent)


@dataclass(frozen=True, kw_only=True)
class LOSUE(LUE):
    """OUE's bits, then symmetric ones. One report has the law of OUE with epsilon_report: the least variance of all.

    >>> round(LOSUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0).first_report.q_star, 6)
    0.268941
    """

    @cached_property
    def first_report(self) -> FirstLOSUE:
        """The law of one report."""
        return FirstLOSUE(k=self.k, epsilon=self.epsilon_report, epsilon_permanent=self.epsilon_permanent)


@dataclass(frozen=True, kw_only=True)
class LOUE(LUE):
    """OUE's bits, then bits that keep a one with probability 1/2.

    epsilon_report is at most ln((2 e^epsilon_permanent + 1) / 3).
    """

    @cached_property
    def first_report(self) -> FirstLOUE:
        """The law of one report."""
        return FirstLOUE(k=self.k, epsilon=self.epsilon_report, epsilon_permanent=self.epsilon_permanent)


@dataclass(frozen=True, kw_only=True)
class LSOUE(LUE):
    """Symmetric bits, then bits that keep a one with probability 1/2.

    With s = e^(epsilon_permanent/2), epsilon_report is at most ln(s(2s + 1) / (s + 2)).
    """

    @cached_property
    def first_report(self) -> FirstLSOUE:
        """The law of one report."""
        return FirstLSOUE(k=self.k, epsilon=self.epsilon_report, epsilon_permanent=self.epsilon_permanent)
