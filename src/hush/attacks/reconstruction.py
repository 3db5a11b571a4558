"""The best guess of a value from one report."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.attacks.outcome import Outcome, expected_success, scored, truth
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.inference import shares
from hush.types import Reports


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
