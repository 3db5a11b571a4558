"""All collections, as cards that change by themselves."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hush.workbench import controls, prose
from hush.workbench.collections.polling import poll
from hush.workbench.collections.summaries import Summary, counted, summaries
from hush.workbench.pages.collections.following import TroubleBar, away, follow, tag
from hush.workbench.visits import Visit

_COLUMNS = "grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr))"  # one card alone is no wider


async def lay_out(visit: Visit) -> None:
    """Lay it out."""
    link = visit.collector
    with ui.element("div").classes("side ends"):
        prose.title("Collections", "What people are asked, how many have answered, and what each promises them.")
        if visit.session.creates:
            controls.link("New collection", "/collections/new", primary=True, icon="add")
    if away(visit) or link is None:
        return
    bar = TroubleBar()
    cards = _Cards(visit)
    await follow(poll(lambda: link.ask(lambda it: it.list()), link.url), cards.show, bar)
    prose.paragraph(f"The collector is at {link.url}. This page asks it every few seconds.", "muted small")


class _Cards:
    """The cards of the list; those that are there already are changed, and not made anew."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._cards: dict[str, _Card] = {}
        self._order: list[tuple[str, str]] | None = None  # nothing was shown yet, not even that there is none
        self._words = prose.paragraph("Asking the collector …", "muted")
        self._grid = ui.element("div").classes("grid").style(_COLUMNS)
        self._empty = ui.element("div")
        self._empty.visible = False

    def show(self, views: list[dict[str, Any]]) -> None:
        """Show these."""
        rows = summaries(views)
        self._words.text = f"{counted(rows)}." if rows else ""
        self._words.visible = bool(rows)
        order = [(each.id, each.status) for each in rows]
        if order != self._order:
            self._order = order
            self._grid.clear()
            with self._grid:
                self._cards = {each.id: _Card(each) for each in rows}
            self._say_empty(not rows)
            return
        for each in rows:
            self._cards[each.id].show(each)

    def _say_empty(self, empty: bool) -> None:
        self._empty.clear()
        self._empty.visible, self._grid.visible = empty, not empty
        if not empty:
            return
        with self._empty:
            if self._visit.session.creates:
                prose.empty(
                    "There is no collection yet",
                    "Make one: say what people are asked, how many you expect, and what an answer may cost them.",
                    lambda: controls.link("New collection", "/collections/new", primary=True, icon="add"),
                )
            else:
                prose.empty("There is no collection yet", "Whoever has an administrator's token can make one.")


class _Card:
    """One collection."""

    def __init__(self, row: Summary) -> None:
        with ui.element("a").classes("card") as made:
            made.props["href"] = f"/collection?id={row.id}"
            with ui.element("div").classes("side ends").style("flex-wrap: nowrap; align-items: start"):
                prose.text("h2", row.name).style("font-size: 1.15rem; overflow-wrap: anywhere")
                tag(row.status)
            prose.text("p", f"{row.promise.mechanism} over {row.promise.over}, {row.promise.budget}", "muted")
            self._bar = ui.element("progress").classes("progress").props('max="1"')
            self._bar.props["aria-label"] = f"Reports of {row.name}"
            with ui.element("div").classes("side ends small numbers"):
                self._reports = prose.text("span")
                self._last = prose.text("span", "", "muted")
        self._seen: Summary | None = None
        self.show(row)

    def show(self, row: Summary) -> None:
        """Show how far it has come."""
        if row == self._seen:
            return
        self._seen = row
        self._bar.visible = row.share is not None
        self._bar.props["value"] = row.share or 0.0
        self._reports.text = "" if row.n is None else f"{row.reports} reports"
        self._last.text = "" if row.n is None else _last(row)


def _last(row: Summary) -> str:
    return row.last if row.last_period is None else f"last period {row.last}"
