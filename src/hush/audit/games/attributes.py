"""What is one attribute of this person? Attribute inference as an audit of a collection of tuples.

The value of one attribute is drawn evenly, and so are all others. Two tuples that differ in that attribute alone, with
the same others, have the same weights, so the game's loss is at most that between tuples that differ in one attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hush import rules
from hush.audit.collections import TupleTarget
from hush.audit.games.base import Game, GameTarget
from hush.audit.target import Claim, Target
from hush.types import Floats, Ints


@dataclass(frozen=True)
class OneAttribute(Game):
    """An attacker names the value of one attribute from a report about a whole tuple.

    Args:
        attribute: Which, counted from 0.
    """

    attribute: int = 0

    method = "attributes"

    def of(self, target: Target) -> AttributeGame:
        """With a collection of tuples."""
        what = self.with_tuples(target, "RSFD(sizes=(2, 5), epsilon=1.0, variant='GRR')")
        rules.integer("attribute", self.attribute, 0, what.m.d - 1, "count attributes from 0")
        return AttributeGame(what, self).fitting("attributes")


@dataclass(frozen=True)
class AttributeGame(GameTarget):
    """One attribute, with what is audited."""

    what: TupleTarget
    game: OneAttribute

    many = "values of an attribute"
    method = OneAttribute.method

    @property
    def secrets(self) -> int:
        """Values of the attribute."""
        return int(self.what.m.sizes[self.game.attribute])

    @property
    def width(self) -> int:
        """Scores of all attributes."""
        return sum(self.what.m.sizes)

    @property
    def settings(self) -> dict[str, Any]:
        """Which attribute."""
        return {"attribute": self.game.attribute}

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What holds between tuples that differ in one attribute."""
        return replace(self.what, changed=1).claim

    @property
    def unit(self) -> str:
        """What the loss is of."""
        return replace(self.what, changed=1).unit

    def scores(self, held: Ints, rng: np.random.Generator | None, drawing: np.random.Generator) -> Floats:
        """Of all values of the attribute, the others being anything."""
        m = self.what.m
        tuples = np.stack([drawing.integers(0, k, held.size) for k in m.sizes], axis=1)
        tuples[:, self.game.attribute] = held
        return m.scores(m.privatize(tuples, rng=rng), self.game.attribute)

    def implied(self, loss: float, delta: float) -> float:
        """The same."""
        return loss
