"""Snippets to copy: for a Python program, for a question in a web page, for a page of one's own."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hush.collect.remote import Remote
from hush.workbench import controls, prose
from hush.workbench.collections import snippets
from hush.workbench.collections.snippets import Snippet
from hush.workbench.collector import CollectorLink
from hush.workbench.visits import Visit


class Copying:
    """The part of a page with snippets.

    Args:
        visit: Whose page it is.
        link: The collector.
        view: The collection.
        scripts: What the collector serves to web pages.
    """

    def __init__(self, visit: Visit, link: CollectorLink, view: dict[str, Any], scripts: dict[str, Any]) -> None:
        self._link, self._view, self._scripts, self._key = link, view, scripts, ""
        prose.heading("Let people answer")
        if view["relayed_only"]:
            prose.note("Only relays may submit: devices send to a relay, with a key of its own.")
            return
        self._issuing = ui.element("div").classes("stack tight")
        if view["needs_key"]:
            with self._issuing:
                words = "Devices need a key to submit. It is put into the lines below, and shown only this once."
                if visit.session.creates:
                    prose.paragraph(words, "muted")
                    with ui.element("div"):
                        controls.button("Issue a key for devices", self._issue, icon="key")
                else:
                    prose.paragraph("Devices need a key to submit, which an administrator can issue.", "muted")
        self._place = ui.element("div").classes("stack loose")
        self._show()

    async def _issue(self) -> None:
        id = str(self._view["id"])

        def deed(it: Remote) -> str:
            return it.issue_token("ingest", label="devices", collection=id)

        self._key = await self._link.ask(deed)
        self._issuing.clear()
        with self._issuing, ui.element("div").classes("note stack tight").props('role="status"'):
            prose.text("p", "This key is shown only now. It is in the lines below, too.")
            with ui.element("div").classes("side"):
                prose.text("code", self._key).style("overflow-wrap: anywhere")
                controls.copy("Copy the key", self._key)
        self._show()

    def _show(self) -> None:
        url, view = self._link.url, self._view
        self._place.clear()
        with self._place:
            _shown(snippets.python(url, view, self._key))
            _shown(snippets.element(url, view, self._scripts, self._key))
            with ui.element("details"):
                prose.text("summary", "With a form of your own")
                _shown(snippets.module(url, view, self._scripts, self._key))


def _shown(each: Snippet) -> None:
    with ui.element("div").classes("stack tight"):
        with ui.element("div").classes("side ends"):
            prose.heading(each.title, 3)
            controls.copy(f"Copy the {'Python' if each.language == 'python' else 'HTML'}", each.text)
        prose.paragraph(each.words, "muted small")
        prose.code(each.text).props["aria-label"] = each.title
