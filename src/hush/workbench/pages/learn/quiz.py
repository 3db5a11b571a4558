"""The quiz: four questions with answers, and one whose answer only the crowd knows."""

from __future__ import annotations

import asyncio

from nicegui import ui
from nicegui.events import GenericEventArguments

from hush.errors import ParameterError, message
from hush.workbench import charts, controls, prose
from hush.workbench.learn import browser, quiz
from hush.workbench.learn.budget import points
from hush.workbench.learn.crowd import STEPS, InventedCrowd, Standing

_EPSILON = 1.0
_SECONDS = 0.5


def ask() -> None:
    """All questions."""
    for number, puzzle in enumerate(quiz.puzzles(), 1):
        _puzzle(number, puzzle)
    with ui.element("div").classes("puzzle"):
        LastQuestion()


def _puzzle(number: int, puzzle: quiz.Puzzle) -> None:
    with ui.element("div").classes("puzzle"):
        options = {str(at): option for at, option in enumerate(puzzle.options)}
        controls.choice(f"{number}. {puzzle.asked}", options, "", on_change=lambda chosen: judge(chosen))
        said = prose.paragraph("")
        said.props('role="status"')

    def judge(chosen: str | None) -> None:
        said.text = puzzle.judged(int(chosen or 0))


class LastQuestion:
    """How the page was read: simulated visitors answer, and one real one."""

    def __init__(self) -> None:
        self.crowd = InventedCrowd(quiz.READ, _EPSILON)
        with ui.element("div") as asked:
            ui.html(browser.report_form(f"5. {quiz.READING}", self.crowd.spec), sanitize=False)
        asked.on("report", self.joined, js_handler="(e) => emit(e.detail)")
        prose.paragraph(
            f"Your answer is randomized in your browser, at ε = {_EPSILON:g}, by the module that pages of real "
            "collections use; only the report comes here, and is forgotten with this page.",
            "muted small",
        )
        self._mine, self._said = prose.paragraph(""), prose.paragraph("")
        for each in (self._mine, self._said):
            each.props('role="status"')
        self._place = ui.element("div").classes("stack")
        self._busy = False

    async def joined(self, event: GenericEventArguments) -> None:
        """A report came: people join, until it is clear what the crowd says."""
        if self._busy:
            return
        self._busy = True
        try:
            report = _checked(event.args, len(quiz.READ))
            self.crowd = InventedCrowd(quiz.READ, _EPSILON)
            self.crowd.answer(report)
            self._mine.text = (
                f"Your report names “{quiz.READ[report]}”. Whether that is your answer, nobody knows but you. Now "
                "others join: invented people, whose answers were drawn at random, and with reports made like yours."
            )
            self._said.text = ""
            await self._settle()
        finally:
            self._busy = False

    async def _settle(self) -> None:
        self._place.clear()
        with self._place:
            chart = charts.bars("What the crowd's reports say", self._bars(None), unit="%", sideways=True)
        for size in STEPS:
            await asyncio.to_thread(self.crowd.join, size - self.crowd.n)
            standing = self.crowd.standing()
            chart.show(self._bars(standing), summary=_settled(standing))
            await asyncio.sleep(_SECONDS)
            if self._place.is_deleted:  # the page was left
                return
        chart.show(self._bars(standing, truth=True), summary=_settled(standing))
        self._said.text = _told(standing)

    def _bars(self, standing: Standing | None, *, truth: bool = False) -> list[charts.Bars]:
        labels = list(quiz.READ)
        if standing is None:
            return [charts.Bars("estimate", labels, [0.0] * len(labels))]
        estimate, low, high, true = (
            [100 * each for each in row] for row in (standing.estimate, standing.low, standing.high, standing.truth)
        )
        found = [charts.Bars("estimate, with 95 % error bars", labels, estimate, low, high)]
        return [*found, charts.Bars("truth", labels, true, quiet=True)] if truth else found


def _checked(given: object, k: int) -> int:
    """The report, which a browser sent: one byte that names an answer."""
    match given:
        case [int(report)] if 0 <= report < k:
            return report
    raise ParameterError(
        message("report", f"must be one byte below {k}", given, "reload the page, and answer once more")
    )


def _settled(standing: Standing) -> str:
    return f"{standing.n:,} reports: each share is known within ±{points(standing.reach)}."


def _told(standing: Standing) -> str:
    best = max(range(len(quiz.READ)), key=lambda at: standing.estimate[at])
    share = 100 * standing.estimate[best]
    return (
        f"The crowd's answer: “{quiz.READ[best]}”, {share:.0f} in 100, give or take {100 * standing.reach:.1f}. The "
        f"farthest estimate is {points(standing.off)} from the truth. Yours was one of {standing.n:,} reports, and "
        "nobody can say what you answered: that is local differential privacy."
    )
