"""Closed forms of projective geometry response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.forms import PureForms

if TYPE_CHECKING:
    from hush.mechanisms.projective.mechanism import PGR


@dataclass(frozen=True, eq=False)
class ProjectiveForms(PureForms):
    """Of projective geometry response."""

    m: PGR

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
