"""Trials of a spec over time: its errors in every round, over many collections of people whose values change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hush.estimation import Aggregate
from hush.kernels.workers import THREADS, Workers, in_turn
from hush.mechanisms.spec import Spec
from hush.planning.trials import errors, stderr
from hush.randomness import standing
from hush.types import Floats, Ints


def histories(first: Ints, rounds: int, change: float, rng: np.random.Generator) -> Ints:
    """What people hold in every round: in each, some of them take a value that somebody else had at first.

    So the law of the values stays, on average, what it was at first.

    Args:
        first: What everybody holds at first; of tuples, one column for each attribute, and each changes by itself.
        rounds: How many there are.
        change: The probability that a value is drawn anew from one round to the next; it may come out the same.
        rng: Draws.
    """
    out = np.repeat(first[:, None], rounds, axis=1)
    columns, starts = out.reshape(len(first), rounds, -1), first.reshape(len(first), -1)
    for t in range(1, rounds):
        for j in range(columns.shape[2]):
            drawn = starts[rng.integers(len(first), size=len(first)), j]
            columns[:, t, j] = np.where(rng.random(len(first)) < change, drawn, columns[:, t - 1, j])
    return columns.reshape(out.shape)


def of_rounds(
    spec: Spec,
    held: Ints,
    runs: int,
    rng: np.random.Generator,
    advance: Callable[[float], None],
    engine: Workers = THREADS,
) -> tuple[dict[str, Any], list[Any]]:
    """Simulate all rounds of a collection many times; measured beside expected, and the last estimates.

    Args:
        spec: The collection, over time.
        held: What people hold, shape (n, rounds), or (n, rounds, attributes); the same in all runs.
        runs: Collections to simulate.
        rng: Draws them.
        advance: Told of every run.
        engine: Who works.
    """
    several = held.ndim == 3
    one, rounds = spec.one_round.mechanism, held.shape[1]
    domains = spec.domain.domains if several else [spec.domain]
    columns = held if several else held[:, :, None]
    truth = [[_shares(columns[:, t, j], d.size) for j, d in enumerate(domains)] for t in range(rounds)]
    shape = (rounds, len(domains))
    squares, covered, seconds, tallies = np.empty((runs, *shape)), np.empty((runs, *shape)), 0.0, list[bytes]()

    def measured(rng: np.random.Generator) -> tuple[Floats, Floats, float, list[bytes]]:
        start = time.perf_counter()
        drawn = spec.mechanism.simulate(held, rng=rng)
        taken = time.perf_counter() - start
        square, share = np.full(shape, np.nan), np.full(shape, np.nan)
        for t, each in enumerate(drawn):
            for j, estimate in enumerate(_listed(one.estimate(each), several)):
                if not np.isnan(estimate.frequencies).any():  # else no report is about it
                    square[t, j], share[t, j] = errors(estimate, estimate.frequencies, truth[t][j])
        return square, share, taken, [each.to_bytes() for each in drawn]

    starts = standing(rng, runs, spec.mechanism.keys_of(len(held), rounds))
    for i, (square, share, taken, tallies) in enumerate(in_turn(engine, measured, starts)):  # noqa: B007 (the last)
        squares[i], covered[i] = square, share
        seconds += taken
        advance(1)
    last = [_listed(one.estimate(Aggregate.from_bytes(each)), several) for each in tallies]
    found = []
    for t in range(rounds):
        due = one.variances(truth[t], len(held)) if several else [one.variances(truth[t][0], len(held))]
        for j in range(len(domains)):
            told = {"round": t + 1, **({"attribute": spec.domain.word(j)} if several else {})}
            found.append({**told, **_measured(squares[:, t, j], covered[:, t, j], float(np.mean(due[j])))})
    return {"rounds": found, "seconds_per_collection": seconds / runs}, last


def _shares(values: Ints, size: int) -> Floats:
    return np.asarray(np.bincount(values, minlength=size) / len(values), np.float64)


def _listed(found: Any, several: bool) -> list[Any]:
    return list(found) if several else [found]


def _measured(squares: Floats, covered: Floats, due: float) -> dict[str, Any]:
    known = ~np.isnan(squares)
    if not known.any():
        names = ("mse", "mse_stderr", "coverage", "coverage_stderr")
        return {**dict.fromkeys(names), "analytic_variance": due}
    return {
        "mse": float(squares[known].mean()),
        "mse_stderr": stderr(squares[known]),
        "analytic_variance": due,
        "coverage": float(covered[known].mean()),
        "coverage_stderr": stderr(covered[known]),
    }
