"""Estimates as tables, JSON and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.cli import _console
from hush.cli._collect import Collection
from hush.estimation import Estimate

if TYPE_CHECKING:
    from hush.reports.figures import Series

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """The numbers of one group; `order` says which values to show, and in which order."""

    group: Any
    estimate: Estimate
    lower: Floats
    upper: Floats
    projected: Floats | None
    order: npt.NDArray[np.int64]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One plain dict for each value shown."""
        raw, labels = self.estimate, self.estimate.labels
        found = []
        for i in self.order:
            final = raw.frequencies[i] if self.projected is None else self.projected[i]
            row = {
                "label": labels[i],
                "frequency": float(raw.frequencies[i]),
                "stderr": float(raw.stderr[i]),
                "lower": float(self.lower[i]),
                "upper": float(self.upper[i]),
            }
            if self.projected is not None:
                row["projected"] = float(self.projected[i])
            found.append({**row, "count": float(final) * raw.n})
        return found

    @property
    def title(self) -> str:
        """The group and its size."""
        group = "missing" if self.group is None else _console.clean(self.group)
        return f"{group} ({self.estimate.n:,} reports)"

    def series(self, grouped: bool) -> Series:
        """The same for a figure."""
        from hush.reports.figures import Series

        name = self.title if grouped else ""
        labels = self.estimate.labels
        at = self.order
        return Series(name, [str(labels[i]) for i in at], self.estimate.frequencies[at], self.lower[at], self.upper[at])


def rows_of(estimate: Estimate, group: Any, level: float, simultaneous: bool, project: str | None) -> Result:
    """Everything that is printed of one group."""
    lower, upper = estimate.interval(level, simultaneous=simultaneous)
    projected = None if project is None else estimate.project(project).frequencies
    return Result(group, estimate, lower, upper, projected, np.arange(estimate.domain.size))


def shown(result: Result, top: int | None) -> Result:
    """The most frequent values first, and only so many; all in the domain's order when no number is given."""
    if top is None:
        return result
    return replace(result, order=np.argsort(-result.estimate.frequencies, kind="stable")[:top])


def as_dict(collection: Collection, results: list[Result], by: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The JSON of `hush estimate`."""
    whole = {
        "spec": collection.spec.to_dict(),
        "spec_hash": collection.spec.hash,
        "randomness": collection.randomness,
        "n": collection.total.n,
        **settings,
    }
    if by is None:
        return {**whole, "estimate": results[0].rows}
    groups = [{"group": each.group, "n": each.estimate.n, "estimate": each.rows} for each in results]
    return {**whole, "by": by, "groups": groups}


def as_csv(results: list[Result], by: str | None) -> str:
    """All numbers, one line a value."""
    text = io.StringIO()
    lines = [
        ({} if by is None else {by: each.group, "n": each.estimate.n}) | row for each in results for row in each.rows
    ]
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def show(
    collection: Collection,
    results: list[Result],
    by: str | None,
    level: float,
    simultaneous: bool,
    project: str | None,
) -> None:
    """Print the tables."""
    console = _console.stdout()
    console.print(_console.cell(collection.title, "bold"))
    for words in collection.randomness:
        if words != "secure":
            _console.warn(f"these reports do not come from secure randomness: {words}")
    kind = "simultaneous" if simultaneous else "pointwise"
    for result in results:
        title = None if by is None else f"{by} = {result.title}"
        if by is not None:
            console.print()
        table = _console.table(title, _hidden(result))
        for name in (
            "value",
            *(() if project is None else (project,)),
            "frequency",
            "±",
            f"{level * 100:g} % interval",
            "count",
        ):
            table.add_column(name, justify="left" if name == "value" else "right")
        for row in result.rows:
            final = () if project is None else (f"{row['projected']:.5f}",)
            reach = (row["upper"] - row["lower"]) / 2
            between = f"{row['lower']:.5f} … {row['upper']:.5f}"
            cells = (row["label"], *final, f"{row['frequency']:.5f}", f"{reach:.5f}", between, f"{row['count']:,.0f}")
            table.add_row(*(_console.cell(each) for each in cells))
        console.print(table)
    after = "" if project is None else f" “{project}” and count are post-processed: no interval holds for them."
    _console.note(f"Frequencies are raw and unbiased; intervals are {kind}.{after}")


def _hidden(result: Result) -> str | None:
    total, here = result.estimate.domain.size, len(result.order)
    return None if here == total else f"the {here:,} most frequent of {total:,} values"
