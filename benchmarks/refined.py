"""One cell of a measured figure: ages of 48,842 people, k = 100, ε = 4, a hundred runs of randomize, tally, attack.

Beside it, the same done one person at a time with multi-freq-ldpy's client: each report is tallied and attacked as it
comes. The reference is timed on a few whole runs, on one core, and the best of them is scaled to a hundred. The support
of its hashed reports is found once, for the tally and the attack together. Both give the raw estimate's mean squared
error and the attack's success rate, which must agree.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hush
from benchmarks import report, timing
from hush_studies.measure import Measured, repeated

K, EPSILON, RUNS = 100, 4.0, 100
REQUIRED = {"OLH": 100, "OUE": 30}
WITHIN = 5.0  # standard errors
Support = Callable[[int], np.ndarray]


@dataclass
class Reference:
    """Person by person."""

    support: Support
    p: float
    q: float

    def run(self, values: list[int]) -> tuple[float, float]:
        """One run: mean squared error and attack success."""
        counts, right = np.zeros(K), 0
        for value in values:
            supported = self.support(value)
            counts[supported] += 1
            guess = random.choice(supported) if supported.size else random.randrange(K)
            right += guess == value
        estimate = (counts / len(values) - self.q) / (self.p - self.q)
        truth = np.bincount(values, minlength=K) / len(values)
        return float(np.mean((estimate - truth) ** 2)), right / len(values)


def _unary() -> Support:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda value: np.flatnonzero(UE_Client(value, K, EPSILON, True))


def _hashing(g: int) -> Support:
    import xxhash
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client

    names = [str(v) for v in range(K)]

    def support(value: int) -> np.ndarray:
        bucket, seed = LH_Client(value, K, EPSILON, True)
        return np.array([v for v in range(K) if xxhash.xxh32(names[v], seed=seed).intdigest() % g == bucket], np.int64)

    return support


def run(quick: bool) -> list[report.Table]:
    """OLH and OUE, ours beside the reference."""
    runs, few = (20, 1) if quick else (RUNS, 3)
    table = report.Table(
        "A cell of a measured figure: a hundred runs over 48,842 people, k = 100, ε = 4",
        ("protocol", "ours", "person by person", "ratio", "required", "ASR apart", "MSE apart"),
        note=f"The reference is timed on {few} whole run{'s'[: few > 1]} and scaled; both find the same MSE and ASR, "
        "whose difference is given in standard errors.",
    )
    hashing, unary = hush.OLH(k=K, epsilon=EPSILON), hush.OUE(k=K, epsilon=EPSILON)
    cases = ((hashing, _hashing(hashing.g)), (unary, _unary()))
    for mechanism, support in report.progress(cases, "refined"):
        _compare(mechanism, support, runs, few, table)
    return [table]


def _compare(mechanism: hush.PureOracle, support: Support, runs: int, few: int, table: report.Table) -> None:
    data = hush.datasets.adult_age()
    values = data.values().tolist()
    reference = Reference(support, mechanism.p_star, mechanism.q_star)
    reference.run(values[:100])  # compiles
    repeated(mechanism, data.counts, 2, [1])
    found: list[Measured] = []
    theirs: list[tuple[float, float]] = []
    turns = 3  # ours is so short that a busy moment would show
    ours = min(timing.seconds(lambda: found.append(repeated(mechanism, data.counts, runs, [7]))) for _ in range(turns))
    ours *= RUNS / runs
    slow = min(timing.seconds(lambda: theirs.append(reference.run(values))) for _ in range(few)) * RUNS
    apart = _apart(found[0], runs, theirs, len(values))
    ratio, required = slow / ours, REQUIRED[mechanism.name()]
    missed = [f"{report.ratio(ratio)} of {required}×"] if ratio < required else []
    missed += [f"{name} {z:.1f} standard errors apart" for name, z in apart.items() if z > WITHIN]
    table.add(
        mechanism.name(),
        f"{ours:.2f} s",
        f"{slow:,.0f} s",
        report.ratio(ratio),
        f"≥ {required}×",
        *(f"{z:.1f}" for z in apart.values()),
        missed=", ".join(missed),
        mechanism=mechanism.to_dict(),
        seconds=ours,
        reference_seconds=slow,
        measured=vars(found[0]),
        reference=theirs,
    )


def _apart(ours: Measured, runs: int, theirs: list[tuple[float, float]], n: int) -> dict[str, float]:
    """Standard errors between the two; the reference's from our spread and its number of runs."""
    mse, asr = np.mean(theirs, axis=0)
    guesses = n * len(theirs)
    asr_error = math.hypot(ours.asr_stderr, math.sqrt(asr * (1 - asr) / guesses))
    mse_error = ours.mse_stderr * math.sqrt(1 + runs / len(theirs))
    return {"ASR": abs(ours.asr - asr) / asr_error, "MSE": abs(ours.mse - mse) / mse_error}
