"""Signing in: a form that needs no socket. The token goes to the workbench and stays there."""

from __future__ import annotations

from nicegui import ui

from hush.workbench import prose
from hush.workbench.frame import PAGES, page
from hush.workbench.routes import PROBLEMS
from hush.workbench.visits import Visit


@page("/sign-in", "Sign in")
def sign_in(visit: Visit) -> None:
    """Lay it out."""
    prose.title(
        "Sign in",
        "A reader's token of the collector shows its collections; an administrator's may create, open and close them.",
    )
    if problem := PROBLEMS.get(visit.query.get("problem", "")):
        prose.problem(problem)
    if not visit.settings.collector:
        prose.note(PROBLEMS["none"])
        return
    then = visit.query.get("then", "")
    with ui.element("form").classes("stack").props('method="post" action="/sign-in"').style("max-width: 34rem"):
        with ui.element("div").classes("field"):
            named = prose.text("label", "Token")
            asked = ui.element("input").props(
                'type="password" name="token" autocomplete="off" required spellcheck="false"'
            )
            helping = prose.text(
                "div",
                "Whoever runs the collector has it, or makes one: hush collection token new --role reader. It stays on "
                "the side of the server, and is forgotten when you sign out.",
                "help",
            )
        named.props["for"], asked.props["aria-describedby"] = asked.html_id, helping.html_id
        if then in PAGES:
            ui.element("input").props('type="hidden" name="then"').props["value"] = then
        with ui.element("div").classes("side"), ui.element("button").classes("button primary").props('type="submit"'):
            prose.text("span", "Sign in")
    prose.paragraph(f"The collector is at {visit.settings.collector}.", "muted small")
