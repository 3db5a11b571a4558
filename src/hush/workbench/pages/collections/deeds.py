"""What an administrator may do with a collection: open, close, delete, let another follow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from nicegui import ui

from hush.collect.refusals import Refused
from hush.collect.remote import Remote
from hush.errors import HushError
from hush.workbench import controls, prose
from hush.workbench.collections.troubles import trouble
from hush.workbench.collections.verdicts import Advice, Remedy, advice
from hush.workbench.collector import CollectorLink
from hush.workbench.pages.collections.asking_twice import sure


class Deeds:
    """The buttons of a collection, by its status.

    Args:
        link: The collector.
        view: The collection.
        changed: Called when something was done, to look again.
    """

    def __init__(self, link: CollectorLink, view: dict[str, Any], changed: Callable[[], Awaitable[None]]) -> None:
        self._link, self._view, self._changed = link, view, changed
        self._status = ""
        self._buttons = ui.element("div").classes("side").style("align-items: start")
        self._said = ui.element("div").props('role="status"')
        self.show(view)

    def show(self, view: dict[str, Any]) -> None:
        """Show what can be done now."""
        self._view = view
        if view["status"] == self._status:
            return
        self._status = view["status"]
        self._buttons.clear()
        self._said.clear()
        with self._buttons:
            match self._status:
                case "draft":
                    controls.button("Open it", self._open, primary=True)
                    question = "Delete this draft, with its keys? Nobody has reported to it."
                    sure("Delete the draft", question, "Yes, delete it", self._delete)
                    ui.timer(0.0, self._foretell, once=True)
                case "open":
                    question = "Close it? Nobody can report any more then, and it cannot be opened again."
                    sure("Close it", question, "Yes, close it", self._close, no="No, leave it open")
                    self._next()
                case _:
                    self._next()

    def _next(self) -> None:
        controls.link("Make the next one", f"/collections/new?follows={self._view['id']}", icon="arrow_forward")

    async def _open(self, *, force: bool = False) -> None:
        id = self._id
        self._say_working("The collector looks whether so many people are enough …")
        try:
            await self._link.ask(lambda it: it.open(id, force=force))
        except Refused as error:
            if error.reason.code != "plan":
                self._say_trouble(error)
                return
            told = await asyncio.to_thread(advice, self._view, str(error))
            self._say_refused(told)
            return
        except HushError as error:
            self._say_trouble(error)
            return
        await self._changed()

    async def _foretell(self) -> None:
        """Say what to expect of a draft, before anybody opens it."""
        told = await asyncio.to_thread(advice, self._view)
        if self._status == "draft" and not self._said.default_slot.children:
            with self._said:
                prose.answer(f"{told.title}. {told.words}")

    async def _close(self) -> None:
        await self._done(lambda it: it.close(self._id))

    async def _delete(self) -> None:
        if await self._done(lambda it: it.delete(self._id), look=False):
            ui.navigate.to("/collections")

    async def _done(self, deed: Callable[[Remote], Any], *, look: bool = True) -> bool:
        try:
            await self._link.ask(deed)
        except HushError as error:
            self._say_trouble(error)
            return False
        if look:
            await self._changed()
        return True

    async def _instead(self, remedy: Remedy) -> None:
        """Put another draft in the place of this one, and show it."""
        id = self._id

        def deed(it: Remote) -> str:
            made = it.create(spec=remedy.spec.to_dict(), **remedy.wishes)
            it.delete(id)
            return str(made["id"])

        try:
            new = await self._link.ask(deed)
        except HushError as error:
            self._say_trouble(error)
            return
        ui.navigate.to(f"/collection?id={new}")

    @property
    def _id(self) -> str:
        return str(self._view["id"])

    def _say_working(self, words: str) -> None:
        self._said.clear()
        with self._said:
            prose.paragraph(words, "muted")

    def _say_trouble(self, error: HushError) -> None:
        met = trouble(error, self._link.url)
        self._said.clear()
        with self._said:
            prose.problem(f"{met.title}. {met.words}")

    def _say_refused(self, told: Advice) -> None:
        self._said.clear()
        with self._said, ui.element("div").classes("note warning stack"):
            prose.heading(told.title)
            prose.paragraph(told.words)
            with ui.element("div").classes("side").style("align-items: start"):
                for place, remedy in enumerate(told.remedies):
                    controls.button(remedy.words, partial(self._instead, remedy), primary=place == 0)
                question = (
                    "The estimates will hardly say anything, and people spend their budget all the same. Open it?"
                )
                sure("Open it all the same", question, "Yes, open it", lambda: self._open(force=True))
            prose.paragraph("A draft's spec and numbers do not change: a new draft takes its place.", "muted small")
