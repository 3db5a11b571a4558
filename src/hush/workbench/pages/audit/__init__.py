"""Audit: what to look at, how surely, and what was found."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from typing import Any

from nicegui import ui

from hush.workbench import controls, prose
from hush.workbench.controls.buttons import javascript
from hush.workbench.frame import page
from hush.workbench.visits import Visit

_ABOUT = (
    "Does the code lose no more than it promises? A proved bound, the two values, and the output that tells them apart."
)
_ADDRESS = """(() => {
    const url = new URL(window.location);
    url.search = new URLSearchParams(JSON.parse(%s)).toString();
    window.history.replaceState(window.history.state, "", url);
})()"""
"""Puts the question into the address, before the job's own number."""


@page("/audit", "Audit", order=40, about=_ABOUT)
async def audit(visit: Visit) -> None:
    """Lay it out."""
    from hush.workbench.audit import choices
    from hush.workbench.pages.audit.form import AuditForm
    from hush.workbench.pages.audit.found import show

    ui.add_css(files("hush.workbench.audit").joinpath("audit.css").read_text("utf-8"))
    offered = await asyncio.to_thread(choices.mechanisms)
    prose.title(
        "Audit",
        "A mechanism promises that one report loses at most ε. An audit asks it for reports, and proves how much is "
        "lost at least. If that is more than was promised, the promise is false.",
    )
    with ui.element("div").classes("split"):
        with ui.element("section").classes("stack loose").props('aria-label="What to audit"'):
            form = AuditForm(visit, offered)
            await form.what.fill()
            with ui.element("div").classes("side"):
                start = controls.button("Audit it", lambda: started(), primary=True)
        with ui.element("section").classes("stack loose").props('aria-label="What was found"'):
            panel = controls.JobPanel(visit, lambda result: found(result), ended=lambda job: over())
            place = ui.element("div").classes("stack loose")
    _nothing(place)

    async def started() -> None:
        from hush.workbench.audit.address import written
        from hush.workbench.audit.running import work

        panel.leave()
        place.clear()
        try:
            asked = await form.question()
        except Exception:
            with place:
                prose.empty("Nothing was audited", "Mend what is said in red, and press “Audit it” once more.")
            raise
        ui.run_javascript(_ADDRESS % javascript(json.dumps(written(asked))))
        start.props.set_bool("disabled", True)
        try:
            await panel.start(
                work,
                asked.to_dict(),
                name=f"Audit of {form.what.called}",
                query=written(asked),
                code=visit.may_run_code,
            )
        except Exception:
            over()
            raise

    def found(result: dict[str, Any]) -> None:
        over()
        place.clear()
        with place:
            show(result)

    def over() -> None:
        start.props.set_bool("disabled", False)

    if panel.resume():
        place.clear()
        start.props.set_bool("disabled", panel.job is not None and not panel.job.over)


def _nothing(place: ui.element) -> None:
    with place:
        prose.empty(
            "Nothing was audited yet",
            "Choose a mechanism and press “Audit it”; with 100,000 trials the answer takes seconds. To see what a "
            "violation looks like, choose a bug that was really shipped.",
        )
