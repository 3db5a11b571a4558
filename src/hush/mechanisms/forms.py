"""What can be said of a mechanism beyond its law: by enumeration for any, in closed form where a family knows one.

Attacks, audits, planning, shuffling and capacities ask `m.forms`, and never which class they have. A family writes a
companion in its own folder, which overrides what it knows; `hush.testing` holds each override against the enumeration.

A companion speaks of the law of its class. A class that derives from it and changes the law without a companion of its
own is enumerated again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.exact.enumeration import Listing, listed

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


def companion_of(cls: type[FrequencyOracle]) -> type[Forms]:
    """The forms that hold for a class: its own, or those of the class whose law it has; else the general ones."""
    for base in cls.__mro__:
        if "companion" in vars(base):
            found: type[Forms] = vars(base)["companion"]
            return found
        if LAW & vars(base).keys():
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


@dataclass(frozen=True, eq=False)
class PureForms(Forms):
    """Of any pure oracle: what p* and q* tell."""

    m: PureOracle

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
