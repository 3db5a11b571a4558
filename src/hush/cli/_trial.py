"""Trials of a mechanism: its errors over many collections, and how often the best attacker names a value."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.cli import _progress
from hush.estimation import Estimate
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.people import Population

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


def success(m: FrequencyOracle, reports: npt.NDArray[Any], values: npt.NDArray[np.int64]) -> AttackSuccess:
    """Attack reports of known values; the attacker finds all values equally likely beforehand."""
    return AttackSuccess(reports.size, int((m.attack(reports) == values).sum()))


def attacked(m: FrequencyOracle, rng: np.random.Generator, most: int = _ATTACKS) -> AttackSuccess:
    """Attack fresh reports of uniformly drawn values, as many as are quick: what `m.asr()` is the expectation of."""
    n = min(most, max(100, _CELLS // m.k))
    step = max(1, _BYTES // m.report_dtype.itemsize)
    right = 0
    for start in range(0, n, step):
        values = rng.integers(m.k, size=min(step, n - start))
        right += int((m.attack(m.privatize(values, rng=rng), rng=rng) == values).sum())
    return AttackSuccess(n, right)


def repeated(
    spec: Spec, people: Population, runs: int, rng: np.random.Generator, *, quiet: bool
) -> tuple[dict[str, Any], Estimate]:
    """Simulate a collection many times; measured beside expected, and the last estimate."""
    m, truth = spec.mechanism, people.frequencies
    squares, covered, seconds = np.empty(runs), np.empty(runs), 0.0
    with _progress.progress(f"Simulating {m.name()}", runs, quiet=quiet) as advance:
        for i in range(runs):
            start = time.perf_counter()
            drawn = spec.simulate(people.counts, rng=rng)
            seconds += time.perf_counter() - start
            estimate = spec.estimate(drawn)
            lower, upper = estimate.interval(LEVEL)
            squares[i] = np.mean((estimate.frequencies - truth) ** 2)
            covered[i] = np.mean((lower <= truth) & (truth <= upper))
            advance(1)
    trial = attacked(m, rng)
    found = {
        "mse": float(squares.mean()),
        "mse_stderr": stderr(squares),
        "analytic_variance": float(np.mean(m.variances(truth, people.n))),
        "coverage": float(covered.mean()),
        "coverage_stderr": stderr(covered),
        "asr": trial.rate,
        "asr_stderr": trial.stderr,
        "asr_expected": m.asr(),
        "attacked": trial.attacked,
        "seconds_per_collection": seconds / runs,
    }
    return found, estimate


def stderr(samples: Any) -> float | None:
    """Of the mean of samples; None of a single one."""
    return float(samples.std(ddof=1) / len(samples) ** 0.5) if len(samples) > 1 else None
