"""Which label a cell of a column means.

A cell means the label that it equals. Where a column and the labels differ in kind, they meet by what they say: a
number and a text mean the same label when the text reads as that number (7, "7" and "7.0"); a truth value means
the label "true" or "false", in any case; a date, a time or a decimal means the label that it prints as.
"""

from __future__ import annotations

import math
from decimal import Decimal
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
    """

    def __init__(self, domain: Domain, column: str) -> None:
        self.domain, self.column = domain, column
        self._exact = {_key(label): i for i, label in enumerate(domain.labels or ())}
        self._said: dict[object, int | None] = {}
        for i, label in enumerate(domain.labels or ()):
            said = _number(label) if isinstance(label, str) else None
            if said is not None:
                self._said[said] = None if said in self._said else i
            if str(label).lower() in {"true", "false"}:
                self._said["truth", str(label).lower()] = i
        self._other = None if domain.other is None else self._exact[_key(domain.other)]

    def encode(self, cells: Any, first_row: int) -> npt.NDArray[np.int64]:
        """The values of an Arrow array; `first_row` is the number of its first row in the file, from 1."""
        import pyarrow as pa

        plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
        try:
            coded = plain.dictionary_encode()
        except pa.ArrowException:
            raise ParameterError(
                message(
                    f"column {self.column}",
                    "must hold plain values",
                    Unsaid(f"{plain.type} cells"),
                    "choose another column",
                )
            ) from None
        codes = np.array([self._code(item) for item in coded.dictionary.to_pylist()] + [self._code(None)], np.int64)
        values = codes[coded.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)]
        if values.size and values.min() < 0:
            self._refuse(plain, int(np.argmax(values < 0)), first_row)
        return values

    def _code(self, cell: object) -> int:
        found = None if _missing(cell) else self._find(cell)
        if found is None:
            found = self._other
        return -1 if found is None else found

    def _find(self, cell: object) -> int | None:
        if self.domain.labels is None:
            number = cell if isinstance(cell, (int, float)) else _number(cell)
            inside = number is not None and number == math.floor(number) and 0 <= number < self.domain.size
            return int(number) if inside else None  # type: ignore[arg-type]
        kind, plain = _key(cell)
        found = self._exact.get((kind, plain))
        if found is not None:
            return found
        if kind == "number":
            return self._said.get(plain)
        if kind == "truth" or str(cell).lower() in {"true", "false"}:
            return self._said.get(("truth", str(cell).lower()))
        number = _number(plain)
        return None if number is None else self._exact.get(("number", number))

    def _refuse(self, cells: Any, at: int, first_row: int) -> None:
        cell = cells[at].as_py()
        size, where = self.domain.size, f"column {self.column}, row {first_row + at}"
        if self.domain.labels is None:
            rule, remedy = f"must be an integer in 0..{size - 1}", "check --k, or name the labels with --domain"
        else:
            rule = f"must be one of the domain's {size} labels"
            remedy = "add the label to --domain, or give --other a label that takes in all the rest"
        got = Unsaid("a missing value" if _missing(cell) else "another value, which may be private")
        raise DomainError(message(where, rule, got, remedy))


def _missing(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))


def _key(label: object) -> tuple[str, object]:
    """Keeps True, 1 and "1" apart, and 1 and 1.0 together."""
    if isinstance(label, bool):
        return "truth", label
    if isinstance(label, (int, float, Decimal)):
        return "number", label
    return "text", str(label)


def _number(text: object) -> int | float | None:
    """The finite number that a text reads as, or None.

    >>> _number("7"), _number("7.5"), _number("seven")
    (7, 7.5, None)
    """
    for kind in (int, float):
        try:
            read = kind(str(text))
        except ValueError:
            continue
        return read if math.isfinite(read) else None
    return None
