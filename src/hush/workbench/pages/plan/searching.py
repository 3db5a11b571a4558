"""Further questions, which take a while: how small may ε be, for what one wants of the results?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from hush.workbench import charts, controls, prose
from hush.workbench.controls import Field
from hush.workbench.pages.plan.form import LOW
from hush.workbench.plan import Mistakes
from hush.workbench.plan.budgets import LOSSES, SHAPES, read_budget, search_budget
from hush.workbench.plan.capacities import KINDS, read_capacity, search_capacity
from hush.workbench.plan.searched import Searched, named_mechanisms, near
from hush.workbench.visits import Visit

BUDGET_JOB, CAPACITY_JOB = "Search for the smallest ε", "Search for an alarm's ε"
_EXAMPLE = "0: 5000\n1: 3000\n5: 1500\n10: 300"


def further(visit: Visit) -> None:
    """Lay it out."""
    running = visit.jobs.get(visit.query.get("job"), visit.session.owner)
    with ui.element("section").classes("stack"):
        prose.heading("Ask something harder")
        prose.paragraph(
            "These questions have no formula. Whole collections are simulated, in a process of their own, which can be "
            "cancelled, and found again after a reload.",
            "muted",
        )
        for summary, name, build in (
            ("What is the smallest ε with which the results are good enough?", BUDGET_JOB, _Budget),
            ("What is the smallest ε that tells whether a total exceeds a limit?", CAPACITY_JOB, _Capacity),
        ):
            mine = running is not None and running.name == name
            with ui.element("details") as behind:
                if mine:
                    behind.props("open")
                prose.text("summary", summary)
                made = build(visit, name)
                if mine:
                    made.panel.resume()


class _Search:
    """A question with fields, a button, the progress of its job, and its answer."""

    reads: Callable[[Mapping[str, str]], Any]
    searches: Callable[..., Searched]
    y: str

    def __init__(self, visit: Visit, name: str) -> None:
        self.fields: dict[str, Field[Any]] = {}
        self._name = name
        with ui.element("div").classes("card").style("gap: 1.1rem"):
            self.lay()
            with ui.element("div").classes("side"):
                controls.button("Search", self._start)
        self.panel = controls.JobPanel(visit, done=self._show)
        self._place = ui.element("div").classes("stack").style("margin-top: 1rem")

    def lay(self) -> None:
        """The fields."""
        raise NotImplementedError

    async def _start(self) -> None:
        self.panel.leave()
        self._place.clear()  # what was found is of another question
        for field in self.fields.values():
            field.right()
        said = {name: "" if field.value is None else str(field.value) for name, field in self.fields.items()}
        try:
            wish = type(self).reads(said)
        except Mistakes as mistakes:
            for name, words in mistakes.by_field.items():
                self.fields[name].wrong(words)
            return
        await self.panel.start(type(self).searches, wish, name=self._name)

    def _show(self, found: Searched) -> None:
        self._place.clear()
        with self._place:
            prose.answer(*found.words[:1])
            for each in found.words[1:]:
                prose.paragraph(each)
            tried, shares = near(found)
            ends = (tried[0], tried[-1])
            charts.lines(
                f"{self.y}, by ε",
                [
                    charts.Line("tried", tried, [100 * share for share in shares]),
                    charts.Line("wanted", ends, [100 * found.wanted] * 2, dashed=True),
                ],
                x="ε, smaller is more private",
                y=f"{self.y} (%)",
                log_x=True,
                summary=_summary(found),
            )
            if found.spec:
                with ui.element("div").classes("side"):
                    controls.download("Spec (JSON)", "spec.json", lambda: found.spec + "\n", "application/json")

    def _text(self, name: str, label: str, value: str, wide: int) -> None:
        field = controls.text(label, value)
        field.inputs[0].style(f"width: calc({wide}ch + 1.2rem); {LOW}")
        self.fields[name] = field


def _summary(found: Searched) -> str:
    if found.epsilon is None:
        return f"None of the {len(found.tried)} budgets that were tried is enough."
    return f"ε = {found.epsilon:.4g} is enough; {len(found.tried)} budgets were tried."


class _Budget(_Search):
    reads = staticmethod(read_budget)
    searches = staticmethod(search_budget)
    y = "collections that keep the wish"

    def lay(self) -> None:
        """The fields."""
        with ui.element("div").classes("sentence").style("max-width: none"):
            prose.text("span", "In ")
            self._text("sure", "Percent of collections", "90", 4)
            prose.text("span", " % of collections, I want that ")
            self.fields["loss"] = controls.select("What is wanted", LOSSES, "l1")
            prose.text("span", ", where X is ")
            self._text("amount", "The number X", "1", 5)
            prose.text("span", ". About ")
            self._text("people", "How many people", "20,000", 9)
            prose.text("span", " people choose among ")
            self._text("answers", "How many answers", "12", 6)
            prose.text("span", " answers; ")
            self.fields["shape"] = controls.select("How answers are spread", SHAPES, "zipf")
            prose.text("span", ". They report with ")
            self.fields["mechanism"] = controls.select("Mechanism", named_mechanisms(), "OUE")
            prose.text("span", ".")
        with ui.element("details"):
            prose.text("summary", "Paste counts")
            self.fields["counts"] = controls.textarea(
                "People who hold each answer",
                "",
                help="One answer a line, as in red: 300. Choose “I have counts” above.",
            )


class _Capacity(_Search):
    reads = staticmethod(read_capacity)
    searches = staticmethod(search_capacity)
    y = "wrong decisions"

    def lay(self) -> None:
        """The fields."""
        with ui.element("div").classes("sentence").style("max-width: none"):
            prose.text("span", "Raise an alarm where the total exceeds ")
            self._text("cap", "The limit of the total", "12,000", 9)
            prose.text("span", ", and be wrong in at most ")
            self._text("wrong", "Percent of wrong decisions", "1", 4)
            prose.text("span", " % of collections. People report with ")
            self.fields["mechanism"] = controls.select("Mechanism", named_mechanisms(KINDS), "GRR")
            prose.text("span", ".")
        self.fields["counts"] = controls.textarea(
            "Amounts, and about how many people hold each", _EXAMPLE, help="One amount a line, as in 10: 300."
        )
