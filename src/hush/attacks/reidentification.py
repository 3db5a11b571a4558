"""Who sent this? Reports of several attributes, held against a table of known people.

`reidentify` ranks the people of the table by how likely their values make the reports. `match_profiles` is the plain
attack of Arcolezi, Gambs, Couchot and Palamidessi, "On the risks of collecting multidimensional data under local
differential privacy" (VLDB 2023): guess every attribute that was reported, then point at somebody who has all of them.
Its success in a uniform crowd is `hush.analysis.reidentification.profile_match`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks._gaps import UNKNOWN as UNKNOWN
from hush.attacks._gaps import Gaps, log
from hush.attacks.outcome import Outcome, expected_success, mean, one_each, product, scored, truth
from hush.attacks.ties import batches, likeliest
from hush.attacks.ties import top as best
from hush.attacks.tuples import collection
from hush.errors import DomainError, ParameterError, ReportError, Unsaid, message
from hush.multidim import Multidim, checks
from hush.multidim.base import Beliefs
from hush.people.columns import all_reports, cells, kind
from hush.types import Floats, Ints, Reports


def reidentify(
    m: Multidim,
    reports: Reports,
    table: npt.ArrayLike,
    people: npt.ArrayLike,
    *,
    top: int = 1,
    priors: Beliefs = None,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Point at the people of a table who make the reports likeliest; no attack succeeds more often.

    Takes time in proportion to the number of reports times the number of people in the table.

    Args:
        m: A collection of tuples, of any kind.
        reports: One for each person who is sought; or shape (n, collections), all about the same values.
        table: What the attacker knows: shape (people, d), -1 where a value is unknown.
        people: The truth: the row of the table behind each row of reports.
        top: How many people are pointed at; the guess is right if the right one is among them.
        priors: How likely each value of each attribute is where it is unknown, independently; uniform where None.
        rng: Breaks the ties.

    An unknown value is the same in all collections. With fake data (RSFD, RSRFD) this ties the unknown attributes of a
    person together: all their combinations are summed over, or all ways in which collections may have sampled them,
    whichever is less. A table for which both need more than 4 million terms for each row of reports is refused.

    `guesses` has `top` columns, the likeliest person first.
    """
    collection(m)
    beliefs = checks.beliefs(priors, m.sizes)
    array, known, rows_of, count = _checked(m, reports, table, people, top)
    width, score = _scorer(m, known, array.shape[1], beliefs)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        return best(score(array[rows]), count, drawing)

    guesses = np.concatenate(batches(len(array), width, work, rng))
    return scored(guesses, (guesses == rows_of[:, None]).any(axis=1), count / len(known))


def scores(m: Multidim, reports: Reports, table: npt.ArrayLike, *, priors: Beliefs = None) -> Floats:
    """Log-likelihood of the reports for everybody in the table, shape (n, people), up to a constant for each row.

    Args:
        m: A collection of tuples, of any kind.
        reports: One for each person who is sought; or shape (n, collections), all about the same values.
        table: What the attacker knows: shape (people, d), -1 where a value is unknown.
        priors: How likely each value of each attribute is where it is unknown, independently; uniform where None.
    """
    collection(m)
    array, known, *_ = _checked(m, reports, table, np.zeros(len(all_reports(reports)), np.int64), 1)
    width, score = _scorer(m, known, array.shape[1], checks.beliefs(priors, m.sizes))
    return np.concatenate(batches(len(array), width, lambda rows, _: score(array[rows]), None))


def _scorer(
    m: Multidim, known: Ints, rounds: int, beliefs: tuple[Floats, ...]
) -> tuple[int, Callable[[Reports], Floats]]:
    """How wide a row of scores is, and what computes them."""
    columns = [np.where(column == UNKNOWN, k, column) for column, k in zip(known.T, m.sizes, strict=True)]
    width = max(len(known), sum(m.sizes))
    gaps = None
    if m.hides and rounds > 1 and (known == UNKNOWN).any():
        gaps = Gaps(known, beliefs)
        gaps.check(rounds)
        width = gaps.width(rounds)

    def score(part: Reports) -> Floats:
        if not m.hides:
            return _told(m, part, columns, beliefs)
        collected = (m.likelihoods(np.ascontiguousarray(each)) for each in part.T)
        return _hidden(collected, columns, beliefs) if gaps is None else gaps.scores(list(collected))

    return width, score


def match_profiles(
    m: Multidim,
    reports: Reports,
    table: npt.ArrayLike,
    people: npt.ArrayLike,
    *,
    top: int = 1,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess every attribute that was reported, then point at people of the table who have all of these values.

    Several reports about an attribute are put together for its guess. An unknown value of the table matches anything.

    Args:
        m: SPL or SMP.
        reports: One for each person who is sought; or shape (n, collections), all about the same values.
        table: What the attacker knows: shape (people, d), -1 where a value is unknown.
        people: The truth: the row of the table behind each row of reports.
        top: How many people are pointed at, at most; the guess is right if the right one is among them.
        rng: Breaks the ties.

    `guesses` has `top` columns, with -1 where fewer people match. `expected` is for a single collection and a table
    without unknown values, exact for mechanisms that treat all values alike.
    """
    if not isinstance(m, Multidim) or m.hides:
        rule, remedy = "must say which attributes are reported", "pass SPL or SMP, or use reidentify"
        raise ParameterError(message("m", rule, type(m), remedy))
    array, known, rows_of, count = _checked(m, reports, table, people, top)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        part = array[rows]
        fits = np.ones((len(part), len(known)), np.bool_)
        for j, (told, score) in enumerate(_by_attribute(m, part)):
            guess = likeliest(score, drawing)
            fits &= ~told[:, None] | (known[:, j] == guess[:, None]) | (known[:, j] == UNKNOWN)
        chosen = best(fits.astype(np.float64), count, drawing)
        return np.where(np.take_along_axis(fits, chosen, axis=1), chosen, UNKNOWN)

    guesses = np.concatenate(batches(len(array), max(len(known), sum(m.sizes)), work, rng))
    alone = array.shape[1] == 1 and not (known == UNKNOWN).any()
    rate = _matched(m, known, rows_of, count) if alone else None
    return scored(guesses, (guesses == rows_of[:, None]).any(axis=1), count / len(known), rate)


def _told(m: Multidim, reports: Reports, columns: list[Ints], beliefs: tuple[Floats, ...]) -> Floats:
    """Log-likelihood of the reports for everybody in the table, up to a constant for each row, if parts are named.

    Attributes are independent: each is put together over all collections first, then averaged where it is unknown.
    """
    total = np.zeros((len(reports), columns[0].size))
    for j, (_, logs) in enumerate(_by_attribute(m, reports)):
        most = logs.max(axis=1, keepdims=True)
        most[~np.isfinite(most)] = 0.0
        mixed = log(np.exp(logs - most) @ beliefs[j])[:, None] + most
        total += np.take(np.concatenate([logs, mixed], axis=1), columns[j], axis=1)
    return total


def _hidden(collected: Iterable[list[Floats]], columns: list[Ints], beliefs: tuple[Floats, ...]) -> Floats:
    """The same if parts are hidden among fakes: for one collection, or a table without gaps."""
    total: Floats = np.zeros(())
    for level in collected:
        likelihood: Floats = np.zeros(())
        for j, each in enumerate(level):
            wide = np.concatenate([each, (each @ beliefs[j])[:, None]], axis=1)
            likelihood = likelihood + np.take(wide, columns[j], axis=1)
        total = total + log(likelihood)
    return total


def _by_attribute(m: Multidim, reports: Reports) -> list[tuple[npt.NDArray[np.bool_], Floats]]:
    """For each attribute, which people reported it, and the log-likelihood of its values from all their reports."""
    told = [np.zeros(len(reports), np.bool_) for _ in m.sizes]
    total = [np.zeros((len(reports), k)) for k in m.sizes]
    for column in reports.T:
        for j, (where, records) in enumerate(m.parts(np.ascontiguousarray(column))):
            told[j][where] = True
            total[j][where] += m.components[j].scores(records)
    return list(zip(told, total, strict=True))


def _matched(m: Multidim, table: Ints, people: Ints, count: int) -> float | None:
    """Every guess must be right, and the person among those picked of all who share the values."""
    successes = [expected_success(component) for component in m.components]
    if not m.samples:
        whole = product(successes)
        return None if whole is None else whole * _picked(table, people, count)
    return mean(
        [
            None if success is None else success * _picked(table[:, j : j + 1], people, count)
            for j, success in enumerate(successes)
        ]
    )


def _picked(profiles: Ints, people: Ints, count: int) -> float:
    """The chance to be among those picked out of all with the same profile, on average over people."""
    _, kind, sharing = np.unique(profiles, axis=0, return_inverse=True, return_counts=True)
    return float(np.minimum(1.0, count / sharing[kind.reshape(-1)[people]]).mean())


def _checked(
    m: Multidim, reports: Reports, table: npt.ArrayLike, people: npt.ArrayLike, top: int
) -> tuple[Reports, Ints, Ints, int]:
    """Reports of shape (n, collections), the table, the truth, and how many to point at."""
    array = all_reports(reports)
    if array.ndim not in (1, 2) or 0 in array.shape:
        rule = "must have shape (n,) or (n, collections)"
        raise ReportError(message("reports", rule, array.shape, "give each person one row"))
    m.validate(array.reshape(-1))
    known = _table(table, m.sizes)
    count = rules.integer("top", top, 1, len(known), "point at one person, or at several of the table")
    one_each("people", np.size(people), len(array))
    return array.reshape(len(array), -1), known, truth("people", people, len(known), len(array)), count


def _table(table: npt.ArrayLike, domain: Sequence[int]) -> Ints:
    array = cells(table)
    if array.ndim != 2 or array.shape[1] != len(domain) or array.shape[0] == 0 or array.dtype.kind not in "iu":
        rule = f"must be integers of shape (people, {len(domain)})"
        raise ParameterError(message("table", rule, f"{kind(array)}, shape {array.shape}", "give each person a row"))
    for j, k in enumerate(domain):
        column = array[:, j]
        if int(column.min()) < UNKNOWN or int(column.max()) >= k:
            rule, remedy = f"must lie in 0..{k - 1}, or be -1 where unknown", "check sizes"
            raise DomainError(message(f"attribute {j} of the table", rule, Unsaid("another value"), remedy))
    return array.astype(np.int64)
