"""Tuples with fake data (RS+FD): the tables of figures 7 and 12.

The tuples are (0, ..., 0) and (1, ..., 1), over d attributes of k values. The attack picks an attribute and guesses its
value from that part alone (algorithm 3); its success has a closed form. The likelihood ratio reads all parts: of each
it needs the bits of the two values and the number of other ones, and these are drawn from the law of RS+FD without
making whole reports. Where epsilon = 1, the attack also runs on real reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hush.attacks.multidim import guess_blindly
from hush.kernels import chunks
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.unary import UE
from hush.multidim import RSFD
from hush.randomness import CHUNK, seeded
from hush.types import Floats, Ints
from hush_studies.audit import protocols as grids
from hush_studies.audit.proof import TRIALS, attack_runs, likelihood
from hush_studies.audit.protocols import grid
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = (
    "protocol", "k", "d", "epsilon", "exact", "exact_one_changed", "attack", "attack_sd", "likelihood",
    "success", "tuples", "measured",
)  # fmt: skip
CHECKED = 1.0
"""The epsilon at which real reports are attacked."""


def outer(settings: Settings, advance: Advance) -> Table:
    """Figure 7."""
    return _table(grids.OUTER, settings, advance)


def inner(settings: Settings, advance: Advance) -> Table:
    """Figure 12."""
    return _table(grid(grids.INNER, settings), settings, advance)


def _table(ks: Sequence[int], settings: Settings, advance: Advance) -> Table:
    cells = [
        RSFD(sizes=(k,) * d, epsilon=epsilon, variant=name)
        for name in grids.TUPLES
        for k in ks
        for d in grids.ATTRIBUTES
        for epsilon in grid(grids.BUDGETS, settings)
    ]
    costs = [m.d * (3 if m.variant[0].endswith("r") else 1) for m in cells]
    rows, start, quick = [], settings.seed, settings.quick

    def work(m: RSFD) -> list[Any]:
        name, seed = m.variant[0], [start, 7, *m.sizes, round(m.epsilon * 100)]
        return _cell(name, m, quick, [*seed, grids.TUPLES.index(name)])

    for row, cost in zip(settings.each(work, cells), costs, strict=True):
        rows.append(row)
        advance(cost / sum(costs))
    return rows_of(COLUMNS, rows)


def _cell(name: str, m: RSFD, quick: bool, seed: list[int]) -> list[Any]:
    size = 30_000 if quick else TRIALS
    success, k = m.asr(0), m.sizes[0]
    attack = attack_runs(success, k, seeded([*seed, 2]))
    first, second = (log_ratios(m, value, size, [*seed, value]) for value in (0, 1))
    measured = size // 10 if m.epsilon == CHECKED else None
    stated = [name, k, m.d, m.epsilon, m.exact_epsilon(), m.exact_epsilon(changed=1)]
    return [
        *stated,
        *attack,
        likelihood(first, second),
        success,
        measured,
        None if measured is None else _measured(m, measured, seed),
    ]


def _measured(m: RSFD, size: int, seed: list[int]) -> float:
    """How often algorithm 3 is right, on real reports of (0, ..., 0)."""
    tuples = np.zeros((size, m.d), np.int64)
    reports = m.privatize(tuples, rng=seeded([*seed, 3]))
    return guess_blindly(m, reports, tuples, rng=seeded([*seed, 4])).success


def log_ratios(m: RSFD, value: int, size: int, seed: Sequence[int]) -> Floats:
    """The logarithm of the ratio of (0, ..., 0) to (1, ..., 1), of so many reports of one of them.

    Up to a factor, the likelihood of a tuple is the sum, over attributes, of how much likelier its part is when real
    than when fake.
    """

    def work(start: int, stop: int) -> Floats:
        rng = seeded([*seed, start])
        sampled = rng.integers(0, m.d, stop - start)
        totals = np.zeros((2, stop - start))
        for j in range(m.d):
            totals += _real_to_fake(m, np.where(sampled == j, value, -1), rng)
        return np.log(totals[0]) - np.log(totals[1])

    return np.concatenate(chunks.each(size, CHUNK, work))


def _real_to_fake(m: RSFD, held: Ints, rng: np.random.Generator) -> Floats:
    """For both values, how much likelier a part is if it is real and about that value than if it is a fake.

    Args:
        m: RS+FD of attributes that are alike.
        held: The value that the part is about; -1 for a fake.
        rng: Draws the part.
    """
    real, k, n = m.components[0], m.sizes[0], held.size
    assert isinstance(real, PureOracle)  # those of the paper are
    p, q = real.p_star, real.q_star
    fake = held < 0
    if not isinstance(real, UE):
        other = (held + rng.integers(1, k, n)) % k
        shown = np.where(fake, rng.integers(0, k, n), np.where(rng.random(n) < p, held, other))
        return np.where(shown == np.array([[0], [1]]), k * p, k * q)
    if m.variant[0].endswith("z"):
        return _own_bits(held, p, q, rng)[1]  # beside a vector of zeros
    held = np.where(fake, rng.integers(0, k, n), held)
    ones, own = _own_bits(held, p, q, rng)
    if k > 2:
        ones = ones + rng.binomial(k - 3, q, n) + (rng.random(n) < np.where(held > 1, p, q))
    return own / ((1 - p) / (1 - q) + ones / k * (p / q - (1 - p) / (1 - q)))  # beside the mean over all values


def _own_bits(held: Ints, p: float, q: float, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Bits of the two values: how many are one, and how much likelier each is if the value is held."""
    bits = np.stack([rng.random(held.size) < np.where(held == value, p, q) for value in (0, 1)])
    return bits.sum(axis=0), np.where(bits, p / q, (1 - p) / (1 - q))
