"""A button for what cannot be undone: it asks once more, at the same place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from hush.workbench import controls, prose


def sure(words: str, question: str, yes: str, deed: Callable[[], Any], *, no: str = "No, leave it") -> ui.element:
    """A button that asks before it does something.

    Args:
        words: What the button says.
        question: What is asked then.
        yes: What the button that does it says.
        deed: Does it; it may be a coroutine function.
        no: What the button that does nothing says.
    """
    with ui.element("div").classes("stack tight") as made:
        first = controls.button(words)
        with ui.element("div").classes("note warning stack tight").props('role="alert"') as asked:
            said = prose.text("p", question)
            with ui.element("div").classes("side"):
                done = controls.button(yes, deed)
                back = controls.button(no, plain=True)
    asked.visible = False
    done.props["aria-describedby"] = said.html_id

    def ask(really: bool) -> None:
        first.visible, asked.visible = not really, really
        focus = done if really else first
        ui.run_javascript(f"setTimeout(() => getHtmlElement({focus.id})?.focus(), 50)")

    first.on("click", lambda: ask(True), args=[])
    back.on("click", lambda: ask(False), args=[])
    return made
