"""What to audit: fields that change with what is chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from nicegui import ui

from hush.workbench import controls, prose
from hush.workbench.audit import choices
from hush.workbench.audit.address import way_of
from hush.workbench.audit.question import MOST_SPEC
from hush.workbench.visits import Visit

_WAYS = {
    "mechanism": "A mechanism of Hush",
    "spec": "A spec, as a collection has it",
    "bug": "A bug that was shipped, to see one found",
    "code": "Python code of mine",
}
_CODE = (
    ("target", "The function", "", "module:function, imported from the folder in which the workbench was started"),
    ("claim", "The ε that it promises", "1", ""),
    ("k", "How many values it takes, 0 to k−1", "16", "For numbers or tuples, leave it empty, and say below which:"),
    ("low", "The smallest number", "", ""),
    ("high", "The largest number", "", ""),
    ("sizes", "The number of values of each attribute", "", "For tuples, e.g. 2, 5"),
)
_FIRST = {"mechanism": "OUE", "bug": "ShiftByOne"}
_PLAIN = ("k", "epsilon", "low", "high")  # whose labels say all


class AuditSubject:
    """What to audit.

    Args:
        visit: Whose. What its address says is what fields hold first.
        offered: Mechanisms, by name.
    """

    def __init__(self, visit: Visit, offered: Mapping[str, choices.AuditChoice]) -> None:
        self._offered = offered
        self._known: Mapping[str, choices.AuditChoice] = offered
        self._said: dict[str, str] = dict(visit.query)
        self.name = ""
        self.fields: dict[str, controls.Field[str]] = {}
        code = visit.may_run_code
        ways = {key: words for key, words in _WAYS.items() if code or key != "code"}
        first = way_of(visit.query, code=code)
        self._way = controls.choice("What is to be audited?", ways, first, on_change=self._changed)
        self._place = ui.element("div").classes("stack")
        self._list = self._fields_place = self._place

    @property
    def way(self) -> str:
        """How it is named; "" for a way that the page does not offer, whatever a browser sent."""
        return self._way.value or ""

    @property
    def called(self) -> str:
        """What is audited, for people."""
        if self.way == "code":
            return self.fields["target"].value or "code"
        return "a spec" if self.way == "spec" else self.name

    async def fill(self) -> None:
        """Show the fields of what is chosen."""
        name = self._said.pop("name", "")
        if self.way == "code":
            self._said["target"] = name
        await self._changed(self.way, name)

    async def _changed(self, way: str | None, name: str = "") -> None:
        self._keep()
        self._place.clear()
        self.name, self.fields = "", {}
        if way == "bug":
            self._known = await asyncio.to_thread(choices.bugs)
        elif way == "mechanism":
            self._known = self._offered
        with self._place:
            if way in _FIRST:
                first = self._known[name if name in self._known else _FIRST[way]]
                self._mechanisms(first) if way == "mechanism" else self._bugs(first)
            elif way == "spec":
                self._spec()
            elif way == "code":
                self._code()

    def _mechanisms(self, first: choices.AuditChoice) -> None:
        groups = {each.group: each.group for each in self._known.values()}
        controls.select("What does it estimate?", groups, first.group, on_change=self._of)
        self._list = ui.element("div").classes("stack")
        self._of(first.group, first.name)

    def _of(self, group: str | None, name: str = "") -> None:
        names = {each.name: each.label for each in self._known.values() if each.group == group}
        if names:
            self._list.clear()
            with self._list:
                self._choose("Which mechanism?", names, name or next(iter(names)))

    def _bugs(self, first: choices.AuditChoice) -> None:
        self._choose("Which bug?", {each.name: each.label for each in self._known.values()}, first.name)

    def _choose(self, label: str, names: Mapping[str, str], first: str) -> None:
        controls.select(label, names, first, on_change=self._chosen)
        self._fields_place = ui.element("div").classes("stack")
        self._chosen(first)

    def _chosen(self, name: str | None) -> None:
        choice = self._known.get(name or "")
        if choice is None:
            return
        self._keep()
        self.name, self.fields = choice.name, {}
        self._fields_place.clear()
        with self._fields_place:
            prose.paragraph(choice.about, "muted small")
            for each in (field for field in choice.fields if field.needed):
                self._field(each)
            free = [field for field in choice.fields if not field.needed]
            if free:
                with ui.element("details"):
                    prose.text("summary", "What it chooses by itself, unless you do")
                    with ui.element("div").classes("stack"):
                        for each in free:
                            self._field(each)

    def _field(self, each: choices.AskedField) -> None:
        help = "" if each.name in _PLAIN else each.help
        made = self._line(each.name, each.label, each.first, help)
        if each.kind in ("whole", "real"):
            made.inputs[0].props["inputmode"] = "numeric" if each.kind == "whole" else "decimal"

    def _spec(self) -> None:
        help = "JSON, as Spec.to_json, --spec-out and collectors write it."
        self.fields["spec"] = controls.textarea("The spec", self._said.get("spec", ""), help=help)
        controls.file("Or a file with it", accept=".json", on_file=self._took, most=MOST_SPEC)
        self._line("rounds", "Reports of one person", "", "For a spec over time; else leave it empty.")

    def _took(self, upload: controls.Upload) -> None:
        self.fields["spec"].value = upload.content.decode("utf-8", "replace")
        self.fields["spec"].right()

    def _code(self) -> None:
        words = "It runs on this machine, with your rights, in a process of its own that can be cancelled."
        prose.note(words, warning=True)
        for name, label, first, help in _CODE:
            self._line(name, label, first, help)

    def _line(self, name: str, label: str, first: str, help: str) -> controls.Field[str]:
        self.fields[name] = controls.text(label, self._said.get(name, first), help=help)
        return self.fields[name]

    def _keep(self) -> None:
        """What was written is there again, where another choice asks for the same."""
        self._said |= {name: field.value for name, field in self.fields.items() if field.value}
