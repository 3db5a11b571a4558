"""What one collection of these people would give, simulated with a seed: truth, estimate, error bars, attackers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush import rules
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.randomness import seeded
from hush.reports.mechanism_rows import shown_with
from hush.types import Floats
from hush.workbench.explore.numbers import explored, made
from hush.workbench.explore.table import COLUMNS, ExploredRow, explore

LEVEL = 0.95
"""Of the intervals."""
MOST_TRIED = 6
"""Mechanisms that are tried unless others are asked for."""
_NEAR, _BEARABLE = 1.02, 2.0


@dataclass(frozen=True)
class TriedMechanism:
    """One mechanism on these people.

    Args:
        name: The mechanism.
        mechanism: Itself.
        truth: The share of each value.
        estimate: What the collection says, raw and unbiased: it may lie outside of 0 to 1.
        low: Where the 95 % interval of each begins.
        high: Where it ends.
        attack: How often the best guess of one person's value is right, from the report and these shares.
        luck: How often it is right without a report: the share of the most frequent value.
        seed: By which it was drawn.
    """

    name: str
    mechanism: FrequencyOracle
    truth: Floats
    estimate: Floats
    low: Floats
    high: Floats
    attack: float
    luck: float
    seed: int

    @cached_property
    def errors(self) -> Floats:
        """By how much each estimate is off, absolutely."""
        return np.asarray(np.abs(self.estimate - self.truth), np.float64)

    @property
    def typical(self) -> float:
        """The root of the mean squared error, of this one collection."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def worst(self) -> int:
        """The value whose estimate is off most."""
        return int(self.errors.argmax())

    @property
    def half_width(self) -> float:
        """Half the width of an interval, the mean over the values."""
        return float((self.high - self.low).mean() / 2)

    @property
    def covered(self) -> int:
        """How many intervals hold the truth."""
        return int(((self.low <= self.truth) & (self.truth <= self.high)).sum())


def tried(name: str, people: Population, epsilon: float, seed: int) -> TriedMechanism:
    """One mechanism on people, by an aggregate from its exact law.

    Args:
        name: Of the mechanism.
        people: Whole ones, by their values.
        epsilon: Privacy loss of one report.
        seed: Of the simulation, so that it can be repeated: `m.simulate(counts, rng=hush.seeded(seed))`.
    """
    rules.integer("seed", seed, 0, 2**53, "use a whole number, e.g. 1")
    m = made(name, people.k, epsilon)
    spec = Spec(m, people.domain)
    estimate = spec.estimate(spec.simulate(people.counts, rng=seeded(seed)))
    interval = estimate.interval(LEVEL)
    shares = people.frequencies
    attack, luck = m.asr(shares), float(shares.max())
    raw = np.asarray(estimate.frequencies, np.float64)
    return TriedMechanism(name, m, shares, raw, interval.lower, interval.upper, attack, luck, seed)


def worthwhile(k: int, epsilon: float, n: int) -> list[str]:
    """Mechanisms that are worth a try, the least error first: each is best in something, or next in error.

    Left out are promises with a delta, mechanisms that need a parameter, those with more than twice the least error,
    and whoever is like one that stands before it in the registry.

    >>> worthwhile(4, 1.0, 10_000)[0]
    'GRR'
    """
    known = explored()
    able = [row for row in explore(k, epsilon, n).rows if not row.approximate and not shown_with(known[row.name])]
    near = [row for row in able if row.margin <= _BEARABLE * able[0].margin]
    unlike: list[ExploredRow] = []
    for row in near:
        if not any(_alike(row, other) for other in unlike):
            unlike.append(row)
    best = {min(unlike, key=lambda row: (getattr(row, column), row.margin)).name for column in COLUMNS}
    rest = [row.name for row in unlike if row.on_front and row.name not in best]
    chosen = {*best, *rest[: MOST_TRIED - len(best)]}
    return [row.name for row in unlike if row.name in chosen]


def _alike(one: ExploredRow, other: ExploredRow) -> bool:
    """Whether the first is no better than the other by more than a little in anything."""
    return all(_NEAR * getattr(one, column) >= getattr(other, column) for column in COLUMNS)
