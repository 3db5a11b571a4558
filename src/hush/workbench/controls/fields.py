"""Fields: the browser's own inputs, each with a label, help, and its error in words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from nicegui import ui
from nicegui.events import GenericEventArguments, handle_event

from hush.workbench import prose

T = TypeVar("T")
Changed = Callable[[Any], Any]
"""Called with the new value; it may be a coroutine function."""
_SECONDS = 0.05


class Field(Generic[T]):
    """A field in a page.

    What is typed stays in the browser and is told to the server as it changes; nothing that the server does to the rest
    of the page takes it away.

    Args:
        label: What it asks.
        value: What it holds first.
        read: Makes a value of what the browser says; None where it cannot.
        help: Below it.
        on_change: Called with the new value when it changes.
    """

    def __init__(
        self,
        label: str,
        value: T | None,
        read: Callable[[Any], T | None],
        *,
        help: str = "",
        on_change: Changed | None = None,
    ) -> None:
        self.label, self._value, self._read, self._on_change = label, value, read, on_change
        self.element = ui.element("div").classes("field")
        self.inputs: list[ui.element] = []
        self._help_text = help
        self.complaint: prose.TextElement | None = None

    @property
    def value(self) -> T | None:
        """What it holds; None where what is written cannot be taken."""
        return self._value

    @value.setter
    def value(self, value: T) -> None:
        self._value = value
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
        """The browser says what it holds now."""
        self.right()
        self._value = self._read(event.args)
        if self._on_change is not None:
            handle_event(lambda: self._on_change(self._value), event)  # type: ignore[misc]

    def _put(self, value: Any) -> None:
        _set(self.inputs[0], "value", "" if value is None else value)


def _set(element: ui.element, what: str, value: Any) -> None:
    """Change what an input holds: before the page is sent, in what is sent, and after, in the browser."""
    with element.props.suspend_updates():
        element.props[f"default{what.title()}"] = value
    code = f"(() => {{ const it = getHtmlElement({element.id}); if (it) it.{what} = {json.dumps(value)}; }})()"
    element.client.run_javascript(code)


def _labelled(field: Field[Any], tag: str, props: Mapping[str, Any], event: str = "input") -> ui.element:
    with field.element:
        named = prose.text("label", field.label)
        made = ui.element(tag)
    made.props.update(props)
    named.props["for"] = made.html_id
    made.on(event, field.heard, throttle=_SECONDS, leading_events=False, js_handler="(e) => emit(e.target.value)")
    field.inputs.append(made)
    return made


def text(
    label: str,
    value: str = "",
    *,
    help: str = "",
    placeholder: str = "",
    secret: bool = False,
    on_change: Changed | None = None,
) -> Field[str]:
    """A line of text; a secret one is not shown."""
    field: Field[str] = Field(label, value, str, help=help, on_change=on_change)
    props = {"type": "password" if secret else "text", "defaultValue": value, "autocomplete": "off"}
    _labelled(field, "input", {**props, **({"placeholder": placeholder} if placeholder else {})})
    field.finish()
    return field


def textarea(
    label: str, value: str = "", *, help: str = "", rows: int = 6, on_change: Changed | None = None
) -> Field[str]:
    """Several lines of text."""
    field: Field[str] = Field(label, value, str, help=help, on_change=on_change)
    _labelled(field, "textarea", {"defaultValue": value, "rows": rows, "spellcheck": "false"})
    field.finish()
    return field


def number(
    label: str,
    value: float | None = None,
    *,
    least: float | None = None,
    most: float | None = None,
    whole: bool = False,
    unit: str = "",
    help: str = "",
    on_change: Changed | None = None,
) -> Field[float]:
    """A number; an `int` where it is whole. Its value is None, and the field says why, while it is none in the range."""

    def read(given: Any) -> float | None:
        found = number_in(given, least, most, whole)
        if isinstance(found, str):
            field.wrong(found)
            return None
        return found

    field: Field[float] = Field(f"{label} ({unit})" if unit else label, value, read, help=help, on_change=on_change)
    shown = "" if value is None else f"{value:.12g}"
    props = {
        "type": "text",
        "inputmode": "numeric" if whole else "decimal",
        "defaultValue": shown,
        "autocomplete": "off",
    }
    _labelled(field, "input", props)
    field.finish()
    return field


def number_in(given: Any, least: float | None, most: float | None, whole: bool) -> float | str:
    """The number that somebody wrote, or what is wrong with it.

    >>> number_in("20,000", 1, None, True), number_in("0.5", 1, 8, False), number_in("many", None, None, False)
    (20000, 'must be at least 1', 'must be a number')
    """
    try:
        found = float(str(given).strip().replace(",", "").replace(" ", "").replace("\u202f", ""))
    except ValueError:
        return "must be a whole number" if whole else "must be a number"
    if not math.isfinite(found) or (whole and found != round(found)):
        return "must be a whole number" if whole else "must be a finite number"
    if least is not None and found < least:
        return f"must be at least {least:,.12g}"
    if most is not None and found > most:
        return f"must be at most {most:,.12g}"
    return int(found) if whole else found


def slider(
    label: str,
    value: float,
    *,
    least: float,
    most: float,
    step: float = 1.0,
    ends: tuple[str, str] = ("", ""),
    shown: Callable[[float], str] = lambda value: f"{value:.12g}",
    help: str = "",
    on_change: Changed | None = None,
) -> Field[float]:
    """A number that is dragged, or changed by the arrow keys.

    Args:
        label: What it asks.
        value: Where it stands first.
        least: Its left end.
        most: Its right end.
        step: Between two places.
        ends: What its ends mean, in words: ("more private", "more accurate").
        shown: The value in words, which is shown beside the label and read aloud; a slider may stand for a logarithm.
        help: Below it.
        on_change: Called with the value, twenty times a second at most.
    """

    def read(given: Any) -> float:
        found = min(most, max(least, float(given)))
        words.text = shown(found)
        with made.props.suspend_updates():
            made.props["aria-valuetext"] = shown(found)
        made.client.run_javascript(
            f"getHtmlElement({made.id})?.setAttribute('aria-valuetext', {json.dumps(shown(found))})"
        )
        return found

    field: Field[float] = Field(label, value, read, help=help, on_change=on_change)
    with field.element, ui.element("div").classes("ends"):
        named = prose.text("label", label)
        words = prose.text("output", shown(value), "value")
    with field.element:
        made = ui.element("input")
        if any(ends):
            with ui.element("div").classes("ends"):
                prose.text("span", ends[0])
                prose.text("span", ends[1])
    made.props.update({"type": "range", "min": least, "max": most, "step": step, "defaultValue": value})
    made.props["aria-valuetext"] = shown(value)
    named.props["for"] = words.props["for"] = made.html_id
    named.style("font-weight: 600; color: var(--ink)")
    made.on("input", field.heard, throttle=_SECONDS, js_handler="(e) => emit(e.target.value)")
    field.inputs.append(made)
    field.finish()
    return field


def select(
    label: str, options: Mapping[str, str], value: str, *, help: str = "", on_change: Changed | None = None
) -> Field[str]:
    """One of several, by a list that opens. The keys of options are values, what they hold is shown."""
    field: Field[str] = Field(
        label, value, lambda given: given if given in options else None, help=help, on_change=on_change
    )
    made = _labelled(field, "select", {}, "change")
    with made:
        for key, words in options.items():
            prose.text("option", words).props.update({"value": key, **({"selected": True} if key == value else {})})
    field.finish()
    return field


def choice(
    label: str, options: Mapping[str, str], value: str, *, help: str = "", on_change: Changed | None = None
) -> Field[str]:
    """One of few, by radio buttons that are all seen."""
    field: Field[str] = Field(
        label, value, lambda given: given if given in options else None, help=help, on_change=on_change
    )
    field.element.props["role"] = "radiogroup"
    with field.element:
        field.element.props["aria-labelledby"] = prose.text("div", label, "legend").html_id
        for key, words in options.items():
            with ui.element("div").classes("inline"):
                made = ui.element("input")
                prose.text("label", words).props["for"] = made.html_id
            made.props.update(
                {"type": "radio", "name": field.element.html_id, "value": key, "defaultChecked": key == value}
            )
            made.on("change", field.heard, js_handler="(e) => emit(e.target.value)")
            field.inputs.append(made)
    field.finish()

    def put(wanted: Any) -> None:
        for each in field.inputs:
            _set(each, "checked", each.props["value"] == wanted)

    field._put = put  # type: ignore[method-assign]
    return field


def checkbox(label: str, value: bool = False, *, help: str = "", on_change: Changed | None = None) -> Field[bool]:
    """Yes or no."""
    field: Field[bool] = Field(label, value, bool, help=help, on_change=on_change)
    with field.element, ui.element("div").classes("inline"):
        made = ui.element("input")
        prose.text("label", label).props["for"] = made.html_id
    made.props.update({"type": "checkbox", "defaultChecked": value})
    made.on("change", field.heard, js_handler="(e) => emit(e.target.checked)")
    field.inputs.append(made)
    field.finish()
    field._put = lambda wanted: _set(made, "checked", bool(wanted))  # type: ignore[method-assign]
    return field
