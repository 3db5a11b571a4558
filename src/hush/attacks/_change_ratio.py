"""How much likelier one change of the value makes a person's reports: the exact ratio, over all times and values.

Reports before and after a change are independent if the state changes with the value: what a protocol keeps one answer
for, the value itself or its bucket. If the state stays, nothing changes. Sums over "another state" are made from both
sides, without subtraction, so that nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from hush.longitudinal import Longitudinal, Repeated
from hush.types import Floats, Ints, Reports

Pair = tuple[Floats, Floats]


def log_ratio(m: Repeated | Longitudinal, reports: Reports, prior: Floats) -> Floats:
    """The logarithm of the ratio for each row of reports; infinite where no unchanging value can have sent them."""
    values = np.tile(np.arange(m.k), (len(reports), 1))
    home = values if isinstance(m, Repeated) else m._states(m._undress(reports)[0], values)
    states = int(home.max(initial=0)) + 1
    chance, leave, stay = _weights(home, states, prior)
    course = _fresh(m, reports) if isinstance(m, Repeated) else _kept(m, reports, states, bool((home == values).all()))
    whole, level = _scaled(next(course)[0])
    null = _log((chance * whole).sum(axis=1)) + level
    hidden = _log((stay * whole).sum(axis=1)) + level
    total = np.full(len(reports), -np.inf)
    for before, after in course:
        (early, a), (late, b) = _scaled(before), _scaled(after)
        moved = _log((leave * early * _others(chance * late)).sum(axis=1)) + a + b
        total = np.logaddexp(total, np.logaddexp(moved, hidden))
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(null), np.inf, total - null - math.log(reports.shape[1] - 1))


def _weights(home: Ints, states: int, prior: Floats) -> tuple[Floats, Floats, Floats]:
    """For every person and state: the chance of its values; that, over the chance to leave them; of moves within it."""
    leaving = np.divide(prior, 1 - prior, out=np.zeros_like(prior), where=prior < 1)
    cells = (np.arange(len(home))[:, None] * states + home).ravel()

    def gathered(share: Floats) -> Floats:
        spread = np.broadcast_to(share, home.shape).ravel()
        sums = np.bincount(cells, spread, len(home) * states).astype(np.float64, copy=False)
        return sums.reshape(len(home), states)

    chance = gathered(prior)
    others = np.maximum(np.take_along_axis(chance, home, axis=1) - prior, 0.0)  # that share the state
    alone = np.take_along_axis(gathered(np.ones_like(prior)), home, axis=1) == 1
    return chance, gathered(leaving), gathered(np.where(alone, 0.0, leaving * others))


def _fresh(m: Repeated, reports: Reports) -> Iterator[Pair]:
    """Log-likelihood of every value: all reports twice, then those before and after every change point."""
    columns = [np.ascontiguousarray(column) for column in reports.T]
    each = np.stack([_exact(m.mechanism.scores(c), lambda v, c=c: m.mechanism.log_prob(c, v)) for c in columns])  # type: ignore[misc]
    upto, after = np.cumsum(each, axis=0), np.cumsum(each[::-1], axis=0)[::-1]
    yield upto[-1], upto[-1]
    yield from zip(upto[:-1], after[1:], strict=True)


def _kept(m: Longitudinal, reports: Reports, states: int, plain: bool) -> Iterator[Pair]:
    """Log-likelihood of every state: all reports twice, then those before and after every change point."""
    whole = _by_state(m, reports, states, plain)
    yield whole, whole
    for at in range(1, reports.shape[1]):
        yield _by_state(m, reports[:, :at], states, plain), _by_state(m, reports[:, at:], states, plain)


def _by_state(m: Longitudinal, reports: Reports, states: int, plain: bool) -> Floats:
    """Where the states are the values themselves (`plain`), as the protocol scores these."""
    if not plain:
        core = m._undress(reports)[1]
        return np.stack([m._likelihood(core, np.full(core.shape, state)) for state in range(states)], axis=1)
    return _exact(m.sequence_scores(reports), lambda values: m.sequence_log_prob(reports, values))


def _exact(scores: Floats, log_prob: Callable[[Ints], Floats]) -> Floats:
    """Log-likelihoods from scores, which lack a constant for each row: that of the likeliest value."""
    at = scores.argmax(axis=1)
    most = scores.max(axis=1)
    possible = most > -np.inf
    constant = np.where(possible, log_prob(at) - np.where(possible, most, 0.0), 0.0)
    return np.asarray(scores + constant[:, None], np.float64)


def _scaled(logs: Floats) -> Pair:
    """Likelihoods and the logarithm of their scale, row by row; zeros where nothing is possible."""
    most = logs.max(axis=1)
    level = np.where(np.isneginf(most), 0.0, most)
    return np.exp(logs - level[:, None]), level


def _others(terms: Floats) -> Floats:
    """For each column, the sum of all other columns."""
    none = np.zeros((len(terms), 1))
    before = np.cumsum(np.concatenate([none, terms[:, :-1]], axis=1), axis=1)
    after = np.cumsum(np.concatenate([none, terms[:, :0:-1]], axis=1), axis=1)[:, ::-1]
    return np.asarray(before + after, np.float64)


def _log(terms: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(terms), np.float64)
