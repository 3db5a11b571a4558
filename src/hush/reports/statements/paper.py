"""A statement on paper: a PDF of one page where it can be one, with the words of its other forms."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.backends.backend_pdf import PdfPages

from hush.reports import fonts
from hush.reports.statements.blocks import Block, Bullets, Commands, Facts, Paragraph, Tabular
from hush.reports.statements.typesetting import HEIGHT, MARGIN, ROOM, WIDTH, Face, Sheets
from hush.reports.theme import LIGHT

if TYPE_CHECKING:
    from hush.reports.statements.whole import Statement

_SIZES = (9.0, 8.6, 8.2, 7.8, 7.4)
"""Sizes of type, in points, of which the largest is taken that makes one page; or the largest of all."""
_GROUND = "#f3f4f7"
_INDENT = 11.0


def pdf(statement: Statement) -> bytes:
    """The file."""
    every = (_laid(statement, size) for size in _SIZES)
    sheets = next((each for each in every if len(each.pages) == 1), None) or _laid(statement, _SIZES[0])
    _footers(sheets, statement)
    buffer = io.BytesIO()
    about = {"Title": statement.title, "Creator": f"hush {statement.version}", "CreationDate": None}
    with rc_context({"pdf.fonttype": 42}), PdfPages(buffer, metadata=about) as out:
        for page in sheets.pages:
            out.savefig(page)
    return buffer.getvalue()


def unspellable(statement: Statement) -> list[str]:
    """The texts of a statement that the font of the PDF cannot spell; print the HTML page instead."""
    return fonts.unprintable(_texts(statement))


def _texts(statement: Statement) -> Iterable[str]:
    yield from (statement.title, statement.lead)
    for section in statement.sections:
        yield section.heading
        for block in section.blocks:
            yield from block.markdown().splitlines()


def _laid(statement: Statement, size: float) -> Sheets:
    body = Face(size)
    head = Face(size * 1.18, bold=True, colour=LIGHT.series[0])
    sheets = Sheets(gap=size * 0.42)
    sheets.text(statement.title, Face(size * 1.9, bold=True))
    sheets.skip(sheets.gap)
    sheets.text(statement.lead, Face(size, colour=LIGHT.faint))
    for section in statement.sections:
        sheets.skip(1.5 * sheets.gap)
        sheets.needs(head.line + 2 * body.line)
        sheets.text(section.heading, head)
        for block in section.blocks:
            sheets.skip(sheets.gap / 2)
            _DRAWN[type(block)](sheets, block, body)
    return sheets


def _paragraph(sheets: Sheets, block: Paragraph, body: Face) -> None:
    sheets.text(block.text, body)


def _bullets(sheets: Sheets, block: Bullets, body: Face) -> None:
    for item in block.items:
        sheets.needs(body.line)
        sheets.put("•", body, 1.0, sheets.at + body.line - 0.32 * body.size)
        sheets.text(item, body, left=_INDENT)


def _facts(sheets: Sheets, block: Facts, body: Face) -> None:
    faint = Face(body.size, colour=LIGHT.faint)
    mono = Face(body.size * 0.92, mono=True)
    left = 14 + max(faint.wide(name) for name, _ in block.entries)
    for name, said in block.entries:
        sheets.needs(body.line)
        sheets.put(name, faint, 0.0, sheets.at + mono.line - 0.32 * mono.size)
        sheets.text(said, mono, left=left)


def _tabular(sheets: Sheets, block: Tabular, body: Face) -> None:
    bold = Face(body.size, bold=True)
    wide = [max(bold.wide(line[i]) for line in (block.head, *block.rows)) for i in range(len(block.head))]
    stretch = min(1.0, (ROOM - 12 * len(wide)) / sum(wide))
    starts = [sum(wide[:i]) * stretch + 12 * i for i in range(len(wide))]
    for face, line in ((bold, block.head), *((body, row) for row in block.rows)):
        cells = [face.broken(cell, wide[i] * stretch + 1) for i, cell in enumerate(line)]
        tall = max(map(len, cells))
        sheets.needs(tall * face.line)
        for left, parts in zip(starts, cells, strict=True):
            for j, part in enumerate(parts, 1):
                sheets.put(part, face, left, sheets.at + j * face.line - 0.32 * face.size)
        sheets.skip(tall * face.line)


def _commands(sheets: Sheets, block: Commands, body: Face) -> None:
    mono = Face(body.size * 0.88, mono=True)
    lines = [part for line in block.lines for part in mono.broken(line, ROOM - 2 * _INDENT)]
    tall = len(lines) * mono.line + mono.size
    sheets.needs(tall)
    sheets.ground(tall, _GROUND)
    sheets.skip(mono.size / 2)
    for line in lines:
        sheets.text(line, mono, left=_INDENT)
    sheets.skip(mono.size / 2)


_DRAWN: dict[type, Callable[[Sheets, Block, Face], None]] = {
    Paragraph: _paragraph,  # type: ignore[dict-item]
    Bullets: _bullets,  # type: ignore[dict-item]
    Facts: _facts,  # type: ignore[dict-item]
    Tabular: _tabular,  # type: ignore[dict-item]
    Commands: _commands,  # type: ignore[dict-item]
}


def _footers(sheets: Sheets, statement: Statement) -> None:
    face = Face(7.0, colour=LIGHT.faint)
    count = len(sheets.pages)
    for i, page in enumerate(list(sheets.pages), 1):
        words = f"Written by hush {statement.version}." + (f" Page {i} of {count}." if count > 1 else "")
        x, y = MARGIN / WIDTH, (MARGIN - 14) / HEIGHT
        page.text(x, y, words, fontproperties=face.font, color=face.colour, parse_math=False)
