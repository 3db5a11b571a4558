"""Did the value change? Change detection as an audit.

One time in two a person's value stays as it is for all rounds; else it becomes another one after some round but the
last, all equally likely. Each history that changes is paired with the one that stays at its old value: both mixtures
have the same weights, so that their ratio is between those of the pairs. Of fresh reports, j rounds after the change
lose j epsilon, and the mean of e^(j epsilon) over the times bounds the ratio; the other way it is closer to one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.attacks.changes import change_score
from hush.audit.collections import SequenceTarget
from hush.audit.games.base import Game, GameTarget
from hush.audit.games.pools import inverted
from hush.audit.target import MOST, Claim, Target
from hush.longitudinal import Longitudinal, Repeated
from hush.types import Floats, Ints


@dataclass(frozen=True)
class Changes(Game):
    """An attacker says whether a person's value changed once, at an unknown time to an unknown value."""

    method = "changes"

    def of(self, target: Target) -> ChangeGame:
        """With two reports of one person, or more."""
        if not isinstance(target, SequenceTarget) or target.histories is not None:
            remedy = "audit several reports of one person: Repeated(m, 5), or --rounds 5"
            raise self.refused(target, "does not report over time by a law that it states", remedy)
        if not target.tau or target.tau < 2:
            raise self.refused(target, "reports once", "audit two reports or more")
        return ChangeGame(target).fitting("tau")


@dataclass(frozen=True)
class ChangeGame(GameTarget):
    """Changes with what is audited."""

    what: SequenceTarget

    many = "histories, with a change and without"
    method = Changes.method

    @property
    def protocol(self) -> Repeated | Longitudinal:
        """What reports over time."""
        return self.what.protocol

    @property
    def rounds(self) -> int:
        """Reports of one person."""
        return int(self.what.tau or 0)

    @property
    def secrets(self) -> int:
        """It changed, or not."""
        return 2

    @property
    def width(self) -> int:
        """Scores of all values and rounds."""
        return self.protocol.k * self.rounds

    @property
    def settings(self) -> dict[str, Any]:
        """How many rounds."""
        return {"rounds": self.rounds}

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """Of fresh reports, what they promise together; of kept answers, what bounds any two histories, if anything."""
        if isinstance(self.protocol, Repeated):
            return self.what.claim
        bound = self.protocol.any_histories_bound(self.rounds)
        return Claim(bound) if bound <= MOST else None

    @property
    def unit(self) -> str:
        """What the loss is of."""
        return self.what.unit if isinstance(self.protocol, Repeated) else f"{self.what.unit} whose value may change"

    def scores(self, held: Ints, rng: np.random.Generator | None, drawing: np.random.Generator) -> Floats:
        """How much likelier a change makes the reports."""
        k, rounds = self.protocol.k, self.rounds
        old = drawing.integers(0, k, held.size)
        new = (old + drawing.integers(1, k, held.size)) % k
        before = np.where(held == 1, drawing.integers(1, rounds, held.size), rounds)
        values = np.where(np.arange(rounds) < before[:, None], old[:, None], new[:, None])
        found = change_score(self.protocol, self.protocol.collect(values, rng=rng))
        return np.stack([np.zeros(held.size), found], axis=1)

    def implied(self, loss: float, delta: float) -> float:
        """Of fresh reports, that of one, as often as there are; of kept answers, the same."""
        if delta or not isinstance(self.protocol, Repeated):
            return loss
        after = np.arange(1, self.rounds)

        def between(epsilon: float) -> float:
            return float(np.logaddexp.reduce(after * epsilon) - math.log(after.size))

        return self.rounds * inverted(between, loss, loss / (self.rounds - 1))
