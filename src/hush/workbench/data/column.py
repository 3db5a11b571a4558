"""A column of a table, as how often each of its values stands there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hush.errors import ParameterError, Unsaid, message
from hush.people import Domain, Population
from hush.people.domain import Label
from hush.people.population import apportioned

MOST_VALUES = 1000
"""Different values that are tried, at most."""
OTHER = "other"
"""What the values that are not kept are called, unless one of them is."""


@dataclass(frozen=True)
class CountedColumn:
    """Values in a column, the most frequent first.

    Args:
        name: Of the column.
        counts: How many rows hold each value.
        missing: How many rows hold none; these people are left out.
    """

    name: str
    counts: Mapping[Label, int]
    missing: int = 0

    @property
    def rows(self) -> int:
        """Rows that hold a value."""
        return sum(self.counts.values())

    def kept(self, most: int | None = None) -> Population:
        """The people by their values; of many values, the most frequent ones, and one that takes in the rest.

        Args:
            most: So many values are kept as they are; all if left out.
        """
        labels, numbers = list(self.counts), list(self.counts.values())
        if most is not None and len(labels) > most:
            rest = sum(numbers[most:])
            labels, numbers = labels[:most], numbers[:most]
            other = OTHER
            while other in labels:
                other += "…"
            labels, numbers = [*labels, other], [*numbers, rest]
        if len(labels) < 2:
            rule, got = "must hold at least two different values", Unsaid("one" if labels else "none at all")
            raise ParameterError(message(f"Column {self.name}", rule, got, "choose another column"))
        if len(labels) > MOST_VALUES:
            rule = f"must hold at most {MOST_VALUES:,} different values"
            remedy = "keep the most frequent ones and count the rest as one, or choose another column"
            raise ParameterError(message(f"Column {self.name}", rule, Unsaid(f"{len(labels):,}"), remedy))
        return Population(np.array(numbers, np.int64), Domain(labels=labels), self.name)


def scaled(people: Population, n: int | None) -> Population:
    """So many people with the same shares, as near as whole people can be; unchanged where n is None or theirs.

    >>> scaled(Population(np.array([2, 1, 1])), 8).counts.tolist()
    [4, 2, 2]
    """
    if n is None or n == people.n:
        return people
    return Population(apportioned(people.frequencies, n), people.domain, people.name)
