"""Groups that are too small to say anything, taken together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from hush.cli import _console
from hush.estimation import Aggregate
from hush.files.collections import Collection
from hush.reports.words import described, many, shortened

LONGEST = 40
_SHORT = 26
_Z95 = 1.96
_Any = TypeVar("_Any", bound=Collection)


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


def title_of(collection: Collection) -> str:
    """A collection in a few words."""
    return f"{described(collection.spec)}, {many(collection.total.n, 'report', 'reports')}"


def named(group: Any) -> str:
    """A group in words."""
    if isinstance(group, Together):
        return str(group)
    return "missing" if group is None else _console.clean(shortened(group, LONGEST))


def headline(group: Any, n: int) -> str:
    """A group and its size, above a panel.

    >>> headline("north", 6667), headline(Together(12, 57), 240)
    ('north, 6,667 people', '12 groups of fewer than 57: 240 people')
    """
    people = many(n, "person", "people")
    if isinstance(group, Together):
        return f"{group.groups:,} groups of fewer than {group.fewer_than:,}: {people}"
    return f"{shortened(named(group), _SHORT)}, {people}"


def plain_group(group: Any, n: int) -> dict[str, Any]:
    """A group for programs: its name, of how many it is where it is of several, and its size."""
    if isinstance(group, Together):
        return {"group": str(group), "together": group.groups, "n": n}
    return {"group": group, "n": n}


def folded(collection: _Any, floor: int, most: int | None = None) -> _Any:
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


def by_size(collection: _Any) -> _Any:
    """The largest group first; those taken together last."""
    found = sorted(collection.parts.items(), key=lambda item: (isinstance(item[0], Together), -item[1].n))
    return replace(collection, parts=dict(found))


def telling(collection: Collection) -> int:
    """People from whom on a group says something: its 95 % interval would tell everybody's first value from nothing.

    In a smaller group no value stands out, unless by noise.
    """
    total = collection.total
    if not total.n:
        return 1
    whole = collection.spec.estimate(total)
    first = int(np.argmax(whole.frequencies))
    most, one = float(whole.interval(0.95)[1][first]), float(whole.stderr[first]) * math.sqrt(total.n)
    return max(1, math.ceil((_Z95 * one / min(most, 1.0)) ** 2)) if most > 0 else 1
