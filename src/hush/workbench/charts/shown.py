"""Charts in a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from nicegui import ui

from hush.workbench import prose
from hush.workbench.charts import options
from hush.workbench.charts.data import Bars, LineSeries, Points, Row, number

Series = TypeVar("Series", Bars, Points, LineSeries)


class Chart(Generic[Series]):
    """A chart with its words and its table.

    Args:
        name: What it shows; screen readers say it.
        series: What is drawn.
        drawn: Makes options of series.
        tabled: Makes a header and rows of series.
        summary: What a reader should see, in a sentence.
        height: Of the drawing, in CSS.
        on_point: Called with the name of a point, or the label of a bar, that was clicked.
    """

    def __init__(
        self,
        name: str,
        series: Sequence[Series],
        drawn: Callable[[Sequence[Series]], options.Options],
        tabled: Callable[[Sequence[Series]], tuple[Row, list[Row]]],
        *,
        summary: str = "",
        height: str = "22rem",
        on_point: Callable[[str], Any] | None = None,
    ) -> None:
        self._name = name
        self._drawn: Callable[[Sequence[Series]], options.Options] = drawn
        self._tabled: Callable[[Sequence[Series]], tuple[Row, list[Row]]] = tabled
        with ui.element("figure").classes("chart") as self.element:
            self._summary = prose.text("figcaption", summary, "summary")
            self._chart = ui.echart(drawn(series), renderer="svg").classes("drawn").style(f"height: {height}")
            self._chart.props["role"], self._chart.props["aria-label"] = "img", _told(name, summary)
            if on_point is not None:
                self._chart.on_point_click(lambda event: on_point(event.name))
            with ui.element("details") as behind:
                prose.text("summary", "Show as table")
        self._behind = behind
        self._table: ui.html | None = None
        self._say(series, None)

    def show(self, series: Sequence[Series], *, summary: str | None = None, name: str | None = None) -> None:
        """Draw other numbers."""
        self._name = name or self._name
        self._chart.options.clear()
        self._chart.options.update(self._drawn(series))
        self._say(series, summary)

    def _say(self, series: Sequence[Series], summary: str | None) -> None:
        if summary is not None:
            self._summary.text = summary
            self._chart.props["aria-label"] = _told(self._name, summary)
        header, rows = self._tabled(series)
        if self._table is None:
            with self._behind:
                self._table = prose.table(header, rows, caption=self._name)
        else:
            self._table.content = prose.table_html(header, rows, caption=self._name)


def bars(
    name: str,
    series: Sequence[Bars],
    *,
    unit: str = "",
    summary: str = "",
    most: float | None = None,
    sideways: bool = False,
    height: str = "22rem",
    on_point: Callable[[str], Any] | None = None,
) -> Chart[Bars]:
    """Bars with error bars. See `Chart` and `options.bars`."""

    def drawn(some: Sequence[Bars]) -> options.Options:
        return options.bars(some, unit=unit, most=most, sideways=sideways)

    def tabled(some: Sequence[Bars]) -> tuple[Row, list[Row]]:
        header = ("", *(word for each in some for word in each.header(unit)))
        labels = some[0].labels if some else ()
        return header, [(str(label), *(w for each in some for w in each.row(i))) for i, label in enumerate(labels)]

    return Chart(name, series, drawn, tabled, summary=summary, height=height, on_point=on_point)


def points(
    name: str,
    series: Sequence[Points],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    summary: str = "",
    height: str = "22rem",
    on_point: Callable[[str], Any] | None = None,
) -> Chart[Points]:
    """Points in a plane: a front, say. See `Chart`."""

    def drawn(some: Sequence[Points]) -> options.Options:
        return options.points(some, x=x, y=y, log_x=log_x, log_y=log_y)

    def tabled(some: Sequence[Points]) -> tuple[Row, list[Row]]:
        rows: list[Row] = [
            (str(each.labels[i]) if len(each.labels) else each.name, number(each.x[i]), number(each.y[i]))
            for each in some
            for i in range(len(each.x))
        ]
        return ("", x, y), rows

    return Chart(name, series, drawn, tabled, summary=summary, height=height, on_point=on_point)


def lines(
    name: str,
    series: Sequence[LineSeries],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    summary: str = "",
    height: str = "22rem",
) -> Chart[LineSeries]:
    """Curves. See `Chart`."""

    def drawn(some: Sequence[LineSeries]) -> options.Options:
        return options.lines(some, x=x, y=y, log_x=log_x, log_y=log_y)

    def tabled(some: Sequence[LineSeries]) -> tuple[Row, list[Row]]:
        rows: list[Row] = [
            (each.name, number(a), number(b)) for each in some for a, b in zip(each.x, each.y, strict=True)
        ]
        return ("", x, y), rows

    return Chart(name, series, drawn, tabled, summary=summary, height=height)


def _told(name: str, summary: str) -> str:
    return f"{name}. {summary}" if summary else name
