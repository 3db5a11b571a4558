"""One collection: what it tells now, what may be done with it, and how to let people answer."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from nicegui import background_tasks, ui

from hush.collect.refusals import REASONS
from hush.collect.remote import Remote
from hush.errors import HushError
from hush.workbench import controls, prose
from hush.workbench.collections.polling import poll
from hush.workbench.collections.promises import Chain, chained
from hush.workbench.collections.summaries import STATUSES, Summary, summary
from hush.workbench.collections.troubles import Trouble, trouble
from hush.workbench.collections.watching import watch
from hush.workbench.collector import CollectorLink
from hush.workbench.pages.collections import taking
from hush.workbench.pages.collections.about import About
from hush.workbench.pages.collections.copying import Copying
from hush.workbench.pages.collections.deeds import Deeds
from hush.workbench.pages.collections.following import TroubleBar, away, back, follow, show_status, tag
from hush.workbench.pages.collections.live import LiveEstimates
from hush.workbench.visits import Visit

_ID = re.compile("[0-9a-f]{32}")
_COLUMNS = "grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); gap: 1.25rem"


async def lay_out(visit: Visit) -> None:
    """Lay it out."""
    link, id = visit.collector, visit.query.get("id", "")
    back()
    if link is None:
        prose.title("Collection")
        away(visit)
        return
    if not _ID.fullmatch(id):
        prose.title("Collection")
        prose.empty("Which collection?", "Choose one from the list.")
        return
    code = visit.query.get("problem", "")
    shown = _One(visit, link, id)
    if code:
        why = REASONS[code].title if code in REASONS else "The collector cannot be reached"
        prose.problem(f"The file was not handed over. {why}.")
    await shown.begin()


class _One:
    """The page of one collection; laid out when the collector has told what it is."""

    def __init__(self, visit: Visit, link: CollectorLink, id: str) -> None:
        self._visit, self._link, self._id = visit, link, id
        self._head = ui.element("div").classes("stack")
        self._bar = TroubleBar()
        self._body = ui.element("div").classes("stack loose")
        self._view: dict[str, Any] = {}
        self._parts: _Parts | None = None
        with self._head:
            self._title = prose.text("h1", "Collection")
            with ui.element("div").classes("side"):
                self._tag = tag()
                self._lead = prose.text("p", "Asking the collector …", "muted")

    async def begin(self) -> None:
        """Ask what it is, and follow it."""
        await follow(poll(self._look, self._link.url), self._show, self._bar)

    async def _look(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The collection, and those of its chain."""
        reads = self._visit.session.reads

        def deed(it: Remote) -> tuple[dict[str, Any], list[dict[str, Any]]]:
            view = it.show(self._id, whole=True)
            if reads:
                return view, [view, *(each for each in it.list() if each["id"] != self._id)]
            return view, [view, *(it.show(each, whole=False) for each in view["chain"][1:])]

        return await self._link.ask(deed)

    async def again(self) -> None:
        """Look at once."""
        try:
            await self._show(await self._look())
        except HushError as error:
            self._bar.show(trouble(error, self._link.url))

    async def _show(self, told: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
        view, views = told
        row, chain = summary(view), chained(views, self._id)
        self._title.text = row.name
        show_status(self._tag, row.status)
        forced = " It was opened against the planner's advice." if row.forced else ""
        self._lead.text = f"{STATUSES.get(row.status, '')}{forced}"
        ui.page_title(f"{row.name} · Hush workbench")
        if self._parts is None:
            scripts = await self._link.ask(lambda it: it.scripts())
            with self._body:
                self._parts = _Parts(self._visit, self._link, view, scripts, self)
        self._parts.show(view, row, chain)


class _Parts:
    """What is below the head."""

    def __init__(
        self, visit: Visit, link: CollectorLink, view: dict[str, Any], scripts: dict[str, Any], page: _One
    ) -> None:
        self._visit, self._link, self._id = visit, link, str(view["id"])
        admin = visit.session.creates
        self._deeds = Deeds(link, view, page.again) if admin else None
        with ui.element("div").classes("grid").style(_COLUMNS):
            self._reports, self._cost = _Figure("reports"), _Figure("privacy loss of one answer, at most")
            self._margin, self._last = _Figure("widest margin"), _Figure("last period with reports")
        self._reads = visit.session.reads or bool(view["public"])
        with ui.element("div").classes("stack loose") as self._estimated:
            if self._reads:
                self._live = LiveEstimates(view, self._margin.show)
            else:
                words = "Whoever has a reader's token can see them."
                prose.empty("Sign in to see its estimates", words, lambda: controls.link("Sign in", "/sign-in"))
        self._watching = False
        self._about = About(whole=admin)
        with ui.element("div").classes("stack") as self._taken:
            if self._reads:
                taking.lay_out(visit, view, lambda: self._live.told)
        with ui.element("div").classes("stack loose") as self._copied:
            Copying(visit, link, view, scripts)

    def show(self, view: dict[str, Any], row: Summary, chain: Chain) -> None:
        """Show what has changed."""
        if self._deeds is not None:
            self._deeds.show(view)
        self._reports.show("" if row.n is None else row.reports)
        self._cost.show(row.promise.budget)
        self._last.show("" if row.last_period is None else row.last)
        self._about.show(view, chain)
        self._estimated.visible = self._taken.visible = row.status != "draft"
        self._copied.visible = row.status != "closed"
        if row.status != "draft" and self._reads and not self._watching:
            self._watching = True
            ui.timer(0.0, self._watch, once=True)  # once the browser is there

    def _watch(self) -> None:
        client = ui.context.client

        async def watched() -> None:
            told = watch(self._link.url, self._visit.session.token, self._id)
            try:
                async for each in told:
                    with client:
                        self._take(each)
            finally:
                await told.aclose()  # type: ignore[attr-defined]

        task: asyncio.Task[Any] = background_tasks.create(watched(), name="watching an estimate")
        client.on_delete(task.cancel)

    def _take(self, each: dict[str, Any] | Trouble) -> None:
        if isinstance(each, Trouble):
            self._live.still(each)
        else:
            self._live.show(each)


class _Figure:
    """A number that stands out, and changes; not seen as long as there is none."""

    def __init__(self, words: str) -> None:
        with ui.element("div").classes("stack tight") as self.element:
            self._value = prose.text("div", "", "figure-number numbers")
            prose.text("div", words, "muted small")
        self.element.visible = False

    def show(self, value: str) -> None:
        """Show another number."""
        self._value.text, self.element.visible = value, bool(value)
