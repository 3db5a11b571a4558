"""Sensitive values: mark some answers, and see what it gains to protect those alone."""

from __future__ import annotations

import asyncio
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from nicegui import ui

from hush.errors import HushError
from hush.workbench import charts, controls, faults, prose
from hush.workbench.frame import page
from hush.workbench.latest import Latest
from hush.workbench.visits import Visit

if TYPE_CHECKING:
    from hush.workbench.sensitive import Distinction, MarkedAnswers

_EXAMPLE = "tea\ncoffee\nwater\njuice\n* beer\n* wine\n* spirits\nmilk"
_MOST_BOXES = 60
_PEOPLE = 20_000


@page(
    "/sensitive",
    "Sensitive values",
    order=30,
    about="Mark the answers that need protection, and see what it gains to protect only those.",
)
async def sensitive(visit: Visit) -> None:
    """Lay it out."""
    await asyncio.to_thread(import_module, "hush.workbench.sensitive")
    await _Marked().show()


class _Marked:
    """The page, for one visitor."""

    def __init__(self) -> None:
        from hush.workbench.explore.positions import EPSILONS, OPEN_END, PRIVATE_END, nearest

        self._answers: MarkedAnswers | None = None
        self._found: Distinction | None = None
        self._name = self._picked = ""
        self._asked: Latest[Distinction] = Latest()
        prose.title(
            "Sensitive values",
            "Often only some answers need to be hidden. Mark them, and see how much better the rest is known.",
        )
        with ui.element("div").classes("split"):
            with ui.element("div").classes("stack loose"):
                self._text = controls.textarea(
                    "Answers, one a line",
                    _EXAMPLE,
                    rows=9,
                    help="An asterisk in front marks a sensitive one.",
                    on_change=lambda _: self._written(),
                )
                self._boxes = ui.element("fieldset").classes("boxes")
                self._epsilon = controls.slider(
                    "Budget of a sensitive answer, ε",
                    nearest(EPSILONS, 1.0),
                    least=0,
                    most=len(EPSILONS) - 1,
                    ends=(PRIVATE_END, OPEN_END),
                    shown=lambda at: f"{EPSILONS[int(at)]:g}",
                    on_change=lambda _: self.show(),
                )
                self._n = controls.number(
                    "People", _PEOPLE, least=1, most=10**9, whole=True, on_change=lambda _: self.show()
                )
                self._share = controls.slider(
                    "People whose answer is not sensitive",
                    70,
                    least=0,
                    most=100,
                    shown=lambda at: f"{at:.0f} %",
                    ends=("nobody", "everybody"),
                    on_change=lambda _: self.show(),
                )
            with ui.element("div").classes("stack loose"):
                self._before = ui.element("div")
                with ui.element("div").classes("stack loose") as self._result:
                    self._layout()
        ui.add_css(_STYLE)
        self._read()
        self._tick()

    def _layout(self) -> None:
        with ui.element("div").classes("answer stack").props('role="status"'):
            self._headline = prose.text("p")
        self._chart = charts.bars(
            "Error of an estimated percentage, with and without the distinction",
            [],
            unit="± points",
            sideways=True,
            height="26rem",
            on_point=self._choose,
        )
        prose.heading("One mechanism, and what it promises")
        with ui.element("div").classes("side") as self._choosing:
            self._which: controls.Field[str] | None = None
        self._parts = prose.paragraph("")
        with ui.element("div").classes("grid"):
            with ui.element("div").classes("card"):
                prose.heading("What remains protected", 3)
                self._kept = ui.element("div").classes("stack")
            with ui.element("div").classes("card"):
                prose.heading("What a report may reveal", 3)
                self._shown = ui.element("div").classes("stack")
        with ui.element("div").classes("side"):
            controls.download("Download the spec", "spec.json", self._spec, "application/json", primary=True)
        with ui.element("details"):
            prose.text("summary", "All numbers")
            self._table = prose.table(("",), [], caption="Half the width of a 95 % interval, in percentage points")

    def _read(self) -> None:
        """Take the answers from the text; what is wrong with them is said below it."""
        from hush.workbench.sensitive import answers_in

        try:
            self._answers = answers_in(self._text.value or "")
        except HushError as error:
            self._answers = None
            self._text.wrong(faults.in_words(error))

    async def _written(self) -> None:
        self._read()
        self._tick()
        await self.show()

    def _tick(self) -> None:
        """A box for each answer."""
        answers = self._answers
        self._boxes.clear()
        if answers is None:
            return
        with self._boxes:
            prose.text("legend", "Which of them are sensitive?")
            for label in answers.labels[:_MOST_BOXES]:
                marked = label in answers.sensitive
                controls.checkbox(label, marked, on_change=partial(self._mark, label))
            if len(answers.labels) > _MOST_BOXES:
                prose.paragraph("The others are marked by an asterisk in the list.", "muted small")

    async def _mark(self, label: str, marked: bool | None) -> None:
        if self._answers is None:
            return
        others = self._answers.sensitive - {label}
        self._answers = self._answers.marking(others | {label} if marked else others)
        self._text.value = self._answers.text
        await self.show()

    async def show(self) -> None:
        """Compute, and show what came out."""
        from hush.workbench.explore.positions import EPSILONS
        from hush.workbench.sensitive import distinguished

        answers, n = self._answers, self._n.value
        if answers is None or n is None:
            self._asked.drop()
            self._wait(*prose.NOTHING_FOR_THIS)
            return
        if answers.lacking is not None:
            self._asked.drop()
            self._wait(*answers.lacking)
            return
        domain = answers.domain
        epsilon, theta = EPSILONS[int(self._epsilon.value or 0)], (self._share.value or 0) / 100
        found = await self._asked.of(lambda: distinguished(domain, epsilon, int(n), theta))
        if found is not None:
            self._before.visible, self._result.visible = False, True
            self._found = found
            self._put(found)

    def _wait(self, words: str, then: str) -> None:
        """Show what has to be done first."""
        self._before.visible, self._result.visible = True, False
        self._before.clear()
        with self._before:
            prose.empty(words, then)

    def _put(self, found: Distinction) -> None:
        from hush.workbench.sensitive import words

        self._headline.text = words.headline(found)
        names = [option.name for option in found.options]
        with_, without = ([100 * part.overall for part in parts] for parts in words.margins(found))
        self._chart.show(
            [
                charts.Bars("only sensitive answers protected", names, with_),
                charts.Bars("every answer protected", names, without, quiet=True),
            ],
            summary="Shorter is better. Each mechanism is compared with itself, at the same ε.",
        )
        header, rows = words.table(found)
        self._table.content = prose.table_html(header, rows, caption="Half of a 95 % interval, in percentage points")
        if self._picked not in names:
            self._picked = ""
        self._name = self._picked or names[0]
        self._choosing.clear()
        with self._choosing:
            options = {name: words.option_in_words(found.option(name)) for name in names}
            self._which = controls.select("Mechanism", options, self._name, on_change=self._choose)
        self._describe()

    def _choose(self, name: str | None) -> None:
        if self._found is None or name is None:
            return
        self._name = self._picked = self._found.option(name).name
        if self._which is not None and self._which.value != self._name:
            self._which.value = self._name
        self._describe()

    def _describe(self) -> None:
        """What the chosen mechanism promises and reveals."""
        from hush.workbench.sensitive import words

        assert self._found is not None
        option = self._found.option(self._name)
        self._parts.text = words.parts(option)
        for place, sentences in (
            (self._kept, words.protected(option.mechanism)),
            (self._shown, words.revealed(option.mechanism, self._found.theta)),
        ):
            place.clear()
            with place:
                for sentence in sentences:
                    prose.paragraph(sentence)

    def _spec(self) -> str:
        from hush.mechanisms.spec import Spec

        assert self._found is not None
        return Spec(self._found.option(self._name).mechanism, self._found.domain).to_json()


_STYLE = """
.boxes { border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: 0.4rem 1.4rem; }
.boxes legend { font-weight: 600; font-size: 0.98rem; padding: 0 0 0.4rem; }
"""
