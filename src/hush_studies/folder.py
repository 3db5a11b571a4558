"""Make the parts of a study in a folder, and go on where an earlier run stopped.

A part is kept when the folder's record says that it was made with the same settings and its two files are still what
was written then. The record is rewritten after every part.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hush_studies.check import Check, OfPeople
from hush_studies.given import given
from hush_studies.study import Advance, Part, Settings, Study, Table

RECORD = "made.json"
Write = Callable[[Path, str | bytes], None]


@dataclass(frozen=True)
class Made:
    """A part that is in the folder, and how long it took when it was made."""

    part: Part
    table: Table
    seconds: float
    kept: bool

    @cached_property
    def checks(self) -> list[Check]:
        """What the paper prints about it, compared, and of whom."""
        return [self._told(check) for check in self.part.check(self.table)]

    @property
    def data(self) -> list[str]:
        """The data sets that its table rests on and that are not part of Hush."""
        if "people" not in self.table.columns:
            return list(self.part.data)
        there = {_STANDS_FOR.get(name, name) for name in self.table.column("people")}
        return [name for name in self.part.data if name in there]

    @property
    def people(self) -> str:
        """Which of those are real, and which are made up."""
        files = {name: given(name) for name in self.data}
        return "; ".join(f"{name}: {'stand-in' if file is None else file.source}" for name, file in files.items())

    def _told(self, check: Check) -> Check:
        files = [given(name) for name in self.data]
        judged = all(files) and isinstance(check.untold, OfPeople)  # nothing is left untold then
        untold = "" if judged else check.untold
        return replace(check, people=self.people, real=any(files), untold=untold)


_STANDS_FOR = {"Few emojis": "Emoji", "Water": "AguaH"}
"""Names in tables that are not those of data sets."""


def names(parts: Sequence[Part]) -> list[str]:
    """The files that these parts write."""
    return [RECORD, *(part.id + ending for part in parts for ending in (".csv", ".png"))]


def kept(study: Study, parts: Sequence[Part], settings: Settings, folder: Path) -> dict[str, Made]:
    """Those of the parts that an earlier run made in this folder, in the same way, by id."""
    found = ((part.id, _kept(study, part, settings, folder)) for part in parts)
    return {name: made for name, made in found if made is not None}


def whole(folder: Path) -> list[str]:
    """The parts of a full run that the folder's record names, whatever the study."""
    found = {name: entry["settings"] for name, entry in _record(folder).items() if _complete(entry)}
    return [name for name, settings in found.items() if settings.get("quick") is False]


def _complete(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("settings"), dict)


def make(
    study: Study,
    parts: Sequence[Part],
    settings: Settings,
    folder: Path,
    *,
    write: Write,
    there: Mapping[str, Made] = MappingProxyType({}),
    advance: Advance = lambda seconds: None,
    begin: Callable[[Part], None] = lambda part: None,
    end: Callable[[Made], None] = lambda made: None,
) -> list[Made]:
    """Make the parts that are not there yet.

    Args:
        study: Whose parts these are.
        parts: The ones that are wanted.
        settings: How.
        folder: An existing folder.
        write: Writes a file, whole or not at all.
        there: What `kept` found; nothing, to make everything anew.
        advance: Is told of progress, in seconds of `Part.cost`.
        begin: Is told of each part before it is made.
        end: Is told of each part that was made.
    """
    found = []
    for part in parts:
        if part.id in there:
            found.append(there[part.id])
            continue
        begin(part)
        found.append(_made(study, part, settings, folder, write, advance))
        end(found[-1])
    return found


def _made(study: Study, part: Part, settings: Settings, folder: Path, write: Write, advance: Advance) -> Made:
    from hush.reports.figures import png

    start, told = time.perf_counter(), 0.0

    def move(share: float) -> None:
        nonlocal told
        told += share
        advance(share * part.cost(settings))

    table = part.compute(settings, move)
    files = {".csv": table.csv().encode(), ".png": png(part.draw(table))}
    for ending, content in files.items():
        write(folder / (part.id + ending), content)
    seconds = time.perf_counter() - start
    entry = {"settings": _recorded(study, part, settings), "seconds": seconds}
    entry |= {ending[1:]: hashlib.sha256(content).hexdigest() for ending, content in files.items()}
    write(folder / RECORD, json.dumps({**_record(folder), part.id: entry}, indent=1) + "\n")
    move(1.0 - told)
    return Made(part, table, seconds, kept=False)


def _kept(study: Study, part: Part, settings: Settings, folder: Path) -> Made | None:
    entry = _record(folder).get(part.id)
    if not isinstance(entry, dict) or entry.get("settings") != _recorded(study, part, settings):
        return None
    contents = {}
    for ending in ("csv", "png"):
        try:
            contents[ending] = (folder / f"{part.id}.{ending}").read_bytes()
        except OSError:
            return None
        if hashlib.sha256(contents[ending]).hexdigest() != entry.get(ending):
            return None
    return Made(part, Table.read(contents["csv"].decode()), float(entry.get("seconds", 0.0)), kept=True)


def _recorded(study: Study, part: Part, settings: Settings) -> dict[str, Any]:
    """What the numbers of a part depend on."""
    chance = {"seed": settings.seed} if part.empirical else {}
    files = {name: file.digest for name in part.data if (file := given(name)) is not None}
    data = {"data": files} if files else {}
    return {"study": study.name, "version": study.version, "quick": settings.quick, **chance, **data}


def _record(folder: Path) -> dict[str, Any]:
    """The folder's record; an empty one where there is none that can be read."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
