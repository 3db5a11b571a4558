"""What an audit found, as a table and a sentence for each method."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from hush.audit import AuditResult
from hush.cli.shown import grid, terminal
from hush.reports.words import DASH, number

_STYLES = {"violation": "bold red", "inconclusive": "bold yellow", "consistent": "green", "measured": ""}


def show(console: Console, results: Sequence[AuditResult]) -> None:
    """One row for each method, then what each proves, and by what."""
    names = ("method", "claimed ε", "proved ε", "confidence", "trials", "hits", "false hits", "verdict", "seconds")
    columns = [
        grid.Column(n, "left" if n in {"method", "verdict"} else "right", r) for n, r in zip(names, _RANKS, strict=True)
    ]
    rows = [[terminal.cell(each, style) for each, style in _cells(result)] for result in results]
    grid.show(console, columns, rows, f"Audit of {results[0].target}")
    for result in results:
        console.print()
        console.print(terminal.cell(f"{result.method}: {result.statement}"), soft_wrap=True)
        if result.shown is not None:
            console.print(terminal.cell(result.shown), soft_wrap=True)
        if result.looked is not None:
            console.print(terminal.cell(result.looked), soft_wrap=True)
        for note in result.notes:
            console.print(terminal.cell(note, "dim"), soft_wrap=True)


_RANKS = (0, 0, 0, 3, 4, 2, 2, 0, 5)


def _cells(result: AuditResult) -> list[tuple[str, str]]:
    exact = result.method == "exact"
    hits, false_hits = ("", "") if result.counts is None else (f"{each:,}" for each in result.counts)
    plain = [
        result.method,
        DASH if result.claimed is None else f"{result.claimed:g}",
        number(result.epsilon_lower),
        result.confidence,
        "" if exact else f"{result.trials:,}",
        hits,
        false_hits,
        result.verdict,
        f"{result.seconds:.2f}",
    ]
    return [(each, _STYLES[result.verdict] if each == result.verdict else "") for each in plain]
