"""The start page: what one can do here."""

from __future__ import annotations

from nicegui import ui

from hush.workbench import prose
from hush.workbench.frame import listed, page
from hush.workbench.visits import Visit


@page("/", "Start")
def start(visit: Visit) -> None:
    """Lay it out."""
    from hush.workbench.pages.plan.form import begin

    prose.title(
        "Learn about a crowd, and nothing sure about anyone in it",
        "Choose how people's answers are randomized before they leave their devices, try it on data that may be seen, "
        "and watch what a collection tells.",
    )
    begin("/plan")
    with ui.element("div").classes("grid dense"):
        for each in listed():
            with ui.element("a").classes("card") as card:
                card.props["href"] = each.path
                prose.text("h2", each.title)
                prose.text("p", each.about, "muted")
    if not visit.settings.collector:
        with prose.note("There are no collections to watch, for no collector was named when this was started:"):
            prose.text("code", "hush workbench --collector http://127.0.0.1:8470")
