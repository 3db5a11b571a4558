"""Closed forms of local hashing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.independent import IndependentForms

if TYPE_CHECKING:
    from hush.mechanisms.hashing.hashed import Hashed
    from hush.mechanisms.hashing.mechanism import LH


@dataclass(frozen=True, eq=False)
class HashedForms(IndependentForms):
    """Of whatever hashes, under an ideal hash family."""

    m: Hashed

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.


@dataclass(frozen=True, eq=False)
class LocalHashingForms(HashedForms):
    """Of local hashing, its public families included."""

    m: LH

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
