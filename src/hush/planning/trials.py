"""Trials of a spec: its errors over many collections, and how often the best attacker names a value."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.estimation import Aggregate, Estimate
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.types import Floats, Ints

LEVEL = 0.95
_ATTACKS = 100_000
_CELLS = 200_000_000
_BYTES = 1 << 26


@dataclass(frozen=True)
class AttackSuccess:
    """Right guesses among attacked reports."""

    attacked: int
    right: int

    @property
    def rate(self) -> float:
        """Share of right guesses."""
        return self.right / self.attacked

    @property
    def stderr(self) -> float:
        """Standard error of the share."""
        return float(np.sqrt(self.rate * (1 - self.rate) / self.attacked))


def attacked(m: FrequencyOracle, rng: np.random.Generator, most: int = _ATTACKS) -> AttackSuccess:
    """Attack fresh reports of uniformly drawn values, as many as are quick: what `m.asr()` is the expectation of."""
    n = min(most, max(100, _CELLS // m.k))
    step = max(1, _BYTES // m.report_dtype.itemsize)
    right = 0
    for start in range(0, n, step):
        values = rng.integers(m.k, size=min(step, n - start))
        right += int((m.attack(m.privatize(values, rng=rng), rng=rng) == values).sum())
    return AttackSuccess(n, right)


def of_frequencies(
    spec: Spec, people: Population, runs: int, rng: np.random.Generator, advance: Callable[[float], None]
) -> tuple[dict[str, Any], Estimate]:
    """Simulate a collection of values many times; measured beside expected, and the last estimate.

    Args:
        spec: The collection, of frequencies.
        people: Who takes part, the same in all runs.
        runs: Collections to simulate.
        rng: Draws them.
        advance: Told of every run.
    """
    m, truth = spec.mechanism, people.frequencies
    found, last = _repeated(
        lambda: spec.simulate(people.counts, rng=rng),
        spec,
        lambda estimate: estimate.frequencies,
        truth,
        runs,
        advance,
    )
    trial = attacked(m, rng)
    more = {
        "asr": trial.rate,
        "asr_stderr": trial.stderr,
        "asr_expected": m.asr(),
        "attacked": trial.attacked,
    }
    return {"analytic_variance": float(np.mean(m.variances(truth, people.n))), **found, **more}, last


def of_mean(
    spec: Spec, people: Population, runs: int, rng: np.random.Generator, advance: Callable[[float], None]
) -> dict[str, Any]:
    """Simulate a collection of amounts many times; measured beside expected. Takes what `of_frequencies` takes."""
    m, held = spec.mechanism, people.counts > 0
    found, _ = _repeated(
        lambda: spec.aggregate(m.privatize(some, rng=rng) for some in people.blocks()),
        spec,
        lambda estimate: estimate.mean,
        people.mean,
        runs,
        advance,
    )
    return {
        "mean": people.mean,
        "total": people.mean * people.n,
        "clipped": people.clipped,
        "total_unclipped": people.total,
        "analytic_variance": m.variance(people.n, people.amounts[held], people.counts[held]),
        **found,
    }


def of_tuples(
    spec: Spec, tuples: Ints, runs: int, rng: np.random.Generator, advance: Callable[[float], None]
) -> tuple[dict[str, Any], tuple[Estimate, ...]]:
    """Simulate a collection of tuples many times; for each attribute measured beside expected, and the last estimates.

    A run in which no report is about an attribute has no error of it, and is counted; expected errors are those of the
    other runs.

    Args:
        spec: The collection, of tuples.
        tuples: What people hold, the same in all runs, shape (n, d).
        runs: Collections to simulate.
        rng: Draws them.
        advance: Told of every run.
    """
    m, n, seconds = spec.mechanism, len(tuples), 0.0
    truths = [np.bincount(tuples[:, j], minlength=k) / n for j, k in enumerate(m.sizes)]
    squares, covered, last = np.empty((m.d, runs)), np.empty((m.d, runs)), ()
    for i in range(runs):
        start = time.perf_counter()
        drawn = m.simulate(tuples, rng=rng)
        seconds += time.perf_counter() - start
        last = m.estimate(drawn)
        for j, (estimate, truth) in enumerate(zip(last, truths, strict=True)):
            lower, upper = estimate.interval(LEVEL)
            squares[j, i] = np.mean((estimate.frequencies - truth) ** 2)
            covered[j, i] = np.mean((lower <= truth) & (truth <= upper))
        advance(1)
    found, attacks = [], _attacked_tuples(m, rng)
    for j, expected in enumerate(m.variances(truths, n)):
        seen, trial = squares[j][~np.isnan(squares[j])], attacks[j]
        found.append(
            {
                "attribute": spec.domain.word(j),
                "size": m.sizes[j],
                "analytic_variance": float(np.mean(expected)),
                "mse": float(seen.mean()) if seen.size else None,
                "mse_stderr": stderr(seen),
                "unreported": runs - seen.size,
                "coverage": float(covered[j].mean()),
                "coverage_stderr": stderr(covered[j]),
                "asr": trial.rate,
                "asr_stderr": trial.stderr,
                "asr_expected": m.asr(j),
            }
        )
    return {"attributes": found, "attacked": attacks[0].attacked, "seconds_per_collection": seconds / runs}, last


def _attacked_tuples(m: Any, rng: np.random.Generator) -> list[AttackSuccess]:
    """Attack each attribute of fresh reports of uniformly drawn tuples: what `m.asr(j)` is the expectation of."""
    n = min(_ATTACKS, max(100, _CELLS // (m.d * sum(m.sizes))))
    step = max(1, _BYTES // m.report_dtype.itemsize)
    right = np.zeros(m.d, np.int64)
    for start in range(0, n, step):
        tuples = np.stack([rng.integers(k, size=min(step, n - start)) for k in m.sizes], axis=1)
        reports = m.privatize(tuples, rng=rng)
        right += [int((m.attack(reports, j, rng=rng) == tuples[:, j]).sum()) for j in range(m.d)]
    return [AttackSuccess(n, int(each)) for each in right]


def _repeated(
    collect: Callable[[], Aggregate],
    spec: Spec,
    centre: Callable[[Any], Any],
    truth: Any,
    runs: int,
    advance: Callable[[float], None],
) -> tuple[dict[str, Any], Any]:
    """Errors and coverage of many collections, the time that one takes, and the last estimate."""
    squares, covered, seconds, estimate = np.empty(runs), np.empty(runs), 0.0, None
    for i in range(runs):
        start = time.perf_counter()
        drawn = collect()
        seconds += time.perf_counter() - start
        estimate = spec.estimate(drawn)
        lower, upper = estimate.interval(LEVEL)
        squares[i] = np.mean((centre(estimate) - truth) ** 2)
        covered[i] = np.mean((lower <= truth) & (truth <= upper))
        advance(1)
    found = {
        "mse": float(squares.mean()),
        "mse_stderr": stderr(squares),
        "coverage": float(covered.mean()),
        "coverage_stderr": stderr(covered),
        "seconds_per_collection": seconds / runs,
    }
    return found, estimate


def stderr(samples: Floats) -> float | None:
    """Of the mean of samples; None of fewer than two."""
    return float(samples.std(ddof=1) / len(samples) ** 0.5) if len(samples) > 1 else None
