"""Explore, for experts: all mechanisms at the k, ε and n of three sliders, and a report byte by byte."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from nicegui import ui

from hush.workbench import charts, controls, prose
from hush.workbench.frame import page
from hush.workbench.latest import Latest
from hush.workbench.visits import Visit

if TYPE_CHECKING:
    from hush.workbench.explore import Anatomy, Explored

_START: dict[str, Any] = {"k": 20, "epsilon": 1.0, "n": 20_000}
_CLICKED = """(e) => {
    const it = e.target.closest("button[data-sort], button[data-pick]");
    if (it) emit({sort: it.dataset.sort || "", pick: it.dataset.pick || ""});
}"""
_NAMES = {"margin": "Error", "asr": "Guessed right", "gain": "Fakes add", "bits": "Bits"}
_STYLE = """
.explored button { font: inherit; background: none; border: 0; padding: 0; cursor: pointer; color: inherit; }
.explored .sort { color: var(--faint); font-weight: 600; white-space: nowrap; }
.explored .pick { color: var(--accent); font-weight: 600; text-decoration: underline; text-underline-offset: 0.2em; }
.explored tr.chosen { background: var(--card); }
.explored .tag { font-weight: 400; font-size: 0.75rem; margin-left: 0.4rem; white-space: nowrap; }
.hexes { display: flex; flex-wrap: wrap; gap: 0.35rem; font-size: 1.05rem; }
.hexes span { background: var(--card); border-radius: 0.4rem; padding: 0.15rem 0.45rem; }
"""
_FOCUS = "document.querySelector('button[data-{}=\"{}\"]')?.focus()"


@page("/explore", "Explore", order=60, about="For experts: every mechanism at any k, ε and n, and its bytes.")
async def explore(visit: Visit) -> None:
    """Lay it out."""
    await asyncio.to_thread(_prepare)
    _Explorer()


def _prepare() -> None:
    """Import what computes, and compute what the page begins with; both take long only once."""
    from hush.workbench.explore import explore as explored

    explored(**_START)


class _Explorer:
    """The page, for one visitor."""

    def __init__(self) -> None:
        from hush.workbench.explore import EPSILONS, PEOPLE, SIZES
        from hush.workbench.explore.positions import OPEN_END, PRIVATE_END, nearest

        self._positions: dict[str, tuple[float, ...]] = {"k": SIZES, "epsilon": EPSILONS, "n": PEOPLE}
        self._now: dict[str, float] = dict(_START)
        self._by, self._descending, self._chosen = "margin", False, "OUE"
        self._completed: Latest[Explored] = Latest()
        self._found: Explored | None = None
        self._made, self._reported = 0, False
        ui.add_css(_STYLE)
        prose.title("Explore", "Move a slider: every mechanism's error, attackers and size change with it.")
        with ui.element("div").classes("card"), ui.element("div").classes("grid"):
            self._sliders = {
                "k": self._slider("k", "Answers, k", ("few", "many"), nearest),
                "epsilon": self._slider("epsilon", "Budget, ε", (PRIVATE_END, OPEN_END), nearest),
                "n": self._slider("n", "People, n", ("few", "many"), nearest),
            }
        with ui.element("details"):
            prose.text("summary", "Numbers between the sliders' positions")
            with ui.element("div").classes("grid"):
                self._fields = {
                    "k": self._number("k", "Answers", 2, 10_000, whole=True),
                    "epsilon": self._number("epsilon", "ε", 0.01, 10.0),
                    "n": self._number("n", "People", 1, 10**9, whole=True),
                }
        with ui.element("div") as self._instead:
            prose.empty(*prose.NOTHING_FOR_THIS)
        self._instead.visible = False
        with ui.element("div").classes("stack").style("gap: 1.5rem") as self._result:
            self._laid()
            self._dissection()
        self._show()

    def _laid(self) -> None:
        """What is known of all mechanisms."""
        self._budget = prose.paragraph("", "muted")
        with ui.element("div").classes("answer stack").props('role="status"'):
            self._words = [prose.text("p") for _ in range(4)]
        self._waiting = prose.paragraph("", "muted small")
        prose.heading("Error and attack")
        self._chart = charts.points(
            "Mechanisms by their error and by what attackers guess",
            [],
            x="error: half of a 95 % interval, in points",
            y="right guesses in 100",
            height="26rem",
            on_point=self._pick,
        )
        prose.heading("All numbers")
        self._table = ui.html("", sanitize=False).classes("scroll explored")
        self._table.props('tabindex="0" role="group" aria-label="All mechanisms"')
        self._table.on("click", self._clicked, js_handler=_CLICKED)
        self._absent = prose.paragraph("", "muted small")
        self._meanings()
        with ui.element("div").classes("side"):
            controls.download("Download the table", "mechanisms.csv", self._csv, "text/csv")

    def _slider(self, name: str, label: str, ends: tuple[str, str], nearest: Any) -> controls.Field[float]:
        places = self._positions[name]

        def shown(at: float) -> str:
            """The number; one that was typed as it is, not the nearest position."""
            typed = nearest(places, self._now[name]) == int(at)
            return f"{self._now[name] if typed else places[int(at)]:,.12g}"

        return controls.slider(
            label,
            nearest(places, self._now[name]),
            least=0,
            most=len(places) - 1,
            ends=ends,
            shown=shown,
            on_change=lambda at: self._move(name, places[int(at)], typed=False),
        )

    def _number(
        self, name: str, label: str, least: float, most: float, *, whole: bool = False
    ) -> controls.Field[float]:
        return controls.number(
            label,
            self._now[name],
            least=least,
            most=most,
            whole=whole,
            on_change=lambda value: self._show() if value is None else self._move(name, value, typed=True),
        )

    def _move(self, name: str, value: float, *, typed: bool) -> None:
        from hush.workbench.explore.positions import nearest

        self._now[name] = value
        if typed:
            self._sliders[name].value = nearest(self._positions[name], value)
        else:
            self._fields[name].value = value
        self._show()

    def _show(self) -> None:
        """Compute and show everything; what takes longer than a moment follows. While a field is wrong, nothing."""
        from hush.workbench.explore import explore as explored

        wrong = any(field.value is None for field in self._fields.values())
        self._instead.visible, self._result.visible = wrong, not wrong
        self._no_report()
        if wrong:
            self._completed.drop()
            return
        self._answer()
        found = explored(int(self._now["k"]), float(self._now["epsilon"]), int(self._now["n"]))
        self._completed.drop()
        self._put(found)
        if found.pending:
            ui.timer(0, lambda: self._complete(found), once=True)

    async def _complete(self, found: Explored) -> None:
        whole = await self._completed.of(found.completed)
        if whole is not None:
            self._put(whole)

    def _put(self, found: Explored) -> None:
        from hush.workbench.explore import words
        from hush.workbench.explore.positions import budget_in_words

        self._found = found
        self._budget.text = budget_in_words(found.epsilon)
        for element, sentence in zip(self._words, words.summary(found), strict=True):
            element.text = sentence
        later = ", ".join(found.pending)
        self._waiting.text = f"{later} take longer between the sliders' positions, and follow." if later else ""
        self._absent.text = " ".join(f"{name} is not here: {why}." for name, why in found.unavailable.items())
        self._draw()
        self._tabulate()

    def _draw(self) -> None:
        from hush.workbench.explore.words import pictured

        assert self._found is not None
        rows, words = pictured(self._found)
        series = []
        for name, wanted in (("unbeaten", True), ("others", False)):
            some = [row for row in rows if row.on_front is wanted]
            labels = [row.name for row in some]
            chosen = labels.index(self._chosen) if self._chosen in labels else None
            errors, guesses = [100 * row.margin for row in some], [100 * row.asr for row in some]
            series.append(charts.Points(name, errors, guesses, labels, chosen))
        self._chart.show(series, summary=words)

    def _tabulate(self) -> None:
        from hush.workbench.explore import html

        assert self._found is not None
        self._table.content = html.table(self._found, self._by, descending=self._descending, chosen=self._chosen)

    def _clicked(self, event: Any) -> None:
        from hush.workbench.explore.html import SORTED_BY

        if (by := event.args.get("sort")) in SORTED_BY:
            self._descending = by == self._by and not self._descending
            self._by = by
            self._tabulate()
            ui.run_javascript(_FOCUS.format("sort", by))
        elif pick := event.args.get("pick"):
            self._pick(pick)
            ui.run_javascript(_FOCUS.format("pick", self._chosen))

    def _pick(self, name: str) -> None:
        if self._found is None or self._found.row(name) is None:
            return
        self._chosen = name
        self._which.value = name
        self._no_report()
        self._draw()
        self._tabulate()

    def _csv(self) -> str:
        from hush.workbench.explore import words

        assert self._found is not None
        return words.as_csv(self._found)

    def _meanings(self) -> None:
        from hush.workbench.explore.words import MEANINGS

        with ui.element("details"):
            prose.text("summary", "What the numbers mean")
            with ui.element("ul"):
                for column, name in (
                    ("margin", "Error"),
                    ("asr", "Guessed right"),
                    ("gain", "Fakes add"),
                    ("bits", "Bits"),
                ):
                    prose.text("li", f"{name}: {MEANINGS[column]}")
                prose.text("li", "Unbeaten: no other is at least as good in all four numbers, and better in one.")

    def _dissection(self) -> None:
        """The part about one report."""
        from hush.workbench.explore.numbers import explored

        prose.heading("A report, byte by byte")
        prose.paragraph(
            "What a device would send: a fresh report from secure randomness, with the k and ε above.", "muted"
        )
        with ui.element("div").classes("grid"):
            self._which = controls.select(
                "Mechanism", {name: name for name in explored()}, self._chosen, on_change=self._pick
            )
            self._held = controls.number(
                "The person's answer, from 0", 3, least=0, whole=True, on_change=lambda _: self._held_another()
            )
        with ui.element("div").classes("side"):
            controls.button("Make a report", self._dissect, primary=True)
        self._body = ui.element("div").classes("stack").props('aria-live="polite"')
        self._reported = True
        self._no_report()

    def _no_report(self) -> None:
        """Take away the report that was made with other numbers."""
        self._made += 1
        if not self._reported:
            return
        self._reported = False
        self._body.clear()
        with self._body:
            prose.empty("No report yet", "Make one: its bytes appear here, with what each of them says.")

    def _held_another(self) -> None:
        self._no_report()
        self._answer()

    def _answer(self) -> int | None:
        """The answer that a report is made of; None where it is none, which the field then says."""
        k, value = int(self._now["k"]), self._held.value
        if value is None:
            return None
        if value >= k:
            self._held.wrong(f"must be at most {k - 1:,}, since the answers are 0 to {k - 1:,}")
            return None
        self._held.right()
        return int(value)

    async def _dissect(self) -> None:
        from hush.workbench.explore import dissected
        from hush.workbench.explore.kept import ready

        k, epsilon, name, value = int(self._now["k"]), float(self._now["epsilon"]), self._chosen, self._answer()
        if value is None:
            return
        self._made += 1
        mine, self._reported = self._made, True
        self._body.clear()
        with self._body:
            prose.paragraph(f"Making a report of {name} …", "muted")
        found = await asyncio.to_thread(lambda: dissected(ready(name, k, epsilon), value))
        if mine != self._made:  # something else is asked meanwhile
            return
        self._body.clear()
        with self._body:
            _anatomy(found, k, epsilon)


def _anatomy(found: Anatomy, k: int, epsilon: float) -> None:
    from hush.reports.words import many

    prose.answer(found.about, found.evidence)
    size = f"{many(found.size, 'byte', 'bytes')} carry {many(found.bits, 'bit', 'bits')} of information."
    of = f"A report of {found.name} on answer {found.value}, with k = {k:,} and ε = {epsilon:g}"
    prose.paragraph(f"{of}: {size}")
    with ui.element("div").classes("hexes mono").props('aria-hidden="true"'):
        for byte in found.shown:
            prose.text("span", byte.hex)
    if found.left_out:
        prose.paragraph(f"{found.left_out:,} more bytes follow, in the same way.", "muted small")
    fields = [(each.name, each.kind, _span(each.offset, each.size), each.meaning) for each in found.fields]
    prose.table(("Field", "Type", "Bytes", "What it is for"), fields, caption="Its fields, little-endian", words=True)
    rows = [(str(each.at), each.hex, each.bits, each.field, each.says) for each in found.shown]
    prose.table(("Byte", "Hex", "Bits", "Field", "What it says"), rows, caption="Its bytes", words=True)


def _span(offset: int, size: int) -> str:
    return str(offset) if size == 1 else f"{offset} to {offset + size - 1}"
