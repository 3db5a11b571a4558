"""Your jobs: everything that a visitor has running, waiting or done, whichever page started it."""

from __future__ import annotations

import asyncio

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from hush.workbench import controls, prose
from hush.workbench.controls.job import in_words
from hush.workbench.frame import page
from hush.workbench.jobs import BenchJob, JobState
from hush.workbench.visits import Visit

_SECONDS = 0.5
_ENDED = {"done": "Done.", "cancelled": "Cancelled."}


@page("/jobs", "Your jobs")
def jobs(visit: Visit) -> None:
    """Lay it out."""
    each = visit.settings.most_each
    prose.title("Your jobs", "Long work that you have started in this browser, on any page. It goes on when you leave.")
    prose.paragraph(f"You may have {each:,} at once, running or waiting.", "muted small")
    place = ui.element("div").classes("stack")
    shown: dict[tuple[str, JobState], TextElement] = {}

    def look() -> None:
        """Say how far they are; lay them out anew only where one came, or ended, for the sake of who stands on one."""
        found = {(job.id, job.state): job for job in visit.jobs.all_of(visit.session.owner)}
        if [*found] != [*shown] or not place.default_slot.children:
            place.clear()
            shown.clear()
            with place:
                shown.update({key: _card(visit, job) for key, job in found.items()})
                if not found:
                    prose.empty("No jobs", "Audits, searches and long plans are here while they run, and after.")
        for key, words in shown.items():
            words.text = _state(found[key])

    look()
    ui.timer(_SECONDS, look)


def _card(visit: Visit, job: BenchJob) -> TextElement:
    async def cancel() -> None:
        if visit.session.owner.finds(job.owner):
            await asyncio.to_thread(job.cancel)

    with ui.element("article").classes("card"):
        with ui.element("div").classes("side ends"):
            prose.heading(job.name)
            with ui.element("div").classes("side"):
                if job.place:
                    does = "Show what came out" if job.over else "Show it"
                    controls.link(does, job.place).props["aria-label"] = f"{does}: {job.name}"
                if not job.over:
                    controls.button("Cancel", cancel).props["aria-label"] = f"Cancel: {job.name}"
        return prose.paragraph(_state(job), "muted small")


def _state(job: BenchJob) -> str:
    return in_words(job) if not job.over else _ENDED.get(job.state, job.error)
