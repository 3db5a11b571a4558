"""Which of two values is it? The likelihood ratio decides, and total variation says how often it is right.

No test of two values that are equally likely is right more often than (1 + total variation) / 2: the area that two
laws do not share.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks._ties import batches, likeliest
from hush.attacks.outcome import Outcome, scored, truth
from hush.errors import ParameterError, Unsaid, message
from hush.longitudinal import Longitudinal, Repeated
from hush.longitudinal._first_asked import FirstBitFlip
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import LH
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.histogram import NoisyHistogram
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.two_level import TwoLevel
from hush.mechanisms.unary import UE
from hush.types import Floats, Reports

_MOST_REPORTS = 2_000
"""Up to so many reports of one person the exact success is computed."""
_MOST_WEIGHTS = 1 << 17


def distinguish(
    m: FrequencyOracle | Repeated | Longitudinal,
    reports: Reports,
    values: npt.ArrayLike,
    first: int,
    second: int,
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess which of two values each person holds: the one that makes what was reported likelier; else a coin.

    Args:
        m: A mechanism, or a protocol that reports over time.
        reports: One report a person; or of shape (n, tau), all of an unchanging value.
        values: The truth, `first` or `second` for each person.
        first: One value.
        second: The other.
        rng: Breaks the ties.

    `expected` is exact if the two are equally likely.

    >>> import hush
    >>> m = hush.OUE(k=100, epsilon=1.0)
    >>> values = [3, 14] * 2000
    >>> seen = distinguish(m, m.privatize(values, rng=hush.seeded(7)), values, 3, 14, rng=hush.seeded(8))
    >>> round(seen.expected, 4), seen.interval[0] < seen.expected < seen.interval[1]
    (0.6155, True)
    """
    pair = _pair(m, first, second)
    array = m._reports(reports)
    known = truth("values", values, m.k, len(array))
    if not np.isin(known, pair).all():
        at = int(np.nonzero(~np.isin(known, pair))[0][0])
        raise ParameterError(
            message("values", f"must be {pair[0]} or {pair[1]}", Unsaid(f"another one at position {at}"), "drop it")
        )

    def work(rows: slice, drawing: np.random.Generator) -> npt.NDArray[np.int64]:
        return likeliest(np.stack([_log_prob(m, array[rows], v) for v in pair], axis=1), drawing)

    width = m.k * (array.shape[1] if array.ndim == 2 else 1)
    guesses = np.array(pair)[np.concatenate(batches(len(array), width, work, rng))]
    apart = total_variation(m, *pair)
    return scored(guesses, guesses == known, 0.5, None if apart is None else (1 + apart) / 2)


def total_variation(m: FrequencyOracle | Repeated | Longitudinal, first: int, second: int) -> float | None:
    """How far apart the reports of two values are; None where it is neither known nor small enough to enumerate.

    Exact for built-in mechanisms, local hashing and the wheel under an ideal hash, and for repeated reports of those
    whose reports have two levels of probability.

    >>> import hush
    >>> round(total_variation(hush.GRR(k=2, epsilon=1.0), 0, 1), 6)
    0.462117
    """
    pair = _pair(m, first, second)
    if isinstance(m, Repeated):
        return _repeated(m, *pair)
    if isinstance(m, Longitudinal):
        return None
    return _variation(m, *pair)


def _pair(m: Any, first: object, second: object) -> tuple[int, int]:
    if not isinstance(m, (FrequencyOracle, Repeated, Longitudinal)):
        rule, remedy = "must be a mechanism or a protocol over time", "pass e.g. hush.OUE(k=10, epsilon=1.0)"
        raise ParameterError(message("m", rule, type(m), remedy))
    pair = tuple(rules.integer(name, v, 0, m.k - 1, "count values from 0") for name, v in
                 (("first", first), ("second", second)))  # fmt: skip
    if pair[0] == pair[1]:
        raise ParameterError(message("second", "must differ from first", second, "compare two values"))
    return pair[0], pair[1]


def _log_prob(m: FrequencyOracle | Repeated | Longitudinal, reports: Reports, value: int) -> Floats:
    return m.log_prob(reports, value) if isinstance(m, FrequencyOracle) else m.sequence_log_prob(reports, value)


# One report that speaks for the first value alone, or for the second alone: how likely each is, if the first is true.


@singledispatch
def _alone(m: FrequencyOracle, first: int, second: int) -> tuple[float, float] | None:
    """None where reports have more levels of probability than two."""
    return None


@_alone.register
def _(m: GRR, first: int, second: int) -> tuple[float, float]:
    return m.p_star, m.q_star


@_alone.register
def _(m: UE, first: int, second: int) -> tuple[float, float]:
    return m.p_star * (1 - m.q_star), m.q_star * (1 - m.p_star)


@_alone.register
def _(m: SS, first: int, second: int) -> tuple[float, float]:
    both = m.p_star * (m.omega - 1) / (m.k - 1)
    return m.p_star - both, m.q_star - both


@_alone.register
def _(m: Hashed, first: int, second: int) -> tuple[float, float]:
    both = m.p_star * (m.collision if isinstance(m, LH) else m.q_star)
    return m.p_star - both, m.q_star - both


@_alone.register
def _(m: PGR, first: int, second: int) -> tuple[float, float]:
    both = m.p_star * m.shared / m.favoured
    return m.p_star - both, m.q_star - both


@_alone.register
def _(m: MSS, first: int, second: int) -> tuple[float, float]:
    """On average over the blocks, of which some have the same residue for both values and say nothing."""
    law, telling = m.blocks, (first - second) % m.blocks.m > 0
    both = law.p * (law.omegas - 1) / (law.m - 1)
    return float((telling * (law.p - both)).mean()), float((telling * (law.q - both)).mean())


@_alone.register
def _(m: HR, first: int, second: int) -> tuple[float, float]:
    half = m.width // 2
    elsewhere = (1 - m.p_star) * half / (m.size - half)
    if first % m.blocks != second % m.blocks:
        return m.p_star, elsewhere
    return m.p_star / 2, elsewhere / 2


# Total variation.


@singledispatch
def _variation(m: FrequencyOracle, first: int, second: int) -> float | None:
    """By enumeration, if there is no public randomness and little else."""
    try:
        if len(m.publics()) > 1 or len(outputs := m.outputs()) > _MOST_WEIGHTS:
            return None
    except ParameterError:
        return None
    apart = sum(m.copies(y) * max(m.weight(y, first) - m.weight(y, second), 0) for y in outputs)
    return apart / m.denominator


@_variation.register(GRR)
@_variation.register(UE)
@_variation.register(TwoLevel)
@_variation.register(MSS)
def _(m: FrequencyOracle, first: int, second: int) -> float | None:
    found = _alone(m, first, second)
    return _variation.dispatch(FrequencyOracle)(m, first, second) if found is None else found[0] - found[1]


@_variation.register
def _(m: NoisyHistogram, first: int, second: int) -> float:
    return float(m.grid.excess(0.0))


@_variation.register
def _(m: FirstBitFlip, first: int, second: int) -> float:
    """Nothing tells them apart if neither was asked about; else one bit or two do, to the same effect."""
    neither = (m.k - m.d) * (m.k - m.d - 1) / (m.k * (m.k - 1))
    return (m.p - m.q) * (1 - neither)


def _repeated(m: Repeated, first: int, second: int) -> float | None:
    """A walk: one step up or down for a report that speaks for one value alone. What counts is where it ends."""
    if m.tau == 1:
        return _variation(m.mechanism, first, second)
    steps = _alone(m.mechanism, first, second)
    if steps is None or m.tau > _MOST_REPORTS:
        return None
    up, down = steps
    step = np.array([down, 1 - up - down, up])
    law = np.ones(1)
    for bit in bin(m.tau)[2:]:
        law = np.convolve(law, law)
        if bit == "1":
            law = np.convolve(law, step)
    return float(law[m.tau + 1 :].sum() - law[: m.tau].sum())
