"""Which of the choices beside the first are worth a thought."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from hush.planning.wishes import NUMBERS

Numbers = Mapping[str, float]

SHOWN = 5
"""So many are."""
_NOTICED = 1.1
_ALIKE = 0.05


def on_front(numbers: Sequence[Numbers], names: Sequence[str] = NUMBERS) -> npt.NDArray[np.bool_]:
    """Rows that no other beats: one as good in every number that is named, and better in one.

    What differs by rounding alone, in the sixth digit, is equal.
    """
    logs = np.log(np.maximum([[row[name] for name in names] for row in numbers], 1e-300)).round(6)
    one, other = logs[:, None], logs[None]
    return np.asarray(~((one <= other).all(axis=2) & (one < other).any(axis=2)).any(axis=0))


def alike(one: Numbers, other: Numbers, within: float = _ALIKE, names: Sequence[str] = NUMBERS) -> bool:
    """Whether two rows differ by no more than a share of each number, 5 % if left out."""
    return all(abs(one[name] - other[name]) <= within * abs(other[name]) for name in names)


def shortlist(
    numbers: Sequence[Numbers], front: Sequence[bool] | npt.NDArray[np.bool_], names: Sequence[str] = NUMBERS
) -> list[int]:
    """Of ranked rows, those worth a thought beside the first: on the front, a tenth better in something, and unlike.

    First the least of each number, where that is a tenth below the first row's: who cares for that one most should
    know it. Then the others in their order.

    >>> row = dict.fromkeys(NUMBERS, 1.0)
    >>> shortlist([row, {**row, "bits": 0.99}, {**row, "epsilon": 0.5, "bits": 9.0}], [True, True, True])
    [2]
    """

    def gains(i: int) -> bool:
        return any(numbers[i][name] * _NOTICED < numbers[0][name] for name in names)

    able = [i for i in range(1, len(numbers)) if front[i] and gains(i)]
    best = [min(able, key=lambda i: (round(math.log(max(numbers[i][x], 1e-300)), 3), i)) for x in names if able]
    telling = [i for i, x in zip(best, names, strict=False) if numbers[i][x] * _NOTICED < numbers[0][x]]
    found: list[int] = []
    for i in (*telling, *able):
        if len(found) < SHOWN and not any(alike(numbers[i], numbers[j], names=names) for j in (0, *found)):
            found.append(i)
    return sorted(found)
