"""Which class of values does somebody favour? Pool inference as an audit.

A report that loses epsilon between two values loses less between two habits, if these overlap. Let P(y | v) lie between
l and e^epsilon l for all values v; then a habit a makes y likely by l (1 + (e^epsilon - 1) a(V)) for a set V of values,
at the extremes, and the ratio of two habits is largest for a set of values that a favours most over b. So the loss of
one report that a game proves is found by inverting that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hush import rules
from hush.attacks import pools as inference
from hush.attacks.inference import classes
from hush.audit.collections import SequenceTarget
from hush.audit.games.base import Game, GameTarget
from hush.audit.target import MOST, MechanismTarget, Target
from hush.errors import ParameterError, message
from hush.guarantee import ULDP
from hush.longitudinal import Repeated
from hush.types import Floats, Ints

_STEPS = 60
_CELLS = 1 << 20  # numbers in a table of habits


@dataclass(frozen=True)
class Pools(Game):
    """An attacker names the pool of values that a person favours, from fresh reports of changing values.

    Args:
        pools: How many, of values in their order; or the values of each.
        loyalty: How often a value is of the favoured pool; otherwise it may be any.
    """

    pools: int | tuple[tuple[int, ...], ...] = 2
    loyalty: float = 1.0

    method = "pools"

    def of(self, target: Target) -> PoolGame:
        """With a mechanism, or with fresh reports of one person."""
        if isinstance(target, MechanismTarget):
            m = Repeated(target.mechanism, 1)
        elif isinstance(target, SequenceTarget) and isinstance(target.protocol, Repeated) and target.histories is None:
            m = target.protocol
        else:
            needs = "sends no fresh reports of one of k values by a law that it states"
            raise self.refused(target, needs, "use 'likelihood' or 'exact'")
        if isinstance(m.mechanism.guarantee, ULDP):
            raise self.refused(target, "may reveal values that are not sensitive", "use 'likelihood' or 'exact'")
        return PoolGame(target, self, m)


@dataclass(frozen=True)
class PoolGame(GameTarget):
    """Pools with what is audited."""

    game: Pools
    m: Repeated

    many = "pools"
    method = Pools.method

    def __post_init__(self) -> None:
        self.fitting("tau" if self.m.tau > 1 else "k")
        if self.behaviour.shape[0] < 2:
            rules.integer("pools", self.behaviour.shape[0], 2, self.m.k, "name two pools or more")
        if self.game.loyalty == 0:
            rule = "must be above 0: without it all pools are alike, and there is nothing to guess"
            raise ParameterError(message("loyalty", rule, self.game.loyalty, "use e.g. 0.9"))

    @cached_property
    def behaviour(self) -> Floats:
        """How often people of each pool hold each value."""
        given = self.game.pools
        if isinstance(given, (int, np.integer)):
            most = min(self.m.k, max(2, _CELLS // self.m.k))
            rules.integer("pools", given, 2, most, "cut the values into two pools or more, and many values into few")
            of = classes(self.m.k, int(given))
            listed: Sequence[Any] = [np.nonzero(of == j)[0] for j in range(int(given))]
        else:
            listed = given
        return inference.habits(listed, self.m.k, loyalty=self.game.loyalty)

    @property
    def secrets(self) -> int:
        """Pools."""
        return len(self.behaviour)

    @property
    def width(self) -> int:
        """Scores of all values and reports."""
        return self.m.k * self.m.tau

    @property
    def settings(self) -> dict[str, Any]:
        """Pools, loyalty and reports."""
        return {"habits": self.behaviour.tolist(), "loyalty": self.game.loyalty, "reports": self.m.tau}

    def scores(self, held: Ints, rng: np.random.Generator | None, drawing: np.random.Generator) -> Floats:
        """Of all pools, from fresh reports of values that each person's habits give."""
        ends = np.cumsum(self.behaviour, axis=1)
        values = np.empty((held.size, self.m.tau), np.int64)
        lots = drawing.random(values.shape)
        for j, row in enumerate(ends):
            mine = held == j
            values[mine] = np.minimum(np.searchsorted(row, lots[mine] * row[-1], side="right"), self.m.k - 1)
        return inference.scores(self.m, self.m.collect(values, rng=rng), self.behaviour)

    def implied(self, loss: float, delta: float) -> float:
        """Of all reports about a value that does not change: that of one report, as often as there are reports."""
        if delta:
            return loss
        tau = self.m.tau
        return tau * inverted(lambda epsilon: tau * self.between(epsilon), loss, loss / tau)

    @property
    def largest(self) -> float:
        """Where habits overlap, there is a limit, however much a report tells of its value."""
        return self.m.tau * self.between(float(MOST))

    def between(self, epsilon: float) -> float:
        """The largest loss of one report between two habits, where it is so much between two values."""
        rows = self.behaviour
        if isinstance(self.game.pools, (int, np.integer)):  # two pools of a size stand for all of that size
            sizes = np.bincount(classes(self.m.k, int(self.game.pools)))
            rows = rows[[j for size in np.unique(sizes) for j in np.flatnonzero(sizes == size)[:2]]]
        pairs = ((one, other) for i, one in enumerate(rows) for j, other in enumerate(rows) if i != j)
        return max(mixed_loss(epsilon, one, other) for one, other in pairs)


def mixed_loss(epsilon: float, one: Floats, other: Floats) -> float:
    """The largest log-ratio of a report under two habits, where it is at most epsilon under two values.

    >>> round(mixed_loss(1.0, np.array([1.0, 0.0]), np.array([0.0, 1.0])), 12)
    1.0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(one > 0, one / other, -1.0), kind="stable")
    more = math.expm1(min(epsilon, float(MOST)))
    ratios = (1 + more * np.cumsum(one[order])) / (1 + more * np.cumsum(other[order]))
    return max(0.0, float(np.log(ratios.max())))


def inverted(rising: Callable[[float], float], value: float, least: float) -> float:
    """Where a rising function has a value, from a least argument on; the largest loss where it never has."""
    low, high = least, max(2 * least, 1.0)
    if rising(low) >= value:
        return low
    while rising(high) < value:
        low, high = high, 2 * high
        if high > MOST:
            return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return low
