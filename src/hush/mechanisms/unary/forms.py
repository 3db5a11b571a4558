"""Closed forms of unary encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis import information
from hush.mechanisms.independent import IndependentForms
from hush.mechanisms.tunable import Family, Tunable
from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.unary.mechanism import UE


@dataclass(frozen=True, eq=False)
class UnaryForms(IndependentForms):
    """Of unary encoding."""

    m: UE

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        return information.product(self.m.k, *self.m.coordinate_law())

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.unary.mechanism import UE

        return (Family(UE, "p", _probabilities, _support, _bits),)

    # The law of a total.


def _probabilities(k: int) -> Floats:
    """From 0.3 up by thousandths, and on towards one."""
    near = [1 - digit / 10**places for places in (4, 5, 6) for digit in range(9, 0, -1)]
    return np.round(np.append(np.arange(300, 1000) / 1000, near), 6)


def _support(k: int, e: Floats, p: Floats) -> tuple[Floats, Floats]:
    own = np.broadcast_to(p, np.broadcast_shapes(p.shape, e.shape))
    return own, own / (e * (1 - own) + own)


def _bits(k: int, p: Floats) -> Floats:
    return np.full(p.shape, float(k))
