"""The progress of a job in a page: a bar, words, a button to cancel, and after a reload all of it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from nicegui import ui

from hush.workbench import prose
from hush.workbench.controls.buttons import button, javascript
from hush.workbench.jobs import BenchJob

if TYPE_CHECKING:
    from hush.workbench.visits import Visit

_SECONDS = 0.2
_SIGNED_OUT = "You signed out meanwhile, and this was started before. Sign in again and reload the page to find it."
_ADDRESS = """(() => {{
    const url = new URL(window.location);
    {change};
    window.history.replaceState(window.history.state, "", url);
}})()"""


class JobPanel:
    """What a page shows of one job. Where there is none, it is not seen.

    Args:
        visit: Whose.
        done: Called with the result when there is one; it may be a coroutine function.
        ended: Called when a job ends otherwise, after the panel has said why; it may be a coroutine function.
        lasting: Whether the address names the job, so that it is found again; else it ends with the page.
    """

    def __init__(
        self,
        visit: Visit,
        done: Callable[[Any], Any],
        *,
        ended: Callable[[BenchJob], Any] | None = None,
        lasting: bool = True,
    ) -> None:
        self._visit, self._done, self._ended, self._lasting = visit, done, ended, lasting
        self.job: BenchJob | None = None
        with ui.element("div").classes("card") as self.element:
            with ui.element("div").classes("side ends"):
                self._name = prose.text("h3")
                self._cancel = button("Cancel", self.cancel)
            self._bar = ui.element("progress").classes("progress").props('max="1" value="0"')
            self._words = prose.text("p", "", "muted small")
        self._problem = prose.problem("")
        self.element.visible = self._problem.visible = False
        self._timer = ui.timer(_SECONDS, self._look, active=False)

    async def start(
        self,
        function: Callable[..., Any],
        *given: Any,
        name: str,
        query: Mapping[str, str] | None = None,
        **named: Any,
    ) -> BenchJob:
        """Begin a job, in place of the one before. See `hush.workbench.jobs.Jobs.start`.

        Args:
            function: Does the work.
            given: What it is given.
            name: What people call it.
            query: What the address of the page asks, beside the job.
            named: What the function is given by name.
        """
        self.forget()
        job = self._visit.jobs.start(function, *given, owner=self._visit.session.owner, name=name, **named)
        if self._lasting:
            job.place = f"{self._visit.path}?{urlencode({**(query or {}), 'job': job.id})}"
        self._follow(job)
        return job

    def resume(self) -> bool:
        """Take up the job that the address names, if this session has it; whether it has."""
        job = self._visit.jobs.get(self._visit.query.get("job"), self._visit.session.owner)
        if job is not None:
            self._follow(job)
        return job is not None

    def leave(self) -> None:
        """End the job, and have nothing of it seen: something else was asked."""
        self.forget()
        self._timer.deactivate()
        self.element.visible = self._problem.visible = False

    def forget(self) -> None:
        """End the job; of the page, nothing changes."""
        if self.job is not None:
            self._visit.jobs.forget(self.job)
        self.job = None

    async def cancel(self) -> None:
        """End the job."""
        if self.job is not None and self._visit.session.owner.finds(self.job.owner):
            await asyncio.to_thread(self.job.cancel)

    def _follow(self, job: BenchJob) -> None:
        self.job = job
        self._name.text = job.name
        self._bar.props["aria-label"] = f"Progress of {job.name}"
        self.element.visible, self._problem.visible = True, False
        self._timer.activate()
        if not self._lasting:
            return
        ui.run_javascript(_ADDRESS.format(change=f'url.searchParams.set("job", {javascript(job.id)})'))

    async def _look(self) -> None:
        job = self.job
        if job is None:
            self._timer.deactivate()
            self.element.visible = False
            return
        found = self._visit.session.owner.finds(job.owner)
        if found and not job.over:
            self._bar.props["value"] = job.fraction
            self._words.text = in_words(job)
            return
        self._timer.deactivate()
        self.element.visible = False
        if found and job.state == "done":
            result = self._done(job.result)
        else:
            self._say(_why(job) if found else _SIGNED_OUT)
            self.job = job if found else None
            result = None if self._ended is None else self._ended(job)
        if asyncio.iscoroutine(result):
            await result

    def _say(self, words: str) -> None:
        self._problem.clear()
        with self._problem:
            prose.text("p", words)
        self._problem.visible = True


def _why(job: BenchJob) -> str:
    """Why there is no result."""
    return f"{job.name} was cancelled." if job.state == "cancelled" else job.error


def in_words(job: BenchJob) -> str:
    """How far a job is."""
    if job.state == "waiting":
        return "Waits for its turn."
    left = job.seconds_left
    parts = [job.note or "Working", f"{job.fraction:.0%}" if job.fraction else ""]
    parts.append("" if left is None else f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left")
    return ", ".join(part for part in parts if part) + "."
