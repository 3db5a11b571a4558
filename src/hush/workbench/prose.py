"""Words in a page: headings, paragraphs, answers, notes, problems, empty states, tables, code.

Text is text: nothing in it is taken for HTML.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

NOTHING_FOR_THIS = (
    "Nothing to show for what is written",
    "Mend what is said in red: the results come back by themselves.",
)
"""What stands in the place of results while an input is wrong, so that nobody takes those before for its own."""


def text(tag: str, words: str = "", classes: str = "") -> TextElement:
    """An HTML element with text: `text("p", "…", "muted")`."""
    made = TextElement(tag=tag, text=words)
    return made.classes(classes) if classes else made


def title(words: str, lead: str = "") -> None:
    """The heading of a page, `h1`, and a sentence below it that says what one does here."""
    with ui.element("div").classes("stack tight"):
        text("h1", words)
        if lead:
            text("p", lead, "lead")


def heading(words: str, level: int = 2) -> TextElement:
    """A heading within a page, `h2` or `h3`."""
    return text(f"h{level}", words)


def paragraph(words: str, classes: str = "") -> TextElement:
    """A paragraph; `classes` may be "muted", "small" or "lead"."""
    return text("p", words, classes)


def answer(*words: str) -> ui.element:
    """The answer that a page gives, in words, before all numbers; screen readers hear it when it appears."""
    with ui.element("div").classes("answer stack").props('role="status"') as made:
        for each in words:
            text("p", each)
    return made


def note(words: str, *, warning: bool = False) -> ui.element:
    """Something to know beside."""
    with ui.element("div").classes("note warning" if warning else "note") as made:
        text("p", words)
    return made


def problem(words: str) -> ui.element:
    """What went wrong, in words; screen readers say it at once."""
    with ui.element("div").classes("problem").props('role="alert"') as made:
        text("p", words)
    return made


def empty(words: str, then: str = "", action: Callable[[], Any] | None = None) -> ui.element:
    """An empty state: what is not there yet, and what to do.

    Args:
        words: What is not there.
        then: What to do.
        action: Makes a button or link, in it.
    """
    with ui.element("div").classes("empty stack") as made:
        text("p", words, "strong")
        if then:
            text("p", then)
        if action is not None:
            with ui.element("div").classes("side").style("justify-content: center"):
                action()
    return made


def figure(value: str, words: str) -> ui.element:
    """A number that stands out, with its unit in it, and what it is."""
    with ui.element("div").classes("stack tight") as made:
        text("div", value, "figure-number")
        text("div", words, "muted small")
    return made


def code(words: str) -> ui.element:
    """Code, as it is."""
    return text("pre", words).props('tabindex="0"')


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", words: bool = False) -> ui.html:
    """A table as HTML has it, of plain text: the first column names its row. It scrolls by itself where it is wide.

    Args:
        header: Of the columns.
        rows: Their cells.
        caption: What it shows.
        words: Whether cells are words, and stand at the left.
    """
    made = ui.html(table_html(header, rows, caption=caption, words=words), sanitize=False).classes("scroll")
    made.props('tabindex="0" role="group"').props["aria-label"] = caption or "Table"
    return made


def table_html(header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", words: bool = False) -> str:
    """The HTML of a table; whatever is in it is escaped.

    >>> table_html([], [["<b>"]])
    '<table><thead><tr></tr></thead><tbody><tr><th scope="row">&lt;b&gt;</th></tr></tbody></table>'
    """
    top = "".join(f'<th scope="col">{html.escape(each)}</th>' if each else "<td></td>" for each in header)
    body = "".join(
        f'<tr><th scope="row">{html.escape(str(row[0]))}</th>'
        + "".join(f"<td>{html.escape(str(each))}</td>" for each in row[1:])
        + "</tr>"
        for row in rows
    )
    named = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    kind = ' class="words"' if words else ""
    return f"<table{kind}>{named}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
