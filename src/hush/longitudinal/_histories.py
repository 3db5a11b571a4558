"""The loss between two histories of one person, exactly, and without going through every sequence of reports.

Three things shorten the way. Reports at times that are in one state under both histories may change places, so that it
only counts how often each answer comes. Times that share a state under neither history are independent, so that their
losses add up. And answers that no state prefers to each other may change names. Of what is alike in this way, one is
looked at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hush.errors import ParameterError, Unsaid, message
from hush.types import Floats, Ints

MOST = 1 << 18
"""How many ways for reports to come are looked at; a second or two."""

_BATCH = 1 << 12


def extremes(
    first: Ints,
    second: Ints,
    answers: Callable[[Ints, int], tuple[Sequence[int], Sequence[int]]],
    likelihood: Callable[[Ints, Ints], Floats],
) -> tuple[float, float]:
    """The least and the greatest log-likelihood ratio of two courses of states, over all that can be reported.

    Args:
        first: The state at each time.
        second: The same, in the other history.
        answers: From states to the answers, by number: those that differ, and those that may change names, of which no
            more than so many are needed.
        likelihood: Log-likelihood of each row of answers for that row of states.
    """
    low = high = 0.0
    for times in _together(first, second):
        one, other = first[times], second[times]
        if (one == other).all():
            continue
        own, alike = answers(np.union1d(one, other), times.size)
        lengths = _lengths(one, other)
        ways = math.prod(math.comb(length + len(own) + len(alike) - 1, length) for length in lengths)
        seen = ways // math.factorial(len(alike))  # at least so many are left where names are exchanged
        rows = _filled(lengths, own, [list(alike)] if alike else [])
        least, greatest = np.inf, -np.inf
        for turn in itertools.count(1):
            if max(seen, (turn - 1) * _BATCH) > MOST:
                rule = f"must leave at most {MOST} ways for the reports to come"
                remedy = "take fewer reports or a smaller k, or the bound that history_bound gives"
                raise ParameterError(message("first", rule, Unsaid("more"), remedy))
            batch = list(itertools.islice(rows, _BATCH))
            if not batch:
                break
            reported = np.array(batch)
            logs = [likelihood(reported, np.tile(states, (len(batch), 1))) for states in (one, other)]
            possible = np.isfinite(logs[0]) | np.isfinite(logs[1])
            ratios = logs[0][possible] - logs[1][possible]
            least, greatest = min(least, ratios.min(initial=np.inf)), max(greatest, ratios.max(initial=-np.inf))
        low, high = low + least, high + greatest
    return float(low), float(high)


def _together(first: Ints, second: Ints) -> list[Ints]:
    """Times in groups that share no state under either history; within a group, sorted by both states."""
    group = np.arange(first.size)
    while True:
        before = group.copy()
        for states in (first, second):
            for state in np.unique(states):
                group[states == state] = group[states == state].min()
        if (group == before).all():
            break
    order = np.lexsort((second, first))
    return [order[group[order] == name] for name in np.unique(group)]


def _lengths(one: Ints, other: Ints) -> tuple[int, ...]:
    """How many times, already sorted, there are of each pair of states."""
    new = np.flatnonzero((np.diff(one) != 0) | (np.diff(other) != 0)) + 1
    return tuple(np.diff(np.concatenate(([0], new, [one.size]))).tolist())


def _filled(lengths: tuple[int, ...], own: Sequence[int], alike: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """All ways to fill runs of these lengths, up to order in a run and the names of answers that are alike."""
    if not lengths:
        yield ()
        return
    for unnamed in range(lengths[0] + 1):
        for some, still in _shared(unnamed, alike):
            for chosen in itertools.combinations_with_replacement(own, lengths[0] - unnamed):
                for rest in _filled(lengths[1:], own, still):
                    yield *chosen, *some, *rest


def _shared(total: int, groups: list[list[int]]) -> Iterator[tuple[tuple[int, ...], list[list[int]]]]:
    """Ways to take answers from groups of such that are alike, each with what is alike still: what came equally often.

    >>> [some for some, _ in _shared(3, [[7, 8, 9]])]
    [(7, 7, 7), (7, 7, 8), (7, 8, 9)]
    """
    if not groups:
        if total == 0:
            yield (), []
        return
    head, *others = groups
    for here in range(total + 1) if others else [total]:
        for counts in _partitions(here, len(head), here):
            some = tuple(answer for answer, count in zip(head, counts, strict=False) for _ in range(count))
            padded = zip(head, itertools.chain(counts, itertools.repeat(0)), strict=False)
            split = [[answer for answer, _ in same] for _, same in itertools.groupby(padded, lambda pair: pair[1])]
            for more, still in _shared(total - here, others):
                yield some + more, split + still


def _partitions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Ways to write a number as a sum of so many numbers at most, the largest first."""
    if total == 0:
        yield ()
    elif parts:
        for part in range(min(total, largest), 0, -1):
            for rest in _partitions(total - part, parts - 1, part):
                yield part, *rest
