"""Columns of labels, cell by cell: which value each means, and how many mean none (see `hush.people.labels`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.people.arrow import to_numpy
from hush.people.columns import missing
from hush.people.domain import Domain
from hush.people.labels import number, spelled


@dataclass(frozen=True)
class Likeness:
    """What two texts may differ in and still mean the same label.

    Args:
        strip: Spaces at their ends.
        ignore_case: Upper and lower case.
    """

    strip: bool = False
    ignore_case: bool = False

    def __call__(self, text: str) -> str:
        """What alike texts have in common."""
        stripped = text.strip() if self.strip else text
        return stripped.casefold() if self.ignore_case else stripped

    @property
    def unused(self) -> list[str]:
        """The options that would allow for more."""
        return [
            option for option, used in {"--strip": self.strip, "--ignore-case": self.ignore_case}.items() if not used
        ]

    @property
    def option(self) -> str | None:
        """The option that asks for it; None where texts must be equal."""
        return "--ignore-case" if self.ignore_case else "--strip" if self.strip else None


EQUAL = Likeness()


class Coder:
    """Turns columns into the values 0..k-1 of a domain, and counts the cells that were none of its labels.

    Args:
        domain: With labels, or just a size: then cells must be the integers themselves.
        column: The column's name, for messages.
        clip: Take a number above the largest of the domain for the largest.
        alike: What texts may differ in; a label that a cell equals comes first.
    """

    def __init__(self, domain: Domain, column: str, *, clip: bool = False, alike: Likeness = EQUAL) -> None:
        self.domain, self.column, self.clip, self.alike = domain, column, clip, alike
        self.unmatched = 0
        """How many cells said something that is no label."""
        self.missing = 0
        """How many cells said nothing."""
        self.clipped = 0
        """How many cells were numbers above the largest, and count as that."""
        if clip and self._top is None:
            rule, got = "needs values that are numbers", Unsaid("other labels")
            raise ParameterError(message("--clip", rule, got, "leave it out; --other takes in unknown labels"))
        self._alike = _told_apart(domain, alike)
        self._other = None if domain.other is None else domain.place(domain.other)

    @cached_property
    def _top(self) -> tuple[int, float] | None:
        return largest(self.domain)

    def encode(self, cells: Any, first_row: int) -> npt.NDArray[np.int64]:
        """The values of an Arrow array; `first_row` is the number of its first row in the file, from 1."""
        whole = plain(cells, self.column)
        coded = whole.dictionary_encode()
        said = [self._read(cell) for cell in [*coded.dictionary.to_pylist(), None]]
        codes = np.array([self.code(each) for each in said], np.int64)
        places = to_numpy(coded.indices, len(codes) - 1)
        values = codes[places]
        if self.clip:
            self.clipped += int(np.array([self._above(each) for each in said])[places].sum())
        strangers = values < 0
        if not strangers.any():
            return values
        if self._other is None:
            self._refuse(whole, int(np.argmax(strangers)), first_row)
        gaps = int(np.array([missing(each) for each in said])[places[strangers]].sum())
        self.missing, self.unmatched = self.missing + gaps, self.unmatched + int(strangers.sum()) - gaps
        values[strangers] = self._other
        return values

    def _read(self, cell: object) -> object:
        """What a cell says: bytes are text, and nothing is left of one of spaces where those do not count."""
        said = spelled(cell) if isinstance(cell, bytes) else cell
        return None if isinstance(said, str) and self.alike.strip and not said.strip() else said

    def code(self, cell: object) -> int:
        """The label that a cell means, or -1."""
        found = self._find(cell)
        if found is None and self.clip and self._above(cell):
            found = self._top[0]  # type: ignore[index]
        return -1 if found is None else found

    def _above(self, cell: object) -> bool:
        """Whether a cell is a number above the largest of the domain."""
        said = None if missing(cell) or self._top is None else number(cell)
        return said is not None and said > self._top[1]  # type: ignore[index]

    def _find(self, cell: object) -> int | None:
        found = self.domain.find(cell)
        if found is None and isinstance(cell, str) and self._alike:
            read = self.alike(cell)
            found = self._alike.get(read)
            found = self.domain.find(read) if found is None else found
        return found

    def _refuse(self, cells: Any, at: int, first_row: int) -> None:
        cell = self._read(cells[at].as_py())
        size, where = self.domain.size, f"column {self.column}, row {first_row + at}"
        if self.domain.labels is None:
            rule, remedy = f"must be an integer in 0..{size - 1}", "check --k, or name the labels with --domain"
        else:
            rule = f"must be one of the domain's {size} labels"
            remedy = "add the label to --domain, or give --other a label that takes in all the rest"
            if isinstance(cell, str) and (unused := self.alike.unused):
                remedy += f"; where only spaces or case differ, add {' or '.join(unused)}"
        if self._top is not None and not self.clip and not missing(cell):
            remedy += f", or add --clip, so that a number above {self._top[1]:,.12g} counts as that"
        got = Unsaid("a missing value" if missing(cell) else "another value, which may be private")
        raise DomainError(message(where, rule, got, remedy))


def _told_apart(domain: Domain, alike: Likeness) -> dict[str, int]:
    """The labels that are text, by what alike texts have in common; refuses two that become the same."""
    if alike.option is None:
        return {}
    if domain.labels is None:
        raise ParameterError(message(alike.option, "needs labels", Unsaid("numbers"), "leave it out"))
    found: dict[str, int] = {}
    for i, label in enumerate(domain.labels):
        if isinstance(label, str) and found.setdefault(alike(label), i) < i:
            got = Unsaid(f"labels {found[alike(label)] + 1} and {i + 1}, which would be the same")
            raise ParameterError(message(alike.option, "must leave all labels different", got, "leave it out"))
    return found


def plain(cells: Any, column: str) -> Any:
    """An Arrow array of plain cells, none of them behind a dictionary's codes."""
    import pyarrow as pa

    whole = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    try:
        whole.slice(0, 0).dictionary_encode()
    except pa.ArrowException:
        kind, remedy = Unsaid("nested ones"), "choose another column"
        raise ParameterError(message(f"column {column}", "must hold plain values", kind, remedy)) from None
    return whole


def largest(domain: Domain) -> tuple[int, float] | None:
    """The largest number among the values, with its index; None where not all of them are numbers."""
    if domain.labels is None:
        return None if domain.values is not None else (domain.size - 1, domain.size - 1)
    best: tuple[int, float] | None = None
    for i, label in enumerate(domain.labels):
        if label == domain.other:
            continue
        amount = number(label)
        if amount is None:
            return None
        if best is None or amount > best[1]:
            best = i, amount
    return best
