"""Where many people's permanent answers are kept: what a protocol asks of such a place, and one in this process.

People are numbers. What somebody draws once and shows in every report (a hash function, say) and the answers for the
states that somebody has been in are kept under the person, a part (of a protocol that has several; else 0) and, for
answers, the state. `hush.files.clients` keeps them on the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hush.types import Ints, Reports

Array = npt.NDArray[Any]


class Memory(Protocol):
    """What a protocol asks of a place that keeps answers. People may come several times in one call."""

    def drawn(self, part: int, people: Ints, draw: Callable[[int], Array]) -> Array:
        """What each person drew once; ``draw(n)`` draws for n people of whom nothing is kept."""

    def answers(self, part: int, people: Ints, states: Ints, draw: Callable[[Ints], Array]) -> Array:
        """The permanent answer of each person in that state; ``draw(states)`` draws those that are missing."""


class KeepsAnswers(Protocol):
    """A protocol whose clients keep answers, as whoever keeps those of many people asks for it."""

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The record that one report is."""

    def held(self, values: Any, labels: Any = None) -> Ints:
        """What each of some people holds in one round, as the protocol takes it; one row a person."""

    def remembered(self, people: Ints, held: Ints, memory: Memory, rng: np.random.Generator) -> Reports:
        """One report of each person, with the answers that are kept; what is missing is drawn and kept."""


class InProcess:
    """Keeps answers in sorted arrays, for as long as it lives."""

    def __init__(self) -> None:
        self._drawn: dict[int, _Sorted] = {}
        self._answers: dict[int, _Sorted] = {}

    def drawn(self, part: int, people: Ints, draw: Callable[[int], Array]) -> Array:
        """What each person drew once."""
        return self._drawn.setdefault(part, _Sorted()).recall(people, lambda new: draw(new.size))

    def answers(self, part: int, people: Ints, states: Ints, draw: Callable[[Ints], Array]) -> Array:
        """The permanent answer of each person in that state."""
        kept = self._answers.setdefault(part, _Sorted())
        return kept.recall(together(people, states), lambda new: draw(apart(new)[1]))

    def number(self, people: Ints) -> Ints:
        """How many permanent answers each person has."""
        found = np.zeros(people.size, np.int64)
        for kept in self._answers.values():
            low, high = (np.searchsorted(kept.keys, together(people + more, 0)) for more in (0, 1))
            found += high - low
        return found


_STATE_BITS = 27  # as many as the largest domain needs
MOST_PEOPLE = 1 << (62 - _STATE_BITS)
"""Numbers of people lie below this."""


def together(people: Ints, states: Ints | int) -> Ints:
    """A person and a state as one number.

    >>> apart(together(np.array([7, 8]), np.array([1, 0])))[0].tolist()
    [7, 8]
    """
    return people << _STATE_BITS | states


def apart(keys: Ints) -> tuple[Ints, Ints]:
    """The person and the state."""
    return keys >> _STATE_BITS, keys & ((1 << _STATE_BITS) - 1)


class _Sorted:
    """Items by key, in the order of the keys."""

    def __init__(self) -> None:
        self.keys = np.zeros(0, np.int64)
        self._items: Array | None = None

    def recall(self, keys: Ints, draw: Callable[[Ints], Array]) -> Array:
        """The item of each key; what is missing is drawn, once for each key, and kept."""
        wanted = np.unique(keys)
        there = self._places(wanted)[1]
        new = wanted[~there]
        if new.size or self._items is None:
            made = draw(new)
            before = np.searchsorted(self.keys, new)
            self.keys = np.insert(self.keys, before, new)
            self._items = made if self._items is None else np.insert(self._items, before, made, axis=0)
        return self._items[np.searchsorted(self.keys, keys)]

    def _places(self, keys: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        at = np.searchsorted(self.keys, keys)
        there = np.zeros(keys.size, np.bool_)
        inside = at < self.keys.size
        there[inside] = self.keys[at[inside]] == keys[inside]
        return at, there
