"""Closed forms of unary encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.independent import IndependentForms

if TYPE_CHECKING:
    from hush.mechanisms.unary.mechanism import UE


@dataclass(frozen=True, eq=False)
class UnaryForms(IndependentForms):
    """Of unary encoding."""

    m: UE

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
