"""Groups that are too small to say anything, taken together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from hush.estimation import Aggregate
from hush.files.collections import Collection

_Z95 = 1.96


@dataclass(frozen=True)
class Together:
    """The name of several small groups.

    >>> str(Together(12, 57))
    '12 groups of fewer than 57 people, together'
    """

    groups: int
    fewer_than: int

    def __str__(self) -> str:
        return f"{self.groups:,} groups of fewer than {self.fewer_than:,} people, together"


def plain_group(group: Any, n: int) -> dict[str, Any]:
    """A group for programs: its name, of how many it is where it is of several, and its size."""
    if isinstance(group, Together):
        return {"group": str(group), "together": group.groups, "n": n}
    return {"group": group, "n": n}


def folded(collection: Collection, floor: int, most: int | None = None) -> Collection:
    """Groups of fewer people than the floor as one, at the end; the others as they were.

    Reports of several groups are reports of all their people, so what is estimated is the frequency among these, with
    intervals that hold. One small group alone keeps its name: nothing is gained by hiding it.

    Args:
        collection: What the files hold.
        floor: People that a group needs to stand alone.
        most: The most groups there may be; of more, the smallest are taken together, too.
    """
    parts: dict[Any, Aggregate] = collection.parts
    small = {group for group, part in parts.items() if part.n < floor}
    if most is not None and len(parts) - len(small) + (len(small) > 0) > most:
        small = set(sorted(parts, key=lambda group: -parts[group].n)[most - 1 :])
    if len(small) < 2:
        return collection
    rest = {group: part for group, part in parts.items() if group not in small}
    name = Together(len(small), max(floor, 1 + max(parts[group].n for group in small)))
    return replace(collection, parts={**rest, name: reduce(add, (parts[group] for group in parts if group in small))})


def by_size(collection: Collection) -> Collection:
    """The largest group first; those taken together last."""
    found = sorted(collection.parts.items(), key=lambda item: (isinstance(item[0], Together), -item[1].n))
    return replace(collection, parts=dict(found))


def telling(collection: Collection, attribute: str | None = None) -> int:
    """People from whom on a group says something: its 95 % interval would tell everybody's first value from nothing.

    In a smaller group no value stands out, unless by noise. Of tuples, it is about one attribute.
    """
    total = collection.total
    if not total.n:
        return 1
    whole = collection.estimates(total)[attribute]
    if np.isnan(whole.frequencies).any():
        return 1
    first = int(np.argmax(whole.frequencies))
    most, one = float(whole.interval(0.95)[1][first]), float(whole.stderr[first]) * math.sqrt(total.n)
    return max(1, math.ceil((_Z95 * one / min(most, 1.0)) ** 2)) if most > 0 else 1
