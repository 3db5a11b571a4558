"""The table of all mechanisms as HTML: its headings sort it, and the name of a row chooses the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hush.reports.statements import lay
from hush.workbench.explore.table import Explored, ExploredRow
from hush.workbench.explore.words import points

SORTED_BY = ("name", "family", "margin", "asr", "gain", "bits", "size")
"""Columns by which the table is sorted."""
_HEADINGS = {
    "name": "Mechanism",
    "family": "Family",
    "margin": "Error (± points)",
    "asr": "Guessed right",
    "gain": "Fakes add (points)",
    "bits": "Bits",
    "size": "Bytes",
}


def ordered(rows: Sequence[ExploredRow], by: str, *, descending: bool = False) -> list[ExploredRow]:
    """Rows by a column; equal ones keep their order.

    >>> from hush.workbench.explore.table import explore
    >>> [row.name for row in ordered(explore(10, 1.0, 1000).rows, "name")][:2]
    ['ABLH', 'AGM']
    """
    return sorted(rows, key=lambda row: getattr(row, by), reverse=descending)


def table(found: Explored, by: str = "margin", *, descending: bool = False, chosen: str = "") -> str:
    """The whole table.

    Args:
        found: What is shown.
        by: The column that it is sorted by.
        descending: Whether the largest comes first.
        chosen: The mechanism that stands out.
    """
    top = "".join(_heading(column, by, descending=descending) for column in _HEADINGS)
    body = "".join(_row(row, found.k, chosen) for row in ordered(found.rows, by, descending=descending))
    said = f"{len(found.rows)} mechanisms at k = {found.k:,}, ε = {found.epsilon:g} and n = {found.n:,}"
    return f"<table><caption>{said}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _heading(column: str, by: str, *, descending: bool) -> str:
    state = ("descending" if descending else "ascending") if column == by else "none"
    mark = (" ▾" if descending else " ▴") if column == by else ""
    button = f'<button type="button" class="sort" data-sort="{column}">{_HEADINGS[column]}{mark}</button>'
    return f'<th scope="col" aria-sort="{state}">{button}</th>'


def _row(row: ExploredRow, k: int, chosen: str) -> str:
    right, _, of = lay.guesses(row.asr, 1 / k)
    cells = (
        escape(row.family),
        points(row.margin),
        f"{right} in {of}",
        points(row.gain),
        f"{row.bits:,}",
        f"{row.size:,}",
    )
    star = ' <span class="tag">unbeaten</span>' if row.on_front else ""
    delta = ' <span class="tag">with δ</span>' if row.approximate else ""
    pick = (
        f'<button type="button" class="pick" data-pick="{escape(row.name)}" title="{escape(row.full_name)}" '
        f'aria-pressed="{str(row.name == chosen).lower()}">{escape(row.name)}</button>'
    )
    mark = ' class="chosen"' if row.name == chosen else ""
    return (
        f'<tr{mark}><th scope="row">{pick}{star}{delta}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    )
