"""Sums over all hyperplanes at once, and people spread over hyperplanes.

The way down takes the coordinates of all values one by one, as Feldman et al. (2022) do: values that begin alike share
their work, and after each coordinate the messages have one digit fewer. Canonical forms are laid out so that no
message is ever rescaled: a step adds blocks of q counters, moved by a constant, in memory order. Coordinates that
the first k values do not use are never looked at, so the cost is O(K + k q t) additions, not O(K q t).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis.projective import points
from hush.kernels import chunks
from hush.mechanisms.projective.field import Space
from hush.types import Ints

Numbers = npt.NDArray[Any]

_WORTH_THREADS = 1 << 21


def over_hyperplanes(counts: Numbers, k: int, space: Space, *, largest: bool = False) -> Numbers:
    """For each of the first k values, the sum (or the largest) of what the messages on its hyperplane hold.

    Incidence is symmetric: with one number for each value, and k = K, it answers for every message.
    """
    from hush.kernels.projective import fold

    q = int(space.field.q)
    whole, zeros = counts, counts.dtype.type(0)
    out = np.empty(k, counts.dtype)
    for length in range(space.t - 1, -1, -1):
        first = points(q, length)
        wanted = min(k - first, q**length)
        out[first : first + wanted] = _group(whole, zeros, length, wanted, space, largest)
        zeros = max(zeros, whole[0]) if largest else zeros + whole[0]
        whole = fold(whole, q, largest)
    return out


def hyperplane_sizes(q: int, t: int, k: int) -> tuple[Ints, Ints]:
    """Count the messages that favor each number of the first k values: the numbers, and how many messages have each.

    The first values are a whole hyperplane and a group of r values with a leading one and t - 1 digits, in the order of
    the number that these digits write. Take messages whose j lowest coordinates are zero and whose next one is not.
    Every run of q^(j + 1) values of the group, alike in the higher digits, then holds q^j favored ones: the digit of
    place j is the solution of an equation, and those below it are free. In the run that r cuts, at digit b and c more
    values, the solution is each of the q digits equally often: below b it adds q^j values, at b it adds c, above none.
    """
    whole = points(q, t - 1)
    rest, sizes, messages = k - whole, [whole], [1]  # one message favors all of the hyperplane, and none of the group
    for j in range(t - 1):
        runs, left = divmod(rest, q ** (j + 1))
        digit, more = divmod(left, q**j)
        least, times = points(q, t - 2) + runs * q**j, q ** (t - 2 - j)
        sizes += [least + q**j, least + more, least]
        messages += [times * digit, times, times * (q - digit - 1)]
    found, at = np.unique(sizes, return_inverse=True)
    counts = np.zeros(found.size, np.int64)
    np.add.at(counts, at.ravel(), messages)
    return found[counts > 0].astype(np.int64), counts[counts > 0]


def _group(whole: Numbers, zeros: Any, length: int, wanted: int, space: Space, largest: bool) -> Numbers:
    """Values with so many digits after their leading one, the first `wanted` of them."""
    if length == 0:
        return np.full(1, zeros)
    q = int(space.field.q)
    nodes = whole[None].copy()
    nodes[0, 0] = zeros
    for left in range(length - 1, 0, -1):
        nodes = _step(nodes, -(-wanted // q**left), points(q, left), space, largest)
    opposite = _negatives(space)[: min(q, wanted)]
    ends = np.maximum(nodes[:, :1], nodes[:, 1 + opposite]) if largest else nodes[:, :1] + nodes[:, 1 + opposite]
    return ends.ravel()[:wanted]


def _step(parents: Numbers, count: int, ranks: int, space: Space, largest: bool) -> Numbers:
    """The children of all nodes, on all cores where that pays: by parents if they are many, else by ranks."""
    from hush.kernels.projective import project

    q = int(space.field.q)
    children = np.empty((count, 1 + q * ranks), parents.dtype)
    many = len(parents) >= 4 * chunks.threads()
    whole = len(parents) if many else ranks
    work = count * ranks * q * q
    size = whole if work < _WORTH_THREADS else -(-whole // (4 * chunks.threads()))

    def piece(start: int, stop: int) -> None:
        span = (start, stop, 0, ranks) if many else (0, len(parents), start, stop)
        project(parents, space, largest, *span, children)

    chunks.each(whole, size, piece)
    return children


def _negatives(space: Space) -> Ints:
    q = int(space.field.q)
    if space.field.differences.size:
        return space.field.differences[0].astype(np.int64)
    return -np.arange(q) % q


def spread_over_hyperplanes(people: Ints, space: Space, rng: np.random.Generator) -> Ints:
    """Counts of messages where every person takes one on the hyperplane of a value at random. O(min(n t, k q t) + K).

    The same steps the other way: people whose values begin alike, and who took the same digits so far, are split
    together over the next digit.
    """
    from hush.kernels.projective import unfold
    from hush.kernels.words import rejection

    q, t = int(space.field.q), space.t
    whole, zeros = np.zeros(0, np.int64), 0
    for length in range(t):
        first = points(q, length)
        group = people[first : min(people.size, first + q**length)]
        root = _retraced(group, length, space, rng)
        wider = np.zeros(points(q, length + 1), np.int64)
        unfold(rng, q, rejection(q), whole, wider)
        if zeros:
            above = t - length  # coordinates that are still open, this one included
            stay = int(rng.binomial(zeros, points(q, above - 1) / points(q, above)))
            wider[0] += zeros - stay
            zeros = stay
        zeros += int(root[0])
        wider[1:] += root[1:]
        whole = wider
    return whole


def _retraced(group: Ints, length: int, space: Space, rng: np.random.Generator) -> Ints:
    """Where people with values of one length end up, once all coordinates of their values are taken."""
    from hush.kernels.projective import retrace
    from hush.kernels.words import rejection

    q = int(space.field.q)
    nodes = group[:, None].astype(np.int64)
    for taken in range(1, length + 1):
        parents = np.zeros((-(-len(nodes) // q), points(q, taken + 1)), np.int64)
        above = space.t - taken
        retrace(rng, space, rejection(q), points(q, above - 1) / points(q, above), nodes, parents)
        nodes = parents
    return nodes[0]
