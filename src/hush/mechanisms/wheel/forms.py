"""Closed forms of the wheel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hush.mechanisms.hashing.forms import MOST_BUCKETS, HashedForms
from hush.mechanisms.tunable import Family, Tunable, decimals
from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.wheel.mechanism import Wheel


@dataclass(frozen=True, eq=False)
class WheelForms(HashedForms):
    """Of the wheel."""

    m: Wheel

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.wheel.mechanism import Wheel

        return (Family(Wheel, "coverage", _coverages, _support, _bits),)

    # The law of a total.


def _coverages(k: int) -> Floats:
    from hush.mechanisms.hashing import most_buckets

    return decimals(max(1 / most_buckets(k), 0.1 / MOST_BUCKETS), 0.5)


def _support(k: int, e: Floats, coverage: Floats) -> tuple[Floats, Floats]:
    from hush.mechanisms.hashing.hashed import RING

    share = np.round(coverage * RING) / RING  # a whole number of points
    p = share * e / (share * e + 1 - share)
    return p, np.broadcast_to(share, p.shape)


def _bits(k: int, coverage: Floats) -> Floats:
    return np.full(coverage.shape, 96.0)
