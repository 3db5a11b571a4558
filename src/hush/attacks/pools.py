"""Which pool of values does a person favour? Bayesian inference from many fresh reports of changing values.

Gadotti, Houssiau, Annamalai and de Montjoye, "Pool inference attacks on local differential privacy: quantifying the
privacy guarantees of Apple's count mean sketch in practice" (USENIX Security 2022): emojis that somebody sends differ,
but their skin tone seldom does. No single value has to be recovered for that; the attack mixes over all of them. How
people of each pool behave is for the attacker to say: a row of probabilities each, such as `habits` gives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks.outcome import Outcome, scored, truth
from hush.attacks.ties import batches, likeliest
from hush.errors import ParameterError, message
from hush.longitudinal import Repeated
from hush.mechanisms.inference import shares
from hush.people.domain import integers
from hush.types import Floats, Ints, Reports


def habits(
    pools: Sequence[npt.ArrayLike], k: int, *, loyalty: float = 1.0, popularity: npt.ArrayLike | None = None
) -> Floats:
    """What people of each pool report, shape (pools, k): a value of their pool, or now and then any value.

    Args:
        pools: The values of each pool; pools may overlap.
        k: Number of values.
        loyalty: How often a value comes from the pool, in [0, 1]; otherwise it may be any.
        popularity: How often each value is chosen, within a pool and overall; uniform when left out.

    >>> habits([[0, 1], [2]], 4, loyalty=0.5).tolist()
    [[0.375, 0.375, 0.125, 0.125], [0.125, 0.125, 0.625, 0.125]]
    """
    share = shares(popularity, rules.domain_size(k))
    often = rules.share("loyalty", loyalty)
    rows = []
    for pool in _members(pools, k):
        inside = np.zeros(k)
        inside[pool] = share[pool]
        if inside.sum() == 0:
            rule, remedy = "must give each pool a value that is chosen", "drop the pool"
            raise ParameterError(message("popularity", rule, "zeros in a pool", remedy))
        rows.append(often * inside / inside.sum() + (1 - often) * share)
    return np.stack(rows)


def infer(
    m: Repeated,
    reports: Reports,
    favoured: npt.ArrayLike,
    behaviour: npt.ArrayLike,
    prior: npt.ArrayLike | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess the pool that makes a person's reports likeliest; no attack that assumes the same behaviour does better.

    Args:
        m: Fresh reports.
        reports: Shape (n, tau), one row a person.
        favoured: The truth: each person's pool.
        behaviour: How often people of each pool hold each value, shape (pools, k); see `habits`.
        prior: How likely each pool is beforehand; uniform when left out.
        rng: Breaks the ties.
    """
    array = _checked(m, reports)
    rows_of = _behaviour(behaviour, m.k)
    known = truth("favoured", favoured, len(rows_of), len(array))
    belief = shares(prior, len(rows_of))
    with np.errstate(divide="ignore"):
        logs = np.log(belief)

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        return likeliest(logs + _summed(m, array[rows], rows_of), drawing)

    guesses = np.concatenate(batches(len(array), m.k + len(rows_of), work, rng))
    return scored(guesses, guesses == known, belief.max())


def scores(m: Repeated, reports: Reports, behaviour: npt.ArrayLike) -> Floats:
    """Log-likelihood of every pool, shape (n, pools), up to a constant for each person.

    Args:
        m: Fresh reports.
        reports: Shape (n, tau), one row a person.
        behaviour: How often people of each pool hold each value, shape (pools, k); see `habits`.
    """
    array, rows_of = _checked(m, reports), _behaviour(behaviour, m.k)
    found = batches(len(array), m.k + len(rows_of), lambda rows, _: _summed(m, array[rows], rows_of), None)
    return np.concatenate(found or [np.zeros((0, len(rows_of)))])


def _summed(m: Repeated, reports: Reports, behaviour: Floats) -> Floats:
    total = np.zeros((len(reports), len(behaviour)))
    for column in reports.T:
        score = m.mechanism.scores(np.ascontiguousarray(column))
        with np.errstate(divide="ignore"):
            total += np.log(np.exp(score - score.max(axis=1, keepdims=True)) @ behaviour.T)
    return total


def votes(
    m: Repeated,
    reports: Reports,
    favoured: npt.ArrayLike,
    pools: Sequence[npt.ArrayLike],
    *,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Guess the value behind each report, and take the pool that most of the guesses fall into: the plain attack.

    Args:
        m: Fresh reports.
        reports: Shape (n, tau), one row a person.
        favoured: The truth: each person's pool.
        pools: The values of each pool.
        rng: Breaks the ties.
    """
    array = _checked(m, reports)
    members = _members(pools, m.k)
    known = truth("favoured", favoured, len(members), len(array))
    inside = np.zeros((m.k, len(members)))
    for j, pool in enumerate(members):
        inside[pool, j] = 1.0

    def work(rows: slice, drawing: np.random.Generator) -> Ints:
        part = array[rows]
        total = np.zeros((len(part), len(members)))
        for column in part.T:
            total += inside[likeliest(m.mechanism.scores(np.ascontiguousarray(column)), drawing)]
        return likeliest(total, drawing)

    guesses = np.concatenate(batches(len(array), m.k + len(members), work, rng))
    return scored(guesses, guesses == known, 1 / len(members))


def _checked(m: Repeated, reports: Reports) -> Reports:
    if not isinstance(m, Repeated):
        rule, remedy = "must send fresh reports", "pass e.g. Repeated(hush.OLH(k=10, epsilon=1.0), 50)"
        raise ParameterError(message("m", rule, type(m), remedy))
    array = m._reports(reports)
    m.mechanism.validate(array.ravel())
    return array


def _members(pools: Sequence[npt.ArrayLike], k: int) -> list[Ints]:
    """The values of each pool: two pools or more, none empty."""
    listed = [] if isinstance(pools, (str, bytes)) or not hasattr(pools, "__len__") else list(pools)
    members = [np.unique(integers(pool, k)) for pool in listed]
    if len(members) < 2 or any(pool.size == 0 for pool in members):
        rule, remedy = "must be two or more lists of values, none empty", "list the values of each pool"
        raise ParameterError(message("pools", rule, pools, remedy))
    return members


def _behaviour(behaviour: npt.ArrayLike, k: int) -> Floats:
    try:
        array = np.asarray(behaviour, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 2 or len(array) < 2:
        rule = f"must have shape (pools, {k}), for two pools or more"
        raise ParameterError(message("behaviour", rule, array.shape, "use habits(pools, k)"))
    return np.stack([shares(row, k) for row in array])
