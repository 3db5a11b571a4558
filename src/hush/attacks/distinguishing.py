"""Which of two values is it? The likelihood ratio decides, and total variation says how often it is right.

No test of two values that are equally likely is right more often than (1 + total variation) / 2: the area that two
laws do not share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks.outcome import Outcome, scored, truth
from hush.attacks.ties import batches, likeliest
from hush.errors import ParameterError, Unsaid, message
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats, Reports


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
    return m.forms.variation(*pair) if isinstance(m, FrequencyOracle) else m.sequence_variation(*pair)


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
