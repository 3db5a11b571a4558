"""Columns of labels, cell by cell: which value each means, and how many mean none (see `hush.people.labels`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.people.arrow import to_arrow, to_numpy
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


@dataclass(frozen=True)
class _Told:
    """What the different cells of a batch mean; at the end, what none means.

    Args:
        cells: As an Arrow array.
        codes: The label of each, or -1.
        above: Whether it is a number above the largest, where those count as the largest.
        gaps: Whether it says nothing.
    """

    cells: Any
    codes: npt.NDArray[np.int64]
    above: npt.NDArray[np.bool_]
    gaps: npt.NDArray[np.bool_]

    @cached_property
    def all_labels(self) -> bool:
        """Whether each is a label as it stands."""
        return bool((self.codes[:-1] >= 0).all() and not self.above.any())

    @cached_property
    def small(self) -> npt.NDArray[np.integer[Any]]:
        """The codes in few bytes, where each is a label."""
        codes = self.codes[:-1]
        return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


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
        self._last: _Told | None = None

    @cached_property
    def _top(self) -> tuple[int, float] | None:
        return largest(self.domain)

    def encode(self, cells: Any, first_row: int) -> npt.NDArray[np.integer[Any]]:
        """The values of an Arrow array; `first_row` is the number of its first row in the file, from 1."""
        numbers = self._integers(cells)
        if numbers is not None:
            return numbers
        coded = dictionary(cells, self.column)
        told = self._told(coded.dictionary)
        if told.all_labels and not coded.null_count:
            return to_numpy(to_arrow(told.small).take(coded.indices))
        places = to_numpy(coded.indices.cast("int64"), len(coded.dictionary))
        values = told.codes[places]
        if self.clip:
            self.clipped += int(told.above[places].sum())
        strangers = values < 0
        if not strangers.any():
            return values
        if self._other is None:
            self._refuse(cells, int(np.argmax(strangers)), first_row)
        gaps = int(told.gaps[places[strangers]].sum())
        self.missing, self.unmatched = self.missing + gaps, self.unmatched + int(strangers.sum()) - gaps
        values[strangers] = self._other
        return values

    def _integers(self, cells: Any) -> npt.NDArray[np.integer[Any]] | None:
        """Cells that are the values themselves; None if some are not."""
        import pyarrow as pa

        if self.domain.labels is not None or not pa.types.is_integer(cells.type) or cells.null_count:
            return None
        found = to_numpy(cells)
        inside = not found.size or (int(found.min()) >= 0 and int(found.max()) < self.domain.size)
        return found if inside else None

    def _told(self, different: Any) -> _Told:
        """What different cells mean; asked once where they are the same as in the batch before."""
        if self._last is None or not self._last.cells.equals(different):
            said = [self._read(cell) for cell in [*different.to_pylist(), None]]
            codes = np.array([self.code(each) for each in said], np.int64)
            above = np.array([self.clip and self._above(each) for each in said], bool)
            self._last = _Told(different, codes, above, np.array([missing(each) for each in said], bool))
        return self._last

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


def dictionary(cells: Any, column: str) -> Any:
    """An Arrow array as codes of its different cells, which must be plain ones."""
    import pyarrow as pa

    return cells if pa.types.is_dictionary(_plain(cells, column).type) else cells.dictionary_encode()


def plain(cells: Any, column: str) -> Any:
    """An Arrow array of plain cells, none of them behind a dictionary's codes."""
    import pyarrow as pa

    whole = _plain(cells, column)
    return whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole


def _plain(cells: Any, column: str) -> Any:
    """The array itself; refused if its cells are nested."""
    import pyarrow as pa

    none = cells.slice(0, 0)
    try:
        (none.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else none).dictionary_encode()
    except pa.ArrowException:
        kind, remedy = Unsaid("nested ones"), "choose another column"
        raise ParameterError(message(f"column {column}", "must hold plain values", kind, remedy)) from None
    return cells


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
