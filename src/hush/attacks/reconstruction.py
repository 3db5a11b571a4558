"""The best guess of a value from one report, and its chance averaged over the coin that breaks its ties."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
import numpy.typing as npt

from hush.attacks._ties import CELLS
from hush.attacks.outcome import Outcome, expected_success, scored, truth
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.histogram import NoisyHistogram
from hush.mechanisms.inference import shares
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.types import Floats, Reports, Values


def reconstruct(
    m: FrequencyOracle,
    reports: Reports,
    values: npt.ArrayLike,
    prior: npt.ArrayLike | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess every value from its report: the likeliest one, ties broken at random. No attack succeeds more often.

    Args:
        m: The mechanism that made the reports.
        reports: What the attacker saw.
        values: The truth, one value for each report.
        prior: How likely the attacker holds each value to be beforehand; uniform when left out.
        rng: Breaks the ties.

    `expected` is `m.asr(prior)`, the mean success among people whose values follow the prior.

    >>> import hush
    >>> m = hush.GRR(k=4, epsilon=1.0)
    >>> seen = reconstruct(m, m.privatize([0, 1, 2, 3] * 500, rng=hush.seeded(7)), [0, 1, 2, 3] * 500)
    >>> seen.interval[0] < seen.expected < seen.interval[1]
    True
    """
    if not isinstance(m, FrequencyOracle):
        raise ParameterError(message("m", "must be a mechanism", type(m), "pass e.g. hush.OUE(k=10, epsilon=1.0)"))
    array = m._reports(reports)
    known = truth("values", values, m.k, array.size)
    belief = shares(prior, m.k)
    guesses = m.attack(array, prior, rng=rng)
    return scored(guesses, guesses == known, belief.max(), expected_success(m, prior))


@singledispatch
def chance(m: FrequencyOracle, reports: Reports, values: Values) -> Floats:
    """Given each report, the probability that its best guess is the value beside it, under a uniform prior.

    `m.attack` guesses one of the likeliest values at random. This is what that gives on average over its own coin: one
    over their number if the value is among them, else zero. Most mechanisms need no matrix of scores for it.
    """
    out = np.empty(values.size)
    rows = max(1, CELLS // m.k)
    for at in range(0, values.size, rows):
        score = m.scores(reports[at : at + rows])
        best = score == score.max(axis=1, keepdims=True)
        out[at : at + rows] = best[np.arange(len(best)), values[at : at + rows]] / best.sum(axis=1)
    return out


@chance.register
def _(m: GRR, reports: Reports, values: Values) -> Floats:
    return (reports == values).astype(np.float64)


@chance.register
def _(m: UE, reports: Reports, values: Values) -> Floats:
    from hush.kernels import attack

    out = np.empty(values.size)
    attack.of_bits(np.ascontiguousarray(reports["bits"]), values, m.k, out)
    return out


@chance.register
def _(m: Hashed, reports: Reports, values: Values) -> Floats:
    sizes = m.support_sizes(reports)
    return np.where(sizes > 0, m.supports(reports, values) / np.maximum(sizes, 1), 1 / m.k)


@chance.register
def _(m: SS, reports: Reports, values: Values) -> Floats:
    from hush.kernels import attack

    out = np.empty(values.size)
    attack.of_members(m.members(reports), values, out)
    return out


@chance.register
def _(m: NoisyHistogram, reports: Reports, values: Values) -> Floats:
    from hush.kernels import attack

    out = np.empty(values.size)
    rank = np.unique(m.grid.ratios, return_inverse=True)[1].astype(np.int32)
    attack.of_steps(np.ascontiguousarray(reports["steps"]), m.grid.lowest, rank, values, out)
    return out
