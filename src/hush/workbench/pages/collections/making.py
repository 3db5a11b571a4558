"""The form for a new collection, or for one that follows another."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from nicegui import ui

from hush.errors import HushError
from hush.mechanisms.spec import Spec
from hush.workbench import controls, prose
from hush.workbench.collections.drafts import FormError, wishes_in
from hush.workbench.collections.promises import promised, spec_of
from hush.workbench.collections.troubles import trouble
from hush.workbench.collections.verdicts import advice
from hush.workbench.collector import CollectorLink
from hush.workbench.controls import Field
from hush.workbench.pages.collections.following import away, back
from hush.workbench.pages.collections.spec_fields import SpecFields
from hush.workbench.visits import Visit

_ID = re.compile("[0-9a-f]{32}")
_UNITS = {"86400": "days", "604800": "weeks", "3600": "hours", "60": "minutes", "1": "seconds"}
_PAUSE = 0.35  # seconds of silence before the planner is asked
_LONGEST_QUERY = 1 << 16


async def lay_out(visit: Visit) -> None:
    """Lay it out."""
    link, follows = visit.collector, visit.query.get("follows", "")
    back()
    before: dict[str, Any] | None = None
    problem = ""
    if link is not None and visit.session.creates and _ID.fullmatch(follows):
        try:
            before = await asyncio.wait_for(link.ask(lambda it: it.show(follows, whole=True)), 8.0)
        except HushError as error:
            problem = trouble(error, link.url).words
        except TimeoutError:
            problem = "The collector took too long to answer. Reload the page to try once more."
    if before is not None:
        lead = f"It follows {before['name']}: devices add up what a person spends in both. What was there is filled in."
        prose.title("The next collection", lead)
    else:
        prose.title("New collection", "Say what people are asked, how many you expect, and what an answer may cost.")
    if away(visit) or link is None:
        return
    if not visit.session.creates:
        prose.empty("Only an administrator can make collections", "Sign out, and in again with such a token.")
        return
    if problem:
        prose.problem(problem)
        return
    _Form(visit, link, before)


class _Form:
    """The form."""

    def __init__(self, visit: Visit, link: CollectorLink, before: dict[str, Any] | None) -> None:
        self._link, self._before = link, before
        self._told = 0
        self._fields: dict[str, Field[Any]] = {}
        was, query = before or {}, visit.query
        with ui.element("form").classes("stack loose").props('novalidate autocomplete="off"') as form:
            form.on("submit.prevent", lambda: None, args=[])
            with ui.element("section").classes("card stack"):
                prose.heading("The question")
                name = f"{was['name']}, next" if before else ""
                self._fields["name"] = controls.text("Name", name, help="What people call it.")
                pasted = query.get("spec", "")[:_LONGEST_QUERY]
                self._spec = SpecFields(self._changed, before=None if before is None else spec_of(was), pasted=pasted)
            with ui.element("section").classes("card stack"):
                prose.heading("How many, and how exact")
                self._people(was, query)
            with ui.element("details").classes("card"):
                prose.text("summary", "Time, keys, readers and what is kept")
                with ui.element("div").classes("stack"):
                    self._more(was)
            self._expected = prose.answer("Fill in the answers, and this says what to expect.")
            self._problem = ui.element("div").props('role="alert"')
            with ui.element("div").classes("side"):
                controls.button("Make the draft", self._make, primary=True)
                prose.paragraph("Nobody can report to a draft. You open it on its own page.", "muted small")
        self._changed()

    def _people(self, was: Any, query: Any) -> None:
        wished = was.get("wished_error")
        numeric = bool(was) and was["spec"].get("low") is not None
        shown = None if wished is None else wished if numeric else wished * 100
        with ui.element("div").classes("grid"):
            self._fields["target_n"] = controls.number(
                "People expected",
                was.get("target_n") or _number(query.get("n")),
                least=1,
                whole=True,
                optional=True,
                help="Over time, in one period. The planner needs it before the collection opens.",
                on_change=self._changed,
            )
            self._fields["wished_error"] = controls.number(
                "Widest margin that is useful",
                shown if shown is not None else _points(query.get("error")),
                optional=True,
                help="In percentage points, 95 % sure: 1 is ±1 point. Of a mean, in its unit. It may be left empty.",
                on_change=self._changed,
            )

    def _more(self, was: Any) -> None:
        put = self._fields
        seconds = int(was.get("period_seconds", 86_400))
        unit = next(each for each in _UNITS if seconds % int(each) == 0)
        unit = unit if seconds != 604_800 else "604800"
        with ui.element("div").classes("grid"):
            put["period_seconds"] = controls.number(
                "A period lasts",
                seconds // int(unit),
                least=1,
                whole=True,
                help="Nobody answers twice in one, and it is all that is kept of when.",
            )
            put["unit"] = controls.select("Unit", _UNITS, unit)
            put["horizon"] = controls.number(
                "Late periods",
                was.get("horizon", 7),
                least=0,
                whole=True,
                help="How many periods late a report may come.",
            )
            put["ends"] = controls.text("Ends", "", help="A day or a time in UTC, 2027-01-31, say; else you close it.")
        with ui.element("div").classes("grid"):
            kept = {"reports": "Reports", "aggregates": "Sums alone"}
            put["keep"] = controls.select(
                "What is kept",
                kept,
                was.get("keep", "reports"),
                help="Without reports there is no export, no verification and no maximum likelihood.",
            )
            put["keep_days"] = controls.number(
                "For how many days",
                was.get("keep_days"),
                least=1,
                whole=True,
                optional=True,
                help="Left empty, always.",
            )
        anyone = bool(was) and not was["needs_key"]
        put["anyone_submits"] = controls.checkbox("Anyone may submit, without a key", anyone)
        put["relayed_only"] = controls.checkbox("Only relays may submit", bool(was.get("relayed_only")))
        put["public"] = controls.checkbox("Anyone may read estimates", bool(was.get("public")))
        put["release_floor"] = controls.number(
            "Fewest reports that the public sees an estimate of", was.get("release_floor", 100), least=1, whole=True
        )

    def _wishes(self, spec: Spec) -> dict[str, Any]:
        """What was filled in beside the spec, by the names of the collector's interface."""
        for name in ("target_n", "wished_error", "period_seconds", "horizon", "keep_days", "release_floor"):
            complaint = self._fields[name].complaint
            if complaint is not None and complaint.text and self._fields[name].value is None:
                raise FormError({name: complaint.text})
        given = {name: field.value for name, field in self._fields.items() if name != "unit"}
        if given["period_seconds"] is not None:
            given["period_seconds"] = int(given["period_seconds"]) * int(self._fields["unit"].value or "1")
        if given["wished_error"] is not None and spec.mechanism.kind != "numeric":
            given["wished_error"] /= 100
        return wishes_in(given, spec)

    def _changed(self, _: Any = None) -> None:
        """Something was filled in: once nothing more is, say what to expect."""
        if not hasattr(self, "_problem"):
            return  # it is being laid out
        self._problem.clear()
        self._told += 1
        turn = self._told

        async def later() -> None:
            if turn == self._told:
                await self._foretell()

        ui.timer(_PAUSE, later, once=True)

    async def _foretell(self) -> None:
        try:
            spec = await asyncio.to_thread(self._spec.read)
            wished = self._fields["wished_error"].value
            scale = 1 if spec.mechanism.kind == "numeric" else 100
            view = {
                **_DRAFT,
                "spec": spec.to_dict(),
                "target_n": self._fields["target_n"].value,
                "wished_error": None if wished is None else wished / scale,
            }
            told = await asyncio.to_thread(advice, view)
        except HushError:
            self._say_expected("Fill in what is asked for, and this says what to expect.")
            return
        told_of = promised(spec)
        self._say_expected(f"{told.title}.", told.words, f"{told_of.mechanism} over {told_of.over}, {told_of.budget}.")

    def _say_expected(self, *words: str) -> None:
        self._expected.clear()
        with self._expected:
            for each in words:
                prose.text("p", each)

    async def _make(self) -> None:
        fields = {**self._fields, **self._spec.by_name}
        for each in fields.values():
            if each.value is not None:
                each.right()
        self._problem.clear()
        try:
            spec = await asyncio.to_thread(self._spec.read)
            wishes = self._wishes(spec)
        except FormError as error:
            self._say_wrong(error, fields)
            return
        before = self._before
        try:
            if before is None:
                made = await self._link.ask(lambda it: it.create(spec=spec.to_dict(), **wishes))
            else:
                made = await self._link.ask(lambda it: it.succeed(before["id"], spec=spec.to_dict(), **wishes))
        except HushError as error:
            met = trouble(error, self._link.url)
            if met.parameter in fields:
                self._say_wrong(FormError({str(met.parameter): met.words}), fields)
                return
            with self._problem:
                prose.problem(f"{met.title}. {met.words}")
            return
        ui.navigate.to(f"/collection?id={made['id']}")

    def _say_wrong(self, error: FormError, fields: dict[str, Field[Any]]) -> None:
        rest = []
        for name, words in error.fields.items():
            if name in fields:
                fields[name].wrong(words)
            else:
                rest.append(words)
        with self._problem:
            prose.problem(" ".join(rest) or "Something is not right yet: see beside the fields.")
        first = next((fields[name] for name in error.fields if name in fields), None)
        if first is not None:
            ui.run_javascript(f"getHtmlElement({first.inputs[0].id})?.focus()")


_DRAFT: dict[str, Any] = {
    "name": "",
    "ends": None,
    "period_seconds": 86_400,
    "horizon": 7,
    "keep": "reports",
    "keep_days": None,
    "relayed_only": False,
    "public": False,
    "release_floor": 100,
    "predecessor": None,
    "needs_key": True,
}


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 12 else None


def _points(text: str | None) -> float | None:
    try:
        return 100 * float(text) if text else None
    except ValueError:
        return None
