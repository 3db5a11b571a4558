"""Closed forms of randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.forms import PureForms

if TYPE_CHECKING:
    from hush.mechanisms.direct.mechanism import GRR


@dataclass(frozen=True, eq=False)
class DirectForms(PureForms):
    """Of randomized response."""

    m: GRR

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
