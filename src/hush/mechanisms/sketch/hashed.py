"""What sketches over the public family of hash functions share: a member, and the bucket of a value under it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.mechanisms.hashing.family import MEMBERS, MOST_BUCKETS, HashFamily
from hush.mechanisms.pure import PureOracle
from hush.types import Ints, Values


def checked_width(width: object, least: int = 2) -> int:
    """A number of buckets that the family has."""
    whole = rules.integer("width", width, least, MOST_BUCKETS, "use e.g. 64, or leave it out")
    if whole & (whole - 1):
        raise ParameterError(message("width", "must be a power of two", whole, "use e.g. 64, or leave it out"))
    return whole


def width_for(k: int, least: int = 2) -> int:
    """The least power of two that is no less than k, within what the family has."""
    return min(max(1 << (k - 1).bit_length(), least), MOST_BUCKETS)


class Functions:
    """The bucket of every value under every member of the family."""

    def __init__(self, k: int, width: int) -> None:
        from hush.kernels.family import buckets, places

        self.buckets: npt.NDArray[np.uint8] = buckets(width)
        """The bucket at each place: a member is a shift."""
        self.places: Ints = places(k)
        """The place of each value."""

    def of(self, members: Ints, values: Values) -> Ints:
        """The bucket of each value under each member, shape (members, values)."""
        return self.buckets[members[:, None] + self.places[values]].astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Sketch(PureOracle):
    """A sketch whose report carries its hash function: over all of them, any two values collide equally often."""

    width: int = None  # type: ignore[assignment]

    family: ClassVar[str] = "sketch"

    def __post_init__(self) -> None:
        super().__post_init__()
        rules.integer("k", self.k, 2, MEMBERS, "use OLH for more values")
        self._set(width=checked_width(self._usual_width if self.width is None else self.width))

    @property
    def _usual_width(self) -> int:
        return width_for(self.k)

    @cached_property
    def hashes(self) -> HashFamily:
        """The public functions."""
        return HashFamily(self.k, self.width)

    @cached_property
    def _functions(self) -> Functions:
        return Functions(self.k, self.width)

    def buckets_of(self, members: Ints, values: Values) -> Ints:
        """The bucket of each value under each member, shape (members, values)."""
        return self._functions.of(members, values)

    @property
    def collision(self) -> float:
        """Probability that two values share a bucket, whichever they are."""
        return float(Fraction(self.hashes.shared, MEMBERS))
