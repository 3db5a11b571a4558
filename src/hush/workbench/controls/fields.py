"""The kinds of fields."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from hush.workbench import prose
from hush.workbench.controls.field import Changed, FormField, put_in
from hush.workbench.written import written_number

_SECONDS = 0.05
_TOLD = "(e) => emit(e.target.value)"


def _labelled(field: FormField[Any], tag: str, props: Mapping[str, Any], event: str = "input") -> ui.element:
    with field.element:
        named = prose.text("label", field.label)
        made = ui.element(tag)
    made.props.update(props)
    named.props["for"] = made.html_id
    if event == "input":
        made.on(event, field.heard, throttle=_SECONDS, leading_events=False, js_handler=_TOLD)
    made.on("change", field.heard, js_handler=_TOLD)  # at once, so that it comes before a button that is pressed next
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
) -> FormField[str]:
    """A line of text; a secret one is not shown."""
    field: FormField[str] = FormField(label, value, str, help=help, on_change=on_change)
    props = {"type": "password" if secret else "text", "defaultValue": value, "autocomplete": "off"}
    _labelled(field, "input", {**props, **({"placeholder": placeholder} if placeholder else {})})
    field.finish()
    return field


def textarea(
    label: str, value: str = "", *, help: str = "", rows: int = 6, on_change: Changed | None = None
) -> FormField[str]:
    """Several lines of text."""
    field: FormField[str] = FormField(label, value, str, help=help, on_change=on_change)
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
    optional: bool = False,
    unit: str = "",
    help: str = "",
    on_change: Changed | None = None,
) -> FormField[float]:
    """A number, an `int` where it is whole. While it is none in the range, its value is None, and the field says so.

    Where it is optional, it may be left empty, and says nothing then.
    """

    def read(given: Any) -> float | None:
        if optional and not str(given).strip():
            return None
        found = number_in(given, least, most, whole)
        if isinstance(found, str):
            field.wrong(found)
            return None
        return found

    field: FormField[float] = FormField(
        f"{label} ({unit})" if unit else label, value, read, help=help, on_change=on_change
    )
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
        found = written_number(str(given))
    except ValueError as error:
        return "must be a whole number" if whole else str(error)
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
) -> FormField[float]:
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

    def say(value: float) -> None:
        words.text = shown(value)
        with made.props.suspend_updates():
            made.props["aria-valuetext"] = shown(value)
        made.client.run_javascript(
            f"getHtmlElement({made.id})?.setAttribute('aria-valuetext', {json.dumps(shown(value))})"
        )

    def read(given: Any) -> float:
        found = min(most, max(least, float(given)))
        say(found)
        return found

    def put(wanted: Any) -> None:
        put_in(made, "value", wanted)
        say(float(wanted))

    field: FormField[float] = FormField(label, value, read, help=help, on_change=on_change, put=put)
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
    made.on("input", field.heard, throttle=_SECONDS, js_handler=_TOLD)
    made.on("change", field.heard, js_handler=_TOLD)
    field.inputs.append(made)
    field.finish()
    return field


def select(
    label: str, options: Mapping[str, str], value: str, *, help: str = "", on_change: Changed | None = None
) -> FormField[str]:
    """One of several, by a list that opens. The keys of options are values, what they hold is shown."""
    field: FormField[str] = FormField(
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
) -> FormField[str]:
    """One of few, by radio buttons that are all seen."""

    def put(wanted: Any) -> None:
        for each in field.inputs:
            put_in(each, "checked", each.props["value"] == wanted)

    def read(given: Any) -> str | None:
        return given if given in options else None

    field: FormField[str] = FormField(label, value, read, help=help, on_change=on_change, put=put)
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
    return field


def checkbox(label: str, value: bool = False, *, help: str = "", on_change: Changed | None = None) -> FormField[bool]:
    """Yes or no."""

    def put(wanted: Any) -> None:
        put_in(field.inputs[0], "checked", bool(wanted))

    field: FormField[bool] = FormField(label, value, bool, help=help, on_change=on_change, put=put)
    with field.element, ui.element("div").classes("inline"):
        made = ui.element("input")
        prose.text("label", label).props["for"] = made.html_id
    made.props.update({"type": "checkbox", "defaultChecked": value})
    made.on("change", field.heard, js_handler="(e) => emit(e.target.checked)")
    field.inputs.append(made)
    field.finish()
    return field
