"""People, by the values that they hold: who takes part in a collection, or will."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.people.domain import Domain
from hush.types import Floats, Ints

_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Population:
    """People, by the values that they hold.

    Args:
        weights: How many hold each value; where people are drawn, in which proportion they do.
        domain: Their values; 0..k-1 if left out.
        name: What to call them.
        source: Where they come from, in words.
        drawn: How many people are drawn from the weights, anew in every collection; None where the weights are people.
        estimated: Whether an earlier collection estimated them, so that they are not the truth.
        spent: The budget that it took from each of them.
        clipped: How many were moved to the largest amount (see `up_to`).
        unclipped: The total before that; None where nobody was moved.

    >>> import numpy as np
    >>> people = Population(np.array([5, 3, 2]))
    >>> people.n, people.frequencies.tolist(), people.total
    (10, [0.5, 0.3, 0.2], 7.0)
    """

    weights: npt.NDArray[Any]
    domain: Domain = None  # type: ignore[assignment]
    name: str = ""
    source: str = ""
    drawn: int | None = None
    estimated: bool = False
    spent: float = 0.0
    clipped: int = 0
    unclipped: float | None = None

    def __post_init__(self) -> None:
        if self.domain is None:
            object.__setattr__(self, "domain", Domain(size=self.weights.size))
        if self.weights.shape != (self.domain.size,):
            rule = f"must have {self.weights.size} values"
            raise ParameterError(message("domain", rule, self.domain.size, "match counts and domain"))

    @property
    def n(self) -> int:
        """How many people take part."""
        return int(self.weights.sum()) if self.drawn is None else self.drawn

    @property
    def k(self) -> int:
        """Number of values."""
        return self.domain.size

    @property
    def counts(self) -> Ints:
        """How many people hold each value."""
        if self.drawn is not None:
            remedy = "`draw` draws them once, and `whole` takes the nearest counts"
            raise ParameterError(message("counts", "must be fixed", f"{self.drawn} people to draw", remedy))
        return self.weights

    @cached_property
    def frequencies(self) -> Floats:
        """The share of each value; where people are drawn, the shares they are drawn from."""
        return np.asarray(self.weights / (self.weights.sum() or 1), np.float64)

    @cached_property
    def amounts(self) -> Floats:
        """What each value adds to a total."""
        return self.domain.amounts

    @property
    def expected(self) -> float:
        """The total of all amounts, as they are counted: an unbiased estimate is right about this one."""
        return float(self.amounts @ self.counts)

    @property
    def total(self) -> float:
        """The true total, before people were clipped."""
        return self.expected if self.unclipped is None else self.unclipped

    @property
    def mean(self) -> float:
        """Of all people's amounts, as they are counted."""
        return float(self.amounts @ self.counts / self.n)

    def values(self, rng: np.random.Generator | None = None) -> Ints:
        """One value a person, in random order when `rng` is given, else sorted."""
        return _shuffled(np.repeat(np.arange(self.k, dtype=np.int64), self.counts), rng)

    def held(self, rng: np.random.Generator | None = None) -> Floats:
        """One amount a person, in random order when `rng` is given."""
        return _shuffled(np.repeat(self.amounts, self.counts), rng)

    def blocks(self, size: int = _BLOCK) -> Iterator[Floats]:
        """Everybody's amount, value after value, so many people at a time."""
        ends, n = np.cumsum(self.counts), self.n
        for start in range(0, n, size):
            people = np.arange(start, min(start + size, n))
            yield self.amounts[np.searchsorted(ends, people, side="right")]

    def drawing(self, n: int | None) -> Population:
        """The same shares, of which so many people are drawn in every collection; unchanged where n is None."""
        return self if n is None else replace(self, drawn=n)

    def draw(self, rng: np.random.Generator) -> Population:
        """The people of one collection."""
        if self.drawn is None:
            return self
        return replace(self, weights=rng.multinomial(self.drawn, self.frequencies).astype(np.int64), drawn=None)

    def whole(self) -> Population:
        """The whole people who are nearest to what would be drawn."""
        if self.drawn is None:
            return self
        return replace(self, weights=apportioned(self.frequencies, self.drawn), drawn=None)

    def ordered_as(self, domain: Domain, where: str = "counts") -> Population:
        """The same people by the labels of another domain; nobody holds a label that they are not counted by.

        Args:
            domain: Its labels, of which each of theirs must be one.
            where: What messages call the counts.

        >>> people = Population(np.array([3, 5]), Domain(labels=["yes", "no"]))
        >>> people.ordered_as(Domain(labels=["no", "maybe", "yes"])).counts.tolist()
        [5, 0, 3]
        """
        if self.domain.labels is None:
            return self
        counts, taken = np.zeros(domain.size, np.int64), set[int]()
        for row, (label, count) in enumerate(zip(self.domain.labels, self.counts, strict=True), 1):
            at = domain.find(label)
            if at is None or at in taken:
                kind = "values" if domain.labels is None else "labels"
                rule, remedy = f"must have one of the spec's {domain.size} {kind}, once", "use the spec of these people"
                got = Unsaid("another one" if at is None else "one again")
                raise ParameterError(message(f"{where}, row {row}", rule, got, remedy))
            counts[at] = count
            taken.add(at)
        return replace(self, weights=counts, domain=domain)

    def up_to(self, most: float) -> Population:
        """With larger amounts left out: whoever held one is counted at the largest that is left.

        It shrinks the domain and the noise; `total` is still the whole total.

        >>> people = Population(np.array([5, 3, 1]), Domain(size=3, values=[0, 10, 300])).up_to(50)
        >>> people.expected, people.total, people.clipped
        (40.0, 330.0, 1)
        """
        counts, amounts = self.counts, self.amounts
        kept = amounts <= rules._real(most)
        if kept.sum() < 2:
            raise ParameterError(message("most", "must leave at least two amounts", most, "clip less"))
        moved = int(counts[~kept].sum())
        people = counts[kept].copy()
        people[np.argmax(amounts[kept])] += moved
        left = Domain(size=int(kept.sum()), values=amounts[kept].tolist())
        return replace(self, weights=people, domain=left, clipped=moved, unclipped=self.total)


def apportioned(shares: Floats, n: int) -> Ints:
    """Whole people, n in all, as near to the shares as can be (largest remainder).

    >>> apportioned(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    exact = shares * n
    counts = np.floor(exact).astype(np.int64)
    short = max(0, n - int(counts.sum()))
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return counts


def _shuffled(people: npt.NDArray[Any], rng: np.random.Generator | None) -> npt.NDArray[Any]:
    if rng is not None:
        rng.shuffle(people)
    return people
