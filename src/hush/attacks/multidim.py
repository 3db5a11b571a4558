"""What one report about a tuple gives away: one of its values, or which attribute was sampled.

`guess_blindly` is algorithm 3 of Arcolezi and Gambs, "Revealing the true cost of locally differentially private
protocols" (PoPETs 2024): pick an attribute uniformly, then a value of its support. The sampled attribute is drawn
uniformly, but the report says more about it than that, and attributes with few values are easier to guess.
`guess_likeliest` weighs all of it and names the value that it is surest of. `find_sampled` only asks which attribute
was sampled (Arcolezi, Gambs, Couchot and Palamidessi, VLDB 2023).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.attacks.outcome import Outcome, mean, scored, truth
from hush.attacks.ties import SAME, batches, likeliest
from hush.attacks.tuples import collection, counted_tuples
from hush.errors import ParameterError, message
from hush.multidim import Multidim, checks
from hush.multidim.base import Beliefs
from hush.multidim.chances import uniform
from hush.randomness import CHUNK, chunk_generator, chunk_keys
from hush.types import Floats, Ints, Reports


def collect(m: Multidim, tuples: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> tuple[Reports, Ints]:
    """Reports, and beside each the attribute that was sampled, which RS+FD keeps to itself.

    The sampler draws the attributes of all rows first; so the same words give them again.

    >>> from hush.multidim import RSFD
    >>> m = RSFD(sizes=(3, 3), epsilon=1.0, variant="GRR")
    >>> reports, sampled = collect(m, [[0, 2]] * 5)
    >>> reports.shape, sampled.shape
    ((5,), (5,))
    """
    _samples(m)
    checked = checks.tuples(np.asarray(tuples), m.sizes)
    reports, sampled = np.empty(len(checked), m.report_dtype), np.empty(len(checked), np.int64)
    starts = range(0, len(checked), CHUNK)
    for start, key in zip(starts, chunk_keys(rng, len(starts)), strict=True):
        block = checked[start : start + CHUNK]
        sampled[start : start + CHUNK] = uniform(len(block), m.d, chunk_generator(key))
        reports[start : start + CHUNK] = m.sample(block, chunk_generator(key))
    return reports, sampled


def guess_blindly(
    m: Multidim, reports: Reports, tuples: npt.ArrayLike, *, rng: np.random.Generator | None = None
) -> Outcome:
    """Pick an attribute uniformly, and guess its value uniformly from its support (algorithm 3).

    Args:
        m: RSFD or RSRFD.
        reports: What the attacker saw.
        tuples: The truth, shape (n, d).
        rng: Draws attributes and values.

    `guesses` has two columns, attribute and value; a guess is right if the person holds that value, sampled or not.
    `expected` is for uniform values.
    """
    if not isinstance(m, Multidim) or not m.hides:
        rule, remedy = "must hide the sampled attribute", "pass RSFD or RSRFD, or use guess_likeliest"
        raise ParameterError(message("m", rule, type(m), remedy))
    array = m._validated(reports)
    known = counted_tuples(m, tuples, array.size)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        part = array[rows]
        chosen = drawing.integers(0, m.d, part.size)
        value = np.empty(part.size, np.int64)
        for j, (component, (_, records)) in enumerate(zip(m.components, m.parts(part), strict=True)):
            mine = chosen == j
            value[mine] = likeliest(component.scores(records[mine]), drawing)
        return np.stack([chosen, value], axis=1)

    guesses = np.concatenate(batches(array.size, max(m.sizes), work, rng))
    rate = mean([m.asr(j) for j in range(m.d)])
    return scored(guesses, _held(known, guesses), max(1 / k for k in m.sizes), rate)


def guess_likeliest(
    m: Multidim,
    reports: Reports,
    tuples: npt.ArrayLike,
    priors: Beliefs = None,
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Name the attribute and value with the largest posterior probability; no attack names one right more often.

    Args:
        m: A collection of tuples, of any kind.
        reports: What the attacker saw.
        tuples: The truth, shape (n, d).
        priors: How likely each value of each attribute is beforehand, independently; uniform where None.
        rng: Breaks the ties.

    `guesses` has two columns, attribute and value; a guess is right if the person holds that value.
    """
    collection(m)
    beliefs = checks.beliefs(priors, m.sizes)
    array = m._validated(reports)
    known = counted_tuples(m, tuples, array.size)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        part = array[rows]
        real = m.sampled(part, priors)
        guess, best, ties = np.zeros((part.size, 2), np.int64), np.full(part.size, -np.inf), np.zeros(part.size)
        for j, (where, records) in enumerate(m.parts(part)):
            posterior = np.broadcast_to(beliefs[j], (part.size, m.sizes[j])).copy()
            weighed = beliefs[j] * _likelihood(m.components[j].scores(records))
            share = real[where, j, None]
            posterior[where] = share * weighed / weighed.sum(axis=1, keepdims=True) + (1 - share) * beliefs[j]
            _keep_best(guess, best, ties, j, posterior, drawing)
        return guess

    guesses = np.concatenate(batches(array.size, sum(m.sizes), work, rng))
    return scored(guesses, _held(known, guesses), max(float(belief.max()) for belief in beliefs))


def find_sampled(
    m: Multidim,
    reports: Reports,
    sampled: npt.ArrayLike,
    priors: Beliefs = None,
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess which attribute was sampled: the likeliest one. SMP says so itself.

    Args:
        m: RSFD, RSRFD or SMP.
        reports: What the attacker saw.
        sampled: The truth, an attribute for each report (see `collect`).
        priors: How likely each value of each attribute is beforehand, independently; uniform where None.
        rng: Breaks the ties.
    """
    _samples(m)
    array = m._validated(reports)
    known = truth("sampled", sampled, m.d, array.size)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        return likeliest(_log(m.sampled(array[rows], priors)), drawing)

    guesses = np.concatenate(batches(array.size, sum(m.sizes), work, rng))
    return scored(guesses, guesses == known, 1 / m.d, None if m.hides else 1.0)


def _samples(m: object) -> None:
    if not isinstance(m, Multidim) or not m.samples:
        rule, remedy = "must sample an attribute", "pass RSFD, RSRFD or SMP"
        raise ParameterError(message("m", rule, type(m), remedy))


def _log(posterior: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(posterior), np.float64)


def _likelihood(score: Floats) -> Floats:
    """Likelihoods from logarithms, up to a factor for each row."""
    return np.asarray(np.exp(score - score.max(axis=1, keepdims=True)), np.float64)


def _keep_best(guess: Ints, best: Floats, ties: Floats, j: int, posterior: Floats, rng: np.random.Generator) -> None:
    """Go on with the best so far: another attribute's, or this one's; of equals, each with the same chance."""
    score = _log(posterior)
    most = score.max(axis=1)
    number = (score >= most[:, None] - SAME).sum(axis=1)
    new, same = most > best + SAME, (best - SAME <= most) & (most <= best + SAME)
    ties[:] = np.where(new, number, np.where(same, ties + number, ties))
    take = new | (same & (rng.random(most.size) * ties < number))
    guess[take, 0] = j
    guess[take, 1] = likeliest(score[take], rng)
    best[:] = np.maximum(best, most)


def _held(tuples: Ints, guesses: Ints) -> npt.NDArray[np.bool_]:
    """Whether each person holds the value that was named."""
    return np.asarray(np.take_along_axis(tuples, guesses[:, :1], axis=1)[:, 0] == guesses[:, 1])
