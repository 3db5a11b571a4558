"""What a program prints, line by line, as reports."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush import strict_json
from hush.audit.reading import pack, vectors
from hush.types import Reports


class Rubbish(ValueError):
    """A line that is no report."""

    def __init__(self, rule: str, got: str) -> None:
        super().__init__(f"{rule}, got {got}")
        self.rule, self.got = rule, got


@dataclass(frozen=True)
class Format:
    """The form of a program's lines, which must stay as it was at first.

    Args:
        kind: "numbers", "json" or "text".
        fields: How many numbers in a line.
    """

    kind: str
    fields: int = 0

    @classmethod
    def of(cls, lines: list[str]) -> Format:
        """The form that all these lines have."""
        widths = [_width(line) for line in lines[:1]]
        if widths[0] and all(_count(line) == widths[0] for line in lines) and _array(_words(lines)) is not None:
            return cls("numbers", widths[0])
        widths = [_width(line) for line in lines]
        if all(widths):
            return cls("numbers", widths[0])
        blank = next((at for at, line in enumerate(lines) if not line.strip()), None)
        if blank is not None:
            raise Rubbish("must write one report a line", f"an empty line (number {blank + 1})")
        if all(_is_json(line) for line in lines):
            return cls("json")
        phrases = any(len(line.split()) > 1 and not width for line, width in zip(lines, widths, strict=True))
        structured = any(line.lstrip()[:1] in ("[", "{") for line in lines) or max(widths) > 1
        if structured or (phrases and any(widths)):
            odd = next(at for at, line in enumerate(lines) if not widths[at] and not _is_json(line))
            raise Rubbish("must write lines of one form", f"line {odd + 1}: {reprlib.repr(lines[odd])}")
        return cls("text")

    def read(self, lines: list[str]) -> Reports:
        """Reports of lines of this form."""
        if self.kind == "numbers":
            return self._numbers(lines)
        if self.kind == "json":
            return pack([self._loaded(at, line) for at, line in enumerate(lines)])
        words = [line.strip() for line in lines]
        if "" in words:
            raise Rubbish("must write one report a line", f"an empty line (number {words.index('') + 1})")
        return np.array(words, object)

    def _numbers(self, lines: list[str]) -> Reports:
        array = _array(_words(lines)) if all(_count(line) == self.fields for line in lines) else None
        if array is None:
            odd = next((at for at, line in enumerate(lines) if _width(line) != self.fields), 0)
            form = "one number" if self.fields == 1 else f"{self.fields} numbers"
            raise Rubbish(f"must write {form} in every line", f"line {odd + 1}: {reprlib.repr(lines[odd])}")
        return array if self.fields == 1 else vectors(array.reshape(len(lines), self.fields))

    def _loaded(self, at: int, line: str) -> Any:
        try:
            return strict_json.loads(line)
        except ValueError:
            raise Rubbish("must write JSON in every line", f"line {at + 1}: {reprlib.repr(line)}") from None


def _words(lines: list[str]) -> list[str]:
    return " ".join(lines).replace(",", " ").replace(";", " ").split()


def _count(line: str) -> int:
    return len(_words([line]))


def _width(line: str) -> int:
    """How many numbers a line consists of; 0 if something in it is no number."""
    words = _words([line])
    return len(words) if words and _array(words) is not None else 0


def _array(words: list[str]) -> Any:
    """Numbers, as integers if they are; None if some word is no number."""
    try:
        array = np.array([float(word) for word in words])
    except ValueError:
        return None
    if np.isfinite(array).all() and (array == np.rint(array)).all() and (np.abs(array) < 2**63).all():
        try:
            return np.array([int(word) for word in words], np.int64)
        except ValueError:  # such as 1e3
            return array
    return array


def _is_json(line: str) -> bool:
    try:
        strict_json.loads(line)
    except ValueError:
        return False
    return True
