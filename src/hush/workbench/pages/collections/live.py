"""What is estimated, as it changes: a sentence, a few numbers, and charts whose error bars shrink."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from nicegui import ui

from hush.workbench import charts, prose
from hush.workbench.collections.pictures import MOST_BARS, Panel, Picture, Trail, picture
from hush.workbench.collections.troubles import Trouble
from hush.workbench.collections.verdicts import amount

_SIDEWAYS = 7  # values from which on labels stand at the left


class LiveEstimates:
    """The part of a page that shows estimates.

    Args:
        view: The collection, as the collector shows it.
        on_margin: Called with the widest margin, in words, whenever there is another estimate.
    """

    def __init__(self, view: dict[str, Any], on_margin: Callable[[str], Any] | None = None) -> None:
        self._view, self._on_margin = view, on_margin
        self.told: dict[str, Any] | None = None
        self._trail = Trail()
        self._panels: list[tuple[Any, ...]] = []
        self._charts: list[charts.Chart[charts.Bars]] = []
        self._shrinking: charts.Chart[charts.Line] | None = None
        self._course: charts.Chart[charts.Line] | None = None
        with ui.element("div").classes("answer stack tight"):
            self._headline = prose.text("p", "Waiting for the first estimate …")
            self._margin = prose.text("p").style("font-size: 1rem")
            self._when = prose.text("p", "", "muted").style("font-size: 0.9rem")
        self._place = ui.element("div").classes("stack loose")
        self._further = ui.element("div").classes("stack loose")

    def show(self, told: dict[str, Any]) -> None:
        """Show an estimate."""
        self.told, seen = told, picture(told)
        if self._on_margin is not None and seen.margin is not None:
            self._on_margin(amount(seen.margin, seen.numeric))
        of = "" if seen.period is None else f"Period {seen.period}, {seen.n:,} reports. "
        self._headline.text = f"{of}{seen.headline()}"
        self._margin.text = seen.margin_words(self._view.get("target_n"))
        now = datetime.now(UTC).strftime("%H:%M:%S UTC")
        self._when.text = f"Live, last changed at {now}."
        self._draw(seen)
        if self._trail.add(seen) and len(self._trail.points) > 1:
            self._shrink(seen)
        if seen.lines:
            self._follow(seen)

    def still(self, met: Trouble) -> None:
        """Say that nothing comes at the moment, and why."""
        known = " What is shown is the latest that the collector told." if self.told is not None else ""
        self._when.text = f"Not live. {met.title}.{known}"

    def _draw(self, seen: Picture) -> None:
        shape = [(panel.attribute, seen.numeric, len(panel.bars)) for panel in seen.panels]
        if shape != self._panels:
            self._panels, self._charts = shape, []
            self._place.clear()
            with self._place:
                for panel in seen.panels:
                    self._charts.append(_chart(panel, seen))
            return
        for chart, panel in zip(self._charts, seen.panels, strict=True):
            chart.show([_bars(panel, seen)], summary=_summary(panel, seen))

    def _shrink(self, seen: Picture) -> None:
        scale = 1 if seen.numeric else 100
        n, margins = [at for at, _ in self._trail.points], [margin * scale for _, margin in self._trail.points]
        lines = [charts.Line("widest margin", n, margins)]
        wished = self._view.get("wished_error")
        if wished is not None:
            lines.append(charts.Line("wished for", [n[0], n[-1]], [wished * scale] * 2, dashed=True))
        first, last = (amount(margin, seen.numeric) for _, margin in (self._trail.points[0], self._trail.points[-1]))
        summary = f"While this page was open, from {first} at {n[0]:,} reports to {last} at {n[-1]:,}."
        if self._shrinking is None:
            unit = "margin" if seen.numeric else "margin (points)"
            with self._further:
                prose.heading("How the error bars shrink")
                self._shrinking = charts.lines(
                    "Widest margin against the number of reports",
                    lines,
                    x="reports",
                    y=unit,
                    summary=summary,
                    height="16rem",
                )
        else:
            self._shrinking.show(lines, summary=summary)

    def _follow(self, seen: Picture) -> None:
        lines = [charts.Line(label, [x for x, _ in at], [y for _, y in at]) for label, at in seen.lines]
        if self._course is None:
            with self._further:
                prose.heading("Over time")
                self._course = charts.lines("Share of each answer by period", lines, x="period", y="share (%)")
        else:
            self._course.show(lines)


def _chart(panel: Panel, seen: Picture) -> charts.Chart[charts.Bars]:
    name = "Estimated mean" if seen.numeric else "Estimated share of each answer"
    name = name if panel.attribute is None else f"{panel.attribute}: {name.lower()}"
    prose.heading(name)
    sideways = len(panel.drawn) >= _SIDEWAYS
    height = f"{max(12, 3 + 1.9 * len(panel.drawn)):g}rem" if sideways else "20rem"
    unit = "" if seen.numeric else "%"
    return charts.bars(
        name, [_bars(panel, seen)], unit=unit, summary=_summary(panel, seen), sideways=sideways, height=height
    )


def _bars(panel: Panel, seen: Picture) -> charts.Bars:
    scale = 1 if seen.numeric else 100
    known = [bar for bar in panel.drawn if bar.centre is not None]
    return charts.Bars(
        "estimate",
        [bar.label for bar in known],
        [(bar.centre or 0.0) * scale for bar in known],
        [bar.lower * scale for bar in known],
        [bar.upper * scale for bar in known],
    )


def _summary(panel: Panel, seen: Picture) -> str:
    few = f"The {MOST_BARS} most frequent of {len(panel.bars):,} answers. " if len(panel.bars) > MOST_BARS else ""
    return f"{few}Error bars hold the truth {seen.sure} of the time; {panel.n:,} reports."
