"""Beside the estimates: what was refused and why, the chain and what it costs, how the collection runs."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hush.workbench import prose
from hush.workbench.collections.facts import builds, facts, refusals
from hush.workbench.collections.promises import Chain


class About:
    """The part of a page that says how a collection runs. It changes only where something has.

    Args:
        whole: Whether whoever looks is an administrator, and sees what was refused.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._refused, self._chain = (ui.element("div").classes("stack") for _ in range(2))
        with ui.element("details"):
            prose.text("summary", "How it runs: periods, keys, readers, what is kept, client builds")
            self._facts = ui.element("div").classes("stack")
        self._seen: dict[str, Any] = {}

    def show(self, view: dict[str, Any], chain: Chain | None) -> None:
        """Show what has changed."""
        if self._whole:
            self._changed("refused", self._refused, refusals(view), _refusals)
        self._changed("chain", self._chain, chain, _chain)
        self._changed("facts", self._facts, (facts(view), builds(view)), _facts)

    def _changed(self, name: str, place: ui.element, told: Any, lay_out: Any) -> None:
        if name in self._seen and self._seen[name] == told:
            return
        self._seen[name] = told
        place.clear()
        with place:
            lay_out(told)


def _refusals(rows: Any) -> None:
    prose.heading("What was refused")
    if not rows:
        prose.paragraph("Nothing was refused.", "muted")
        return
    prose.paragraph("Why reports may be missing, by reason. No acknowledged report is ever lost.", "muted")
    cells = [[each.reason, f"{each.times:,}", each.means, each.then] for each in rows]
    header = ["Reason", "Times", "Which means", "What clients do"]
    prose.table(header, cells, caption="Refused batches by reason", words=True)


def _chain(chain: Chain | None) -> None:
    prose.heading("What it costs a person")
    if chain is None:
        prose.paragraph("What came before it cannot be seen at the moment.", "muted")
        return
    prose.paragraph(chain.words)
    if len(chain.links) < 2:
        return
    with ui.element("ol").classes("stack tight").style("padding-left: 1.4rem"):
        for place, each in enumerate(chain.links):
            with ui.element("li"):
                if place == chain.here:
                    prose.text("strong", each.name).props('aria-current="true"')
                else:
                    prose.text("a", each.name).props["href"] = f"/collection?id={each.id}"
                prose.text("span", f" – {each.promise.mechanism}, {each.promise.budget}, {each.status}", "muted")


def _facts(told: tuple[list[tuple[str, str]], list[tuple[str, int]]]) -> None:
    rows, clients = told
    prose.table(["", "value"], rows, caption="Settings of the collection", words=True)
    if clients:
        cells = [[name, f"{n:,}"] for name, n in clients]
        prose.table(["Client build", "Reports"], cells, caption="Reports by client build")
