"""The statement that several commands write: the same page, with what only that command knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hush import atomic
from hush.cli.shown import terminal
from hush.estimation import Aggregate
from hush.files.collections import Collection
from hush.files.estimates import EstimateSettings, results_of
from hush.files.periods import PERIOD
from hush.files.randomizing import Written
from hush.files.reports import AS_READ, ReportFile
from hush.mechanisms.spec import Spec
from hush.reports.statements import lay
from hush.reports.statements.blocks import label
from hush.reports.words import many, shortened


def write(path: Path | None, spec: Spec | None, *, quiet: bool, **known: Any) -> None:
    """Write it, where it was asked for; where there is no collection to speak of, say so."""
    if path is None:
        return
    if spec is None:
        terminal.warn(f"no statement was written, and {path} is as it was")
        return
    from hush.reports import statement

    made = statement(spec, **known)
    atomic.write(path, made.to_html() if path.suffix.lower() == ".html" else made.to_markdown())
    if not quiet:
        terminal.note(f"wrote the statement, {path}")


def of_file(written: Written, order: str) -> list[str]:
    """What reports that were made of a file leave open."""
    said = [
        "The file of values that these reports were made of: whoever holds it holds the values. The promise is about "
        "the reports, and begins where the file is gone.",
    ]
    if order == AS_READ:
        said.append(
            "The order of the rows, which is the input's: where it has to do with the values, the reports around a "
            "row tell its value together, and who knows the order knows whose report each is."
        )
    if written.smallest_group is not None and written.reports:
        some = many(written.smallest_group, "report", "reports")
        said.append(f"A report hides only among those with the same kept cells: {some} in the smallest group.")
    return said


def of_store(spec: Spec, *, stored: bool, limit: Fraction | None) -> list[str]:
    """What is kept of people from run to run, and what it limits."""
    said = []
    if stored:
        holds = "permanent answers, and " if spec.mechanism.kind == "longitudinal" else ""
        said.append(
            f"The file that keeps {holds}what each person has spent, from run to run: it is as sensitive as the values "
            "themselves."
        )
    if limit is not None:
        said.append(
            f"Beyond a limit: whoever would lose more than ε = {float(limit):g} in all collections of that file, "
            "counted for values that may change, did not report. Whoever counts a person's reports sees that."
        )
    return said


def of_collection(
    files: Sequence[ReportFile], collection: Collection, by: str | None, settings: EstimateSettings, only: str | None
) -> dict[str, Any]:
    """What is known once reports have been estimated: of all together, of groups, or period by period."""
    caveats = [
        f"The reports: their files say that they do not come from secure randomness ({shortened(words, 80)})."
        for words in collection.randomness
        if words != "secure"
    ]
    n, found = collection.total.n, []
    if by == PERIOD:
        n = min(part.n for part in collection.parts.values())  # a person may report in each of them
    elif collection.spec.mechanism.kind != "longitudinal":
        together = f"Of these {many(n, 'report', 'reports')} together, the"
        found.append(f"{together} {_intervals(collection, [collection.total], settings, only)}.")
    if by is not None:
        each = "period" if by == PERIOD else "group"
        reach = _intervals(collection, collection.parts.values(), settings, only)
        found.append(f"Of each {each} by itself, the {reach}. They do not cover all {each}s at once.")
    if by not in (None, PERIOD):
        caveats.append(
            f"Groups of {label(by)}, which were estimated one by one: what is told of a small group is told of its "
            "members."
        )
    kept = list(dict.fromkeys(name for file in files for name in file.kept))
    return {"n": n, "kept": kept, "caveats": caveats, "found": found}


def _intervals(collection: Collection, parts: Iterable[Aggregate], settings: EstimateSettings, only: str | None) -> str:
    """How wide the intervals of some reports turned out to be, half of each, and what they cover."""
    if collection.spec.mechanism.kind == "numeric":
        found = [collection.spec.estimate(part).interval(settings.level) for part in parts]
        unit, covered = "", "the mean"
    else:
        whole = replace(collection, parts=dict(enumerate(parts)))
        found = [each.interval for each in results_of(whole, settings, only)]
        unit, covered = " percentage points", "each frequency by itself"
        if settings.simultaneous:
            covered = f"all frequencies{settings.over.replace(' over', ' of')} at once"
    points = 100 if unit else 1
    reach = points * np.concatenate([np.atleast_1d(np.subtract(*reversed(each))) for each in found]) / 2
    ends = list(dict.fromkeys(f"±{lay.amount(float(each))}" for each in (np.nanmin(reach), np.nanmax(reach))))
    return f"{settings.interval}s are {' to '.join(ends)}{unit}, and cover {covered}"
