"""Counts of people in CSV files, once or over time: what no row counts is nobody's."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hush.errors import ParameterError, Unsaid, message
from hush.files import csv_rows
from hush.files.domains import from_entries
from hush.files.paths import existing
from hush.people import History, Population

_LARGEST = 2**53 - 1


def read_counts(path: Path, option: str = "counts") -> Population:
    """People from a file with a column `count`, and a column `label` if there are labels."""
    existing(option, path)
    columns, rows = csv_rows.rows(option, path)
    for name in ("count", "label"):
        _once(option, columns, name)
    if "count" not in columns:
        found = Unsaid(f"{len(columns)} others in '{path}'" if columns else f"an empty file, '{path}'")
        raise ParameterError(message(option, "must have a column count", found, "name the column in the first line"))
    numbers = [_whole(option, row["count"], i) for i, row in enumerate(rows, 1)]
    if sum(numbers) == 0:
        raise ParameterError(message(option, "must hold at least one person", 0, "check the column count"))
    if len(numbers) < 2:
        raise ParameterError(message(option, "must have at least two rows", len(numbers), "count every value"))
    labels = [row["label"] for row in rows] if "label" in columns else None
    entries = {"size": len(numbers)} if labels is None else {"labels": labels}
    domain = from_entries(entries, None, str(path), option)
    return Population(np.array(numbers, np.int64), domain, path.stem)


def read_groups(path: Path, option: str = "groups") -> dict[str, int]:
    """How many people each group has, from a file with columns `count` and `group`, or any one other of names."""
    existing(option, path)
    columns, rows = csv_rows.rows(option, path)
    others = ["group"] if "group" in columns else [name for name in columns if name != "count"]
    for name in ("count", *others):
        _once(option, columns, name)
    if "count" not in columns or len(others) != 1:
        rule = "must have a column count, and one of names: group, or the only other"
        found = Unsaid(f"{len(columns)} columns in '{path}'" if columns else f"an empty file, '{path}'")
        raise ParameterError(message(option, rule, found, "name them in the first line"))
    if not rows:
        rule = "must have at least one group"
        raise ParameterError(message(option, rule, Unsaid("none"), "write one in each row, with its count"))
    groups: dict[str, int] = {}
    for i, row in enumerate(rows, 1):
        name, n = row[others[0]].strip(), _whole(option, row["count"], i)
        if not name or name in groups:
            rule, got = "must name each group, once", Unsaid("one again" if name else "no name")
            raise ParameterError(message(f"{option}, row {i}", rule, got, "add the two up" if name else "name it"))
        if n == 0:
            rule = "must count at least one person in each group"
            raise ParameterError(message(f"{option}, row {i}", rule, 0, "leave out groups of nobody"))
        groups[name] = n
    return groups


def read_amounts(path: Path, option: str = "counts") -> list[float] | None:
    """What each row of a file of counts amounts to, if it has a column `value`."""
    columns, rows = csv_rows.rows(option, path)
    _once(option, columns, "value")
    return [amount(row["value"], i, option) for i, row in enumerate(rows, 1)] if "value" in columns else None


def read_history(path: Path, option: str = "history") -> History:
    """Counts from a file with columns `time` and `count`, and amounts in `value` or `label`; rows in any order."""
    existing(option, path)
    columns, rows = csv_rows.rows(option, path)
    named = "value" if "value" in columns else "label"
    for name in ("time", named, "count"):
        if columns.count(name) != 1:
            rule = "must have one column each of time, value (or label) and count"
            found = Unsaid(f"{len(columns)} columns in '{path}'" if columns else f"an empty file, '{path}'")
            raise ParameterError(message(option, rule, found, "name them in the first line"))
    people = _people(option, rows, named)
    times = tuple(dict.fromkeys(time for time, _ in people))
    amounts = tuple(sorted({amount for _, amount in people}))
    if len(amounts) < 2:
        rule = "must have at least two amounts"
        raise ParameterError(message(option, rule, Unsaid(f"{len(amounts)} in {path}"), "count every amount"))
    counts = tuple(np.array([people.get((t, a), 0) for a in amounts], np.int64) for t in times)
    for i, each in enumerate(counts, 1):
        if each.sum() == 0:
            nobody = Unsaid(f"nobody at the {i}. time")
            raise ParameterError(message(option, "must hold at least one person at each time", nobody, "leave it out"))
    return History(path.stem, times, amounts, counts)


def _people(option: str, rows: list[dict[str, str]], named: str) -> dict[tuple[str, float], int]:
    """How many hold an amount at a time."""
    people: dict[tuple[str, float], int] = {}
    for i, row in enumerate(rows, 1):
        if not row["time"].strip():
            rule = "must have a time in column time"
            raise ParameterError(message(f"{option}, row {i}", rule, Unsaid("none"), "name it in every row"))
        at = row["time"], amount(row[named], i, option)
        if at in people:
            twice = Unsaid(f"one again in row {i}")
            raise ParameterError(message(option, "must count each amount once at a time", twice, "add the two up"))
        people[at] = _whole(option, row["count"], i)
    return people


def amount(label: object, row: int, option: str = "counts") -> float:
    """What the label or value of a row amounts to."""
    try:
        number = float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        rule = f"must be amounts, to add up: numbers as labels, or in a column value of {option}"
        raise ParameterError(
            message("values", rule, Unsaid(f"something else in row {row}"), "say what each one amounts to")
        )
    return number


def _whole(option: str, text: str, row: int) -> int:
    try:
        number: int | None = int(text)
    except ValueError:
        number = None
    if number is None or not 0 <= number <= _LARGEST:
        rule = f"must have a whole count of at {f'most {_LARGEST:,}' if number and number > 0 else 'least 0'}"
        got = Unsaid("something else") if number is None else number
        raise ParameterError(message(f"{option}, row {row}", rule, got, "count the people of each value"))
    return number


def _once(option: str, columns: list[str], name: str) -> None:
    if columns.count(name) > 1:
        rule = f"must have one column {name}"
        raise ParameterError(message(option, rule, columns.count(name), "rename the others in the first row"))
