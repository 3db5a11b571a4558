"""What to audit, and how surely: the fields of the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from nicegui import ui

from hush.audit import bounds
from hush.errors import HushError
from hush.reports.audit_in_words import METHODS
from hush.workbench import controls, prose
from hush.workbench.audit import choices
from hush.workbench.audit.question import MOST_SPEC, Question, from_fields
from hush.workbench.audit.reading import read
from hush.workbench.audit.targets import target_of
from hush.workbench.visits import Visit

_WAYS = {
    "mechanism": "A mechanism of Hush",
    "spec": "A spec, as a collection has it",
    "bug": "A bug that was shipped, to see one found",
    "code": "Python code of mine",
}
_CODE = (
    ("target", "The function", "module:function, imported from the folder in which the workbench was started"),
    ("claim", "The ε that it promises", ""),
    ("k", "How many values it takes, 0 to k−1", "Or leave it empty, and say which numbers or tuples it takes:"),
    ("low", "The smallest number", ""),
    ("high", "The largest number", ""),
    ("sizes", "The sizes of its attributes", "For tuples, e.g. 2, 5"),
)


class Form:
    """The fields, which change with what is chosen.

    Args:
        visit: Whose.
        offered: Mechanisms, by name.
    """

    def __init__(self, visit: Visit, offered: Mapping[str, choices.Choice]) -> None:
        self._visit, self._offered = visit, offered
        self._known: Mapping[str, choices.Choice] = offered
        self._name = ""
        self._asked: dict[str, controls.Field[str]] = {}
        ways = {key: words for key, words in _WAYS.items() if key != "code" or visit.may_run_code}
        with ui.element("div").classes("stack"):
            self._way = controls.choice("What is to be audited?", ways, "mechanism", on_change=self._changed)
            self._what = ui.element("div").classes("stack")
        with ui.element("div").classes("stack"):
            self._how = {
                "trials": _line("trials", "Reports of each of two values", "100000", self._reach),
                "alpha": _line("alpha", "Chance that what is proved is wrong, at most", "0.01", self._reach),
            }
            self._words = prose.paragraph("", "muted small")
            with ui.element("details"):
                prose.text("summary", "More: methods, another claim, a seed")
                with ui.element("div").classes("stack"):
                    self._methods_place = ui.element("div").classes("stack tight")
                    self._how["claim"] = _line(
                        "claim", "Hold it against another claim, ε", "", help="Left empty: its own."
                    )
                    self._how["seed"] = _line(
                        "seed", "Seed, to repeat it", "", help="Left empty: reports are made as real clients make them."
                    )
        with self._methods_place:
            prose.text("div", "Methods", "legend").style("font-weight: 600")
            prose.paragraph("None ticked: all that fit but the attack.", "muted small")
            self._methods = {name: controls.checkbox(name, help=said) for name, said in METHODS.items()}
        self._mechanism(str(visit.query.get("mechanism", "OUE")))
        self._reach(None)

    @property
    def called(self) -> str:
        """What is audited, for people."""
        way = self._way.value or "mechanism"
        target = self._asked["target"].value if way == "code" else ""
        return {"spec": "the spec", "code": target or "code"}.get(way, self._name)

    async def question(self) -> Question:
        """What is asked; what is wrong with it is said beside its field."""
        way = self._way.value or "mechanism"
        fields = {**self._how, **self._asked}
        if way == "code":
            fields["claim"] = self._asked["claim"]
        said = {name: field.value for name, field in fields.items()}
        methods = [name for name, box in self._methods.items() if box.value]
        with controls.said(fields):
            asked = from_fields(way, said, methods, name=self._name).allowed(self._visit.may_run_code)
            if way != "code":  # a mechanism is made at once, to say at once what is wrong; code is not imported here
                await asyncio.to_thread(target_of, asked, code=False)
        return asked

    async def _changed(self, way: str | None) -> None:
        if way == "bug":
            self._known = await asyncio.to_thread(choices.bugs)
            self._choose("Which bug?", "ShiftByOne")
        elif way == "mechanism":
            self._mechanism("OUE")
        else:
            self._name, self._asked = "", {}
            self._what.clear()
            with self._what:
                self._spec() if way == "spec" else self._code()

    def _mechanism(self, name: str) -> None:
        self._known = self._offered
        first = self._offered.get(name) or self._offered["OUE"]
        self._what.clear()
        with self._what:
            groups = {each.group: each.group for each in self._offered.values()}
            controls.select("What does it estimate?", groups, first.group, on_change=lambda group: self._of(group))
            self._list = ui.element("div").classes("stack")
        self._of(first.group, first.name)

    def _of(self, group: str | None, name: str = "") -> None:
        names = {each.name: each.label for each in self._offered.values() if each.group == group}
        self._list.clear()
        with self._list:
            first = name or next(iter(names), "")
            controls.select("Which mechanism?", names, first, on_change=self._fields)
            self._place = ui.element("div").classes("stack")
        self._fields(first)

    def _choose(self, label: str, name: str) -> None:
        self._what.clear()
        with self._what:
            names = {each.name: each.label for each in self._known.values()}
            controls.select(label, names, name, on_change=self._fields)
            self._place = ui.element("div").classes("stack")
        self._fields(name)

    def _fields(self, name: str | None) -> None:
        choice = self._known.get(name or "")
        if choice is None:
            return
        self._name, self._asked = choice.name, {}
        self._place.clear()
        with self._place:
            prose.paragraph(choice.about, "muted small")
            for each in (field for field in choice.fields if field.needed):
                self._asked[each.name] = self._field(each)
            left = [field for field in choice.fields if not field.needed]
            if left:
                with ui.element("details"):
                    prose.text("summary", "What it chooses by itself, unless you do")
                    with ui.element("div").classes("stack"):
                        for each in left:
                            self._asked[each.name] = self._field(each)

    def _field(self, each: choices.Field) -> controls.Field[str]:
        first = str(self._visit.query.get(each.name, each.first))
        return _line(each.name, each.label, first, help="" if each.name in _PLAIN else each.help, kind=each.kind)

    def _spec(self) -> None:
        self._asked["spec"] = controls.textarea(
            "The spec", "", help="JSON, as Spec.to_json, --spec-out and collectors write it."
        )
        controls.file("Or a file with it", accept=".json", on_file=self._took, most=MOST_SPEC)
        self._asked["rounds"] = _line(
            "rounds", "Reports of one person", "", help="For a spec over time; else leave it empty."
        )

    def _took(self, upload: controls.Upload) -> None:
        self._asked["spec"].value = upload.content.decode("utf-8", "replace")
        self._asked["spec"].right()

    def _code(self) -> None:
        prose.note(
            "It runs on this machine, with your rights, in a process of its own that can be cancelled.", warning=True
        )
        for name, label, help in _CODE:
            self._asked[name] = _line(name, label, {"claim": "1", "k": "16"}.get(name, ""), help=help)

    def _reach(self, _: object) -> None:
        """How much so many trials can prove."""
        try:
            trials = read("trials", self._how["trials"].value, "whole")
            alpha = read("alpha", self._how["alpha"].value, "real")
            most = bounds.best_provable(trials or 0, alpha=alpha or 0.0)
        except HushError:
            self._words.text = ""
            return
        self._words.text = (
            f"So many reports prove a loss of {most:.3g} at most, even where one output gives a value away."
        )


_PLAIN = ("k", "epsilon", "low", "high")  # whose labels say all


def _line(
    name: str, label: str, first: str, on_change: object = None, *, help: str = "", kind: str = "real"
) -> controls.Field[str]:
    made = controls.text(label, first, help=help, on_change=on_change)  # type: ignore[arg-type]
    if kind in ("whole", "real") and name not in ("target", "sizes"):
        made.inputs[0].props["inputmode"] = "numeric" if kind == "whole" else "decimal"
    return made
