"""Which label a cell of a column means.

A cell means the label that it equals. Where a column and the labels differ in kind, they meet by what they say: a
number and a text mean the same label when the text reads as that number (7, "7" and "7.0"); a truth value means
the label "true" or "false", in any case; a date, a time or a decimal means the label that it prints as.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.domain import Domain
from hush.errors import DomainError, ParameterError, Unsaid, message


class Coder:
    """Turns columns into the values 0..k-1 of a domain.

    Args:
        domain: With labels, or just a size: then cells must be the integers themselves.
        column: The column's name, for messages.
        clip: Take a number above the largest of the domain for the largest.
    """

    def __init__(self, domain: Domain, column: str, *, clip: bool = False) -> None:
        self.domain, self.column, self.clip = domain, column, clip
        if clip and self._top is None:
            rule, got = "needs values that are numbers", Unsaid("other labels")
            raise ParameterError(message("--clip", rule, got, "leave it out; --other takes in unknown labels"))
        self._other = None if domain.other is None else domain.place(domain.other)

    @cached_property
    def _top(self) -> tuple[int, float] | None:
        return _largest(self.domain)

    @cached_property
    def _said(self) -> dict[object, int | None]:
        """What labels read as that are not numbers themselves; None where two read alike."""
        found: dict[object, int | None] = {}
        for i, label in enumerate(self.domain.labels or ()):
            said = number(label) if isinstance(label, str) else None
            if said is not None:
                found[said] = None if said in found else i
            elif str(label).lower() in {"true", "false"}:
                found["truth", str(label).lower()] = i
        return found

    def encode(self, cells: Any, first_row: int) -> npt.NDArray[np.int64]:
        """The values of an Arrow array; `first_row` is the number of its first row in the file, from 1."""
        whole = plain(cells, self.column)
        coded = whole.dictionary_encode()
        codes = np.array([self._code(item) for item in coded.dictionary.to_pylist()] + [self._code(None)], np.int64)
        values = codes[coded.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)]
        if values.size and values.min() < 0:
            self._refuse(whole, int(np.argmax(values < 0)), first_row)
        return values

    def _code(self, cell: object) -> int:
        found = None if missing(cell) else self._find(cell)
        if found is None and self.clip and self._top is not None and not missing(cell):
            said = number(cell)
            found = self._top[0] if said is not None and said > self._top[1] else None
        if found is None:
            found = self._other
        return -1 if found is None else found

    def _find(self, cell: object) -> int | None:
        if self.domain.labels is None:
            said = cell if isinstance(cell, (int, float)) else number(cell)
            inside = said is not None and said == math.floor(said) and 0 <= said < self.domain.size
            return int(said) if inside else None  # type: ignore[arg-type]
        kind, name = _key(cell)
        found = None if kind == "truth" else self.domain.place(name)
        if found is not None:
            return found
        if kind == "number":
            return self._said.get(name)
        if kind == "truth" or str(cell).lower() in {"true", "false"}:
            return self._said.get(("truth", str(cell).lower()))
        said = number(name)
        return None if said is None else self.domain.place(said)

    def _refuse(self, cells: Any, at: int, first_row: int) -> None:
        cell = cells[at].as_py()
        size, where = self.domain.size, f"column {self.column}, row {first_row + at}"
        if self.domain.labels is None:
            rule, remedy = f"must be an integer in 0..{size - 1}", "check --k, or name the labels with --domain"
        else:
            rule = f"must be one of the domain's {size} labels"
            remedy = "add the label to --domain, or give --other a label that takes in all the rest"
        if self._top is not None and not self.clip and not missing(cell):
            remedy += f", or add --clip, so that a number above {self._top[1]:,.12g} counts as that"
        got = Unsaid("a missing value" if missing(cell) else "another value, which may be private")
        raise DomainError(message(where, rule, got, remedy))


def plain(cells: Any, column: str) -> Any:
    """An Arrow array of plain cells, none of them behind a dictionary's codes."""
    import pyarrow as pa

    whole = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    try:
        whole.slice(0, 0).dictionary_encode()
    except pa.ArrowException:
        kind, remedy = Unsaid(f"{whole.type} cells"), "choose another column"
        raise ParameterError(message(f"column {column}", "must hold plain values", kind, remedy)) from None
    return whole


def _largest(domain: Domain) -> tuple[int, float] | None:
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


def missing(cell: object) -> bool:
    """Whether a cell holds no value: it is empty, or a number that is not finite."""
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))


def _key(label: object) -> tuple[str, Any]:
    """Keeps True, 1 and "1" apart, and 1 and 1.0 together."""
    if isinstance(label, bool):
        return "truth", label
    if isinstance(label, (int, float, Decimal)):
        return "number", label
    return "text", str(label)


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
