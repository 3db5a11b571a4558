"""What tau reports of one unchanging value show, as laws: how often the paper's attack is right, and how the likelihood
ratio of two values is distributed.

A million sequences of 500 reports each are too many to make; their laws are small. Most are exact. Two have no
formula, subsets and long sequences of randomized response: there the success of the attack is an average over real
sequences of the largest posterior probability, which has the same mean as the share of right guesses and a far smaller
spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hush.analysis.most_support import binomial, direct, independent
from hush.attacks.longitudinal import expected_majority
from hush.kernels import chunks
from hush.longitudinal import Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.histogram import GM, SHE, NoisyHistogram
from hush.mechanisms.subset import SS
from hush.mechanisms.two_level import TwoLevel
from hush.randomness import seeded
from hush.types import Floats

_BLOCK = 1_000  # sequences that one thread follows at a time


@dataclass(frozen=True)
class Success:
    """How often the attack is right, and the standard error of that; zero where it is exact."""

    rate: float
    stderr: float = 0.0


def successes(m: FrequencyOracle, taus: Sequence[int], sequences: int, seed: Sequence[int]) -> dict[int, Success]:
    """Of the value with the most support over tau reports, or the coordinate with the largest sum.

    Args:
        m: What is repeated.
        taus: Numbers of reports.
        sequences: How many real ones to follow where there is no formula.
        seed: Where they start.
    """
    known = {tau: exact_success(m, tau) for tau in taus}
    missing = [tau for tau, rate in known.items() if rate is None]
    followed = _followed(m, missing, sequences, seed) if missing and isinstance(m, TwoLevel) else {}
    return {tau: followed[tau] if rate is None else Success(rate) for tau, rate in known.items()}


def exact_success(m: FrequencyOracle, tau: int) -> float | None:
    """By formula; None where there is none."""
    if isinstance(m, NoisyHistogram):
        other = _power(m.grid.probabilities, tau)
        return independent(other[::-1].copy(), other, m.k)
    named = isinstance(m, GRR) or (isinstance(m, SS) and m.omega == 1)  # a report names one value
    if named and m.k == 2:
        votes, half = binomial(tau, m.p_star), (tau + 1) // 2  # type: ignore[attr-defined]
        return float(votes[half:].sum()) - (votes[half] / 2 if tau % 2 == 0 else 0.0)
    if named:
        return direct(m.k, m.p_star, tau)  # type: ignore[attr-defined]
    return expected_majority(Repeated(m, tau), tau)


def best_success(m: SHE, tau: int) -> float:
    """Of the likeliest value, which for Laplace noise is not the coordinate with the largest sum."""
    other = _power(_clipped(m)[::-1], tau)
    return independent(other[::-1].copy(), other, m.k)


def _followed(m: TwoLevel, taus: Sequence[int], sequences: int, seed: Sequence[int]) -> dict[int, Success]:
    """Sequences grow report by report, and are looked at wherever a tau is reached."""
    m.privatize([0])  # compiles before threads start

    def work(start: int, stop: int) -> Floats:
        rng, votes, shares = seeded([*seed, start]), np.zeros((stop - start, m.k), np.int32), []
        for t in range(1, max(taus) + 1):
            votes += m.support_matrix(m.sample(np.zeros(stop - start, np.int64), rng))
            if t in taus:
                lead = (votes - votes.max(axis=1, keepdims=True)) * m._log_favour
                shares.append(1 / np.exp(lead).sum(axis=1))
        return np.array(shares)

    seen = np.concatenate(chunks.each(sequences, _BLOCK, work), axis=1)
    spread = seen.std(axis=1, ddof=1) / np.sqrt(sequences)
    return {tau: Success(float(row.mean()), float(error)) for tau, row, error in zip(taus, seen, spread, strict=True)}


@dataclass(frozen=True, eq=False)
class Ratio:
    """The law of the log-likelihood ratio of two values under the first; the second mirrors it.

    Args:
        levels: What it can be, ascending, symmetric about zero, up to a factor.
        chances: How likely each is.
    """

    levels: Floats
    chances: Floats


def composed_loss(m: FrequencyOracle, tau: int) -> float:
    """The loss of tau reports; of Gaussian noise at tau times its delta, as if the noise were continuous."""
    if not isinstance(m, GM):
        return Repeated(m, tau).exact_epsilon()
    from scipy.optimize import brentq
    from scipy.special import log_ndtr, ndtr

    gap = np.sqrt(2 * tau) / m.sigma  # between the two values, in standard deviations

    def excess(epsilon: float) -> float:
        high, low = gap / 2 - epsilon / gap, -gap / 2 - epsilon / gap
        return float(ndtr(high) - np.exp(epsilon + log_ndtr(low))) - tau * m.delta

    return float(brentq(excess, 0.0, tau * m.epsilon))


@lru_cache(maxsize=16)
def ratio(m: FrequencyOracle, tau: int) -> Ratio:
    """Of tau reports.

    With two levels of probability, a report favours one value, the other, or neither, by the same ratio. With noise in
    every coordinate only two of them tell, each by its step; with Laplace noise only from 0 to 1.
    """
    if isinstance(m, NoisyHistogram):
        own = _clipped(m) if isinstance(m, SHE) else m.grid.probabilities[::-1]
        one = np.convolve(own, own)  # the value's own step, less that of the other value, which is its mirror image
    else:
        favour = m.exact_epsilon()
        less = (m.p_star - m.q_star) / np.expm1(favour)  # type: ignore[attr-defined]
        more = less * np.exp(favour)
        one = np.array([less, 1 - less - more, more])
    chances = _power(one, tau)
    at = np.arange(chances.size, dtype=np.float64) - (chances.size - 1) / 2
    return Ratio(at, chances / chances.sum())


def _clipped(m: NoisyHistogram) -> Floats:
    """The law of a step under a one, between 0 and one unit: what lies beyond tells as much as the ends."""
    steps = np.clip(m.grid.steps, 0, m.grid.unit)
    return np.bincount(steps, m.grid.probabilities[::-1], minlength=m.grid.unit + 1).astype(np.float64)


def _power(law: Floats, tau: int) -> Floats:
    """The law of a sum of tau, about its middle, and as far as it reaches on either side of it.

    By a circular Fourier transform that is long enough for what is left beyond twelve standard deviations to vanish.
    Its error is near 1e-17 at every point.
    """
    from scipy import fft

    at = np.arange(law.size)
    mean, last = float(at @ law), tau * (law.size - 1)
    spread = np.sqrt(tau * max(float((at - mean) ** 2 @ law), 0.0))
    reach = abs(tau * mean - last / 2) + 12 * spread + 1
    first = max(0, int(last / 2 - reach))
    size = last + 1 - 2 * first
    room = fft.next_fast_len(size, real=True)
    folded = np.bincount(at % room, law, minlength=room)
    total = fft.irfft(fft.rfft(folded) ** tau, room)
    return np.maximum(total[(first + np.arange(size)) % room], 0.0)
