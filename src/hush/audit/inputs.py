"""What goes into a target: values 0..k-1, numbers of a range, tuples or histories, each known by its position.

An audit counts, draws and compares positions 0..size-1, whatever stands there; `Inputs` says what that is, to the code
that is audited and to people.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.multidim import checks
from hush.people.columns import kind

Positions = npt.NDArray[np.int64]

GRID = 128
"""Even steps of a range whose numbers are tried; as many numbers between them lie on no grid."""

_SPELLED = 6  # rounds that are written out one by one, if all are alike
_NAMED = 12  # inputs that a message names
_GOLDEN = (math.sqrt(5) - 1) / 2  # whose multiples, less their whole parts, fill a range most evenly
_LARGEST = 1e100
_COUNTED = 1 << 62


@dataclass(frozen=True)
class Inputs(ABC):
    """All that a target is asked about."""

    one: ClassVar[str]
    many: ClassVar[str]
    between: ClassVar[str] = ","
    """What stands between two of them on a command line."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many there are."""

    @abstractmethod
    def at(self, position: int) -> Any:
        """What stands at a position, in plain data."""

    @abstractmethod
    def position(self, given: Any) -> int:
        """Where something stands; raises ValueError, or kin, if it does not."""

    @abstractmethod
    def given(self, positions: Positions) -> npt.NDArray[Any]:
        """What stands at these positions, as an array whose first axis counts them."""

    @property
    @abstractmethod
    def rule(self) -> str:
        """Which they are, in a few words after their name."""

    @property
    @abstractmethod
    def example(self) -> str:
        """Two of them, as Python writes them."""

    @property
    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Which they are, in plain data, for the files."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What a class may want to know of them."""
        return self.about

    @property
    def terms(self) -> dict[str, Any]:
        """What `as_target` must be told, so that a mechanism is asked about them."""
        return {}

    @property
    def farthest(self) -> int:
        """One that can be compared with the first, and differs much from it."""
        return self.size - 1

    @property
    def labels(self) -> int:
        """Whole numbers 0..labels-1 that a report may list, since they are values; 0 if there are none."""
        return 0

    def each(self, positions: Positions) -> list[Any]:
        """What a function is called with, for each position."""
        return [tuple(given) if isinstance(given, list) else given for given in self.given(positions).tolist()]

    def said(self, position: int) -> str:
        """What stands at a position, for people."""
        return spell(self.at(position))

    def line(self, position: int) -> str:
        """The same as a line of a program's input."""
        return ",".join(map(repr, found)) if isinstance(found := self.at(position), tuple) else repr(found)

    def read(self, text: str) -> Any:
        """One of them, from such a line; raises ValueError if it is none."""
        return tuple(whole_number(part) for part in text.split(",")) if self.between == ":" else whole_number(text)

    def named(self, positions: Positions) -> str:
        """Which these are, in words: the first few, and how many more."""
        different = np.unique(positions).tolist()
        more = f" and {len(different) - _NAMED:,} more" if len(different) > _NAMED else ""
        told = ", ".join(map(self.said, different[:_NAMED]))
        return f"{self.one} {told}" if len(different) == 1 else f"{self.many} {told}{more}"

    def including(self, given: Sequence[Any]) -> Inputs:
        """These, and others that are asked about by name."""
        return self

    def comparable(self, first: int, second: int) -> bool:
        """Whether a claim speaks of these two."""
        return True

    def beside(self, position: int) -> list[int]:
        """Others that this one can be compared with, where it cannot be with all."""
        return []

    @property
    def unit(self) -> str:
        """What a loss between two of them is of."""
        return "one report"

    def pair(self, name: str, given: Any) -> tuple[int, int]:
        """The positions of two different inputs."""
        try:
            first, second = (self.position(each) for each in given)
            if first != second and self.comparable(first, second):
                return first, second
        except (TypeError, ValueError, OverflowError):
            pass
        rule = f"must be two different {self.many} {self.rule}"
        raise ParameterError(message(name, rule, given, f"use e.g. {self.example}"))


@dataclass(frozen=True)
class Values(Inputs):
    """Values 0..k-1.

    Args:
        k: How many.
        rounds: In how many rounds a person holds the same one; distances add up over them.
    """

    k: int
    rounds: int = 1
    one: ClassVar[str] = "value"
    many: ClassVar[str] = "values"

    @property
    def size(self) -> int:
        """How many there are."""
        return self.k

    def at(self, position: int) -> int:
        """The position itself."""
        return position

    def position(self, given: Any) -> int:
        """The value itself."""
        return _inside(operator.index(given), self.k)

    def given(self, positions: Positions) -> npt.NDArray[Any]:
        """The positions themselves."""
        return positions.copy()

    @property
    def rule(self) -> str:
        """From 0 on."""
        return f"in 0..{self.k - 1}"

    @property
    def example(self) -> str:
        """The first two."""
        return "(0, 1)"

    @property
    def about(self) -> dict[str, Any]:
        """How many there are."""
        return {"k": self.k}

    @property
    def labels(self) -> int:
        """All of them."""
        return self.k


@dataclass(frozen=True)
class NumberInputs(Inputs):
    """Numbers of a range: both ends, some at even steps and as many between that lie on no grid.

    Args:
        low: The smallest number.
        high: The largest number.
        also: Others to ask about.

    >>> numbers = NumberInputs(0.0, 10.0, also=(7.3,))
    >>> numbers.size, numbers.at(0), numbers.at(numbers.size - 1), numbers.at(numbers.position(7.3))
    (258, 0.0, 10.0, 7.3)
    """

    low: float
    high: float
    also: tuple[float, ...] = ()
    one: ClassVar[str] = "number"
    many: ClassVar[str] = "numbers"

    def __post_init__(self) -> None:
        remedy = "give the smallest and the largest number"
        low = rules.number("low", self.low, -_LARGEST, _LARGEST, remedy)
        high = rules.number("high", self.high, low, _LARGEST, remedy)
        if not low + (high - low) / GRID > low:
            raise ParameterError(message("high", "must leave room for other numbers above low", self.high, remedy))
        if not all(isinstance(each, (int, float, np.number)) and low <= each <= high for each in self.also):
            rule = f"must be numbers from {low:g} to {high:g}"
            raise ParameterError(message("also", rule, self.also, "name numbers of the range"))
        for name, number in (("low", low), ("high", high)):
            object.__setattr__(self, name, number)

    @cached_property
    def points(self) -> npt.NDArray[np.float64]:
        """All of them, ascending."""
        between = np.arange(1, GRID + 1) * _GOLDEN % 1.0
        off_grid = np.clip(self.low + (self.high - self.low) * between, self.low, self.high)
        return np.unique(np.concatenate([np.linspace(self.low, self.high, GRID + 1), off_grid, self.also]))

    @property
    def gap(self) -> float:
        """The widest stretch between two of them."""
        return float(np.diff(self.points).max())

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.points.size)

    def at(self, position: int) -> float:
        """The number."""
        return float(self.points[_inside(operator.index(position), self.size)])

    def position(self, given: Any) -> int:
        """Where the number stands."""
        number = float(given)
        found = int(np.searchsorted(self.points, number))
        if not (found < self.size and self.points[found] == number):
            raise ValueError(number)
        return found

    def read(self, text: str) -> float:
        """A number."""
        return float(text)

    def given(self, positions: Positions) -> npt.NDArray[Any]:
        """The numbers, as doubles."""
        return self.points[positions]

    @property
    def rule(self) -> str:
        """Their ends."""
        return f"from {self.low:g} to {self.high:g}"

    @property
    def example(self) -> str:
        """The ends."""
        return f"({self.low:g}, {self.high:g})"

    @property
    def about(self) -> dict[str, Any]:
        """Their ends, and how many are tried."""
        return {"low": self.low, "high": self.high, "numbers": self.size}

    @property
    def parameters(self) -> dict[str, Any]:
        """Their ends."""
        return {"low": self.low, "high": self.high}

    def including(self, given: Sequence[Any]) -> NumberInputs:
        """These, and others of the range."""
        try:
            more = tuple(number for number in map(float, given) if self.low <= number <= self.high)
        except (TypeError, ValueError, OverflowError):
            return self  # `pair` says what is wrong
        known = set(more) <= set(self.points.tolist())
        return self if known else NumberInputs(self.low, self.high, (*self.also, *more))


@dataclass(frozen=True)
class TupleInputs(Inputs):
    """Tuples of values, one for each attribute; the last attribute counts fastest.

    Args:
        sizes: How many values each attribute has.
        changed: In how many attributes two of them differ that are compared, at most; in any number if left out.

    >>> TupleInputs((2, 5)).position((1, 3)), TupleInputs((2, 5)).at(8)
    (8, (1, 3))
    """

    sizes: tuple[int, ...]
    changed: int | None = None
    one: ClassVar[str] = "tuple"
    many: ClassVar[str] = "tuples"
    between: ClassVar[str] = ":"

    @property
    def unit(self) -> str:
        """One report, between any two tuples, or between those that differ in few attributes."""
        if self.changed is None or self.changed == len(self.sizes):
            return "one report"
        often = "one attribute" if self.changed == 1 else f"at most {self.changed} attributes"
        return f"one report between tuples that differ in {often}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", checks.sizes(self.sizes, 1))
        if self.changed is not None:
            object.__setattr__(self, "changed", checks.changed(self.changed, len(self.sizes)))

    @property
    def size(self) -> int:
        """How many there are."""
        return math.prod(self.sizes)

    def at(self, position: int) -> tuple[int, ...]:
        """The tuple of a number."""
        number = rules.integer("index", position, 0, self.size - 1, "number tuples from 0, the last attribute fastest")
        found = []
        for k in reversed(self.sizes):
            number, value = divmod(number, k)
            found.append(value)
        return tuple(reversed(found))

    def position(self, given: Any) -> int:
        """The number of a tuple; a number stands for itself."""
        if isinstance(given, (int, np.integer)):
            return _inside(int(given), self.size)
        tuple_ = np.asarray(given)
        if tuple_.shape != (len(self.sizes),) or tuple_.dtype.kind not in "iu":
            rule = f"must be {len(self.sizes)} integers, one for each attribute"
            raise ParameterError(message("values", rule, f"{kind(tuple_)}, shape {tuple_.shape}", "pass one tuple"))
        number = 0
        for j, (value, k) in enumerate(zip(tuple_.tolist(), self.sizes, strict=True)):
            if not 0 <= value < k:
                raise DomainError(
                    message(f"attribute {j}", f"must lie in 0..{k - 1}", Unsaid("another value"), "check sizes")
                )
            number = number * k + value
        return number

    def given(self, positions: Positions) -> npt.NDArray[Any]:
        """One row each."""
        return np.stack(np.unravel_index(positions, self.sizes), axis=1).astype(np.int64)

    @property
    def rule(self) -> str:
        """How many values each attribute has."""
        differing = "" if self.changed is None else f" that differ in at most {self.changed}"
        return f"of {len(self.sizes)} attributes with {', '.join(map(str, self.sizes))} values{differing}"

    @property
    def example(self) -> str:
        """The first, and one that differs from it in as many attributes as may be."""
        return f"({self.at(0)}, {self.at(self.farthest)})"

    @property
    def farthest(self) -> int:
        """A tuple that differs from the first in as many attributes as may be."""
        most = len(self.sizes) if self.changed is None else self.changed
        return self.position([k - 1 if j < most else 0 for j, k in enumerate(self.sizes)])

    def comparable(self, first: int, second: int) -> bool:
        """Whether they differ in no more attributes than may change."""
        differences = sum(a != b for a, b in zip(self.at(first), self.at(second), strict=True))
        return self.changed is None or differences <= self.changed

    def beside(self, position: int) -> list[int]:
        """Those with the next value in one attribute."""
        tuple_ = self.at(position)
        return [
            self.position([(v + (i == j)) % k for i, (v, k) in enumerate(zip(tuple_, self.sizes, strict=True))])
            for j in range(len(self.sizes))
        ]

    @property
    def about(self) -> dict[str, Any]:
        """How many there are, and of what."""
        limits = {} if self.changed is None else {"changed": self.changed}
        return {"k": self.size, "sizes": list(self.sizes), **limits}

    @property
    def parameters(self) -> dict[str, Any]:
        """How many values each attribute has."""
        return {"sizes": self.sizes}

    @property
    def terms(self) -> dict[str, Any]:
        """How many attributes may change."""
        return {} if self.changed is None else {"changed": self.changed}

    @property
    def labels(self) -> int:
        """The values of the largest attribute."""
        return max(self.sizes)


@dataclass(frozen=True)
class HistoryInputs(Inputs):
    """What one person holds, round by round.

    Args:
        rows: HistoryInputs of one length.
        k: How many values there are.

    >>> HistoryInputs.unchanging(3, 12).said(2), HistoryInputs(((0, 0), (0, 1)), 2).said(1)
    ('2 in all 12 rounds', '0,1')
    """

    rows: tuple[tuple[int, ...], ...]
    k: int
    one: ClassVar[str] = "history"
    many: ClassVar[str] = "histories"
    between: ClassVar[str] = ":"

    def __post_init__(self) -> None:
        k = rules.domain_size(self.k)
        try:
            rows = tuple(tuple(operator.index(value) for value in row) for row in self.rows)
        except TypeError:
            rows = ()
        lengths = {len(row) for row in rows}
        if len(rows) < 2 or len(lengths) != 1 or 0 in lengths or len(set(rows)) < len(rows):
            rule, got = "must be two or more that differ, of one length", Unsaid(f"{len(rows)} of lengths {lengths}")
            raise ParameterError(message("histories", rule, got, "use e.g. ((0, 0, 0), (0, 0, 1))"))
        if not all(0 <= value < k for row in rows for value in row):
            rule, got = f"must hold values in 0..{k - 1}", Unsaid("another one")
            raise ParameterError(message("histories", rule, got, "count values from 0"))
        object.__setattr__(self, "rows", rows)

    @classmethod
    def unchanging(cls, k: int, rounds: int) -> HistoryInputs:
        """Every value, held all the time."""
        rules.integer("rounds", rounds, 1, 10**6, "count the reports of one person")
        return cls(tuple((value,) * rounds for value in range(k)), k)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.rows)

    @property
    def rounds(self) -> int:
        """How long they are."""
        return len(self.rows[0])

    def at(self, position: int) -> tuple[int, ...]:
        """The history."""
        return self.rows[_inside(operator.index(position), self.size)]

    def position(self, given: Any) -> int:
        """Where a history stands; a number stands for itself."""
        if isinstance(given, (int, np.integer)):
            return _inside(int(given), self.size)
        return self.rows.index(tuple(int(value) for value in given))

    def given(self, positions: Positions) -> npt.NDArray[Any]:
        """One row each."""
        return np.array(self.rows, np.int64)[positions]

    def said(self, position: int) -> str:
        """What a person holds."""
        row = self.at(position)
        long = len(row) > _SPELLED and len(set(row)) == 1
        return f"{row[0]} in all {len(row)} rounds" if long else ",".join(map(str, row))

    @property
    def unit(self) -> str:
        """All reports of one person."""
        return f"{self.rounds} report{'s'[: self.rounds > 1]} of one person"

    @property
    def rule(self) -> str:
        """How many, and how long."""
        return f"among {self.size} of {self.rounds} rounds"

    @property
    def example(self) -> str:
        """The first two."""
        return "(0, 1)"

    @property
    def about(self) -> dict[str, Any]:
        """How many values there are, and how many rounds."""
        return {"k": self.k, "rounds": self.rounds}

    @property
    def terms(self) -> dict[str, Any]:
        """How many rounds, if every value is held all the time; else the histories."""
        every = self.rows == tuple((value,) * self.rounds for value in range(self.k))
        return {"rounds": self.rounds} if every else {"histories": self.rows}

    @property
    def labels(self) -> int:
        """All values."""
        return self.k


def countable(inputs: Inputs) -> Inputs:
    """The same, unless they are too many to be numbered."""
    if inputs.size > _COUNTED:
        rule = f"must be at most {_COUNTED:.3g} of which any may be asked for"
        got, remedy = Unsaid(f"{float(inputs.size):.3g}"), "audit fewer attributes at a time"
        raise ParameterError(message(inputs.many, rule, got, remedy))
    return inputs


def spell(given: Any) -> str:
    """An input in plain data, for people."""
    return f"{given:.6g}" if isinstance(given, float) else str(given)


def whole_number(text: str) -> int:
    """A whole number from a command line; raises ValueError if it is none."""
    if not (text.strip().isascii() and text.strip().isdecimal()):
        raise ValueError(text)
    return int(text)


def _inside(position: int, size: int) -> int:
    if not 0 <= position < size:
        raise ValueError(position)
    return position
