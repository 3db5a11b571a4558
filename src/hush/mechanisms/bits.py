"""Closed forms of noisy bits, of which a value's own is likelier one: unary encoding, and sketches over buckets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hush.analysis.manipulation import Targets, how_many
from hush.mechanisms.forms import PureForms, by_support
from hush.types import Floats, Reports


@dataclass(frozen=True, eq=False)
class BitForms(PureForms, ABC):
    """Of a pure oracle whose report has a bit for every value, or for the bucket that it falls into."""

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """Ones for all targets."""
        return self.supported_sum(targets, how_many(targets))

    def random_sum(self, targets: Targets) -> float:
        """Every second bit is one."""
        return self.supported_sum(targets, how_many(targets) / 2)

    @abstractmethod
    def pure_loss(self) -> float:
        """Of a one for one of the two values, and a zero for the other."""

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """One value's bit is one and the other's is not, or nothing tells them apart."""
        return by_support(self.m, reports, first, second, self.pure_loss())

    @property
    def votes_for_likeliest(self) -> bool:
        """A one makes its values likelier."""
        return True

    @property
    def votes_add_up(self) -> bool:
        """Every one makes its values likelier by the same factor."""
        return True


def lacking(chances: tuple[float, float], taken: Floats | int, bits: int) -> Floats:
    """How likely another bit must be one, where so many are already, that a fake has the ones of a genuine report.

    Args:
        chances: Of a one in the value's own bit, and in another.
        taken: Bits that are one for the targets.
        bits: How many there are.
    """
    p, q = chances
    return np.asarray(np.maximum(p + (bits - 1) * q - taken, 0.0) / np.maximum(bits - np.asarray(taken), 1), np.float64)
