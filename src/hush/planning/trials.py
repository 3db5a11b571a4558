"""Trials of a spec: its errors over many collections, and how often the best attacker names a value."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.estimation import Aggregate, Estimate
from hush.kernels.workers import THREADS, Workers, in_turn
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.randomness import CHUNK, standing
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
    spec: Spec,
    people: Population,
    runs: int,
    rng: np.random.Generator,
    advance: Callable[[float], None],
    engine: Workers = THREADS,
) -> tuple[dict[str, Any], Estimate]:
    """Simulate a collection of values many times; measured beside expected, and the last estimate.

    Args:
        spec: The collection, of frequencies.
        people: Who takes part, the same in all runs.
        runs: Collections to simulate.
        rng: Draws them.
        advance: Told of every run.
        engine: Who works. What is drawn comes from one stream, so that it is drawn here, and estimated there.
    """
    m, truth = spec.mechanism, people.frequencies
    tally: Aggregate | None = None

    def drawn() -> Iterator[tuple[Aggregate, float]]:
        nonlocal tally
        for _ in range(runs):
            start = time.perf_counter()
            tally = spec.simulate(people.counts, rng=rng)
            yield tally, time.perf_counter() - start

    def measured(task: tuple[Aggregate, float]) -> tuple[float, float, float]:
        estimate = spec.estimate(task[0])
        return *errors(estimate, estimate.frequencies, truth), task[1]

    found = _repeated(in_turn(engine, measured, drawn()), runs, advance)
    last = spec.estimate(tally)
    trial = attacked(m, rng)
    more = {
        "asr": trial.rate,
        "asr_stderr": trial.stderr,
        "asr_expected": m.asr(),
        "attacked": trial.attacked,
    }
    return {"analytic_variance": float(np.mean(m.variances(truth, people.n))), **found, **more}, last


def of_mean(
    spec: Spec,
    people: Population,
    runs: int,
    rng: np.random.Generator,
    advance: Callable[[float], None],
    engine: Workers = THREADS,
) -> dict[str, Any]:
    """Simulate a collection of amounts many times; measured beside expected. Takes what `of_frequencies` takes."""
    m, held, truth = spec.mechanism, people.counts > 0, people.mean

    def measured(rng: np.random.Generator) -> tuple[float, float, float]:
        start = time.perf_counter()
        drawn = spec.aggregate(m.privatize(some, rng=rng) for some in people.blocks())
        taken = time.perf_counter() - start
        estimate = spec.estimate(drawn)
        return *errors(estimate, estimate.mean, truth), taken

    keys = sum(-(-some.size // CHUNK) for some in people.blocks())
    found = _repeated(in_turn(engine, measured, standing(rng, runs, keys)), runs, advance)
    return {
        "mean": people.mean,
        "total": people.mean * people.n,
        "clipped": people.clipped,
        "total_unclipped": people.total,
        "analytic_variance": m.variance(people.n, people.amounts[held], people.counts[held]),
        **found,
    }


def of_tuples(
    spec: Spec,
    tuples: Ints,
    runs: int,
    rng: np.random.Generator,
    advance: Callable[[float], None],
    engine: Workers = THREADS,
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
        engine: Who works.
    """
    m, n, seconds = spec.mechanism, len(tuples), 0.0
    truths = [np.bincount(tuples[:, j], minlength=k) / n for j, k in enumerate(m.sizes)]
    squares, covered, tally = np.empty((m.d, runs)), np.empty((m.d, runs)), b""

    def measured(rng: np.random.Generator) -> tuple[list[tuple[float, float]], float, bytes]:
        start = time.perf_counter()
        drawn = m.simulate(tuples, rng=rng)
        taken = time.perf_counter() - start
        pairs = zip(m.estimate(drawn), truths, strict=True)
        return [errors(estimate, estimate.frequencies, truth) for estimate, truth in pairs], taken, drawn.to_bytes()

    starts = standing(rng, runs, -(-n // CHUNK))
    for i, (seen, taken, tally) in enumerate(in_turn(engine, measured, starts)):  # noqa: B007 (the last one is kept)
        squares[:, i], covered[:, i] = np.transpose(seen)
        seconds += taken
        advance(1)
    last = m.estimate(Aggregate.from_bytes(tally))
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


def errors(estimate: Any, centre: Any, truth: Any) -> tuple[float, float]:
    """The mean squared error of an estimate, and the share of its intervals that hold the truth."""
    lower, upper = estimate.interval(LEVEL)
    return float(np.mean((centre - truth) ** 2)), float(np.mean((lower <= truth) & (truth <= upper)))


def _repeated(
    measured: Iterable[tuple[float, float, float]], runs: int, advance: Callable[[float], None]
) -> dict[str, Any]:
    """Errors and coverage of many collections, and the time that one takes."""
    squares, covered, seconds = np.empty(runs), np.empty(runs), 0.0
    for i, (square, share, taken) in enumerate(measured):
        squares[i], covered[i] = square, share
        seconds += taken
        advance(1)
    return {
        "mse": float(squares.mean()),
        "mse_stderr": stderr(squares),
        "coverage": float(covered.mean()),
        "coverage_stderr": stderr(covered),
        "seconds_per_collection": seconds / runs,
    }


def stderr(samples: Floats) -> float | None:
    """Of the mean of samples; None of fewer than two."""
    return float(samples.std(ddof=1) / len(samples) ** 0.5) if len(samples) > 1 else None
