"""Who sent this? Re-identification as an audit of a collection of tuples.

Somebody of a table is drawn evenly, and reports once or, in several collections, afresh about the same values. Any two
people lose at most what any two tuples do, as often as there are collections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hush import rules
from hush.attacks.reidentification import scores
from hush.audit.collections import TupleTarget
from hush.audit.games.base import Game, GameTarget
from hush.audit.target import Target
from hush.errors import ParameterError, message
from hush.types import Floats, Ints


@dataclass(frozen=True)
class Reidentification(Game):
    """An attacker points at one person of a table, from reports about the whole tuple.

    Args:
        people: How many there are in the table, each with a tuple of their own where there are enough.
        collections: Reports of one person.
    """

    people: int = 10
    collections: int = 1

    method = "reidentification"

    def of(self, target: Target) -> ReidentificationGame:
        """With a collection of tuples."""
        what = self.with_tuples(target, "SMP(sizes=(2, 5), epsilon=1.0)")
        if what.changed not in (None, what.m.d):
            rule = "must be left out for people who differ in any attributes"
            raise ParameterError(message("changed", rule, what.changed, "leave it out, or use 'attributes'"))
        rules.integer("people", self.people, 2, 100_000, "put two people or more into the table")
        rules.integer("collections", self.collections, 1, 1000, "count the reports of one person")
        return ReidentificationGame(what, self).fitting("collections" if self.collections > 1 else "attributes")


@dataclass(frozen=True)
class ReidentificationGame(GameTarget):
    """Reidentification with what is audited."""

    what: TupleTarget
    game: Reidentification

    many = "people"
    method = Reidentification.method

    @cached_property
    def table(self) -> Ints:
        """Their tuples: different ones where there are enough, the same in every audit."""
        sizes, people = self.what.m.sizes, self.game.people
        rng = np.random.default_rng(0)
        if math.prod(sizes) <= 1 << 20:
            numbers = rng.permutation(math.prod(sizes))
            return np.stack(np.unravel_index(np.resize(numbers, people), sizes), axis=1).astype(np.int64)
        return np.stack([rng.integers(0, k, people) for k in sizes], axis=1)

    @property
    def secrets(self) -> int:
        """People."""
        return self.game.people

    @property
    def width(self) -> int:
        """Scores of all people and attributes, in every collection."""
        return max(self.game.people, sum(self.what.m.sizes)) * self.game.collections

    @property
    def settings(self) -> dict[str, Any]:
        """The table, and how many collections."""
        return {"table": self.table.tolist(), "collections": self.game.collections}

    def scores(self, held: Ints, rng: np.random.Generator | None, drawing: np.random.Generator) -> Floats:
        """Of everybody in the table."""
        m, tuples = self.what.m, self.table[held]
        reports = [m.privatize(tuples, rng=rng) for _ in range(self.game.collections)]
        return scores(m, np.stack(reports, axis=1), self.table)

    def implied(self, loss: float, delta: float) -> float:
        """Of one report: losses of collections add up."""
        return loss / self.game.collections

    def slack(self, delta: float) -> float:
        """So do their deltas."""
        return delta * self.game.collections
