"""Domains in files, and which label a cell of a column means.

A cell means the label that it equals. Where a column and the labels differ in kind, they meet by what they say: a
number and a text mean the same label when the text reads as that number (7, "7" and "7.0"); a truth value means
the label "true" or "false", in any case; a date, a time or a decimal means the label that it prints as.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.domain import Domain
from hush.errors import DomainError, HushError, ParameterError, message


def read_domain(path: Path, other: str | None) -> Domain:
    """The domain in a file: one label per line, or (.json) a list of labels or what Domain.to_dict gives."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(message("--domain", "must be UTF-8 text", str(path), "save it as UTF-8")) from None
    if path.suffix.lower() != ".json":
        return Domain(labels=_lines(text, path), other=other)
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise ParameterError(message("--domain", "must be JSON", str(path), f"the reader says: {error}")) from None
    whole = {"labels": plain} if isinstance(plain, list) else plain
    if not isinstance(whole, dict):
        raise ParameterError(message("--domain", "must be a list or an object", plain, "write a list of labels"))
    if other is not None and whole.setdefault("other", other) != other:
        raise ParameterError(message("--other", f"must be {path}'s {whole['other']!r}", other, "leave it out"))
    try:
        return Domain.from_dict(whole)
    except HushError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(message("--domain", "must be well formed", str(path), str(error))) from None


def _lines(text: str, path: Path) -> list[str]:
    lines = text.removesuffix("\n").split("\n")
    labels = [line.removesuffix("\r") for line in lines]
    for i, label in enumerate(labels):
        if not label.strip():
            rule = f"must have a label on every line of {path}"
            raise ParameterError(message("--domain", rule, f"a blank line {i + 1}", "remove that line"))
    return labels


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
                message(f"column {self.column}", "must hold plain values", str(plain.type), "choose another column")
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
        raise DomainError(message(where, rule, "a missing value" if _missing(cell) else cell, remedy))


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
