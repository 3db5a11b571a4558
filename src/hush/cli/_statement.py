"""The statement that several commands write: the same page, with what only that command knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hush import atomic
from hush.cli import _console
from hush.files.collections import Collection
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
        _console.warn(f"no statement was written, and {path} is as it was")
        return
    from hush.reports import statement

    made = statement(spec, **known)
    atomic.write(path, made.to_html() if path.suffix.lower() == ".html" else made.to_markdown())
    if not quiet:
        _console.note(f"wrote the statement, {path}")


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


def of_collection(files: Sequence[ReportFile], collection: Collection, by: str | None, level: float) -> dict[str, Any]:
    """What is known once reports have been estimated."""
    caveats = [
        f"The reports: their files say that they do not come from secure randomness ({shortened(words, 80)})."
        for words in collection.randomness
        if words != "secure"
    ]
    if by is not None:
        caveats.append(
            f"Groups of {label(by)}, which were estimated one by one: what is told of a small group is told of its "
            "members."
        )
    return {
        "n": collection.total.n,
        "kept": list(dict.fromkeys(name for file in files for name in file.kept)),
        "caveats": caveats,
        "found": [] if collection.spec.mechanism.kind == "longitudinal" else [_margins(collection, level)],
    }


def _margins(collection: Collection, level: float) -> str:
    """How wide the intervals of all reports together turned out to be, half of each."""
    of_mean = collection.spec.mechanism.kind == "numeric"
    whole = collection.total
    found = [collection.spec.estimate(whole)] if of_mean else collection.estimates(whole).values()
    points, unit = (1, "") if of_mean else (100, " percentage points")
    widths = (np.subtract(*reversed(each.interval(level))) for each in found)
    reach = points * np.concatenate([np.atleast_1d(width) for width in widths]) / 2
    ends = list(dict.fromkeys(f"±{lay.amount(float(each))}" for each in (np.nanmin(reach), np.nanmax(reach))))
    return (
        f"Of these {many(collection.total.n, 'report', 'reports')} together, the {level * 100:g} % intervals are "
        f"{' to '.join(ends)}{unit}."
    )
