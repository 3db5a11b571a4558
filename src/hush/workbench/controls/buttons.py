"""Buttons and links; one primary button a page says what to do next."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from nicegui import ui

from hush.workbench import prose


def button(
    words: str,
    on_click: Callable[[], Any] | None = None,
    *,
    primary: bool = False,
    plain: bool = False,
    icon: str = "",
    hidden_words: bool = False,
) -> ui.element:
    """A button.

    Args:
        words: What it does.
        on_click: Called when it is pressed; it may be a coroutine function.
        primary: Whether it is the one that a page leads to.
        plain: Whether it looks like a link.
        icon: The name of a Material icon before the words.
        hidden_words: Whether only the icon is seen, and the words are for screen readers.
    """
    classes = "button" + " primary" * primary + " plain" * plain + " icon" * hidden_words
    with ui.element("button").classes(classes).props('type="button"') as made:
        _inside(words, icon, hidden_words)
    if on_click is not None:
        made.on("click", lambda: on_click(), args=[])
    return made


def link(words: str, address: str, *, primary: bool = False, plain: bool = False, icon: str = "") -> ui.element:
    """A link that looks like a button, to a page or a section (`#…`)."""
    with ui.element("a").classes("button" + " primary" * primary + " plain" * plain) as made:
        _inside(words, icon, False)
    made.props["href"] = address
    return made


def download(
    words: str, name: str, make: Callable[[], bytes | str], media_type: str = "text/plain", *, primary: bool = False
) -> ui.element:
    """A button that hands over a file, made when it is pressed, in a thread.

    Args:
        words: What it hands over.
        name: Of the file.
        make: Makes its content.
        media_type: Of the content.
        primary: Whether it is the one that a page leads to.
    """

    async def handed() -> None:
        content = await asyncio.to_thread(make)
        ui.download.content(content, name, media_type)

    return button(words, handed, primary=primary, icon="download")


def copy(words: str, content: str | Callable[[], str]) -> ui.element:
    """A button that copies a text."""

    def copied() -> None:
        ui.clipboard.write(content if isinstance(content, str) else content())
        ui.notify("Copied", position="bottom", timeout=1500)

    return button(words, copied, icon="content_copy")


def _inside(words: str, icon: str, hidden: bool) -> None:
    if icon:
        ui.icon(icon).props('aria-hidden="true"').style("font-size: 1.25rem")
    prose.text("span", words, "hidden-words" if hidden else "")


def javascript(text: str) -> str:
    """A text as JavaScript has it."""
    return json.dumps(text).replace("<", "\\u003c")
