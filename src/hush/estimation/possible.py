"""What tallies can be: one that no reports can give is refused, whoever wrote it.

Sums of possible tallies are possible, so these rules hold for merged aggregates as for single ones. All arithmetic is
exact: a sum that 64 bits do not hold is refused, never wrapped around.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.types import Ints

MOST_REPORTS = 2**62
"""What an aggregate counts at most."""

_REMEDY = "fetch it again, or leave it out: no reports of this spec give it"


def within(tally: npt.NDArray[Any], low: int, high: int, what: str = "entries") -> None:
    """Refuse a tally with an entry below `low` or above `high`.

    >>> within(np.array([0, 7, 20]), 0, 20)
    >>> within(np.array([0, 7, 21]), 0, 20)
    Traceback (most recent call last):
    hush.errors.SpecError: aggregate must have entries from 0 to 20, got 21 at place 2; fetch it again, ...
    """
    if not tally.size:
        return
    for at in (int(tally.argmin()), int(tally.argmax())):
        found = int(tally.flat[at])
        if not low <= found <= high:
            got = Unsaid(f"{found} at place {at}")
            raise SpecError(message("aggregate", f"must have {what} from {low} to {high}", got, _REMEDY))


def summing(tally: npt.NDArray[Any], low: int, high: int | None = None, what: str = "entries") -> None:
    """Refuse a tally whose entries do not add up to `low`, or to something from `low` to `high`.

    >>> summing(np.array([12, 8]), 20)
    """
    most = low if high is None else high
    found = total(tally)
    if not low <= found <= most:
        due = f"{low}" if most == low else f"something from {low} to {most}"
        raise SpecError(message("aggregate", f"must have {what} that add up to {due}", found, _REMEDY))


def counts(tally: npt.NDArray[Any], n: int, what: str = "counts") -> None:
    """Refuse what does not count n reports, each under one entry.

    >>> counts(np.array([12, 8]), 20)
    """
    within(tally, 0, n, what)
    summing(tally, n, what=what)


def squares(sum_: int, squared: int, n: int, last: int) -> None:
    """Refuse a sum of n integers from 0 to `last`, and one of their squares, that do not go together.

    >>> squares(3 + 4, 3**2 + 4**2, 2, 10)
    """
    least = max(sum_, -(-(sum_**2) // max(n, 1)))  # the mean of squares is no less than the square of the mean
    if not least <= squared <= last * sum_ or (squared - sum_) % 2:
        rule = f"must have a sum of {n} numbers, and one of their squares, that go together"
        raise SpecError(message("aggregate", rule, Unsaid(f"{sum_} and {squared}"), _REMEDY))


def total(tally: npt.NDArray[Any]) -> int:
    """The sum of integers, exact where 64 bits do not hold it.

    >>> total(np.array([2**62] * 4)) == 2**64
    True
    """
    wide = tally.astype(np.uint64 if tally.dtype.kind == "u" else np.int64, copy=False)
    return (int((wide >> 32).sum()) << 32) + int((wide & 0xFFFFFFFF).sum())


def added(first: Ints, *more: npt.NDArray[Any]) -> Ints:
    """The sum of tallies, entry by entry; refused where 64 bits do not hold it.

    >>> added(np.array([1, 2]), np.array([3, 4])).tolist()
    [4, 6]
    """
    for part in (first, *more):
        if part.dtype.kind not in "iub":
            rule, remedy = "must be an array of integers", "mend the mechanism's tally"
            raise ParameterError(message("tally", rule, part.dtype.name, remedy))
    whole = first.astype(np.int64, copy=False)
    for part in more:
        each = part.astype(np.int64, copy=False)
        summed = whole + each
        if (((whole ^ summed) & (each ^ summed)) < 0).any():  # two of one sign have a sum of the other
            got = Unsaid("a sum beyond 2^63")
            raise SpecError(message("aggregate", "must have entries of 64 bits", got, "merge fewer aggregates"))
        whole = summed
    return whole
