"""The page as a whole: the form, the answer below it, and further questions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from nicegui import ui
from nicegui.events import GenericEventArguments

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
_WENT = "plan-went"
_LISTEN = f"""<script>
addEventListener("popstate", () => {{
    if (window.socket?.connected) emitEvent("{_WENT}", location.search);
    else location.reload();
}});
</script>"""
"""Tells the server when somebody went back or forward: the page is the same one, with another wish."""


class PlanPage:
    """One open page.

    Args:
        visit: Whose.
    """

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.latest: Question | None = None
        self.asked = _said(visit.query)
        self._lists: dict[str, dict[str, str]] = {}
        """What was asked here and is too long for an address, by the part of it that the address has."""

    def laid(self) -> None:
        """Lay it out; a link that asks something is answered as soon as the page is there."""
        ui.add_body_html(_LISTEN)
        ui.on(_WENT, self._went)
        prose.title(
            "What do you want to know, and how well?",
            "Say it in a sentence. The answer is one recommendation: how answers are randomized before they leave a "
            "device, with which ε, and what that means for the people.",
        )
        self.form = Form(self.asked, self.plan)
        self.panel = controls.JobPanel(self.visit, done=self.show)
        self.place = ui.element("div").classes("stack loose").props('aria-live="off"')
        running = self.visit.jobs.get(self.visit.query.get("job"), self.visit.session.owner)
        resumed = running is not None and running.name == PLAN_JOB and self.panel.resume()
        if not self.asked:
            self._nothing()
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

    def _nothing(self) -> None:
        self.place.clear()
        with self.place:
            prose.empty(
                "Nothing is planned yet", "Change the numbers in the sentence above to yours, and press “Plan it”."
            )

    async def plan(self) -> None:
        """The button was pressed."""
        await self._answer(self.form.read(), push=True)

    async def _went(self, event: GenericEventArguments) -> None:
        """Somebody went back or forward: ask what was asked there, and let the fields say it.

        Before the first wish there was none. What the fields hold stays then, to be changed.
        """
        said = _said(dict(parse_qsl(str(event.args).removeprefix("?"))))
        if said == self.asked:  # to another place of the same page
            return
        self.asked = said
        if not said:
            self.latest = None
            self.panel.leave()
            self._nothing()
            return
        self.asked = self._lists.get(urlencode(said), said)
        self.form.fill(self.asked)
        await self._linked()

    async def _answer(self, question: Question | None, *, push: bool = False) -> None:
        """Answer a question: at once where that is quick, else by a job. What was sought before is dropped.

        Args:
            question: What is asked; None where something is wrong with it, which the fields say.
            push: Whether the wish before shall be found by going back.
        """
        self.latest = question
        self.panel.leave()
        self.place.clear()
        if question is None:
            with self.place:
                prose.problem("Something in the wish cannot be taken: see the words in red above.")
            return
        self._address(question, push=push)
        if takes_long(question):
            await self.panel.start(answered_job, question, name=PLAN_JOB, query=self.asked)
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
            ui.timer(0.0, lambda: self._answer(question, push=True), once=True)

    def _address(self, question: Question, *, push: bool) -> None:
        """Let the browser's address be the permalink; the same wish once more is no other place."""
        link = query(question)
        if link is None:
            link = urlencode(fields(replace(question, labels=None, sensitive=(), other=None)))
            self._lists[link] = fields(question)
        before, self.asked = self.asked, dict(parse_qsl(link))
        way = "pushState" if push and self.asked != before else "replaceState"
        ui.run_javascript(f'window.history.{way}(null, "", {javascript(f"{self.visit.path}?{link}")})')


def _said(query: Mapping[str, str]) -> dict[str, str]:
    """What an address asks, in the order of the fields."""
    return {name: query[name] for name in FIELDS if query.get(name)}
