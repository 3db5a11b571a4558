"""What one leaves with: files, a link, or the collection itself."""

from __future__ import annotations

import json
from typing import Any

from nicegui import ui

from hush.workbench import controls, prose
from hush.workbench.controls.buttons import javascript
from hush.workbench.plan import Answer, handout, notebook, query, script
from hush.workbench.visits import Visit

_JSON, _PDF, _HTML = "application/json", "application/pdf", "text/html"
_TWO = "grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr))"


def leave(visit: Visit, answer: Answer) -> None:
    """Lay it out."""
    with ui.element("section").classes("stack"):
        prose.heading("Take it with you")
        with ui.element("div").classes("grid").style(_TWO):
            with _card("For whoever builds it", "The spec is all that clients, a server and an auditor need."), _row():
                controls.download("Spec (JSON)", "spec.json", lambda: answer.spec + "\n", _JSON)
                controls.download("Script", "collection.py", lambda: script(answer), "text/x-python")
                controls.download("Notebook", "collection.ipynb", lambda: notebook(answer), "application/x-ipynb+json")
            with _card("For the privacy officer", "What leaves a device, what is promised, and what is not."):
                with _row():
                    controls.download("Page (PDF)", "privacy-statement.pdf", lambda: handout(answer).to_pdf(), _PDF)
                    controls.download("Page (HTML)", "privacy-statement.html", lambda: handout(answer).to_html(), _HTML)
                _unspellable(answer)
            with _card("For later, or for somebody else", "The link asks the same again, and so does the command."):
                with _row():
                    _permalink(visit, answer)
                    controls.copy("Copy the command", answer.command)
                prose.code(answer.command)
            with _card("As a collection", _begin(visit)):
                _create(visit, answer)


def _row() -> ui.element:
    return ui.element("div").classes("side").style("gap: 0.6rem")


def _card(title: str, words: str) -> ui.element:
    made = ui.element("article").classes("card")
    with made:
        prose.heading(title, 3)
        prose.paragraph(words, "muted small")
    return made


def _unspellable(answer: Answer) -> None:
    from hush.reports.statements.paper import unspellable

    if unspellable(handout(answer)):
        prose.paragraph("The PDF's font cannot spell all of the labels: print the HTML page instead.", "small")


def _permalink(visit: Visit, answer: Answer) -> None:
    link = query(answer.question)
    if link is None:
        prose.paragraph("The list of answers is too long for a link. The spec has all of them.", "small")
        return
    button = controls.button("Copy the link", icon="content_copy")
    copied = f"navigator.clipboard.writeText(location.origin + {javascript(f'{visit.path}?{link}')})"
    button.on("click", js_handler=f"() => {copied}")
    button.on("click", lambda: ui.notify("Copied", position="bottom", timeout=1500), args=[])


def _begin(visit: Visit) -> str:
    if visit.collector is None:
        return "This workbench stands beside no collector: hush workbench --collector URL names one."
    if not visit.session.creates:
        return "Creating a collection needs an administrator's token."
    return "A draft at the collector, with this spec and this wish. Nobody can report before it is opened."


def _create(visit: Visit, answer: Answer) -> None:
    link = visit.collector
    if link is None:
        return
    if not visit.session.creates:
        with _row():
            controls.link("Sign in", "/sign-in")
        return
    name = controls.text("Name of the collection", "")
    made = ui.element("div").props('role="status"')

    async def create() -> None:
        asked = (name.value or "").strip()
        if not asked:
            name.wrong("Give it a name by which you will know it.")
            return
        wish: dict[str, Any] = {} if answer.question.error is None else {"wished_error": answer.question.error}
        spec = json.loads(answer.spec)
        found = await link.ask(lambda it: it.create(spec=spec, name=asked, target_n=answer.question.people, **wish))
        made.clear()
        with made:
            prose.paragraph(f"“{asked}” is a draft now, {found['id'][:8]}…")
            controls.link("See it among the collections", "/collections")

    with _row():
        controls.button("Create the collection", create)
