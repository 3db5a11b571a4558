"""Which label a cell means: one rule, wherever labels are read.

A cell means the label that it equals. Where a cell and the labels differ in kind, they meet by what they say: a number
and a text mean the same label when the text reads as that number (7, "7" and "7.0"); a truth value means the label
"true" or "false", in any case, or else 1 or 0; a date, a time or a decimal means the label that it prints as; bytes
mean the text that they spell. Two texts meet only if they are equal: "7" is not "07". A cell that would mean two labels
means none. Without labels, a cell means the integer that it is or reads as.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from decimal import Decimal
from functools import cached_property

from hush.people.index import Index

_TRUTHS = {"true": True, "false": False}


class Reader:
    """Finds the labels that cells mean.

    Args:
        index: Of the labels.

    >>> reader = Reader(Index(("7", "8", "none")))
    >>> reader.place(7), reader.place("8"), reader.place("8.0")
    (0, 1, None)
    """

    def __init__(self, index: Index) -> None:
        self._index = index

    def place(self, cell: object) -> int | None:
        """The place of the label that a cell means, which must not be missing; None where it means none."""
        if isinstance(cell, bool):
            return self._truths[cell] if cell in self._truths else self._of_number(int(cell))
        if isinstance(cell, (int, float, Decimal)):
            return self._of_number(cell)
        text = spelled(cell)
        found = self._index.place(text)
        if found is not None:
            return found
        if text.lower() in _TRUTHS:
            return self._truths.get(_TRUTHS[text.lower()])
        said = number(text)
        return None if said is None else self._index.place(said)

    def _of_number(self, said: int | float | Decimal) -> int | None:
        found = self._index.place(said)
        return self._numbers.get(said) if found is None else found

    @cached_property
    def _numbers(self) -> dict[Hashable, int | None]:
        """The numbers that texts among the labels read as; None where two read alike."""
        return _once((number(label), i) for i, label in self._texts())

    @cached_property
    def _truths(self) -> dict[Hashable, int | None]:
        """The truth values that texts among the labels say; None where two say the same."""
        return _once((_TRUTHS.get(label.lower()), i) for i, label in self._texts())

    def _texts(self) -> Iterator[tuple[int, str]]:
        return ((i, label) for i, label in enumerate(self._index.items) if isinstance(label, str))


def _once(said: Iterable[tuple[Hashable | None, int]]) -> dict[Hashable, int | None]:
    """Who says a thing; None where two do."""
    found: dict[Hashable, int | None] = {}
    for thing, i in said:
        if thing is not None:
            found[thing] = None if thing in found else i
    return found


def spelled(cell: object) -> str:
    """A cell as text; bytes that are no text keep what is strange in them."""
    return cell.decode(errors="surrogateescape") if isinstance(cell, bytes) else str(cell)


def whole(cell: object) -> int | None:
    """The integer that a cell is or reads as, or None.

    >>> whole(7), whole("7"), whole(7.0), whole("7.5"), whole(True)
    (7, 7, 7, None, 1)
    """
    said = cell if isinstance(cell, (int, float)) else number(spelled(cell))
    if isinstance(said, int):  # of any size, also where no float holds it
        return int(said)
    return None if said is None or not math.isfinite(said) or said != math.floor(said) else int(said)


def number(text: object) -> int | float | None:
    """The finite number that a text reads as, or None.

    >>> number("7"), number("7.5"), number("seven")
    (7, 7.5, None)
    """
    for kind in (int, float):
        try:
            read = kind(str(text))
            return read if math.isfinite(read) else None
        except (ValueError, OverflowError):
            continue
    return None
