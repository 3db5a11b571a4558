"""Pages of the tests' own: every control, every chart, a job, and all that can go wrong."""

from __future__ import annotations

import asyncio
import gc
import time

from nicegui import Client, app, ui

import hush
from hush.workbench import charts, controls, prose
from hush.workbench.controls import files
from hush.workbench.frame import page
from hush.workbench.jobs import BenchJob, Progress
from hush.workbench.visits import Visit

LABELS = ["news", "sports", "<b>weather</b>", "other"]


def work(progress: Progress, steps: int) -> int:
    """Something that takes a while."""
    for i in range(steps):
        time.sleep(0.1)
        progress(i / steps, "Drawing reports")
    return steps * 2


def fault(progress: Progress) -> None:
    """Something that goes wrong."""
    raise KeyError("secret-of-a-job")


@page("/example", "Example", order=90, about="Every control there is.")
def example(visit: Visit) -> None:
    """Everything at once."""
    prose.title("Example", "Every control there is.")
    said = prose.paragraph("nothing yet").props('data-testid="said"')

    def say(words: object) -> None:
        said.text = str(words)

    with ui.element("div").classes("split"):
        with ui.element("div").classes("stack"):
            _fields(visit, say)
        with ui.element("div").classes("stack"):
            _charts(say)
    prose.answer("The best guess is right 38 times in 100; 25 by luck alone.")
    prose.empty("Nothing is here yet", "Make something.", lambda: controls.link("Make it", "/example", primary=True))
    prose.note("A note.")
    prose.note("A warning.", warning=True)
    prose.code("hush plan --k 12")
    prose.figure("38 %", "right guesses")


def _fields(visit: Visit, say: object) -> None:
    assert callable(say)
    k = controls.number("How many answers?", 12, least=2, whole=True, on_change=lambda value: say(f"k {value}"))
    epsilon = controls.slider(
        "ε", 1.0, least=0.1, most=8, step=0.1, ends=("more private", "more accurate"), on_change=lambda v: say(f"ε {v}")
    )
    names = {"GRR": "GRR, direct", "OUE": "OUE, unary"}
    mechanism = controls.select("Mechanism", names, "OUE", on_change=lambda value: say(f"mechanism {value}"))
    shown = controls.choice("Show", {"chart": "As a chart", "list": "As a list"}, "chart", on_change=say)
    shuffled = controls.checkbox("Shuffle", True, on_change=say)
    controls.text("Name", on_change=say)
    controls.textarea("Answers", "a\nb", help="One a line.", on_change=say)
    controls.file("A CSV file", accept=".csv", on_file=lambda file: say(f"{file.name}: {len(file.content)} bytes"))

    def change() -> None:
        k.value, epsilon.value, mechanism.value, shown.value, shuffled.value = 77, 3.0, "GRR", "list", False

    def wrong() -> None:
        with controls.said({"k": k}):
            hush.GRR(k=1, epsilon=1.0)

    def refused() -> None:
        hush.GRR(k=4, epsilon=-1.0)

    async def broken() -> None:
        await asyncio.sleep(0)
        raise RuntimeError("secret-of-a-handler")

    controls.button("Change all", change)
    controls.button("Break a rule of a field", wrong)
    controls.button("Break another rule", refused)
    controls.button("Break", broken)
    controls.download("Download", "spec.json", lambda: '{"a": 1}', "application/json")
    panel = controls.JobPanel(visit, lambda result: say(f"result {result}"))

    async def run(steps: int) -> None:
        await panel.start(work, steps, name="Long work")

    async def run_fault() -> None:
        await panel.start(fault, name="Bad work")

    controls.button("Run a little", lambda: run(5), primary=True)
    controls.button("Run long", lambda: run(600))
    controls.button("Run badly", run_fault)
    controls.button("Only an icon", icon="add", hidden_words=True)
    panel.resume()


def _charts(say: object) -> None:
    assert callable(say)
    truth = charts.Bars("truth", LABELS, [40, 30, 20, 10], quiet=True)
    first = charts.Bars("GRR", LABELS, [41, 28, 22, 9], [36, 24, 18, 5], [46, 32, 26, 13])
    second = charts.Bars("OUE", LABELS, [39, 31, 19, 11], [36, 28, 16, 8], [42, 34, 22, 14])
    made = charts.bars("Shares", [truth, first, second], unit="%", summary="Most people read news.")
    charts.bars("Sideways", [first], unit="%", sideways=True, summary="News leads.")
    front = [charts.Points("GRR", [1, 2, 3], [3, 2, 1], ["a", "b", "c"], chosen=1), charts.Points("OUE", [1.5], [3])]
    charts.points("A front", front, x="error", y="attack", summary="Less of one is more of the other.", on_point=say)
    lines = [
        charts.Line("GRR", [1, 2, 3, 4], [10, 5, 3, 2], [9, 4, 2, 1], [11, 6, 4, 3]),
        charts.Line("goal", [1, 4], [4, 4], dashed=True),
    ]
    charts.lines("A curve", lines, x="ε", y="error", summary="It falls.")
    controls.button("Draw others", lambda: made.show([charts.Bars("one", ["x"], [5.5])], summary="Only x."))


@page("/broken", "Broken", order=91, about="It cannot be made.")
async def broken_page(visit: Visit) -> None:
    """It cannot be made."""
    prose.title("Broken")
    await asyncio.sleep(0)
    raise RuntimeError("secret-of-a-page")


@page("/refused", "Refused", order=92, about="It breaks a rule.")
def refused_page(visit: Visit) -> None:
    """It breaks a rule."""
    hush.GRR(k=1, epsilon=1.0)


@page("/slow", "Slow", order=93, about="It computes while others wait for nothing.")
async def slow_page(visit: Visit) -> None:
    """It computes in a thread."""
    await asyncio.to_thread(time.sleep, 5.0)
    prose.title("Slow", "It took a while.")


@app.get("/counted")
async def counted() -> dict[str, int]:
    """How many pages, and parts of pages, are still in memory."""
    gc.collect()
    held = gc.get_objects()
    kinds = {"clients": Client, "elements": ui.element, "tasks": asyncio.Task, "jobs": BenchJob}
    return {name: sum(isinstance(each, kind) for each in held) for name, kind in kinds.items()} | {
        "slots": len(files._SLOTS)
    }
