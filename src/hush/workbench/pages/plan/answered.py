"""An answer in the page: words first, then alternatives, the front, what it means, and what one leaves with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from hush.workbench import charts, controls, prose
from hush.workbench.pages.plan.leaving import leave
from hush.workbench.plan import Answer, PlanOption, Question, words
from hush.workbench.plan.axes import front
from hush.workbench.visits import Visit

_FIGURES = "display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1.25rem"
Instead = Callable[[Question], Any]


def show(visit: Visit, answer: Answer, instead: Instead) -> None:
    """All of it, in the current slot."""
    if not answer.feasible:
        _ways_out(answer, instead)
        return
    _recommendation(answer, instead)
    _alternatives(answer, instead)
    _front(answer, instead)
    _meaning(answer)
    _shuffling(answer)
    leave(visit, answer)


def _recommendation(answer: Answer, instead: Instead) -> None:
    assert answer.chosen is not None
    with _section("Your choice" if answer.question.chosen else "Recommended"):
        prose.answer(*answer.headline)
        if answer.caution:
            prose.note(answer.caution, warning=True)
        with ui.element("div").style(_FIGURES):
            for value, meaning in _figures(answer):
                prose.figure(value, meaning)
        with ui.element("details"):
            prose.text("summary", "Why this one")
            prose.paragraph(answer.why)
        if answer.question.chosen:
            again = replace(answer.question, chosen="")
            controls.button("Back to the recommendation", lambda: instead(again))


def _figures(answer: Answer) -> list[tuple[str, str]]:
    assert answer.chosen is not None
    numbers = answer.chosen.numbers
    shown = [(f"ε = {words.epsilon(numbers['epsilon'])}", "privacy loss; smaller is more private")]
    shown.append((f"±{words.hundred(numbers['error'])}", "percentage points, 19 times in 20"))
    if "asr" in numbers:
        whose = "which sensitive answer somebody gave" if answer.question.sensitive else "one person's answer"
        shown.append((words.in_100(numbers["asr"]), f"guesses of {whose} are right"))
    shown.append((f"{numbers['bits']:,.0f} bit{'' if numbers['bits'] == 1 else 's'}", "of information in a report"))
    return shown


def _alternatives(answer: Answer, instead: Instead) -> None:
    if not answer.alternatives:
        return
    below = "Beside the recommendation: what each gains, and what it gives up for that."
    with _section("Worth a thought", below), ui.element("div").classes("grid"):
        for option in answer.alternatives:
            _card(answer, option, instead)


def _card(answer: Answer, option: PlanOption, instead: Instead) -> None:
    with ui.element("article").classes("card"):
        prose.heading(words.capital(option.title), 3)
        _list("Gains", option.gains or ("nothing to speak of",))
        _list("Gives up", option.gives_up or ("nothing to speak of",))
        if option.when:
            prose.paragraph(option.when, "muted small")
        if answer.chosen is not None and option.name == answer.chosen.name:
            prose.text("span", "This is your choice", "tag").style("width: fit-content")
            return
        wish = replace(answer.question, chosen=option.name)
        with ui.element("div").classes("side").style("margin-top: auto"):
            controls.button(f"Choose {option.name}", lambda: instead(wish))


def _list(title: str, items: Sequence[str]) -> None:
    with ui.element("div").classes("stack tight"):
        prose.text("p", title, "small").style("font-weight: 600")
        with ui.element("ul").style("padding-left: 1.1rem; margin: 0"):
            for each in items:
                prose.text("li", each, "small")


def _front(answer: Answer, instead: Instead) -> None:
    drawn = front(answer)
    with _section("Everything that meets the wish", drawn.words):

        def choose(name: str) -> None:
            if any(option.name == name for option in answer.options):
                instead(replace(answer.question, chosen=name))

        series = [charts.Points(name, x, y, labels, chosen) for name, x, y, labels, chosen in drawn.series]
        charts.points(
            drawn.name,
            series,
            x=drawn.x,
            y=drawn.y,
            log_x=drawn.log_x,
            log_y=drawn.log_y,
            summary=drawn.summary,
            on_point=choose,
        )
        with ui.element("details"):
            prose.text("summary", f"The whole table, {len(answer.options)} rows")
            prose.table(
                answer.header,
                [option.row for option in answer.options],
                caption="Everything that meets the wish, best first",
            )
        if len(answer.curve.points) > 1:
            _cost(answer)


def _cost(answer: Answer) -> None:
    assert answer.chosen is not None
    curve, own = answer.curve, answer.chosen.numbers
    near = min(range(len(curve.points)), key=lambda i: abs(curve.points[i] - 200 * own["error"]))
    summary = (
        f"An error of ±{curve.points[near]:.3g} points could be had with {curve.guesses[near]:.3g} right guesses in "
        f"100; the choice has ±{words.points(own['error'])} with {words.hundred(own['asr'])}."
    )
    with ui.element("details"):
        prose.text("summary", "What another error would cost")
        charts.lines(
            "What another error would cost",
            [
                charts.Line(f"least that is possible, ε up to {curve.most_epsilon:g}", curve.points, curve.guesses),
                charts.Line("the choice", [100 * own["error"]], [100 * own["asr"]]),
            ],
            x="± percentage points",
            y="right guesses in 100",
            log_x=True,
            summary=summary,
        )


def _meaning(answer: Answer) -> None:
    with _section("What it means for people, and for the estimates"):
        for i, (heading, paragraphs) in enumerate(answer.details):
            with ui.element("details") as behind:
                if i == 0:
                    behind.props("open")
                prose.text("summary", heading)
                with ui.element("div").classes("stack tight"):
                    for each in paragraphs:
                        prose.paragraph(each)


def _shuffling(answer: Answer) -> None:
    shuffling = answer.shuffling
    if shuffling is None:
        return
    with _section("What shuffling would add"):
        for each in shuffling.words:
            prose.paragraph(each)
        if len(shuffling.people) > 1:
            rows = [(f"{n:,}", words.rounded_up(e)) for n, e in zip(shuffling.people, shuffling.epsilon, strict=True)]
            with ui.element("details"):
                prose.text("summary", "If fewer or more people report")
                prose.table(
                    ("people", "ε of all reports together"), rows, caption=f"With δ = {words.small(shuffling.delta)}"
                )


def _ways_out(answer: Answer, instead: Instead) -> None:
    with _section("Not possible as it is"):
        prose.answer(*answer.headline, answer.why)
        if not answer.ways_out:
            prose.paragraph("No single change would do: start again with fewer wishes.")
        with ui.element("div").classes("grid"):
            for way in answer.ways_out:
                with ui.element("article").classes("card"):
                    prose.paragraph(way.words)
                    with ui.element("div").classes("side").style("margin-top: auto"):
                        button = controls.button("Plan that", lambda way=way: instead(way.question))  # type: ignore[misc]
                        button.props["aria-label"] = f"Plan that: {way.words}"


def _section(title: str, words_below: str = "") -> ui.element:
    made = ui.element("section").classes("stack")
    with made:
        prose.heading(title)
        if words_below:
            prose.paragraph(words_below, "muted")
    return made
