"""What many reports of one person's unchanging value give away.

`majority` is algorithm 2 of Arcolezi and Gambs, "Revealing the true cost of locally differentially private protocols"
(PoPETs 2024), with ties broken at random. By position, as argmax does, the attack favours low values: it then seems
far better than it is on people who hold value 0, and far worse on all others. `averaging` is what the paper does to
noisy histograms, for which it has no support sets. `likelihood` is the best attack there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hush.attacks.outcome import Outcome, expected_success, scored, truth
from hush.attacks.ties import batches, likeliest
from hush.errors import ParameterError, message
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.inference import shares
from hush.types import Ints, Reports


def majority(
    m: Repeated | Longitudinal, reports: Reports, values: npt.ArrayLike, *, rng: np.random.Generator | None = None
) -> Outcome:
    """Guess the value that most reports support (algorithm 2); ties are broken at random.

    A report of a mechanism without support sets votes for the values that it makes likeliest.

    Args:
        m: Fresh reports (`Repeated`), or a protocol with kept answers.
        reports: Shape (n, tau), one row a person.
        values: The truth, one unchanging value for each person.
        rng: Breaks the ties.

    >>> import hush
    >>> m = Repeated(hush.GRR(k=100, epsilon=0.25), 5)
    >>> values = np.zeros(4000, np.int64)
    >>> reports = m.collect(np.repeat(values[:, None], 5, axis=1), rng=hush.seeded(7))
    >>> round(majority(m, reports, values, rng=hush.seeded(8)).expected, 4)
    0.013
    """
    one = _one(m)
    array = _checked(m, reports)
    known = truth("values", values, m.k, len(array))
    guesses = most_voted(array, m.k, one.forms.votes, rng)
    return scored(guesses, guesses == known, 1 / m.k, expected_majority(m, array.shape[1]))


def expected_majority(m: Repeated | Longitudinal, tau: int) -> float | None:
    """Exact mean success of `majority` over uniform values; None where there is no formula."""
    one = _one(m)
    if not one.forms.votes_for_likeliest:
        return None
    return expected_success(one) if tau == 1 or m.repeats_one_answer else m.most_voted(tau)


def averaging(
    m: Repeated, reports: Reports, values: npt.ArrayLike, *, rng: np.random.Generator | None = None
) -> Outcome:
    """Guess the coordinate with the largest sum over all reports, for noisy histograms; not the best one can do.

    Args:
        m: Fresh reports of SHE, ServerTHE, GM or AGM.
        reports: Shape (n, tau), one row a person.
        values: The truth, one unchanging value for each person.
        rng: Breaks the ties.
    """
    one = _one(m)
    if one.forms.vectors(np.zeros(0, one.report_dtype)) is None:
        rule, remedy = "must repeat a noisy histogram", "use majority, or Repeated(hush.SHE(k=10, epsilon=1.0), tau)"
        raise ParameterError(message("m", rule, m, remedy))
    array = _checked(m, reports)
    known = truth("values", values, m.k, len(array))
    guesses = most_voted(array, m.k, one.forms.vectors, rng)
    return scored(guesses, guesses == known, 1 / m.k)


def likelihood(
    m: Repeated | Longitudinal,
    reports: Reports,
    values: npt.ArrayLike,
    prior: npt.ArrayLike | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess the value that makes the whole sequence of reports likeliest; no attack succeeds more often.

    Args:
        m: Fresh reports (`Repeated`), or a protocol with kept answers.
        reports: Shape (n, tau), one row a person.
        values: The truth, one unchanging value for each person.
        prior: How likely the attacker holds each value to be beforehand; uniform when left out.
        rng: Breaks the ties.
    """
    one = _one(m)
    array = _checked(m, reports)
    known = truth("values", values, m.k, len(array))
    belief = shares(prior, m.k)
    with np.errstate(divide="ignore"):
        logs = np.log(belief)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        return likeliest(m.sequence_scores(array[rows]) + logs, drawing)

    guesses = np.concatenate(batches(len(array), m.k * _held(m, array.shape[1]), work, rng))
    known_rate = None
    if array.shape[1] == 1 or m.repeats_one_answer:
        known_rate = expected_success(one, prior)
    elif prior is None and one.forms.votes_add_up:
        known_rate = expected_majority(m, array.shape[1])
    return scored(guesses, guesses == known, belief.max(), known_rate)


def _one(m: object) -> FrequencyOracle:
    """The law of one report."""
    if isinstance(m, (Repeated, Longitudinal)):
        return m.first_report
    rule, remedy = "must report over time", "pass e.g. Repeated(hush.OUE(k=10, epsilon=1.0), 5)"
    raise ParameterError(message("m", rule, type(m), remedy))


def _held(m: Repeated | Longitudinal, tau: int) -> int:
    """How many rounds a protocol works on at a time."""
    return 1 if m.independent else tau


def _checked(m: Repeated | Longitudinal, reports: Reports) -> Reports:
    array = m._reports(reports)
    _one(m).validate(array.ravel())
    return array


def most_voted(
    reports: Reports, k: int, votes: Callable[[Reports], npt.ArrayLike | None], rng: np.random.Generator | None
) -> Ints:
    """The value with the most votes over all rounds."""

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        part = reports[rows]
        total = np.zeros((len(part), k))
        for column in part.T:
            total += np.asarray(votes(np.ascontiguousarray(column)), np.float64)
        return likeliest(total, drawing)

    return np.concatenate(batches(len(reports), k, work, rng) or [np.zeros(0, np.int64)])
