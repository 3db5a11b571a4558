"""What can be said of a mechanism beyond its law: by enumeration for any, in closed form where a family knows one.

Attacks, audits, planning, shuffling and capacities ask `m.forms`, and never which class they have. A family writes a
companion in its own folder, which overrides what it knows; `hush.testing` holds each override against the enumeration.

A companion speaks of the law of its class. A class that derives from it and changes the law without a companion of its
own is enumerated again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.analysis import adds, capacity, success, totals
from hush.exact.enumeration import Listing, listed
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle
    from hush.mechanisms.pure import PureOracle

LAW = frozenset(
    {
        *("sample", "tally", "decode", "outputs", "weight", "publics", "public", "copies"),
        *("supports", "support_matrix", "p_star", "q_star", "coordinates", "coordinate_law"),
    }
)
"""What a class writes to say what its law is."""


def companion_of(cls: Any, law: frozenset[str] = LAW) -> Any:
    """The forms that hold for a class: its own, or those of the class whose law it has; else the general ones.

    Args:
        cls: A class of mechanisms.
        law: What a class of its kind writes to say what its law is.
    """
    for base in cls.__mro__:
        if "companion" in vars(base):
            return vars(base)["companion"]
        if law & vars(base).keys():
            break
    return cls.general


@dataclass(frozen=True, eq=False)
class Forms:
    """What is asked of a mechanism, answered by enumeration.

    Args:
        m: The mechanism.
    """

    m: FrequencyOracle

    @property
    def listed(self) -> Listing | None:
        """All outputs with their exact weights; None where they are too many, or randomness is public."""
        return listed(self.m)

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds | None:
        """What a report adds to the estimated total of the amounts; None where that is not known."""
        found = self.listed
        return None if found is None else adds.channel(found.decoded @ amounts, found.chances)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """The law of the estimated total, of so many people of each amount."""
        found, draw, work = self.listed, self.total_draw(amounts, counts), float(counts.sum())
        if found is None:
            return totals.simulated(amounts, counts, draw=draw, work=work)
        return totals.channel(amounts, counts, found.decoded @ amounts, found.chances, draw=draw, work=work)

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """Estimated totals of whole collections, simulated one by one."""
        m, n = self.m, int(counts.sum())

        def draw(runs: int, rng: np.random.Generator) -> Floats:
            shares = [m.decode(m.simulate(counts, rng=rng).tally, n) for _ in range(runs)]
            return n * np.array([share @ amounts for share in shares])

        return draw

    def collection_work(self, n: int) -> float:
        """What a simulated collection of n people costs, in random numbers, roughly."""
        return float(n)

    def _summed(
        self,
        amounts: Floats,
        counts: Ints,
        found: adds.Adds,
        *,
        least: float = 0.0,
        step: float = 0.0,
        kind: str = "exact",
    ) -> totals.Law:
        """The law, from what a report adds: at least so much, and so many steps more, if there is an even step."""
        n = int(counts.sum())
        draw, work = self.total_draw(amounts, counts), self.collection_work(n)
        return totals.summed(amounts, counts, found, draw=draw, work=work, start=n * least, step=step, kind=kind)

    def wrong_guesses_alike(self) -> bool:
        """Whether the best guess from a report, all values being equally likely, is right as often for every value,
        and wrong as often for every other one.
        """
        found = self.listed
        if found is None:
            return False
        table = found.chances.T @ success.best_guesses(found.chances)
        return bool(np.abs(table - success.alike(self.m.k, table[0, 0])).max() < 1e-12)


@dataclass(frozen=True, eq=False)
class PureForms(Forms):
    """Of any pure oracle: what p* and q* tell."""

    m: PureOracle

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def _support_lattice(self, amounts: Floats) -> tuple[float, float]:
        """What a report that supports nothing adds to a total, and the step to what others add; 0 if there is none."""
        gap = self.m.p_star - self.m.q_star
        return -self.m.q_star * float(amounts.sum()) / gap, capacity.lattice(amounts.tolist()) / gap
