"""Charts: each has a name, a summary in words, and its numbers in a table behind "Show as table".

    chart = charts.bars(
        "Estimated share of each answer",
        [charts.Bars("estimate", labels, shares, low, high)],
        summary="Most people, about 40 in 100, answered news.",
        unit="%",
    )
    chart.show([charts.Bars(...)], summary="...")       # new numbers: drawn on the same axes

    charts.points("Error and attack", [charts.Points("GRR", xs, ys, names)], x="...", y="...")
    charts.lines("Error over ε", [charts.Line("GRR", xs, ys)], x="...", y="...", log_y=True)

The data are plain (`Bars`, `Points`, `Line`); `options` makes of them what ECharts draws, without NiceGUI. Colours are
those of `hush.workbench.theme`, by series, and follow light and dark.
"""

from __future__ import annotations

from hush.workbench.charts.data import Bars, Points
from hush.workbench.charts.data import LineSeries as Line
from hush.workbench.charts.shown import Chart, bars, lines, points

__all__ = ["Bars", "Chart", "Line", "Points", "bars", "lines", "points"]
