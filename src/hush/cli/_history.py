"""Counts over time, from a CSV file: a column time, a column count, and the amounts in a column value or label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hush.cli import _csv
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
    columns, rows = _csv.rows(_OPTION, path)
    named = "value" if "value" in columns else "label"
    for name in ("time", named, "count"):
        if columns.count(name) != 1:
            rule = "must have one column each of time, value (or label) and count"
            found = Unsaid(f"{len(columns)} columns in '{path}'" if columns else f"an empty file, '{path}'")
            raise ParameterError(message(_OPTION, rule, found, "name them in the first line"))
    people = _people(rows, named)
    times = tuple(dict.fromkeys(time for time, _ in people))
    amounts = tuple(sorted({amount for _, amount in people}))
    if len(amounts) < 2:
        rule = "must have at least two amounts"
        raise ParameterError(message(_OPTION, rule, Unsaid(f"{len(amounts)} in {path}"), "count every amount"))
    counts = tuple(np.array([people.get((t, a), 0) for a in amounts], np.int64) for t in times)
    for i, each in enumerate(counts, 1):
        if each.sum() == 0:
            nobody = Unsaid(f"nobody at the {i}. time")
            raise ParameterError(message(_OPTION, "must hold at least one person at each time", nobody, "leave it out"))
    return History(path.stem, times, amounts, counts)


def _people(rows: list[dict[str, str]], named: str) -> dict[tuple[str, float], int]:
    """How many hold an amount at a time."""
    people: dict[tuple[str, float], int] = {}
    for i, row in enumerate(rows, 1):
        if not row["time"].strip():
            rule = "must have a time in column time"
            raise ParameterError(message(f"{_OPTION}, row {i}", rule, Unsaid("none"), "name it in every row"))
        at = row["time"], _amount(row[named], i, _OPTION)
        if at in people:
            twice = Unsaid(f"one again in row {i}")
            raise ParameterError(message(_OPTION, "must count each amount once at a time", twice, "add the two up"))
        people[at] = _whole(row["count"], i, _OPTION)
    return people
