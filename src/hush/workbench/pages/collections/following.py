"""What follows a collector while a page is open, and what the page says when it cannot be asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from nicegui import background_tasks, ui
from nicegui.elements.mixins.text_element import TextElement

from hush.workbench import controls, prose
from hush.workbench.collections.troubles import Trouble, TroubleKind
from hush.workbench.visits import Visit

T = TypeVar("T")
_PATIENCE = 1.5  # seconds that a page waits for what it shows first


class TroubleBar:
    """Where a page says that the collector cannot be asked; not seen where all is well.

    Args:
        then: The page to come back to after signing in.
    """

    def __init__(self, then: str = "/collections") -> None:
        self._then = then
        self._shown: Trouble | None = None
        self._place = ui.element("div").props('role="status"')
        self._place.visible = False

    def show(self, met: Trouble | None) -> None:
        """Say what is wrong, or nothing any more."""
        if met == self._shown:
            return
        self._shown = met
        self._place.clear()
        self._place.visible = met is not None
        if met is None:
            return
        with self._place, ui.element("div").classes("problem stack tight"):
            prose.text("h2", met.title).style("font-size: 1.1rem")
            prose.text("p", met.words)
            if met.kind is TroubleKind.TOKEN:
                controls.link("Sign in", f"/sign-in?then={self._then}", plain=True)


async def follow(told: AsyncIterator[T | Trouble], show: Callable[[T], Any], bar: TroubleBar) -> None:
    """Show what is told for as long as the page is open; wait a moment for what comes first.

    Args:
        told: What is told, without an end.
        show: Shows it; it may be a coroutine function.
        bar: Where troubles are said.
    """
    client, first = ui.context.client, asyncio.Event()
    place = ui.context.slot.parent

    async def followed() -> None:
        async with aclosing(told) as every:  # type: ignore[type-var]
            async for each in every:
                if client.is_deleted:
                    return
                with place:
                    if isinstance(each, Trouble):
                        bar.show(each)
                    else:
                        bar.show(None)
                        result = show(each)
                        if asyncio.iscoroutine(result):
                            await result
                first.set()

    task = background_tasks.create(followed(), name="following a collector")
    client.on_delete(task.cancel)
    waiting = asyncio.ensure_future(first.wait())
    await asyncio.wait({waiting, task}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


def tag(status: str = "") -> TextElement:
    """What a collection's status is, in a word that stands out."""
    made = prose.text("span", "", "tag")
    show_status(made, status)
    return made


def show_status(made: TextElement, status: str) -> None:
    """Let a tag say another status."""
    colour = {"open": "var(--series-2)", "draft": "var(--series-1)"}.get(status, "var(--faint)")
    made.text, made.visible = status, bool(status)
    made.style(f"color: var(--ink); border-color: {colour}; border-width: 2px; font-weight: 600")


def back() -> None:
    """A link to all collections, above the title of a page that is not in the navigation."""
    made = controls.link("All collections", "/collections", plain=True, icon="arrow_back")
    made.style("align-self: start; margin: -1rem 0 -0.75rem -0.5rem")


def away(visit: Visit) -> bool:
    """Say what to do where there is no collector, or nobody is signed in; whether that is so."""
    if not visit.settings.collector:
        prose.empty(
            "This workbench has no collector",
            "Start both together, and the collections are here:",
            lambda: prose.code("hush serve --workbench"),
        )
        return True
    if not visit.session.reads:
        prose.empty(
            "Sign in to see the collections",
            "A reader's token shows them; an administrator's may make, open and close them. hush serve printed an "
            "administrator's token when it was started for the first time.",
            lambda: controls.link("Sign in", f"/sign-in?then={visit.path}", primary=True),
        )
        return True
    return False
