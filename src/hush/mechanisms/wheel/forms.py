"""Closed forms of the wheel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.hashing.forms import HashedForms

if TYPE_CHECKING:
    from hush.mechanisms.wheel.mechanism import Wheel


@dataclass(frozen=True, eq=False)
class WheelForms(HashedForms):
    """Of the wheel."""

    m: Wheel

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
