"""What a game is: secrets, how reports come of one, and what the reports say about each.

A game is a target whose reports are outcomes: whether the best guess is right, and how sure the attacker is of it. So
it is drawn, counted, sent to other machines and kept in checkpoints like any other.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hush.attacks.ties import CELLS, likeliest
from hush.audit.collections import TupleTarget
from hush.audit.inputs import Inputs, Values
from hush.audit.target import Claim, Target
from hush.errors import ParameterError, Unsaid, message
from hush.randomness import CHUNK, source
from hush.types import Floats, Ints, Reports

OUTCOME = np.dtype([("right", np.bool_), ("odds", "<f8")])
"""Of one game: whether the best guess is right, and the logarithm of its odds against what a blind guess has."""

_FAR = 1e6  # scores beyond that are certainties


class Game(ABC):
    """Rules by which an attacker guesses a secret."""

    method: ClassVar[str]

    @abstractmethod
    def of(self, target: Target) -> GameTarget:
        """The game with what is audited; a target that it cannot be played with is refused."""

    @classmethod
    def refused(cls, target: Target, needs: str, remedy: str) -> ParameterError:
        """The error for a target that the game cannot be played with."""
        rule = f"must be another than {cls.method} for {target.name}, which {needs}"
        return ParameterError(message("method", rule, Unsaid(cls.method), remedy))

    @classmethod
    def with_tuples(cls, target: Target, example: str) -> TupleTarget:
        """The target, where it is a collection of tuples; any other is refused, with an example of one."""
        if not isinstance(target, TupleTarget):
            remedy = f"audit e.g. {example}, or use 'likelihood'"
            raise cls.refused(target, "takes no tuples by a law that it states", remedy)
        return target


@dataclass(frozen=True)
class GameTarget(Target):
    """A game with what is audited."""

    what: Target
    threaded = True
    seedable = True

    many: ClassVar[str]
    """What secrets are called."""

    method: ClassVar[str]
    """The name of the game."""

    @property
    @abstractmethod
    def secrets(self) -> int:
        """How many there are, all equally likely."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers are held for each game."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The rules, in plain data."""

    @abstractmethod
    def scores(self, held: Ints, rng: np.random.Generator | None, drawing: np.random.Generator) -> Floats:
        """Make the reports of people with these secrets, and say how likely they are under each, in logarithm.

        Args:
            held: The secrets.
            rng: For reports: None to make them as real clients do.
            drawing: For all else that is random.
        """

    @abstractmethod
    def implied(self, loss: float, delta: float) -> float:
        """The loss that the claim speaks of, at least, where secrets lose so much at a delta of the game."""

    def fitting(self, parameter: str) -> Self:
        """The same, unless one game alone takes more memory than a thread should; then the parameter is refused."""
        if self.width > CELLS:
            rule = f"must leave a game of {self.method} at most {CELLS:,} numbers: values or people, in each report"
            raise ParameterError(message(parameter, rule, Unsaid(f"{self.width:,}"), "ask for less of it"))
        return self

    @property
    def largest(self) -> float:
        """The largest loss between two secrets that any reports have."""
        return math.inf

    def slack(self, delta: float) -> float:
        """The delta of all reports of a game, where that much is claimed."""
        return delta

    @property
    def name(self) -> str:  # type: ignore[override]
        """What is audited."""
        return self.what.name

    @property
    def k(self) -> int:  # type: ignore[override]
        """As many as what is audited has."""
        return self.what.k

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What is claimed of it."""
        return self.what.claim

    @property
    def inputs(self) -> Inputs:
        """The secrets, by number."""
        return Values(max(self.secrets, 2))

    @property
    def unit(self) -> str:
        """What the loss is of."""
        return self.what.unit

    @property
    def identity(self) -> dict[str, Any]:
        """What is audited, and the rules of the game."""
        return {**self.what.identity, "secrets": self.secrets, "game": self.settings}

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """How many games are played at a time."""
        return max(1, min(CHUNK, CELLS // max(1, self.width)))

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Outcomes of so many games, each with a secret of its own; the value does not matter."""
        drawing = source(rng)
        held = drawing.integers(0, self.secrets, size)
        found = np.clip(self.scores(held, rng, drawing), -_FAR, _FAR)
        weights = np.exp(found - found.max(axis=1, keepdims=True))
        others = np.maximum(weights.sum(axis=1) - 1.0, 0.0)  # the likeliest weighs 1
        outcomes = np.empty(size, OUTCOME)
        outcomes["right"] = likeliest(found, drawing) == held
        with np.errstate(divide="ignore"):
            outcomes["odds"] = np.log(self.secrets - 1) - np.log(others)
        return outcomes
