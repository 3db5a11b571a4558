"""Closed forms of Hadamard response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.forms import Forms

if TYPE_CHECKING:
    from hush.mechanisms.hadamard.mechanism import HR


@dataclass(frozen=True, eq=False)
class HadamardForms(Forms):
    """Of Hadamard response."""

    m: HR

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
