"""A field: one of the browser's own inputs, with a label, help, and its error in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments, handle_event

from hush.workbench import prose

T = TypeVar("T")
Changed = Callable[[Any], Any]
"""Called with the new value; it may be a coroutine function."""


class FormField(Generic[T]):
    """A field in a page.

    What is typed stays in the browser and is told to the server as it changes; nothing that the server does to the rest
    of the page takes it away.

    Args:
        label: What it asks.
        value: What it holds first.
        read: Makes a value of what the browser says; None where it cannot.
        help: Below it.
        on_change: Called with the new value when it changes.
        put: Lets the browser show another value; left out, that of the first input.
    """

    def __init__(
        self,
        label: str,
        value: T | None,
        read: Callable[[Any], T | None],
        *,
        help: str = "",
        on_change: Changed | None = None,
        put: Callable[[Any], None] | None = None,
    ) -> None:
        self.label, self._value, self._read, self._on_change = label, value, read, on_change
        self._put = put or (lambda value: put_in(self.inputs[0], "value", "" if value is None else value))
        self.element = ui.element("div").classes("field")
        self.inputs: list[ui.element] = []
        self._help_text = help
        self._heard: Any = None
        self.complaint: TextElement | None = None

    @property
    def value(self) -> T | None:
        """What it holds; None where what is written cannot be taken."""
        return self._value

    @value.setter
    def value(self, value: T) -> None:
        self._value, self._heard = value, None
        self.right()
        self._put(value)

    def wrong(self, words: str) -> None:
        """Say what is wrong, below it."""
        assert self.complaint is not None
        self.complaint.text = words
        for each in self.inputs:
            each.props["aria-invalid"] = "true"

    def right(self) -> None:
        """Take back what was wrong."""
        if self.complaint is not None and self.complaint.text:
            self.complaint.text = ""
            for each in self.inputs:
                each.props.pop("aria-invalid", None)

    def disable(self, disabled: bool = True) -> None:
        """Let nobody change it, or let them again."""
        for each in self.inputs:
            each.props.set_bool("disabled", disabled)

    def finish(self) -> None:
        """Put help and the place of errors below the inputs, and tie them together for screen readers."""
        with self.element:
            helping = prose.text("div", self._help_text, "help") if self._help_text else None
            self.complaint = prose.text("div", "", "wrong").props('aria-live="polite"')
        about = " ".join(each.html_id for each in (helping, self.complaint) if each is not None)
        for each in self.inputs:
            each.props["aria-describedby"] = about

    def heard(self, event: GenericEventArguments) -> None:
        """The browser says what it holds now; what it has said before is no news."""
        if event.args == self._heard:
            return
        self._heard = event.args
        self.right()
        self._value = self._read(event.args)
        if (changed := self._on_change) is not None:
            handle_event(lambda: changed(self._value), event)


def put_in(element: ui.element, what: str, value: Any) -> None:
    """Change what an input holds: before the page is sent, in what is sent, and after, in the browser."""
    with element.props.suspend_updates():
        element.props[f"default{what.title()}"] = value
    code = f"(() => {{ const it = getHtmlElement({element.id}); if (it) it.{what} = {json.dumps(value)}; }})()"
    element.client.run_javascript(code)
