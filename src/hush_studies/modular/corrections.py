"""A part of ours: what the formulas of section 4 and the appendices give, and what is right, as a table of numbers.

Equation 3 and theorem 3 are looked at where k = 30 and the moduli are 5, 7, 11 and 13, for 3,000 people who are drawn
anew each time; theorem 4 for primes drawn at random; equation 7 for the same k and the moduli 2, 7, 11 and 13; the
ridge for a spike of 1,000 people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from hush.analysis.modular_system import System
from hush.analysis.primes import primes
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import blocks
from hush.randomness import seeded
from hush.types import Floats
from hush_studies.measure import average
from hush_studies.modular import printed
from hush_studies.modular.attacks import attacked
from hush_studies.modular.measured import tally
from hush_studies.modular.settings import budgets
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = ("about", "setting", "epsilon", "printed", "right", "measured", "measured_stderr", "bound")
SIZE, MODULI, CROWD = 30, (7, 11, 13, 5), 3_000
ATTACKED = (11, 13, 7, 2)
RIDGE_SIZE, RIDGE_CROWD = 100, 1_000
BAD = (29, 31, 37, 41)


def corrections(settings: Settings, advance: Advance) -> Table:
    """All rows."""
    several = (_errors(settings), _conditions(settings), _guesses(settings), _ridges(settings))
    rows: list[list[Any]] = []
    for part in several:
        rows += part
        advance(1 / len(several))
    return rows_of(COLUMNS, rows)


def _errors(settings: Settings) -> Iterator[list[Any]]:
    """Equation 3, theorem 3, and people drawn independently."""
    even, runs = np.full(SIZE, 1 / SIZE), 100 if settings.quick else 2_000
    for epsilon in budgets(settings):
        m = MSS(k=SIZE, epsilon=epsilon, moduli=MODULI)
        law = m.blocks
        right = float(law.variances(even, CROWD, fixed=False).mean())
        bound = law.system.condition() * printed.bound(epsilon, CROWD)
        rng = seeded([settings.seed, 36, round(100 * epsilon)])
        measured = np.mean((decoded(m, even, runs, rng) - even) ** 2, axis=1)
        literal = printed.equation_3(law, even, CROWD)
        yield ["equation 3", f"k={SIZE} {_told(MODULI)}", epsilon, literal, right, *average(measured), bound]


def decoded(m: MSS, frequencies: Floats, runs: int, rng: np.random.Generator) -> Floats:
    """Estimates of so many collections, from people drawn anew: `m.decode` for all of them at once, k being small."""
    tallies = np.array(
        [tally(m, rng.multinomial(CROWD, frequencies).astype(np.int64), rng) for _ in range(runs)], np.float64
    )
    law, values, at = m.blocks, np.arange(m.k), 0
    people = tallies[:, -len(m.moduli) :]
    normal, right = np.zeros((runs, m.k, m.k)), np.zeros((runs, m.k))
    for j, size in enumerate(m.moduli):
        weight = law.weights[j] * people[:, j]
        parts = (tallies[:, at : at + size] / people[:, j : j + 1] - law.q[j]) / (law.p[j] - law.q[j])
        normal += weight[:, None, None] * (values % size == (values % size)[:, None])
        right += weight[:, None] * parts[:, values % size]
        at += size
    return np.asarray(np.linalg.solve(normal, right[:, :, None])[:, :, 0])


def _conditions(settings: Settings) -> Iterator[list[Any]]:
    """Theorem 4: its bound on the condition number, and the number, for primes of a band around k/l."""
    yield _condition(100, BAD)
    rng = seeded([settings.seed, 38])
    for k in (100, 256 if settings.quick else 1_024):
        for count in (4, 6, 8, 12):
            known = primes(k)
            band = known[(known >= k / (1.7 * count)) & (known <= 1.7 * k / count)]
            for _ in range(1 if settings.quick else 5):
                moduli = tuple(sorted(rng.choice(band, min(count, band.size), replace=False).tolist()))
                row = _condition(k, moduli)
                if math.isfinite(row[3]) and math.isfinite(row[4]):
                    yield row


def _condition(k: int, moduli: tuple[int, ...]) -> list[Any]:
    found = blocks(k, moduli, 1.0).system.condition(digits=5)
    return ["theorem 4", f"k={k} {_told(moduli)}", 1.0, printed.theorem_4(k, moduli, 1.0), found, None, None, None]


def _guesses(settings: Settings) -> Iterator[list[Any]]:
    """Equation 7, against everybody equally often."""
    counts = np.full(SIZE, (200 if settings.quick else 10_000), np.int64)
    for epsilon in budgets(settings):
        m = MSS(k=SIZE, epsilon=epsilon, moduli=ATTACKED)
        seen = attacked(m, counts, 4, [settings.seed, 40, round(100 * epsilon)])
        yield ["equation 7", f"k={SIZE} {_told(ATTACKED)}", epsilon, printed.attack(m), m.asr(), *seen, None]


def _ridges(settings: Settings) -> Iterator[list[Any]]:
    """What the ridge 1/ε² makes of a frequency of 1, on average: exact for blocks of equal size, and measured."""
    runs, at = 50 if settings.quick else 400, 7
    counts = np.zeros(RIDGE_SIZE, np.int64)
    counts[at] = RIDGE_CROWD
    for epsilon in budgets(settings):
        m = MSS(k=RIDGE_SIZE, epsilon=epsilon)
        biased = expected_ridge(m, at, RIDGE_CROWD)
        found = [
            float(m.ridge(m.simulate(counts, rng=seeded([settings.seed, 44, round(100 * epsilon), i]))).frequencies[at])
            for i in range(runs)
        ]
        yield ["ridge", f"k={RIDGE_SIZE} spike at {at}", epsilon, biased, 1.0, *average(np.array(found)), None]


def expected_ridge(m: MSS, at: int, n: int) -> float:
    """The mean of the ridge estimate of a frequency of 1 (section 3.2)."""
    truth = np.eye(m.k)[at]
    system = System(m.k, m.moduli, m.blocks.weights * (n / len(m.moduli)), 1 / m.epsilon**2)
    return float(system.fit(system.folded(truth))[at])


def _told(moduli: tuple[int, ...]) -> str:
    return " ".join(map(str, moduli))
