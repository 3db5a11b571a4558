"""Differences of frequencies with intervals that cover at every n.

Between two independent collections: a frequency of the first may be too small for its tally by so many standard
deviations, in the sense of the normal law's tails, and one of the second too large. The pair of both is rejected
outside a staircase under a line, which two independent normal variables leave as often as may be missed. Exact tests
stray no farther than these do, so this covers for every pair of frequencies, and the difference with it. The line
weighs the two by the roots of their numbers of people, which nobody's report changes.

Between values of one collection, whose tallies depend on one another: both ends share what may be missed. If all values
are covered together, so are all their differences.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.errors import ParameterError, message
from hush.estimation import intervals
from hush.estimation.laws import NORMAL, Interval
from hush.people.domain import Label
from hush.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from hush.estimation.estimate import Estimate

_STEPS = 24
_LEAST = 1e-6  # of what may be missed: no end needs less, however unequal two collections are
_UNEQUAL = 1e6  # of deviations: from there on, a line that is steeper has the same steps
_MOST_PAIRS = 10**7


@dataclass(frozen=True, eq=False)
class Difference:
    """Frequencies of one estimate less those of another, value by value.

    Args:
        first: What is subtracted from.
        second: What is subtracted.
        independent: Whether reports of the two were randomized independently of each other.
    """

    first: Estimate
    second: Estimate
    independent: bool = True

    @property
    def differences(self) -> Floats:
        """Raw and unbiased."""
        return np.asarray(self.first.frequencies - self.second.frequencies)

    @property
    def labels(self) -> list[Label]:
        """The labels, in the order of the differences."""
        return self.first.labels

    @property
    def stderr(self) -> Floats:
        """Standard errors; where the two are not independent, an upper bound."""
        one, other = self.first.stderr, self.second.stderr
        return np.asarray(np.hypot(one, other) if self.independent else one + other)

    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False, method: str | None = None
    ) -> Interval[Floats]:
        """Lower and upper ends of confidence intervals; `.method` of the pair says what they rest on.

        Args:
            level: Coverage wanted, strictly between 0 and 1.
            simultaneous: Cover the differences of all values together at that level, not each on its own.
            method: "exact" rests on the laws of both estimates, and covers at every n; "normal" reaches so many
                standard errors to both sides. Left out, exact where the normal law is not as good.
        """
        intervals.checked_method(method)
        size = self.differences.size
        tail = intervals.tail(level, size if simultaneous else 1)
        reach = intervals.deviations(tail) * self.stderr
        laws = self.first.known, self.second.known
        plain = np.ones(size, np.bool_)
        if method == "exact" and None in laws:
            rule, remedy = "must be 'normal', since no other law of an estimate is known", "leave it out"
            raise ParameterError(message("method", rule, method, remedy))
        if method != "normal" and laws[0] is not None and laws[1] is not None:
            plain = ~plain if method == "exact" else laws[0].normal(tail / 2) & laws[1].normal(tail / 2)
        low, high = self.differences - reach, self.differences + reach
        words = [NORMAL] * size
        if not plain.all():
            low[~plain], high[~plain] = self._ends(tail, ~plain)
            both = zip(*(law.words(~plain) for law in laws if law is not None), strict=True)
            for at, pair in zip(np.flatnonzero(~plain).tolist(), both, strict=True):
                words[at] = "exact" if set(pair) == {"exact"} else next(word for word in pair if word != "exact")
        return Interval(low, high, words)

    def _ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        one, other = self.first.known, self.second.known
        assert one is not None
        assert other is not None
        corners = [(tail / 2, tail / 2)]
        if self.independent:
            share = (self.first.n / self.second.n) ** 0.5  # deviations of the second one by those of the first
            corners = _corners(tail, float(f"{min(max(share, 1 / _UNEQUAL), _UNEQUAL):.6g}"))
        low, high = np.full(int(wanted.sum()), 1.0), np.full(int(wanted.sum()), -1.0)
        for first, second in corners:
            mine, theirs = one.ends(first, wanted), other.ends(second, wanted)
            low, high = np.minimum(low, mine[0] - theirs[1]), np.maximum(high, mine[1] - theirs[0])
        return low, high

    def rows(self, level: float = 0.95, *, simultaneous: bool = False) -> list[dict[str, Any]]:
        """One plain dict per value."""
        found = self.interval(level, simultaneous=simultaneous)
        columns = zip(self.labels, self.differences, self.stderr, *found, found.methods, strict=True)
        names = "difference", "stderr", "lower", "upper"
        return [
            {"label": label, **dict(zip(names, map(float, numbers), strict=True)), "method": method}
            for label, *numbers, method in columns
        ]


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """Differences between values of one estimate.

    Args:
        estimate: The estimate.
        first: Values to subtract from.
        second: Values to subtract, one for each.
    """

    estimate: Estimate
    first: Ints
    second: Ints

    @property
    def differences(self) -> Floats:
        """Raw and unbiased."""
        return np.asarray(self.estimate.frequencies[self.first] - self.estimate.frequencies[self.second])

    @property
    def labels(self) -> list[tuple[Label, Label]]:
        """The two labels of each."""
        names = self.estimate.labels
        return [(names[u], names[v]) for u, v in zip(self.first.tolist(), self.second.tolist(), strict=True)]

    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False, method: str | None = None
    ) -> Interval[Floats]:
        """Lower and upper ends, however the two estimates depend on each other.

        Args:
            level: Coverage wanted, strictly between 0 and 1.
            simultaneous: Cover all of them together at that level: by intervals that cover all values that take part.
            method: As for `Estimate.interval`, whose ends these are made of.
        """
        values, where = np.unique(np.concatenate([self.first, self.second]), return_inverse=True)
        items = values.size if simultaneous else 2
        # k intervals of one level between them miss as often as `items` of the whole one
        within = self.estimate.interval(1 - 2 * intervals.tail(level, items), method=method)
        one, other = np.split(where.ravel(), 2)
        low, high = within.lower[values], within.upper[values]
        words = [within.methods[value] for value in values.tolist()]
        pairs = zip(one.tolist(), other.tolist(), strict=True)
        joint = [words[u] if words[u] == words[v] else "bound" for u, v in pairs]
        return Interval(low[one] - high[other], high[one] - low[other], joint)

    def rows(self, level: float = 0.95, *, simultaneous: bool = False) -> list[dict[str, Any]]:
        """One plain dict per pair."""
        found = self.interval(level, simultaneous=simultaneous)
        columns = zip(self.labels, self.differences, *found, found.methods, strict=True)
        return [
            {
                "label": label,
                "than": than,
                "difference": float(mean),
                "lower": float(low),
                "upper": float(high),
                "method": word,
            }
            for (label, than), mean, low, high, word in columns
        ]


def between(first: Estimate, second: Estimate, *, independent: bool) -> Difference:
    """The difference of two raw estimates of the same values."""
    from hush.estimation.estimate import Estimate

    if not isinstance(second, Estimate):
        raise ParameterError(message("other", "must be an Estimate", type(second), "pass what spec.estimate gives"))
    if first.labels != second.labels:
        rule, remedy = "must be of the same values in the same order", "estimate both with one domain"
        raise ParameterError(message("other", rule, f"{second.domain.size} values", remedy))
    _ = first.stderr, second.stderr  # which say why there are none after a projection
    return Difference(first, second, independent)


def among(estimate: Estimate, pairs: Iterable[tuple[Label, Label]] | None) -> PairDifferences:
    """Differences between pairs of labels; all pairs, each once, if none are named."""
    _ = estimate.stderr
    k = estimate.domain.size
    if pairs is None:
        if k * (k - 1) // 2 > _MOST_PAIRS:
            raise ParameterError(
                message("pairs", f"must be named where there are more than {_MOST_PAIRS}", None, "name those you need")
            )
        one, other = np.triu_indices(k, 1)
        return PairDifferences(estimate, one.astype(np.int64), other.astype(np.int64))
    rule, remedy = "must be pairs of two different labels", "use e.g. [('bus', 'train')]"
    if not isinstance(pairs, Iterable):
        raise ParameterError(message("pairs", rule, pairs, remedy))
    listed = list(pairs)
    if not listed or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
        raise ParameterError(message("pairs", rule, listed, remedy))
    if not all(isinstance(label, (str, numbers.Real)) for pair in listed for label in pair):
        raise ParameterError(message("pairs", rule, listed, remedy))
    places = {label: estimate.domain.find(label) for pair in listed for label in pair}
    unknown = [label for label, place in places.items() if place is None]
    if unknown:
        raise ParameterError(message("pairs", "must name labels of the domain", unknown[0], "look at estimate.labels"))
    ends = np.array([[places[label] for label in pair] for pair in listed], np.int64)
    if (ends[:, 0] == ends[:, 1]).any():
        raise ParameterError(message("pairs", rule, listed, remedy))
    return PairDifferences(estimate, ends[:, 0], ends[:, 1])


@lru_cache(maxsize=64)
def _corners(tail: float, share: float) -> list[tuple[float, float]]:
    """Tails of the two at each corner of the staircase, so that it is left with the chance `tail`.

    Where one of the two is far larger, many steps are of no height; their corners are left out.
    """
    from scipy.special import ndtr

    up = np.arange(1, _STEPS + 1) / _STEPS
    down = up[::-1]

    def missed(reach: float) -> tuple[float, Floats, Floats]:
        # a line on which deviations weigh as much as one is wide
        wide = reach * np.hypot(1, share)
        one, other = (np.maximum(ndtr(-far), _LEAST * tail) for far in (wide * up, wide / share * down))
        columns = -np.diff(one, prepend=1.0)
        return float(columns @ other + one[-1]), one, other

    low, high = 0.0, 60.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle)[0] > tail else (low, middle)
    _, one, other = missed(high)
    corners: list[tuple[float, float]] = []
    for pair in zip(one.tolist(), other.tolist(), strict=True):
        if corners and corners[-1][1] == pair[1]:
            corners.pop()
        if not corners or pair[0] < corners[-1][0]:
            corners.append(pair)
    return corners
