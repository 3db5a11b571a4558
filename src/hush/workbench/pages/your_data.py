"""Your data: a column of a table, and what each mechanism would make of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nicegui import ui

from hush.errors import HushError
from hush.workbench import charts, controls, faults, prose
from hush.workbench.frame import page
from hush.workbench.latest import Latest
from hush.workbench.visits import Visit

if TYPE_CHECKING:
    from hush.workbench.data.column import CountedColumn
    from hush.workbench.data.comparing import AskedTrial, Compared
    from hush.workbench.data.held import HeldFile

_KEPT = 50
_WIDE = 6
_PAUSE = 0.4  # seconds
_NO_COLUMN = ("No column yet", "Choose the column that you want to try.")
_WARNING = (
    "Pilot or public data only. What you choose here is sent as it is to the machine that runs this workbench: nothing "
    "randomizes it on the way. It stays in the memory of this page, is never written to a disk or a log, and is "
    "forgotten when you leave."
)


@page("/data", "Your data", order=20, about="Try mechanisms on a column of your own, of pilot or public data.")
async def your_data(visit: Visit) -> None:
    """Lay it out."""
    await asyncio.to_thread(import_module, "hush.workbench.data.comparing")
    _Desk(visit)


class _Desk:
    """The page, for one visitor; what he uploaded lies here, and nowhere else."""

    def __init__(self, visit: Visit) -> None:
        from hush.workbench.data.comparing import AskedTrial

        self._file: HeldFile | None = None
        self._column: CountedColumn | None = None
        self._found: Compared | None = None
        self._asked, self._name = AskedTrial(), ""
        self._trying: Latest[Any] = Latest()
        ui.context.client.on_delete(self._drop)
        prose.title("Your data", "See on a column of your own what each mechanism would tell, before anybody is asked.")
        prose.note(_WARNING, warning=True)
        with ui.element("div").classes("split"):
            with ui.element("div").classes("stack loose"):
                self._asking()
            with ui.element("div").classes("stack loose"):
                self._panel = controls.JobPanel(visit, self._came, ended=lambda _: self._stopped(), lasting=False)
                with ui.element("div").classes("stack loose").props('aria-live="polite"') as self._result:
                    self._nothing()

    def _asking(self) -> None:
        from hush.workbench.data.held import MEGABYTE, MOST_BYTES, MOST_ROWS

        most = f"{MOST_BYTES // MEGABYTE} MB and {MOST_ROWS:,} rows"
        self._input = controls.file(
            "A table, as CSV or Parquet",
            on_file=self._took,
            accept=".csv,.parquet",
            help=f"One row for each person, and names of columns in the first row. At most {most}.",
            most=MOST_BYTES,
        )
        self._problem = prose.problem("")
        self._problem.visible = False
        self._state = prose.paragraph("", "muted").props('role="status"')
        self._state.visible = False
        with ui.element("div").classes("stack loose") as self._settings:
            self._columns = ui.element("div")
            self._fields()
            with ui.element("div").classes("side"):
                controls.button("Forget the file", self._forget, icon="delete")
        self._settings.visible = False

    def _fields(self) -> None:
        from hush.workbench.data.comparing import MOST_PEOPLE
        from hush.workbench.explore.numbers import explored
        from hush.workbench.explore.positions import EPSILONS, OPEN_END, PRIVATE_END, nearest

        self._most = controls.number(
            "Values that are kept",
            _KEPT,
            least=1,
            most=999,
            whole=True,
            help="The most frequent ones; all others count as one.",
            on_change=lambda value: self._try() if value is None else self._change(most=int(value)),
        )
        self._epsilon = controls.slider(
            "Budget, ε",
            nearest(EPSILONS, self._asked.epsilon),
            least=0,
            most=len(EPSILONS) - 1,
            ends=(PRIVATE_END, OPEN_END),
            shown=lambda at: f"{EPSILONS[int(at)]:g}",
            on_change=lambda at: self._change(epsilon=EPSILONS[int(at)]),
        )
        self._n = controls.number(
            "People",
            least=1,
            most=MOST_PEOPLE,
            whole=True,
            help="As many as the table has; or others, with the same shares.",
            on_change=lambda value: self._try() if value is None else self._change(n=int(value)),
        )
        self._seed = controls.number(
            "Seed of the simulation",
            self._asked.seed,
            least=0,
            most=2**53,
            whole=True,
            help="The same seed gives the same collection again.",
            on_change=lambda value: self._try() if value is None else self._change(seed=int(value)),
        )
        with ui.element("div").classes("side"):
            controls.button("Another draw", self._again, icon="casino")
        with ui.element("details"):
            prose.text("summary", "Which mechanisms")
            with ui.element("div").classes("boxes"):
                # Made once: a box that is made anew would lose the tick that a visitor is just setting.
                self._boxes = {name: controls.checkbox(name, on_change=self._use) for name in explored()}
        ui.add_css(_STYLE)

    # What happens to a file.

    async def _took(self, upload: controls.Upload) -> None:
        from hush.workbench.data.apart import columns_apart
        from hush.workbench.data.held import SHELF
        from hush.workbench.data.reading import arrived, held

        self._drop()
        self._nothing()
        self._settings.visible = False
        self._say("")
        try:
            file = held(upload.name, upload.content)
            SHELF.take(file.size)
            self._file = file
            self._do(f"Looking into {file.title} …")
            names = await asyncio.to_thread(columns_apart, file)
        except HushError as error:
            self._refuse(error)
            return
        self._do(arrived(file, names))
        self._columns.clear()
        with self._columns:
            options = {"": "Choose a column", **{str(i): name for i, name in enumerate(names)}}
            controls.select("Column", options, "", on_change=lambda at: self._chose(names[int(at)] if at else None))
        self._settings.visible = True
        self._nothing(*_NO_COLUMN)

    async def _chose(self, name: str | None) -> None:
        from hush.workbench.data.apart import counted_apart

        file = self._file
        self._column = self._found = None
        self._withdraw(*_NO_COLUMN)
        if name is None or file is None:
            return
        self._do(f"Counting column {name} …")
        try:
            column = await asyncio.to_thread(counted_apart, file, name)
            if self._file is not file:
                return
            many = len(column.counts) > _KEPT
            column.kept(_KEPT if many else None)
        except HushError as error:
            self._say(faults.in_words(error))
            self._do("")
            self._nothing("Nothing to show", "Choose another column.")
            return
        self._do("")
        self._column, self._name = column, ""
        self._most.element.visible = many
        self._n.value, self._most.value = column.rows, _KEPT
        self._asked = replace(self._asked, most=_KEPT if many else None, n=None, names=None)
        await self._try()

    def _refuse(self, error: HushError) -> None:
        self._drop()
        self._do("")
        self._say(faults.in_words(error))

    def _drop(self) -> None:
        """Forget everything that came from the file."""
        from hush.workbench.data.held import SHELF

        if self._file is not None:
            SHELF.give_back(self._file.size)
        self._file = self._column = self._found = None
        self._trying.drop()
        self._panel.forget()

    def _forget(self) -> None:
        self._drop()
        self._say("")
        ui.run_javascript(f"getHtmlElement({self._input.id}).querySelector('input').value = ''")
        self._settings.visible = False
        self._do("The file is forgotten.")
        self._columns.clear()
        self._nothing()

    # What is tried.

    async def _again(self) -> None:
        self._seed.value = self._asked.seed + 1
        await self._change(seed=self._asked.seed + 1)

    async def _change(self, **changes: Any) -> None:
        self._asked = replace(self._asked, **changes)
        await self._try()

    async def _try(self) -> None:
        from hush.workbench.data.comparing import compared, takes_long

        column, asked = self._column, self._asked
        if column is None:
            return
        fields = [self._n, self._seed, *([self._most] if self._most.element.visible else [])]
        if any(field.value is None for field in fields):
            self._withdraw()
            return
        if asked.names == ():
            self._withdraw("No mechanism is chosen", "Tick at least one of them.")
            return
        try:
            if takes_long(column, asked):
                await self._try_long(column, asked)
                return
            self._panel.leave()
            self._do("Simulating …")
            found = await self._trying.of(lambda: compared(column, asked))
        except HushError as error:
            self._withdraw()
            self._say(faults.in_words(error))
            return
        if found is not None and self._column is not None:
            self._came(found)

    async def _try_long(self, column: CountedColumn, asked: AskedTrial) -> None:
        """Begin a job, once nobody has changed anything for a moment: a slider that is dragged changes much."""
        from hush.workbench.data.comparing import compared_job

        def still() -> bool:
            time.sleep(_PAUSE)
            return True

        self._withdraw("No result yet", "With so many values, it takes a while.")
        if await self._trying.of(still) and self._column is column:
            await self._panel.start(compared_job, column, asked, name="Your trial")

    def _stopped(self) -> None:
        self._nothing("No result", "Change something, or press “Another draw”, to try once more.")

    def _came(self, found: Compared) -> None:
        """There is a result."""
        self._do("")
        self._say("")
        self._found = found
        if self._asked.names is None:
            self._tick({each.name for each in found.trials})
        self._put(found)

    def _withdraw(self, words: str = "", then: str = "") -> None:
        """Show no result: those before are of something else."""
        self._trying.drop()
        self._panel.leave()
        self._do("")
        self._say("")
        self._nothing(*((words, then) if words else prose.NOTHING_FOR_THIS))

    def _tick(self, chosen: Collection[str]) -> None:
        """Show which mechanisms were tried."""
        for name, box in self._boxes.items():
            if box.value != (name in chosen):
                box.value = name in chosen

    async def _use(self, _: bool | None) -> None:
        await self._change(names=tuple(name for name, box in self._boxes.items() if box.value))

    # What is shown.

    def _do(self, words: str) -> None:
        """Say what is being done."""
        self._state.text, self._state.visible = words, bool(words)

    def _say(self, words: str) -> None:
        self._problem.clear()
        with self._problem:
            prose.text("p", words)
        self._problem.visible = bool(words)

    def _nothing(self, words: str = "No table yet", then: str = "") -> None:
        self._result.clear()
        with self._result:
            prose.empty(words, then or "Choose a file: the truth, the estimates and their error bars appear here.")

    def _put(self, found: Compared) -> None:
        from hush.workbench.data import words
        from hush.workbench.data.comparing import HEADER

        assert self._column is not None
        self._name = found.trial(self._name or None).name if found.trials else ""
        self._result.clear()
        with self._result:
            if not found.trials:
                prose.problem(" ".join(found.refused.values()))
                return
            prose.answer(words.told(self._column, found.people), words.comparison(found.trials))
            with ui.element("div").classes("side"):
                names = {each.name: each.name for each in found.trials}
                controls.select("Show the estimates of", names, self._name, on_change=self._select)
            with ui.element("div").classes("stack") as self._one:
                self._picture()
            prose.table(HEADER, found.rows(), caption="All mechanisms on these people, the shortest error bars first")
            for name, why in found.refused.items():
                prose.paragraph(f"{name} cannot be tried here: {why}.", "muted small")
            prose.paragraph(
                f"One collection, simulated with seed {self._asked.seed}; error bars are 95 % intervals. Another seed "
                "gives other estimates. All mechanisms have the same seed, and so at times the same luck.",
                "muted small",
            )
            with ui.element("div").classes("side"):
                controls.download("Download the figures", "figures.csv", self._csv, "text/csv", primary=True)

    def _select(self, name: str | None) -> None:
        if name is None or self._found is None:
            return
        self._name = name
        self._one.clear()
        with self._one:
            self._picture()

    def _picture(self) -> None:
        from hush.workbench.data import words

        assert self._found is not None
        people, one, shown = self._found.people, self._found.trial(self._name), self._found.shown
        labels = [str(people.domain.label(int(i))) for i in shown]
        sideways = len(labels) > _WIDE
        parts = [100 * part[shown] for part in (one.truth, one.estimate, one.low, one.high)]
        truth, estimate, low, high = (part.tolist() for part in parts)
        more = people.k - len(labels)
        charts.bars(
            f"Truth, and estimates of {one.name} with error bars",
            [charts.Bars("truth", labels, truth, quiet=True), charts.Bars(one.name, labels, estimate, low, high)],
            unit="%",
            sideways=sideways,
            height=f"{max(22, 2.4 * len(labels) + 5)}rem" if sideways else "22rem",
            summary=f"The {len(labels)} most frequent values; {more:,} more are in the file of figures."
            if more
            else "",
        )
        for sentence in words.result(one, people):
            prose.paragraph(sentence)

    def _csv(self) -> str:
        from hush.workbench.data import words

        assert self._found is not None
        return words.figures(self._found.trials, self._found.people)


_STYLE = ".boxes { display: flex; flex-wrap: wrap; gap: 0.4rem 1.4rem; }"
