"""The page as a whole: the form, the answer below it, and further questions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import urlencode

from nicegui import ui

from hush.workbench import controls, prose
from hush.workbench.controls.buttons import javascript
from hush.workbench.pages.plan.answered import show
from hush.workbench.pages.plan.form import Form
from hush.workbench.pages.plan.searching import further
from hush.workbench.plan import Answer, Mistakes, Question, answered, read, takes_long
from hush.workbench.plan.asking import answered_job
from hush.workbench.plan.link import fields, query
from hush.workbench.plan.reading import FIELDS
from hush.workbench.visits import Visit

PLAN_JOB = "Your plan"


class PlanPage:
    """One open page.

    Args:
        visit: Whose.
    """

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.latest: Question | None = None
        self.asked = {name: visit.query[name] for name in FIELDS if visit.query.get(name)}

    def laid(self) -> None:
        """Lay it out; a link that asks something is answered as soon as the page is there."""
        prose.title(
            "What do you want to know, and how well?",
            "Say it in a sentence. The answer is one recommendation: how answers are randomized before they leave a "
            "device, with which ε, and what that means for the people.",
        )
        self.form = Form(self.asked, self.plan)
        self.panel = controls.JobPanel(self.visit, done=self.show)
        self.place = ui.element("div").classes("stack loose").props('aria-live="off"')
        running = self.visit.jobs.get(self.visit.query.get("job"), self.visit.session.id)
        resumed = running is not None and running.name == PLAN_JOB and self.panel.resume()
        if not self.asked:
            with self.place:
                prose.empty(
                    "Nothing is planned yet",
                    "Change the numbers in the sentence above to yours, and press “Plan it”.",
                )
        elif not resumed:
            with self.place:
                prose.paragraph("Planning…", "muted").props('role="status"')
            ui.timer(0.0, self._linked, once=True)
        with ui.element("div").classes("stack loose"):
            further(self.visit)

    async def _linked(self) -> None:
        """Answer what the link asks."""
        try:
            question = read(self.asked)
        except Mistakes as mistakes:
            self.form.complain(mistakes)
            question = None
        await self._answer(question)

    async def plan(self) -> None:
        """The button was pressed."""
        await self._answer(self.form.read())

    async def _answer(self, question: Question | None) -> None:
        """Answer a question: at once where that is quick, else by a job. What was sought before is dropped."""
        self.latest = question
        self.panel.leave()
        self.place.clear()
        if question is None:
            with self.place:
                prose.problem("Something in the wish cannot be taken: see the words in red above.")
            return
        self._address(question)
        if takes_long(question):
            await self.panel.start(answered_job, question, name=PLAN_JOB)
            return
        with self.place:
            prose.paragraph("Planning…", "muted").props('role="status"')
        try:
            answer = await asyncio.to_thread(answered, question)
        except Mistakes as mistakes:
            if self.latest is not question:
                return
            self.place.clear()
            self.form.complain(mistakes)
            with self.place:
                prose.problem(str(mistakes))
            return
        if self.latest is question:  # else something else was asked meanwhile, and the address says that
            self.show(answer)

    def show(self, answer: Answer) -> None:
        """Show an answer in place of the one before."""
        self.place.clear()
        with self.place:
            show(self.visit, answer, self._instead)

    def _instead(self, question: Question) -> None:
        """Ask something else: another row, or a way out. The address says it, so that one can go back."""
        link = query(question)
        if link is not None:
            ui.navigate.to(f"{self.visit.path}?{link}")
        else:
            ui.timer(0.0, lambda: self._answer(question), once=True)

    def _address(self, question: Question) -> None:
        """Let the browser's address be the permalink."""
        link = query(question)
        kept = link if link is not None else urlencode(fields(replace(question, labels=None, sensitive=(), other=None)))
        code = f'window.history.replaceState(window.history.state, "", "{self.visit.path}?" + {javascript(kept)})'
        ui.run_javascript(code)
