"""Estimates as tables on the terminal."""

from __future__ import annotations

from typing import Any

from hush.cli import _console, _grid
from hush.cli._estimates import Result, Settings, resting
from hush.cli._folded import LONGEST, title_of
from hush.files.collections import Collection
from hush.mechanisms.spec import Spec
from hush.reports.words import shortened


def show(collection: Collection[Spec], results: list[Result], by: str | None, settings: Settings) -> None:
    """Print the tables."""
    console = _console.stdout()
    console.print(_console.cell(title_of(collection), "bold"))
    for words in collection.randomness:
        if words != "secure":
            _console.warn(f"these reports do not come from secure randomness: {words}")
    final = settings.projection
    for result in results:
        if by is not None:
            console.print()
        title = None if by is None else f"{by} = {result.title}"
        _grid.show(console, _columns(settings), [_cells(row) for row in result.rows], title, _hidden(result))
    after = "" if final is None else f" “{final}” and its count are post-processed: no interval holds for them."
    _console.note(f"Frequencies are raw and unbiased; intervals are {settings.kind}, {resting(results)}.{after}")


def _columns(settings: Settings) -> list[_grid.Column]:
    column, final = _grid.Column, settings.projection
    raw = [column("frequency"), column("±"), column(settings.interval, rank=1)]
    if final is None:
        return [column("value", "left"), *raw, column("count")]
    return [column("value", "left"), column(final), column(f"count by {final}"), *raw]


def _cells(row: dict[str, Any]) -> list[str]:
    label = shortened(_console.clean(row["label"]), LONGEST)
    reach, between = (row["upper"] - row["lower"]) / 2, f"{row['lower']:.5f} … {row['upper']:.5f}"
    raw = [f"{row['frequency']:.5f}", f"{reach:.5f}", between]
    if "projected" not in row:
        return [label, *raw, f"{row['count']:,.0f}"]
    return [label, f"{row['projected']:.5f}", f"{row['projected_count']:,.0f}", *raw]


def _hidden(result: Result) -> str | None:
    total, here = result.estimate.domain.size, len(result.order)
    return None if here == total else f"the {here:,} most frequent of {total:,} values"
