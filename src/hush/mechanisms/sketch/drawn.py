"""What the forms of sketches share: many collections are drawn at once, and planners pass over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hush.analysis import totals
from hush.mechanisms.forms import Forms
from hush.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class DrawnForms(Forms):
    """Of a mechanism whose tallies are drawn many at a time, and whose decoder takes many."""

    one_by_one: ClassVar[bool] = False

    def estimates(self, tallies: Ints, n: int) -> Floats:
        return self.m.decode(tallies, n)

    @classmethod
    def planned(cls, k: int) -> bool:
        """No: local hashing and Hadamard response have less error in fewer bits."""
        return False

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """Of many collections at once."""
        n = int(counts.sum())
        return totals.in_parts(
            lambda runs, rng: n * self.estimates(self.tallies(counts[None], runs, rng), n) @ amounts, amounts.size
        )
