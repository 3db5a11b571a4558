"""Closed forms of local hashing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis import information
from hush.mechanisms.independent import IndependentForms
from hush.mechanisms.tunable import Family, Fixed, Tunable, integers
from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle
    from hush.mechanisms.hashing.hashed import Hashed
    from hush.mechanisms.hashing.mechanism import LH


MOST_BUCKETS = 50_000
"""Some e^11: more serve no budget that is looked at, unless there are as many values."""
_FAMILY_FOR = 4_096


@dataclass(frozen=True, eq=False)
class HashedForms(IndependentForms):
    """Of whatever hashes, under an ideal hash family."""

    m: Hashed

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def even_information(self) -> float:
        return information.bits(self.m.k, self.m.p_star, self.m.q_star)

    # The law of a total.


@dataclass(frozen=True, eq=False)
class LocalHashingForms(HashedForms):
    """Of local hashing, its public families included."""

    m: LH

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    @property
    def server_work(self) -> float:
        """A public family's reports are counted in a table, settled at the end."""
        return 1 if self.m.hash == "family" else self.m.k

    @classmethod
    def variants(cls, k: int) -> Sequence[tuple[type[FrequencyOracle], Fixed]]:
        """Hashing by a public family; for more values, going through all of it for what fakes gain takes long."""
        from hush.mechanisms.hashing.mechanism import OLH

        return [(OLH, (("hash", "family"),))] if k <= _FAMILY_FOR else []

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        from hush.mechanisms.hashing.mechanism import LH

        return (Family(LH, "g", _buckets, _support, _bits, whole=True, fewest=_fewest),)

    # The law of a total.


def _buckets(k: int) -> Floats:
    from hush.mechanisms.hashing.mechanism import most_buckets

    return integers(2, min(max(k, MOST_BUCKETS), most_buckets(k)))


def _support(k: int, e: Floats, g: Floats) -> tuple[Floats, Floats]:
    p = e / (e + g - 1)
    return p, np.broadcast_to(1 / g, p.shape)


def _bits(k: int, g: Floats) -> Floats:
    return np.asarray(64 + np.ceil(np.log2(g)), np.float64)


def _fewest(k: int, g: Floats) -> Floats:
    """One block of Hadamard response has the law of two buckets, in far fewer bits."""
    return np.where(g == 2, np.minimum(_bits(k, g), (k + 1).bit_length()), _bits(k, g))
