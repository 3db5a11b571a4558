"""What an estimate may lose: each loss is zero for a perfect estimate and compares many estimates with the truth.

The first four are those of Seyedkazemi (2025), section 3.3, where errors are divided by the
number of values, and Kendall's coefficient tau, which is no loss, becomes 1 - tau. Losses that need a distribution
project the raw estimate onto the simplex first. A perfect estimate loses exactly zero, and shares of pairs or of top
values are rounded as a threshold that says the same is.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hush import rules
from hush.errors import ParameterError, message
from hush.people import Domain
from hush.planning.optimus.population import Population
from hush.types import Floats, Ints

Own = Callable[[Floats, Floats], float]
"""A person's own loss: of the true frequencies and one estimate."""

Measure = Callable[[Floats], Floats]
"""From estimates, one a row, to the loss of each."""


def l1(truth: Floats, _: int, __: int) -> Measure:
    """Mean absolute error."""
    return lambda rows: np.abs(rows - truth).mean(axis=1)


def l2(truth: Floats, _: int, __: int) -> Measure:
    """Root of the sum of squared errors, divided by the number of values."""
    return lambda rows: np.sqrt(np.square(rows - truth).sum(axis=1)) / truth.size


def largest(truth: Floats, _: int, __: int) -> Measure:
    """Largest absolute error of a frequency."""
    return lambda rows: np.abs(rows - truth).max(axis=1)


def kendall(truth: Floats, _: int, __: int) -> Measure:
    """1 - tau, from 0 (same order) to 2 (reversed). Over ordered pairs, as the thesis counts: tied in both agrees."""
    from hush.kernels.ranking import agreement

    order = np.argsort(truth, kind="stable")
    starts = np.concatenate([[0], np.nonzero(np.diff(truth[order]))[0] + 1, [truth.size]]).astype(np.int64)
    sizes = np.diff(starts)
    tied = int((sizes * (sizes - 1) // 2).sum())
    pairs = truth.size * (truth.size - 1) // 2

    def measure(rows: Floats) -> Floats:
        found = np.empty(len(rows), np.int64)
        agreement(order, starts, tied, np.ascontiguousarray(rows, np.float64), found)
        return np.asarray((pairs - found) / pairs, np.float64)

    return measure


def f1(truth: Floats, _: int, top: int) -> Measure:
    """1 - F1 of the most frequent values; equally frequent ones share the places that are left to them."""
    least = np.sort(truth)[-top]
    sure, tied = truth > least, truth == least
    left = top - int(sure.sum())

    def measure(rows: Floats) -> Floats:
        named = _named(rows, truth, top)
        hits = sure[named].sum(axis=1) + np.minimum(tied[named].sum(axis=1), left)
        return np.asarray((top - hits) / top, np.float64)

    return measure


def ndcg(truth: Floats, _: int, top: int) -> Measure:
    """1 - NDCG of the most frequent values: discounted true frequencies in the estimated order, over the best."""
    discounts = 1.0 / np.log2(np.arange(2, top + 2))
    ideal = np.sort(truth)[::-1][:top]
    best = float(ideal @ discounts)

    def measure(rows: Floats) -> Floats:
        named = _named(rows, truth, top)
        order = np.lexsort((truth[named], -np.take_along_axis(rows, named, axis=1)), axis=1)
        missed = ideal - truth[np.take_along_axis(named, order, axis=1)]
        return np.asarray(np.maximum(missed @ discounts / best, 0.0), np.float64)

    return measure


def _named(rows: Floats, truth: Floats, top: int) -> Ints:
    """The values with the largest estimates in each row. Of equal estimates the rarer values: the worst that can be."""
    named = np.argpartition(rows, rows.shape[1] - top, axis=1)[:, -top:]
    least = np.take_along_axis(rows, named, axis=1).min(axis=1)
    tied = np.count_nonzero(rows >= least[:, None], axis=1) > top
    if tied.any():
        rising = np.argsort(truth, kind="stable")
        named[tied] = rising[np.argsort(-rows[tied][:, rising], axis=1, kind="stable")[:, :top]]
    return named


def kl(truth: Floats, n: int, _: int) -> Measure:
    """Kullback-Leibler divergence of the estimate from the truth, in nats, each value with half a person more."""
    smooth = _smoothed(projected(truth[None]), n)

    def measure(rows: Floats) -> Floats:
        excess = _smoothed(projected(rows), n) / smooth - 1.0  # its mean is zero, so that no term need be negative
        return np.asarray(np.maximum((excess - np.log1p(excess)) @ smooth[0], 0.0), np.float64)

    return measure


def emd(truth: Floats, _: int, __: int) -> Measure:
    """Earth mover's distance, for values in their order: how many steps the average person is moved."""
    cumulated = np.cumsum(projected(truth[None]), axis=1)[:, :-1]
    return lambda rows: np.abs(np.cumsum(projected(rows), axis=1)[:, :-1] - cumulated).sum(axis=1)


def mean(people: Population) -> Measure:
    """Absolute error of the mean amount, from estimated frequencies or, where a row is one number, from means."""
    amounts, truth = people.amounts, people.frequencies
    middle = float(truth @ amounts)
    return lambda rows: np.abs(rows[:, 0] - middle if rows.shape[1] == 1 else (rows - truth) @ amounts)


def _smoothed(rows: Floats, n: int) -> Floats:
    return (rows * n + 0.5) / (n + 0.5 * rows.shape[1])


def projected(rows: Floats) -> Floats:
    """The nearest distribution to each row, as `hush.estimation.consistency.simplex`."""
    falling = -np.sort(-rows, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    last = rows.shape[1] - 1 - np.argmax((falling > excess)[:, ::-1], axis=1)
    return np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0.0)


@dataclass(frozen=True)
class NamedLoss:
    """A loss by name.

    Args:
        build: From the truth, the number of people and how many values are the top ones.
        meaning: In words.
        tops: Whether it looks at the top values only.
        most: What it never exceeds, for so many people and values.
    """

    build: Callable[[Floats, int, int], Measure]
    meaning: str
    tops: bool = False
    most: Callable[[int, int], float] = lambda n, k: math.inf


LOSSES = {
    "l1": NamedLoss(l1, "mean absolute error"),
    "l2": NamedLoss(l2, "root of the summed squared errors, over the number of values"),
    "max": NamedLoss(largest, "largest absolute error"),
    "kendall": NamedLoss(kendall, "1 - Kendall's tau", most=lambda n, k: 2.0),
    "f1": NamedLoss(f1, "1 - F1 of the most frequent values", tops=True, most=lambda n, k: 1.0),
    "ndcg": NamedLoss(ndcg, "1 - NDCG of the most frequent values", tops=True, most=lambda n, k: 1.0),
    "kl": NamedLoss(kl, "Kullback-Leibler divergence in nats", most=lambda n, k: math.log(2 * n + k)),
    "emd": NamedLoss(emd, "earth mover's distance in steps, for ordered values", most=lambda n, k: k - 1.0),
    "mean": NamedLoss(lambda truth, n, top: mean(_plain(truth)), "absolute error of the mean amount"),
}
"""Every loss by name."""

MEAN = "mean"
"""The loss that mechanisms for means have, too."""

TOP = 10
"""How many of the most frequent values matter where nothing is said; all but one where they are fewer."""


def _plain(truth: Floats) -> Population:
    """People of whom nothing but frequencies is known: the amounts of values are 0, 1, 2, ..."""
    return Population(truth, Domain(size=truth.size), drawn=1)


def measure(loss: str | Own, people: Population, top: int) -> tuple[str, Measure]:
    """The name of a loss, and the loss itself, ready to be applied to rows of estimates."""
    if callable(loss):
        return getattr(loss, "__name__", "own"), _own(loss, people.frequencies)
    if not isinstance(loss, str) or loss not in LOSSES:
        rule = f"must be one of {', '.join(LOSSES)}, or a function of the truth and an estimate"
        raise ParameterError(message("loss", rule, loss, "use e.g. 'kendall'"))
    named = LOSSES[loss]
    size = people.k - 1
    kept = rules.integer("top", top, 1, size, "count the most frequent values that matter") if named.tops else 1
    if loss == MEAN:
        return loss, mean(people)
    return (f"{loss}@{kept}" if named.tops else loss), named.build(people.frequencies, people.n, kept)


def asked(loss: str | Own, people: Population, threshold: object, top: int | None) -> tuple[str, Measure, float]:
    """As `measure`, with the threshold checked: it must be one that the loss can exceed."""
    named = LOSSES.get(loss) if isinstance(loss, str) else None
    if top is not None and (named is None or not named.tops):
        tops = " and ".join(name for name, each in LOSSES.items() if each.tops)
        rule = f"must be left out where the loss looks at all values; {tops} look at the top ones"
        raise ParameterError(message("top", rule, top, "leave it out, or choose another loss"))
    name, measuring = measure(loss, people, min(TOP, people.k - 1) if top is None else top)
    real = rules._real(threshold)
    if not 0.0 <= real < math.inf:
        raise ParameterError(message("threshold", "must be a number of at least 0", threshold, "use e.g. 0.1"))
    most = math.inf if named is None else named.most(people.n, people.k)
    if real >= most:
        rule = f"must be below {most:.4g}, which {loss} never exceeds"
        raise ParameterError(message("threshold", rule, threshold, f"use e.g. {most / 10:.2g}"))
    return name, measuring, real


def _own(loss: Own, truth: Floats) -> Measure:
    try:
        inspect.signature(loss).bind(truth, truth)
    except TypeError as error:
        rule = "must be a function of two: the true frequencies and one estimate"
        raise ParameterError(message("loss", rule, loss, str(error))) from None
    except ValueError:  # a builtin that does not tell what it takes
        pass

    def measure(rows: Floats) -> Floats:
        found = np.empty(len(rows))
        for i, row in enumerate(rows):
            value = loss(truth, row)
            try:
                found[i] = float(value)
            except (TypeError, ValueError):
                rule = "must return a number"
                raise ParameterError(message("loss", rule, value, "return how much the estimate loses")) from None
        if np.isnan(found).any():
            raise ParameterError(message("loss", "must return a number", math.nan, "handle such estimates in it"))
        return found

    return measure
