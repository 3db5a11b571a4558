"""Counts over time, from a CSV file: a column time, a column count, and the amounts in a column value or label."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hush.cli._crowd import _amount
from hush.cli._paths import existing
from hush.cli._population import _whole
from hush.errors import ParameterError, Unsaid, message

_OPTION = "--history"


@dataclass(frozen=True)
class History:
    """How many people held each amount, time after time.

    Args:
        name: What to call it.
        times: What the file calls each time, in its order.
        amounts: All that occur, rising.
        counts: At each time, how many people held each.
    """

    name: str
    times: tuple[str, ...]
    amounts: tuple[float, ...]
    counts: tuple[npt.NDArray[np.int64], ...]


def read_history(path: Path) -> History:
    """Rows may come in any order; what no row counts is nobody's."""
    existing(_OPTION, path)
    columns, rows = _rows(path)
    named = "value" if "value" in columns else "label"
    for name in ("time", named, "count"):
        if columns.count(name) != 1:
            rule = "must have one column each of time, value (or label) and count"
            found = Unsaid(", ".join(map(str, columns)) or f"an empty file, '{path}'")
            raise ParameterError(message(_OPTION, rule, found, "name them in the first line"))
    people = _people(rows, named)
    times = tuple(dict.fromkeys(time for time, _ in people))
    amounts = tuple(sorted({amount for _, amount in people}))
    if len(amounts) < 2:
        rule = "must have at least two amounts"
        raise ParameterError(message(_OPTION, rule, Unsaid(f"{len(amounts)} in {path}"), "count every amount"))
    counts = tuple(np.array([people.get((t, a), 0) for a in amounts], np.int64) for t in times)
    for time, each in zip(times, counts, strict=True):
        if each.sum() == 0:
            nobody = Unsaid(f"nobody at {time!r}")
            raise ParameterError(message(_OPTION, "must hold at least one person at each time", nobody, "leave it out"))
    return History(path.stem, times, amounts, counts)


def _people(rows: list[dict[str, str | None]], named: str) -> dict[tuple[str, float], int]:
    """How many hold an amount at a time."""
    people: dict[tuple[str, float], int] = {}
    for i, row in enumerate(rows, 1):
        if not (row["time"] or "").strip():
            rule = "must have a time in column time"
            raise ParameterError(message(f"{_OPTION}, row {i}", rule, row["time"] or "", "name it in every row"))
        at = row["time"] or "", _amount(row[named] or "", i, _OPTION)
        if at in people:
            twice = Unsaid(f"{at[1]:g} at {at[0]!r} again in row {i}")
            raise ParameterError(message(_OPTION, "must count each amount once at a time", twice, "add the two up"))
        people[at] = _whole(row["count"], i, _OPTION)
    return people


def _rows(path: Path) -> tuple[list[str], list[dict[str, str | None]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or []), list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ParameterError(message(_OPTION, "must be a CSV file in UTF-8", str(path), str(error))) from None
