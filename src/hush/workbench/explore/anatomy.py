"""A report, byte by byte: a real one, from secure randomness, and what each of its bytes says.

Records are read by their `report_dtype` alone, so that a mechanism of any kind has an anatomy; what a field is for is
told by its name where that is one of those that records here have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.reports.statements import lay
from hush.reports.words import many
from hush.workbench.explore.fields import meaning, said

SHOWN = 64
"""Bytes that are shown, at most."""
_NAMED = 12
_SAME = 1e-9


@dataclass(frozen=True)
class RecordField:
    """A field of the record.

    Args:
        name: As in `report_dtype`; "number" where the record is a single one.
        kind: Its type, as NumPy writes it.
        offset: Its first byte.
        size: Its bytes.
        meaning: What it is for.
    """

    name: str
    kind: str
    offset: int
    size: int
    meaning: str


@dataclass(frozen=True)
class ReportByte:
    """One byte of the report.

    Args:
        at: Its place, from 0.
        hex: Its two digits.
        bits: Its eight bits, the highest first, as a number is written.
        field: Of which field.
        says: In words.
    """

    at: int
    hex: str
    bits: str
    field: str
    says: str


@dataclass(frozen=True)
class Anatomy:
    """A report, taken apart.

    Args:
        name: The mechanism.
        about: What a report of it is.
        value: The answer that it was made from.
        size: Its bytes.
        bits: Its information, in bits.
        dtype: The record.
        fields: Its fields.
        shown: Its first bytes.
        evidence: What the whole report says about the answer.
    """

    name: str
    about: str
    value: int
    size: int
    bits: int
    dtype: str
    fields: tuple[RecordField, ...]
    shown: tuple[ReportByte, ...]
    evidence: str

    @property
    def left_out(self) -> int:
        """How many bytes are not shown."""
        return self.size - len(self.shown)


def dissected(m: FrequencyOracle, value: int) -> Anatomy:
    """A fresh report of a value, made as a device would make it, taken apart.

    >>> from hush import GRR
    >>> found = dissected(GRR(k=4, epsilon=1.0), 2)
    >>> found.size, found.fields[0].name, len(found.shown[0].bits)
    (1, 'number', 8)
    """
    report = m.privatize(np.array([value]))
    fields = tuple(_fields(m, m.report_dtype))
    raw = report.tobytes()
    shown = tuple(_bytes(m, report, raw, fields))
    about = type(m.forms).about
    return Anatomy(m.name(), about, value, len(raw), m.bits, str(m.report_dtype), fields, shown, _evidence(m, report))


def _fields(m: FrequencyOracle, dtype: np.dtype[Any], path: str = "", start: int = 0) -> Iterator[RecordField]:
    """The fields of a record, those of a record within it one by one."""
    if dtype.names is None:
        name = path or "number"
        yield RecordField(name, _kind(dtype), start, dtype.itemsize, meaning(m, path.rpartition(".")[2]))
        return
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]  # type: ignore[index]
        yield from _fields(m, inner, f"{path}.{name}" if path else name, start + offset)


def _kind(dtype: np.dtype[Any]) -> str:
    """A type, with how many of it.

    >>> _kind(np.dtype(("<u4", (3,)))), _kind(np.dtype("u1"))
    ('3 × u4', 'u1')
    """
    one = dtype.base.str.lstrip("<|=>")
    return f"{math.prod(dtype.shape)} × {one}" if dtype.shape else one


def _bytes(m: FrequencyOracle, report: Any, raw: bytes, fields: Sequence[RecordField]) -> Iterator[ReportByte]:
    for field in fields:
        if field.offset >= SHOWN:
            return
        part = report
        path = field.name.split(".") if report.dtype.names else [""]
        for name in filter(None, path):
            part = part[name]
        items = np.atleast_1d(part[0])
        for at in range(field.offset, min(field.offset + field.size, SHOWN)):
            within, width = at - field.offset, items.dtype.itemsize
            words = said(m, path[-1], items, within // width, within % width)
            yield ReportByte(at, f"{raw[at]:02x}", f"{raw[at]:08b}", field.name, words)


def _evidence(m: FrequencyOracle, report: Any) -> str:
    """How much likelier this very report is for some answers than for others, exactly."""
    scores = m.scores(report)[0]
    top, low = float(scores.max()), float(scores.min())
    if top - low <= _SAME:
        return "This report is equally likely for every answer: it says nothing about any of them."
    likeliest = np.nonzero(scores >= top - _SAME)[0]
    listed = ", ".join(str(v) for v in likeliest[:_NAMED])
    more = f" and {len(likeliest) - _NAMED:,} more" if len(likeliest) > _NAMED else ""
    which = f"{many(len(likeliest), 'answer', 'answers')} of {m.k:,} ({listed}{more})"
    if math.isinf(low):
        return f"This report is possible only for some answers; it is likeliest for {which}."
    return f"This report is likeliest for {which}: {lay.times(top - low)} times as likely as for the least likely one."
