"""The fields that describe a spec: what people are asked, by which mechanism, and at what cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from hush.collect.opening import budget_of, with_budget
from hush.mechanisms.spec import Spec
from hush.workbench import controls, prose
from hush.workbench.collections import choices
from hush.workbench.collections.drafts import LABELS, LONGEST_SPEC, FormError, SpecForm, spec_in
from hush.workbench.collections.troubles import sentence
from hush.workbench.controls import Field, Upload

_HELP = {
    "epsilon": "The smaller, the more private: at 1, no answer becomes more than 2.7 times as likely as another.",
    "epsilon_permanent": "What all answers of a person lose together while the value stays.",
    "epsilon_report": "What a single answer loses; less than all of them together.",
    "delta": "How probable it may be that the promise fails, 0.000001, say.",
    "low": "Numbers below count as this one.",
    "high": "Numbers above count as this one.",
    "answers": "One a line; or only how many there are, for answers 0, 1, 2 …",
    "attributes": "One a line: its name, a colon, and its answers with commas between them.",
    "sensitive": "One a line. All others may be revealed.",
}
_USUAL = {"epsilon": 1.0, "epsilon_permanent": 2.0, "epsilon_report": 1.0, "delta": 1e-6, "low": 0.0, "high": 100.0}
_SAME, _DESCRIBED, _PASTED = "same", "described", "pasted"


class SpecFields:
    """The fields.

    Args:
        changed: Called when something was filled in.
        before: The spec of the collection that this one follows, if any.
        pasted: A spec to begin with, as JSON.
    """

    def __init__(self, changed: Callable[[], Any], *, before: Spec | None = None, pasted: str = "") -> None:
        self._changed_, self._before = changed, before
        self.by_name: dict[str, Field[Any]] = {}
        ways = {_DESCRIBED: "Describe it here", _PASTED: "Paste or upload a spec"}
        if before is not None and budget_of(before.mechanism) is not None:
            ways = {_SAME: "The same question, with another ε", **ways}
        first = _PASTED if pasted else next(iter(ways))
        self._way = controls.choice("Where does the question come from?", ways, first, on_change=lambda _: self._lay())
        self._place = ui.element("div").classes("stack")
        self._pasted, self._kind, self._mechanism = pasted, choices.VALUES, "OUE"
        self._lay()

    @property
    def kind(self) -> str:
        """Of which kind the spec is to be, as far as that is known before it is read."""
        if self._way.value == _SAME and self._before is not None:
            return str(self._before.mechanism.kind)
        return self._kind if self._way.value == _DESCRIBED else ""

    def read(self) -> Spec:
        """The spec that was filled in; what is wrong is raised by field."""
        match self._way.value:
            case "same":
                return self._same()
            case "pasted":
                return spec_in(SpecForm(pasted=self._text("spec") or "{"))
        numbers = {name: self.by_name[name].value for name in _USUAL if name in self.by_name}
        return spec_in(
            SpecForm(
                kind=self._kind,
                mechanism=self._mechanism,
                answers=self._text("answers"),
                attributes=self._text("attributes"),
                other=self._text("other"),
                sensitive=self._text("sensitive"),
                numbers=numbers,
                settings=self._text("settings"),
            )
        )

    def _same(self) -> Spec:
        from hush.errors import HushError

        assert self._before is not None
        epsilon = self.by_name["epsilon"].value
        if epsilon is None:
            raise FormError({"epsilon": f"{LABELS['epsilon']} must be given."})
        try:
            return Spec(with_budget(self._before.mechanism, float(epsilon)), self._before.domain)
        except HushError as error:
            raise FormError({"epsilon": sentence(error, LABELS["epsilon"])}) from None

    def _text(self, name: str) -> str:
        return str(self.by_name[name].value or "") if name in self.by_name else ""

    def _changed(self, _: Any = None) -> Any:
        return self._changed_()

    def _lay(self) -> None:
        self.by_name.clear()
        self._place.clear()
        with self._place:
            {_SAME: self._lay_same, _DESCRIBED: self._lay_described, _PASTED: self._lay_pasted}[str(self._way.value)]()
        self._changed()

    def _lay_same(self) -> None:
        assert self._before is not None
        value = budget_of(self._before.mechanism)
        help = "Devices add up what a person spends along the chain."
        self.by_name["epsilon"] = controls.number(LABELS["epsilon"], value, help=help, on_change=self._changed)

    def _lay_pasted(self) -> None:
        help = "What hush plan, hush privatize --spec-out or Spec.to_json write."
        self.by_name["spec"] = controls.textarea("Spec, as JSON", self._pasted, help=help, on_change=self._changed)

        def took(upload: Upload) -> None:
            try:
                self.by_name["spec"].value = upload.content.decode("utf-8")
            except UnicodeDecodeError:
                self.by_name["spec"].wrong("Spec must be JSON, and the file is no text.")
                return
            self._changed()

        controls.file("Or a file", on_file=took, accept=".json", most=LONGEST_SPEC, help="A spec's JSON, up to 4 MB.")

    def _lay_described(self) -> None:
        def kind(value: str) -> None:
            self._kind, self._mechanism = value, choices.USUAL[value]
            again()

        def mechanism(value: str) -> None:
            self._mechanism = value
            fields()

        def again() -> None:
            choosing.clear()
            with choosing:
                known = choices.offered(self._kind)
                self.by_name["mechanism"] = controls.select(
                    LABELS["mechanism"], known, self._mechanism, on_change=mechanism
                )
            fields()

        def fields() -> None:
            kept = {name: field.value for name, field in self.by_name.items()}
            self.by_name = {name: field for name, field in self.by_name.items() if name == "mechanism"}
            below.clear()
            with below:
                self._lay_wanted(kept)
            self._changed()

        controls.select("What does a person hold?", choices.KINDS, self._kind, on_change=kind)
        choosing = ui.element("div")
        below = ui.element("div").classes("stack")
        again()

    def _lay_wanted(self, kept: dict[str, Any]) -> None:
        """The fields of the mechanism, with what was filled in before."""
        wanted, put = choices.wanted(self._kind, self._mechanism), self.by_name
        for name in wanted.fields:
            if name in ("answers", "attributes", "sensitive"):
                put[name] = controls.textarea(
                    LABELS[name], str(kept.get(name) or ""), help=_HELP[name], rows=5, on_change=self._changed
                )
            if name == "answers":
                help = "An answer that takes in all that is none of the others; left empty, there is none."
                put["other"] = controls.text(
                    "All others", str(kept.get("other") or ""), help=help, on_change=self._changed
                )
        with ui.element("div").classes("grid"):
            for name in wanted.fields:
                if name in _USUAL:
                    value = kept.get(name, _USUAL[name])
                    put[name] = controls.number(LABELS[name], value, help=_HELP[name], on_change=self._changed)
        if wanted.settings:
            needed = ", ".join(each for each in wanted.settings if each in wanted.needed_settings)
            with ui.element("details") as made:
                prose.text("summary", "Further settings of the mechanism")
                told = f"One name=value a line, of {', '.join(wanted.settings)}."
                told += f" It needs {needed}." if needed else ""
                put["settings"] = controls.textarea(
                    LABELS["settings"], str(kept.get("settings") or ""), help=told, rows=2, on_change=self._changed
                )
            if needed:
                made.props["open"] = True
