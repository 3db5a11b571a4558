"""What an audit found: the verdict in words, the proof, pictures of it, and files to keep."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from hush.reports.words import number
from hush.workbench import charts, controls, prose
from hush.workbench.audit.finding import AuditSaid, MethodRow, told


def show(result: Mapping[str, Any]) -> None:
    """All of it.

    Args:
        result: What `hush.workbench.audit.running.work` gave.
    """
    said = told(result["said"])
    _verdict(said)
    _scale(said)
    _proof(said)
    _line(said)
    _more(said)
    _files(said, result)


def _verdict(said: AuditSaid) -> None:
    with ui.element("div").classes("stack").props('role="status"'):
        with ui.element("div").classes("stack tight"):
            with ui.element("div").classes("side"):
                prose.heading(said.headline)
                prose.text("span", said.verdict, f"tag verdict {said.verdict}")
            prose.paragraph(f"Audited: {said.target}", "muted small")
        with ui.element("div").classes(f"answer stack {'broken' if said.verdict == 'violation' else ''}"):
            prose.paragraph(said.lead)
            if said.odds:
                prose.paragraph(said.odds)
        prose.paragraph(said.meaning, "muted")


def _scale(said: AuditSaid) -> None:
    """Each method's bound beside the claim; what is infinite reaches the end, and is named so."""
    series, most = said.bars()
    charts.bars(
        "Proved and claimed privacy loss",
        [charts.Bars(bar.name, bar.labels, bar.values, quiet=bar.quiet) for bar in series],
        unit="ε",
        most=most,
        sideways=True,
        summary=said.summary,
        height=f"{7 + 3 * len(said.rows)}rem",
    )


def _proof(said: AuditSaid) -> None:
    best = said.best
    if not best.pair:
        return
    with ui.element("div").classes("card"):
        prose.heading("What proves it" if best.proved > 0 else "What was counted", 3)
        with ui.element("dl").classes("facts"):
            for title, words in best.facts():
                prose.text("dt", title)
                prose.text("dd", words)


def _line(said: AuditSaid) -> None:
    drawn = [row for row in said.rows if row.line]
    if not drawn:
        return
    lines = [charts.Line(row.method, [x for x, _ in row.line], [y for _, y in row.line]) for row in drawn]
    if said.claimed is not None:
        ends = [drawn[0].line[0][0], drawn[0].line[-1][0]]
        lines.append(charts.Line("claimed", ends, [said.claimed] * 2, dashed=True))
    with ui.element("div").classes("stack"):
        prose.heading("What more reports would prove", 3)
        charts.lines(
            "What so many reports prove, if the event comes as often as it did",
            lines,
            x="reports of each value",
            y="proved ε",
            log_x=True,
            summary=said.outlook,
            height="18rem",
        )


def _more(said: AuditSaid) -> None:
    with ui.element("details"):
        prose.text("summary", "Every method, and what was tried")
        with ui.element("div").classes("stack"):
            prose.table(
                ("method", "proved ε", "confidence", "trials", "verdict"),
                [_cells(row) for row in said.rows],
                caption=f"What each method proves of {said.target}",
            )
            for row in said.rows:
                for words in (f"{row.method}: {row.statement}", row.looked, *row.notes):
                    if words:
                        prose.paragraph(words, "small")
            with ui.element("dl").classes("facts"):
                for name, words in said.words.items():
                    prose.text("dt", name)
                    prose.text("dd", words)


def _cells(row: MethodRow) -> tuple[str, ...]:
    return row.method, number(row.proved), row.confidence, f"{row.trials:,}" if row.trials else "–", row.verdict


def _files(said: AuditSaid, result: Mapping[str, Any]) -> None:
    name = "audit-" + re.sub(r"[^A-Za-z0-9]+", "-", said.target).strip("-")
    with ui.element("div").classes("stack"):
        prose.heading("Keep it", 3)
        with ui.element("div").classes("side"):
            controls.download(
                "The report, a page", f"{name}.html", lambda: str(result["page"]), "text/html", primary=True
            )
            controls.download("The numbers, JSON", f"{name}.json", lambda: _json(result), "application/json")
        prose.paragraph("The same at the command line:", "muted small")
        with ui.element("div").classes("side"):
            prose.code(said.command)
            controls.copy("Copy the command", said.command)


def _json(result: Mapping[str, Any]) -> str:
    return json.dumps(result["results"], indent=2, ensure_ascii=False) + "\n"
