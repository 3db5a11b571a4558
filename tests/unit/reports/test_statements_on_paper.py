"""Statements as PDF: letters that can be searched, nothing beyond the margins, one page where it can be one."""

from __future__ import annotations

import re
import zlib

import pytest

import hush
from hush.reports import Statement, statement
from hush.reports.statements.blocks import Bullets, Commands, Facts, Paragraph, Section, Tabular
from hush.reports.statements.paper import pdf, unspellable
from hush.reports.statements.typesetting import MARGIN, ROOM, WIDTH, Face, Sheets


def pages(paper: bytes) -> int:
    """How many there are."""
    return paper.count(b"/Type /Page ")


def drawn(paper: bytes) -> bytes:
    """All that pages draw, as it is written."""
    streams = re.findall(rb"/FlateDecode[^>]*>>\s*stream\r?\n(.*?)\r?\nendstream", paper, re.DOTALL)
    return b"\n".join(zlib.decompress(each) for each in streams)


def made_of(*blocks: object) -> Statement:
    """A statement with one section."""
    return Statement("A title", "A lead.", (Section("A heading", blocks),), "1.0")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "mechanism",
    [
        hush.GRR(k=4, epsilon=1.0),
        hush.Piecewise(epsilon=1.0, low=0.0, high=10.0, steps=10),
        hush.uRR(k=5, epsilon=1.0, sensitive=(0, 1)),
    ],
)
def test_a_statement_is_one_page_of_paper(mechanism):
    """Of any kind of mechanism that is asked once."""
    paper = statement(hush.Spec(mechanism), n=10_000).to_pdf()
    assert paper.startswith(b"%PDF-1.")
    assert pages(paper) == 1
    assert b"/FontFile2" in paper
    assert b"Privacy statement of a data collection" in paper


def test_the_same_statement_is_the_same_file():
    """So that it can be written again and compared."""
    made = statement(hush.Spec(hush.GRR(k=4, epsilon=1.0)), n=10_000)
    assert made.to_pdf() == made.to_pdf()


def test_what_is_too_long_goes_on_on_further_pages():
    """With their numbers, and in the largest letters."""
    paper = pdf(made_of(*(Paragraph("Some words that go on and on. " * 12) for _ in range(60))))
    assert pages(paper) > 2
    assert b" 9 Tf" in drawn(paper)


def test_every_kind_of_block_is_drawn():
    """Dollars are no formulas, and a long table breaks its cells."""
    paper = pdf(
        made_of(
            Paragraph("$x_1$ costs $5"),
            Bullets(("one", "two")),
            Tabular(("a", "b"), (("1", "a cell with many words " * 12), ("2", "short"))),
            Facts((("hash", "f" * 64),)),
            Commands(("hush audit --spec spec.json",)),
        )
    )
    assert pages(paper) == 1


def test_lines_have_room():
    """None is wider than the page lets it be, also where one word is."""
    face = Face(9.0)
    lines = face.broken("words of a sentence " * 30 + "w" * 300, ROOM)
    assert len(lines) > 8
    assert all(face.wide(line) <= ROOM * 1.01 for line in lines)
    assert "".join(lines).replace(" ", "") == ("words of a sentence " * 30 + "w" * 300).replace(" ", "")
    assert WIDTH == ROOM + 2 * MARGIN


def test_a_page_turns_where_it_is_full():
    """And not before."""
    sheets = Sheets(gap=4.0)
    for _ in range(40):
        sheets.text("a line", Face(9.0))
    assert len(sheets.pages) == 1
    for _ in range(40):
        sheets.text("a line", Face(9.0))
    assert len(sheets.pages) == 2


def test_letters_that_the_font_lacks_are_named():
    """Those of Europe are there."""
    assert unspellable(made_of(Paragraph("Größe, naïve, Łódź, Ελλάδα, Россия"))) == []
    assert unspellable(made_of(Paragraph("東京"))) == ["東京"]
