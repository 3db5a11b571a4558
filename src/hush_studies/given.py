"""Data sets that are not part of Hush, given as files: `hush reproduce --data Foursquare=FILE`.

Papers use data that may not be passed on. Studies have made-up people in their place, with the numbers that are
printed. Who has the data gives a table of them, and the study is made of that; every verdict says which it was.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hush.errors import NOTHING, ParameterError, Unsaid, message

MOST_BYTES = 1 << 30
MOST_VALUES = 100_000
MOST_PEOPLE = 10**9
_TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True)
class DataSet:
    """What a file of a data set must have, and what the paper prints of it.

    Args:
        name: What the command calls it.
        study: Whose it is.
        about: What its values are.
        sensitive: Whether it is told which values are sensitive.
        amounts: Whether values are whole numbers, from 0 on.
        printed: Numbers of the paper, by name: n people, d values, s sensitive ones, the share theta of people whose
            value is not, the total of amounts.
    """

    name: str
    study: str
    about: str
    sensitive: bool = False
    amounts: bool = False
    printed: dict[str, float] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it must have; `count` may be left out."""
        return ("value", "count", "sensitive") if self.sensitive else ("value", "count")


DATA_SETS = {
    each.name: each
    for each in (
        DataSet("Foursquare", "uldp", "cells of a 25 by 25 grid of a city", sensitive=True,
                printed={"n": 419_959, "d": 625, "s": 25, "theta": 0.95}),
        DataSet("Census", "uldp", "combinations of attributes of the US census of 1990", sensitive=True,
                printed={"n": 2_458_285, "d": 1_200, "s": 424, "theta": 0.56}),
        DataSet("Drug", "uldp", "ratings of drugs, from 1 to 10", sensitive=True,
                printed={"n": 215_063, "d": 10, "s": 3, "theta": 0.78}),
        DataSet("Emoji", "budget", "emojis, with how often each was sent"),
        DataSet("AguaH", "budget", "cubic metres of water, cut at 40", amounts=True,
                printed={"n": 98_511, "total": 1_598_489}),
    )
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class GivenData:
    """What a file holds.

    Args:
        data: The data set that it is.
        path: The file.
        digest: SHA-256 of its bytes.
        labels: The values, in the order of the file; amounts ascend from 0 without gaps.
        counts: How many people hold each.
        sensitive: Whether each is sensitive; all False where that is not asked.
    """

    data: DataSet
    path: Path
    digest: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    sensitive: tuple[bool, ...]

    @property
    def source(self) -> str:
        """The file, and what it is known by."""
        return f"{self.path.name}, SHA-256 {self.digest[:12]}"

    @cached_property
    def found(self) -> dict[str, float]:
        """The numbers that the paper prints, of this file."""
        n = sum(self.counts)
        hidden = sum(c for c, hides in zip(self.counts, self.sensitive, strict=True) if hides)
        total = sum(v * c for v, c in enumerate(self.counts))
        known = {"n": n, "d": len(self.counts), "s": sum(self.sensitive), "theta": 1 - hidden / n, "total": total}
        return {name: known[name] for name in self.data.printed}

    @cached_property
    def differences(self) -> list[str]:
        """Where those are others, in words: theta has two digits."""
        return [
            f"{name} is {self.found[name]:,.4g} where the paper has {due:,.4g}"
            if name == "theta"
            else f"{name} is {self.found[name]:,.0f} where the paper has {due:,.0f}"
            for name, due in self.data.printed.items()
            if abs(self.found[name] - due) > (0.005 if name == "theta" else 0)
        ]


_given: dict[str, GivenData] = {}


def given(name: str) -> GivenData | None:
    """What was given for a data set; None where made-up people stand in for it."""
    return _given.get(name)


@contextmanager
def using(several: Iterable[GivenData]) -> Iterator[None]:
    """While this lasts, studies are made of these; what was made of others is forgotten."""
    before = dict(_given)
    try:
        _given.update({each.data.name: each for each in several})
        _forget()
        yield
    finally:
        _given.clear()
        _given.update(before)
        _forget()


def _forget() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("hush_studies."):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def asked(words: Sequence[str], study: str) -> list[GivenData]:
    """The files behind ``--data NAME=FILE``, read and checked."""
    found: dict[str, GivenData] = {}
    here = {name.lower(): data for name, data in DATA_SETS.items() if data.study == study}
    listed = ", ".join(data.name for data in here.values())
    for word in words:
        name, equals, path = word.partition("=")
        if not equals or not path:
            raise ParameterError(message("--data", "must be NAME=FILE", word, "write e.g. Foursquare=places.csv"))
        if not here:
            raise ParameterError(message("--data", f"must be left out: {study} has no such data", name, "leave it out"))
        if name.lower() not in here:
            rule = f"must name data of {study} that are not part of Hush"
            raise ParameterError(message("--data", rule, name, f"use one of {listed}"))
        data = here[name.lower()]
        if data.name in found:
            raise ParameterError(message("--data", "must name each data set once", data.name, "leave one out"))
        found[data.name] = read(data, Path(path))
    return list(found.values())


def read(data: DataSet, path: Path) -> GivenData:
    """A file of a data set: CSV in UTF-8, with a row for each value and its count, or for each person."""
    rule = _Rules(f"--data {data.name}", path)
    try:
        if path.is_dir():
            raise rule.broken("must be a file", "a folder")
        if (size := os.path.getsize(path)) > MOST_BYTES:
            raise rule.broken(f"must be at most {MOST_BYTES >> 20} MiB", f"{size >> 20} MiB", "count people by value")
        raw = path.read_bytes()
    except OSError as error:
        raise rule.broken("must be a file that can be read", error.strerror or "none") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"other bytes at position {error.start}"
        raise rule.broken("must be text in UTF-8", got, "write it anew in UTF-8") from None
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        head = next(rows, [])
        labels, counts, sensitive = _counted(data, rule, [name.strip().lower() for name in head], rows)
    except csv.Error as error:
        raise rule.broken("must be CSV", str(error), "write it anew, e.g. with a spreadsheet") from None
    return GivenData(data, path, hashlib.sha256(raw).hexdigest(), labels, counts, sensitive)


@dataclass(frozen=True)
class _Rules:
    name: str
    path: Path

    def broken(self, rule: str, got: object, remedy: str = "see docs/reproduce.md") -> ParameterError:
        """An error about the file; cells are people's, and never said."""
        shown = got if got is NOTHING else Unsaid(f"{got} in {self.path.name}")
        return ParameterError(message(self.name, rule, shown, remedy))


def _counted(
    data: DataSet, rule: _Rules, head: list[str], rows: Iterable[list[str]]
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]]:
    """Values, people and sensitive values of the rows."""
    needed = [name for name in data.columns if name != "count"]
    if len(set(head)) < len(head) or not set(needed) <= set(head):
        columns = f"must have the columns {', '.join(data.columns)} (count may be left out: then a row is a person)"
        raise rule.broken(columns, _seen(needed, head), "name them in the first line")
    places = {name: head.index(name) for name in data.columns if name in head}
    people: dict[str, int] = {}
    hides: dict[str, bool] = {}
    for at, row in enumerate(rows, 2):
        if not row:
            continue
        if len(row) != len(head):
            raise rule.broken(f"must have {len(head)} cells in every row", f"{len(row)} in line {at}")
        value = row[places["value"]].strip()
        if not value:
            raise rule.broken("must have a value in every row", f"none in line {at}", "leave such rows out")
        if data.amounts:
            value = _amount(value, rule, at)
        people[value] = people.get(value, 0) + (_count(row[places["count"]], rule, at) if "count" in places else 1)
        if data.sensitive:
            told = _TRUTHS.get(row[places["sensitive"]].strip().lower())
            if told is None:
                raise rule.broken("must have 1 or 0 in the column sensitive", f"another in line {at}")
            if hides.setdefault(value, told) is not told:
                raise rule.broken("must say the same of a value in all rows", f"another in line {at}")
        if len(people) > MOST_VALUES:
            raise rule.broken(f"must have at most {MOST_VALUES:,} values", "more", "group them")
    return _whole(data, rule, people, hides)


def _seen(needed: list[str], head: list[str]) -> str:
    """What the first line has in place of the columns; it may be a person's row, so none of its cells is said."""
    if not any(head):
        return "nothing"
    missing = [name for name in needed if name not in head]
    return f"{len(head)} columns " + (f"without {', '.join(missing)}" if missing else "of which two have the same name")


def _whole(
    data: DataSet, rule: _Rules, people: dict[str, int], hides: dict[str, bool]
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]]:
    """All values together."""
    if not people:
        raise rule.broken("must have rows", "none")
    if data.amounts:
        people = {str(v): people.get(str(v), 0) for v in range(max(map(int, people)) + 1)}
    if len(people) < 2:
        raise rule.broken("must have two values or more", len(people))
    if not 0 < sum(people.values()) <= MOST_PEOPLE:
        raise rule.broken(f"must be of 1..{MOST_PEOPLE} people", f"{sum(people.values())}")
    if data.sensitive and not 0 < sum(hides.values()) < len(people):
        got = f"{sum(hides.values())} of {len(people)}"
        raise rule.broken("must have some sensitive values, and others", got)
    return tuple(people), tuple(people.values()), tuple(hides.get(value, False) for value in people)


def _count(cell: str, rule: _Rules, at: int) -> int:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not (0 <= number <= MOST_PEOPLE and number.is_integer()):
        raise rule.broken(f"must have whole numbers of 0..{MOST_PEOPLE} in the column count", f"another in line {at}")
    return int(number)


def _amount(cell: str, rule: _Rules, at: int) -> str:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise rule.broken("must have numbers of at least 0 in the column value", f"another in line {at}")
    return str(min(round(number), _MOST_AMOUNT))


_MOST_AMOUNT = 40
"""The thesis cuts larger amounts of water."""
