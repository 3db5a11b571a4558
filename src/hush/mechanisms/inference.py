"""What an attacker or an analyst infers from the likelihood of reports: best guesses and the likeliest distribution.

Likelihoods are made in batches of rows, so that no matrix of all reports and all values is ever needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.estimation.likelihood import maximize
from hush.kernels import chunks
from hush.randomness import chunk_generator, chunk_keys
from hush.types import Floats, Ints, Reports

Scores = Callable[[Reports], Floats]

_BATCH_CELLS = 1 << 22
_HELD_CELLS = 1 << 25  # likelihoods kept between steps when all of them together are no more


def best_guesses(
    scores: Scores, reports: Reports, k: int, prior: npt.ArrayLike | None, rng: np.random.Generator | None
) -> Ints:
    """The value with the largest posterior for each report; ties are broken at random."""
    with np.errstate(divide="ignore"):
        belief = None if prior is None else np.log(shares(prior, k))
    rows = max(1, _BATCH_CELLS // k)
    keys = chunk_keys(rng, -(-reports.size // rows))

    def work(start: int, stop: int) -> Ints:
        score = scores(reports[start:stop])
        if belief is not None:
            score = score + belief
        return _argmax(score, chunk_generator(keys[start // rows]))

    guesses = chunks.each(reports.size, rows, work)
    return np.concatenate(guesses) if guesses else np.zeros(0, np.int64)


def likeliest(scores: Scores, reports: Reports, multiplicity: Floats, k: int, tolerance: float, steps: int) -> Floats:
    """The distribution under which the reports, each so many times, are most likely."""
    rows = max(1, _BATCH_CELLS // k)

    def batches() -> Iterator[tuple[Floats, Floats]]:
        for start in range(0, reports.size, rows):
            score = scores(reports[start : start + rows])
            yield np.exp(score - score.max(axis=1, keepdims=True)), multiplicity[start : start + rows]

    if reports.size * k <= _HELD_CELLS:
        held = list(batches())
        return maximize(lambda: held, k, tolerance=tolerance, steps=steps)
    return maximize(batches, k, tolerance=tolerance, steps=steps)


def shares(prior: npt.ArrayLike | None, k: int) -> Floats:
    """How likely each value is beforehand: the same for all, or the given numbers over their sum."""
    if prior is None:
        return np.full(k, 1.0 / k)
    try:
        given = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.full(0, np.nan)
    if given.shape != (k,) or not np.isfinite(given).all() or (given < 0).any() or not 0 < given.sum() < np.inf:
        raise ParameterError(
            message("prior", f"must be {k} non-negative numbers", prior, "give each value a probability")
        )
    return np.asarray(given / given.sum(), dtype=np.float64)


def _argmax(score: Floats, rng: np.random.Generator) -> Ints:
    best = score == score.max(axis=1, keepdims=True)
    ties = best.sum(axis=1)
    guess = best.argmax(axis=1)
    split = np.nonzero(ties > 1)[0]
    if split.size:
        chosen = (rng.random(split.size) * ties[split]).astype(np.int64) + 1
        guess[split] = (np.cumsum(best[split], axis=1, dtype=np.int32) == chosen[:, None]).argmax(axis=1)
    return guess.astype(np.int64)
