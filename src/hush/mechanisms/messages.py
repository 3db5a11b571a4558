"""Forms of mechanisms whose report is one message of a few: what holds by how likely each message is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.mechanisms.forms import Forms
from hush.simulation import batches
from hush.simulation.normals import Normals, sampled
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.two_level import TwoLevel


@dataclass(frozen=True, eq=False)
class MessageForms(Forms, ABC):
    """Of mechanisms that favour some messages, and tally how often each came."""

    m: TwoLevel

    costly: ClassVar[bool] = True

    @property
    def server_work(self) -> float:
        """What is done with the counts is done once, at the end."""
        return 1

    @abstractmethod
    def held(self, frequencies: Floats) -> Floats:
        """How frequent, for each message, are the values that favour it, together?"""

    @abstractmethod
    def decoded_noise(self, noise: Floats) -> Floats:
        """What do estimates make of noise in the messages' shares, a row for each run?"""

    def message_chances(self, frequencies: Floats) -> Floats:
        """How likely is each message, when a person is drawn from a distribution?"""
        inside, outside = self.m._sizes
        rare = (1 - self.m.p_star) / outside
        held = np.clip(self.held(frequencies), 0.0, 1.0)
        share = np.maximum(rare + (self.m.p_star / inside - rare) * held, 0.0)
        return np.asarray(share / share.sum(), np.float64)

    def sampled_tallies(self, frequencies: Floats, n: int, runs: int, rng: np.random.Generator) -> Ints:
        """Everybody's report has the same law: one multinomial."""
        return batches.multinomials(self.message_chances(frequencies), np.full(runs, n), rng)

    def normal_report(self, normals: Normals, frequencies: Floats) -> Floats:
        chances = self.message_chances(frequencies)
        return self.decoded_noise(sampled(normals.numbers(chances.size), chances))
