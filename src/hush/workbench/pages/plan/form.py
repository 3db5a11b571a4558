"""The wish as a sentence with fields in it, and more wishes behind a click."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from hush.workbench import controls, prose
from hush.workbench.controls import Field
from hush.workbench.plan.link import query
from hush.workbench.plan.question import AVERAGE, EACH, MATTERS, Mistakes, Question
from hush.workbench.plan.reading import read

FIRST = {"points": "1", "people": "20,000", "answers": "12"}
"""What the sentence says before anybody has changed it."""
LOW = "min-height: 2.2rem; padding: 0.1rem 0.5rem; line-height: 1.5"
"""Of fields in a sentence, so that they are no higher than its lines."""
_NO_LIMIT = 100.0
_UNSAID = {"held": EACH, "matters": "balance"}
"""What fields that are never empty hold where nothing is said."""
_NAMES, _RISK, _AGAIN = ("labels", "other"), ("guesses", "epsilon", "matters"), ("sensitive", "rounds", "changing")
"""What is behind a click, together."""
_EPSILON = "Of one report; of a person in all, where people are asked again. A smaller ε is more private."
_SENSITIVE = "Only these are protected then; others may be revealed. Empty: all are protected."


class Form:
    """The fields of a wish.

    Args:
        said: What they hold at first.
        plan: Called when the button is pressed.
    """

    def __init__(self, said: Mapping[str, str], plan: Callable[[], Any]) -> None:
        self._said = said or FIRST
        self.fields: dict[str, Field[Any]] = {}
        self._folds: dict[tuple[str, ...], ui.element] = {}
        with (
            ui.element("section").classes("card").style("gap: 1.1rem; padding: 1.75rem").props('aria-label="Your wish"')
        ):
            with ui.element("div").classes("sentence").style("font-size: 1.35rem; max-width: none"):
                self._sentence()
            with ui.element("div").classes("stack").style("gap: 0.5rem"):
                self._more()
            with ui.element("div").classes("side"):
                controls.button("Plan it", plan, primary=True)

    def _sentence(self) -> None:
        prose.text("span", "I want ")
        which = {EACH: "each percentage", AVERAGE: "percentages, on average,"}
        self.fields["held"] = controls.select("Which percentages", which, self._said.get("held") or EACH)
        prose.text("span", " within ± ")
        self._text("points", "Percentage points", 5)
        prose.text("span", " points, from about ")
        self._text("people", "People", 9)
        prose.text("span", " people, over these ")
        self._text("answers", "Number of answers", 7)
        prose.text("span", " answers.")

    def _text(self, name: str, label: str, wide: int) -> None:
        field = controls.text(label, grouped(self._said.get(name, "")))
        field.inputs[0].style(f"width: calc({wide}ch + 1.2rem); {LOW}")
        self.fields[name] = field

    def _more(self) -> None:
        held = self._said.get
        with self._behind("Name the answers", _NAMES), ui.element("div").classes("grid"):
            self.fields["labels"] = controls.textarea(
                "Answers, one a line",
                held("labels", ""),
                help="In place of their number. Their order is that of the results.",
            )
            self.fields["other"] = controls.text(
                "An answer for everything else",
                held("other", ""),
                help="Takes in what is unknown or missing, if you want one.",
            )
        with self._behind("Say which risk you accept", _RISK), ui.element("div").classes("grid"):
            self.fields["guesses"] = _guesses(held("guesses", ""))
            self.fields["epsilon"] = controls.text("Largest ε", held("epsilon", ""), help=_EPSILON)
            self.fields["matters"] = controls.select("What matters most", MATTERS, held("matters") or "balance")
        words = "Only some answers are sensitive, or people are asked again"
        with self._behind(words, _AGAIN), ui.element("div").classes("grid"):
            self.fields["sensitive"] = controls.textarea(
                "Sensitive answers", held("sensitive", ""), rows=3, help=_SENSITIVE
            )
            with ui.element("div").classes("stack"):
                self.fields["rounds"] = controls.text(
                    "How often is each person asked?", held("rounds", ""), help="Empty: once."
                )
                self.fields["changing"] = controls.checkbox(
                    "Answers may change from round to round", held("changing") == "1"
                )

    def _behind(self, words: str, about: tuple[str, ...]) -> ui.element:
        """Fields behind a click; they are seen where one of them says something."""
        made = self._folds[about] = ui.element("details")
        if any(self._said.get(name) for name in about):
            made.props("open")
        with made:
            prose.text("summary", words)
        return made

    def fill(self, said: Mapping[str, str]) -> None:
        """Let the fields say something else; what is not said is as it is when nothing is."""
        for name, field in self.fields.items():
            text = said.get(name, "")
            if name == "guesses":
                field.value = _limit(text)
            elif name == "changing":
                field.value = text == "1"
            else:
                field.value = (grouped(text) if name in FIRST else text) or _UNSAID.get(name, "")
        for about, behind in self._folds.items():
            if any(said.get(name) for name in about):
                behind.props("open")

    def read(self) -> Question | None:
        """The question; None where something is wrong, which is then said beside its field."""
        for field in self.fields.values():
            field.right()
        try:
            return read(self._told())
        except Mistakes as mistakes:
            self.complain(mistakes)
            return None

    def complain(self, mistakes: Mistakes) -> None:
        """Say what is wrong, beside the fields."""
        for name, words in mistakes.by_field.items():
            if name in self.fields:
                self.fields[name].wrong(words)
            else:
                ui.notify(words, type="negative")

    def _told(self) -> dict[str, str]:
        said = {name: "" if field.value is None else str(field.value) for name, field in self.fields.items()}
        said["changing"] = "1" if self.fields["changing"].value else ""
        said["guesses"] = "" if float(said["guesses"] or _NO_LIMIT) >= _NO_LIMIT else said["guesses"]
        if said["labels"].strip():
            said["answers"] = ""
        return said


def begin(path: str) -> None:
    """A form on another page, which leads to the plan."""

    def plan() -> None:
        question = form.read()
        if question is None:
            return
        link = query(question)
        if link is None:
            form.fields["labels"].wrong("The list is too long for this page: paste it on the page Plan.")
            return
        ui.navigate.to(f"{path}?{link}")

    form = Form({}, plan)


def grouped(text: str) -> str:
    """A whole number with its thousands apart; other texts as they are.

    >>> grouped("20000"), grouped("many")
    ('20,000', 'many')
    """
    return f"{int(text):,}" if text.isascii() and text.isdigit() and len(text) < 16 else text


def _limit(said: str) -> float:
    """Right guesses in 100, as the slider has them."""
    try:
        value = float(said or _NO_LIMIT)
    except ValueError:
        value = _NO_LIMIT
    return min(max(value, 1.0), _NO_LIMIT) if math.isfinite(value) else _NO_LIMIT


def _guesses(said: str) -> Field[float]:
    return controls.slider(
        "How many of 100 guesses of a person's answer may be right?",
        _limit(said),
        least=1,
        most=_NO_LIMIT,
        step=1,
        ends=("more private: a guess is luck", "less private: no limit"),
        shown=lambda value: "no limit" if value >= _NO_LIMIT else f"{value:g} in 100",
    )
