"""Pareto fronts of two objectives or more, all to be minimised, and six ways to choose a point on one.

Section V-C and appendix B of "Revisiting locally differentially private protocols" (arXiv 2503.01482), with its
defaults. Every selector looks only at the front and returns the index of a row of the points it was given; among points
that are equally good, to a part in 10^9, the first wins. Objectives are taken as they are: in the paper, attack success
and variance of one report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hush.analysis.choice import first
from hush.errors import ParameterError, message
from hush.types import Floats

Points = npt.ArrayLike


def front(points: Points) -> npt.NDArray[np.bool_]:
    """Which rows no other row dominates (is at most as large everywhere, and smaller somewhere).

    >>> front([[1, 4], [2, 2], [3, 3], [4, 1]]).tolist()
    [True, True, False, True]
    """
    rows = _checked(points)
    kept = np.zeros(len(rows), np.bool_)
    order = np.lexsort(rows.T[::-1])
    if rows.shape[1] == 2:
        kept[order] = ~_overtaken(*rows[order].T)
        return kept
    best: Floats = np.empty((0, rows.shape[1]))
    for at in order:  # in lexicographic order a row can be dominated only by one before it
        row = rows[at]
        worse = (best <= row).all(axis=1) & (best < row).any(axis=1)
        if not worse.any():
            kept[at] = True
            best = np.vstack([best, row])
    return kept


def _overtaken(x: Floats, y: Floats) -> npt.NDArray[np.bool_]:
    """Whether a point, in order of x and then y, has one before it that is as low, and lower or farther left."""
    lowest = np.minimum.accumulate(y)
    before = np.concatenate([[np.inf], lowest[:-1]])
    first = np.maximum.accumulate(np.where(y < before, np.arange(y.size), 0))  # where the lowest so far was met
    left = np.concatenate([[np.inf], x[first][:-1]])
    return np.asarray((before < y) | ((before == y) & (left < x)))


def utopia(points: Points) -> int:
    """Nearest to the origin, the ideal of no attack and no error.

    >>> utopia([[0.1, 0.9], [0.5, 0.5], [0.9, 0.2]])
    1
    """
    return _least(points, distances)


def distances(rows: Floats) -> Floats:
    """From the origin."""
    return np.asarray(np.sqrt((rows**2).sum(axis=1)))


def weighted_sum(points: Points, weights: Sequence[float] | None = None) -> int:
    """Least weighted sum; equal weights when left out. The paper's default."""
    return _least(points, lambda rows: sums(rows, weights))


def sums(rows: Floats, weights: Sequence[float] | None = None) -> Floats:
    """Weighted sums."""
    return np.asarray((rows * _weights(weights, rows.shape[1])).sum(axis=1))


def elbow(points: Points) -> int:
    """Farthest from the straight line (two objectives) between the ends of the front; the first end if none is."""
    rows = _checked(points)
    if rows.shape[1] != 2:
        raise ParameterError(message("points", "must have two objectives", rows.shape[1], "use another selector"))

    def minus_distance(kept: Floats) -> Floats:
        start, end = kept[kept[:, 0].argmin()], kept[kept[:, 0].argmax()]
        chord = end - start
        length = float(np.linalg.norm(chord))
        offset = kept - start
        across = np.abs(chord[0] * offset[:, 1] - chord[1] * offset[:, 0])
        return -across / length if length > 0 else np.zeros(len(kept))

    return _least(rows, minus_distance)


def constraint(points: Points, limit: float = 0.1, *, of: int = 0, least: int = 1) -> int:
    """Least of one objective where another stays within a limit; the utopia point where none does."""
    return _least(points, lambda rows: limited(rows, limit, of=of, least=least))


def limited(rows: Floats, limit: float = 0.1, *, of: int = 0, least: int = 1) -> Floats:
    """One objective where another stays within a limit, infinite elsewhere; distances where none does."""
    within = rows[:, of] <= limit
    return np.where(within, rows[:, least], np.inf) if within.any() else distances(rows)


def hypervolume(points: Points, reference: Sequence[float] | None = None) -> int:
    """Largest box between the point and a reference, ones when left out; the utopia point where every box is empty."""
    return _least(points, lambda rows: lost_volumes(rows, reference))


def lost_volumes(rows: Floats, reference: Sequence[float] | None = None) -> Floats:
    """Minus the volumes of the boxes between points and a reference; distances where every box is empty."""
    corner = np.ones(rows.shape[1]) if reference is None else np.asarray(reference, np.float64)
    volume = np.maximum(corner - rows, 0.0).prod(axis=1)
    return -volume if volume.any() else distances(rows)


def tchebycheff(points: Points, weights: Sequence[float] | None = None, rho: float = 1e-6) -> int:
    """Least of the largest weighted objective, plus rho times their weighted sum (augmented Tchebycheff)."""
    return _least(points, lambda rows: largest(rows, weights, rho))


def largest(rows: Floats, weights: Sequence[float] | None = None, rho: float = 1e-6) -> Floats:
    """The largest weighted objective, plus rho times their weighted sum."""
    weighted = rows * _weights(weights, rows.shape[1])
    return np.asarray(weighted.max(axis=1) + rho * weighted.sum(axis=1))


def _least(points: Points, score: Callable[[Floats], Floats]) -> int:
    rows = _checked(points)
    kept = np.nonzero(front(rows))[0]
    return int(kept[first(score(rows[kept]))])


def _checked(points: Points) -> Floats:
    rows = np.asarray(points, dtype=np.float64)
    if rows.ndim != 2 or len(rows) == 0 or rows.shape[1] < 2:
        raise ParameterError(
            message("points", "must be rows of two objectives or more", rows.shape, "give one row for each choice")
        )
    if np.isnan(rows).any():
        raise ParameterError(message("points", "must be numbers", "NaN", "leave out what has no value"))
    return rows


def _weights(weights: Sequence[float] | None, size: int) -> Floats:
    if weights is None:
        return np.full(size, 1.0 / size)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (size,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() <= 0:
        raise ParameterError(
            message("weights", f"must be {size} non-negative numbers, not all zero", weights, "use e.g. 0.5 each")
        )
    return np.asarray(given / given.sum(), dtype=np.float64)
