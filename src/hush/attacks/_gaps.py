"""Tables with gaps: how likely several reports with fake data are together where a person's values are unknown.

Given a tuple v, the likelihood of the report of collection c is, up to a factor, the sum over the attribute j that may
have been sampled of A_cj(v_j). All collections are about the same values, so an unknown value is one and the same in
all of them: what counts is the mean over the unknown values of the product over collections of these sums. It does
not fall apart into attributes. There are two exact ways to it, and the one with fewer terms is taken:

- over the unknown values: every tuple that a person may hold, each likelihood weighed by belief;
- over the sets of collections: multiplied out, an attribute j brings, for each set T of collections, the mean over its
  values of the product of A_cj over c in T. Attributes are put together by splitting sets among them.

All terms are positive, so nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush.attacks.ties import CELLS
from hush.errors import ParameterError, message
from hush.types import Floats, Ints

UNKNOWN = -1
"""In a table, a value that the attacker does not know."""

MOST_TERMS = 1 << 22
"""Up to so many terms are added up for one person's reports."""


def log(likelihood: Floats) -> Floats:
    """The logarithm, of zero too."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(likelihood), np.float64)


@dataclass(frozen=True)
class Pattern:
    """People with gaps in the same places.

    Args:
        gaps: The attributes that are unknown.
        rows: Which rows of the table's distinct ones they are.
    """

    gaps: tuple[int, ...]
    rows: Ints


@dataclass(frozen=True)
class Gaps:
    """A table with gaps, and what is believed of the unknown values.

    Args:
        table: What is known: shape (people, d), -1 where a value is unknown.
        beliefs: How likely each value of each attribute is where it is unknown.
    """

    table: Ints
    beliefs: tuple[Floats, ...]

    @cached_property
    def _distinct(self) -> tuple[Ints, Ints]:
        """The rows of the table that differ, and which of them each person has."""
        rows, of = np.unique(self.table, axis=0, return_inverse=True)
        return rows, of.reshape(-1)

    @cached_property
    def patterns(self) -> list[Pattern]:
        """People by where their gaps are."""
        missing, of = np.unique(self._distinct[0] == UNKNOWN, axis=0, return_inverse=True)
        places = (tuple(np.nonzero(row)[0].tolist()) for row in missing)
        return [Pattern(gaps, np.nonzero(of.reshape(-1) == at)[0]) for at, gaps in enumerate(places)]

    @cached_property
    def _possible(self) -> list[Ints]:
        """The values of each attribute that somebody may hold."""
        return [np.nonzero(belief)[0] for belief in self.beliefs]

    def _ways(self, pattern: Pattern) -> int:
        """In how many ways a row of this pattern can be completed."""
        return math.prod(self._possible[j].size for j in pattern.gaps)

    @property
    def by_values(self) -> int:
        """How many terms the sum over unknown values has: all ways to complete a row, times attributes."""
        return len(self.beliefs) * sum(pattern.rows.size * self._ways(pattern) for pattern in self.patterns)

    def by_sets(self, collections: int) -> int:
        """How many terms the sum over sets of collections has."""
        joined = sum(len(pattern.gaps) for pattern in self.patterns)
        size = min(collections, 64)  # far too many already
        return int(len(self._distinct[0]) * 2**size + joined * 3**size)

    def check(self, collections: int) -> None:
        """Refuse a table for which both ways are too long."""
        least = min(self.by_values, self.by_sets(collections))
        if least > MOST_TERMS:
            rule = f"must leave at most {MOST_TERMS} terms to add up over unknown values for {collections} collections"
            remedy = "use fewer attributes with gaps, or fewer collections"
            raise ParameterError(message("table", rule, least, remedy))

    def width(self, collections: int) -> int:
        """How many numbers are held for one person's reports."""
        every = collections * sum(belief.size for belief in self.beliefs)
        if self.by_values <= self.by_sets(collections):
            return max(len(self.table), len(self._completed[0]), every)
        return max(len(self.table) * (collections + 1), len(self.beliefs) << collections, every)

    def scores(self, collected: Sequence[list[Floats]]) -> Floats:
        """Log-likelihood of everybody in the table, shape (n, people), up to a constant for each row.

        Args:
            collected: What `likelihoods` gave for each collection.
        """
        if self.by_values <= self.by_sets(len(collected)):
            found = self.over_values(collected)
        else:
            found = self.over_sets(collected)
        return np.take(found, self._distinct[1], axis=1)

    # Over the unknown values.

    @cached_property
    def _completed(self) -> tuple[Ints, list[Ints]]:
        """Every tuple that somebody may hold; for each pattern, which of them its rows may be, shape (rows, ways)."""
        rows = self._distinct[0]
        wholes = []
        for pattern in self.patterns:
            whole = np.repeat(rows[pattern.rows][:, None], self._ways(pattern), axis=1)
            if pattern.gaps:
                grid = np.meshgrid(*(self._possible[j] for j in pattern.gaps), indexing="ij")
                whole[:, :, pattern.gaps] = np.stack([each.ravel() for each in grid], axis=1)
            wholes.append(whole)
        every = np.concatenate([whole.reshape(-1, rows.shape[1]) for whole in wholes])
        tuples, of = _unique(every, [belief.size for belief in self.beliefs])
        places = np.split(of, np.cumsum([whole.shape[0] * whole.shape[1] for whole in wholes])[:-1])
        return tuples, [place.reshape(whole.shape[:2]) for place, whole in zip(places, wholes, strict=True)]

    def _weights(self, pattern: Pattern) -> Floats:
        """How likely each way to complete a row is."""
        total = np.ones(1)
        for j in pattern.gaps:
            total = np.multiply.outer(total, self.beliefs[j][self._possible[j]]).ravel()
        return total

    def over_values(self, collected: Sequence[list[Floats]]) -> Floats:
        """The likelihood of every tuple, then its mean over those that a row may be; shape (n, distinct rows)."""
        tuples, ways = self._completed
        n = len(collected[0][0])
        each = np.zeros((n, len(tuples)))
        for level in collected:
            each += log(sum((np.take(a, tuples[:, j], axis=1) for j, a in enumerate(level)), start=np.zeros(())))
        out = np.empty((n, len(self._distinct[0])))
        for pattern, way in zip(self.patterns, ways, strict=True):
            weights = self._weights(pattern)
            step = max(1, CELLS // (n * weights.size))
            for at in range(0, len(way), step):
                part = each[:, way[at : at + step]]
                most = part.max(axis=2)
                most[~np.isfinite(most)] = 0.0
                out[:, pattern.rows[at : at + step]] = log(np.exp(part - most[:, :, None]) @ weights) + most
        return out

    # Over the sets of collections.

    def over_sets(self, collected: Sequence[list[Floats]]) -> Floats:
        """Collections split among the unknown attributes, the others for the known; shape (n, distinct rows)."""
        n, size = len(collected[0][0]), len(collected)
        used = {j for pattern in self.patterns for j in pattern.gaps}
        means = {j: _means([level[j] for level in collected], self.beliefs[j]) for j in used}
        out = np.empty((n, len(self._distinct[0])))
        for pattern in self.patterns:
            unknown = np.zeros((1 << size, n))
            unknown[0] = 1.0
            for j in pattern.gaps:
                unknown = _split(unknown, means[j])
            known = [j for j in range(len(self.beliefs)) if j not in pattern.gaps]
            columns = self._distinct[0][pattern.rows]
            sums = [np.zeros((n, len(columns))) for _ in collected]
            for total, level in zip(sums, collected, strict=True):
                for j in known:
                    total += np.take(level[j], columns[:, j], axis=1)
            out[:, pattern.rows] = log(_joined(unknown, sums))
        return out


def _unique(tuples: Ints, sizes: list[int]) -> tuple[Ints, Ints]:
    """The tuples that differ, and which of them each is; by number where numbers suffice, which is quicker."""
    if math.prod(sizes) >= 1 << 62:
        found, of = np.unique(tuples, axis=0, return_inverse=True)
        return found, of.reshape(-1)
    numbers, of = np.unique(np.ravel_multi_index(tuple(tuples.T), sizes), return_inverse=True)
    return np.stack(np.unravel_index(numbers, sizes), axis=1), of.reshape(-1)


def _means(level: Sequence[Floats], belief: Floats) -> Floats:
    """For each set of collections, the mean over an attribute's values of the product over the set; shape (sets, n)."""
    out = np.empty((1 << len(level), len(level[0])))

    def fill(chosen: int, at: int, product: Floats) -> None:
        if at == len(level):
            out[chosen] = product @ belief
            return
        fill(chosen, at + 1, product)
        fill(chosen | 1 << at, at + 1, product * level[at])

    fill(0, 0, np.ones_like(level[0]))
    return out


def _split(first: Floats, second: Floats) -> Floats:
    """For each set, the sum over its parts of the first at the part, times the second at the rest."""
    sets = np.arange(len(first))
    out = np.zeros_like(first)
    for part in range(len(first)):
        whole = sets[sets & part == part]
        out[whole] += first[part] * second[whole ^ part]
    return out


def _joined(unknown: Floats, sums: Sequence[Floats]) -> Floats:
    """The sum over sets of the unknown attributes' share, times the known ones' sums for all other collections."""
    if not sums:
        return unknown[0][:, None]
    half = len(unknown) // 2
    return _joined(unknown[half:], sums[:-1]) + _joined(unknown[:half], sums[:-1]) * sums[-1]
