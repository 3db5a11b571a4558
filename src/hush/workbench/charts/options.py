"""What ECharts is told: one style for all charts. No NiceGUI, so that it can be tested as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hush.workbench import theme
from hush.workbench.charts.data import Bars, LineSeries, Points

Options = dict[str, Any]
_FONT = "Roboto, system-ui, sans-serif"
_SYMBOLS = ("circle", "rect", "diamond", "triangle")
_SHORT = 14
_FEW = 8
_NARROW: Options = {"query": {"maxWidth": 520}, "option": {"xAxis": {"axisLabel": {"rotate": 35}}}}
"""On a phone, the names of bars stand aslant, so that all of them find room."""
_EDGE = {"borderColor": theme.FAINT, "borderWidth": 1}
"""Of bars that stand behind the others: their colour alone is hardly seen on the ground of the page."""


def bars(series: Sequence[Bars], *, unit: str = "", most: float | None = None, sideways: bool = False) -> Options:
    """Bars with error bars, one group a label.

    Args:
        series: What is drawn, in order.
        unit: Of the values.
        most: The upper end of the axis; left out, what the values need.
        sideways: Whether labels stand at the left, for long ones.
    """
    labels = [str(each) for each in (series[0].labels if series else ())]
    category: Options = {**_axis(""), "type": "category", "data": labels, "axisTick": {"show": False}}
    category["axisLabel"] = {**category["axisLabel"], "width": 110 if sideways else 80, "overflow": "truncate"}
    category["splitLine"] = {"show": False}
    value: Options = {**_axis(unit), "type": "value", **({} if most is None else {"max": most})}
    drawn: list[Options] = []
    loud = 0
    for each in series:
        colour = theme.TRUTH if each.quiet else theme.SERIES[loud % len(theme.SERIES)]
        loud += not each.quiet
        drawn.append(_bar(each, colour))
    for i, each in enumerate(series):
        if len(each.low):
            drawn.append(_whiskers(each, i, len(series), sideways))
    if sideways:
        category["inverse"] = True
    x, y = (value, category) if sideways else (category, value)
    if not sideways and len(labels) <= _FEW:  # a bar without its name says nothing
        category["axisLabel"]["interval"] = 0
        return _bars(series, unit, x, y, drawn) | {"media": [_NARROW]}
    return _bars(series, unit, x, y, drawn, sideways=sideways)


def _bars(
    series: Sequence[Bars], unit: str, x: Options, y: Options, drawn: list[Options], *, sideways: bool = False
) -> Options:
    return {
        **_common([each.name for each in series], bool(unit) and not sideways),
        "xAxis": x,
        "yAxis": y,
        "series": drawn,
    }


def points(series: Sequence[Points], *, x: str, y: str, log_x: bool = False, log_y: bool = False) -> Options:
    """Points, those of one series in one colour and one shape."""
    drawn = []
    for i, each in enumerate(series):
        data = [
            {
                "value": [_plain(a), _plain(b)],
                "name": str(each.labels[j]) if len(each.labels) else each.name,
                "symbolSize": 18 if j == each.chosen else 11,
            }
            for j, (a, b) in enumerate(zip(each.x, each.y, strict=True))
        ]
        drawn.append(
            {
                "type": "scatter",
                "name": each.name,
                "data": data,
                "symbol": _SYMBOLS[i % len(_SYMBOLS)],
                "itemStyle": {"color": theme.SERIES[i % len(theme.SERIES)]},
                "emphasis": {"disabled": True},
                "label": {"show": True, "formatter": "{b}", "position": "right", "color": theme.FAINT, "fontSize": 11},
                "labelLayout": {"hideOverlap": True},
            }
        )
    axes = {"xAxis": _scale(x, log_x, below=True), "yAxis": _scale(y, log_y)}
    tooltip = {**_tooltip("item"), "formatter": "{b}"}
    return {**_common([each.name for each in series], True, below=True), **axes, "tooltip": tooltip, "series": drawn}


def lines(series: Sequence[LineSeries], *, x: str, y: str, log_x: bool = False, log_y: bool = False) -> Options:
    """Curves; one with low and high has a band around it."""
    drawn: list[Options] = []
    for i, each in enumerate(series):
        colour = theme.SERIES[i % len(theme.SERIES)]
        if len(each.low):
            drawn += _band(each, colour, i)
        drawn.append(
            {
                "type": "line",
                "name": each.name,
                "data": [[_plain(a), _plain(b)] for a, b in zip(each.x, each.y, strict=True)],
                "showSymbol": len(each.x) < 2,
                "symbol": _SYMBOLS[i % len(_SYMBOLS)],
                "lineStyle": {"color": colour, "width": 2.5, "type": "dashed" if each.dashed else "solid"},
                "itemStyle": {"color": colour},
                "emphasis": {"disabled": True},
            }
        )
    axes = {"xAxis": _scale(x, log_x, below=True), "yAxis": _scale(y, log_y)}
    return {**_common([each.name for each in series], True, below=True), **axes, "series": drawn}


def _bar(each: Bars, colour: str) -> Options:
    return {
        "type": "bar",
        "name": each.name,
        "data": [_plain(value) for value in each.values],
        "itemStyle": {"color": colour, "borderRadius": 3, **(_EDGE if each.quiet else {})},
        "barMaxWidth": 42,
        "emphasis": {"disabled": True},
    }


def _whiskers(each: Bars, place: int, of: int, sideways: bool) -> Options:
    """Error bars of one series, each in the middle of its bar."""
    data = [[i, _plain(low), _plain(high)] for i, (low, high) in enumerate(zip(each.low, each.high, strict=True))]
    at = "api.coord([api.value({}), api.value(0)])" if sideways else "api.coord([api.value(0), api.value({})])"
    size, along, across = ("api.size([0, 1])[1]", 1, 0) if sideways else ("api.size([1, 0])[0]", 0, 1)
    ends = f"const low = {at.format(1)}, high = {at.format(2)};"
    shift = f"const room = {size} * 0.8, step = Math.min(room / {of}, 42 * 1.3);"
    middle = f"const middle = low[{along}] + ({place} - ({of} - 1) / 2) * step;"

    def stroke(first: str, second: str) -> str:
        points = {0: ("x1: {0}, y1: {1}, x2: {2}, y2: {3}"), 1: ("x1: {1}, y1: {0}, x2: {3}, y2: {2}")}[along]
        (a, b), (c, d) = first.split("|"), second.split("|")
        shape = points.format(a, b, c, d)
        return f"{{type: 'line', shape: {{{shape}}}, style: {{stroke: '{theme.INK}', lineWidth: 1.5, fill: 'none'}}}}"

    reach = f"low[{across}]", f"high[{across}]"
    strokes = ", ".join(
        (
            stroke(f"middle|{reach[0]}", f"middle|{reach[1]}"),
            stroke(f"middle - 5|{reach[0]}", f"middle + 5|{reach[0]}"),
            stroke(f"middle - 5|{reach[1]}", f"middle + 5|{reach[1]}"),
        )
    )
    group = f"return {{type: 'group', children: [{strokes}]}};"
    return {
        "type": "custom",
        "name": f"{each.name}, error bars",
        "data": data,
        ":renderItem": f"(params, api) => {{ {ends} {shift} {middle} {group} }}",
        "encode": {"x": [1, 2], "y": 0} if sideways else {"x": 0, "y": [1, 2]},
        "silent": True,
        "z": 10,
        "tooltip": {"show": False},
    }


def _band(each: LineSeries, colour: str, i: int) -> list[Options]:
    """Two lines that nobody sees, with what lies between them filled."""
    common: Options = {
        "type": "line",
        "stack": f"band-{i}",
        "showSymbol": False,
        "silent": True,
        "lineStyle": {"opacity": 0},
        "tooltip": {"show": False},
        "emphasis": {"disabled": True},
        "stackStrategy": "all",
    }
    height = [high - low for low, high in zip(each.low, each.high, strict=True)]
    return [
        {
            **common,
            "name": f"{each.name}, lower edge",
            "data": [[_plain(a), _plain(b)] for a, b in zip(each.x, each.low, strict=True)],
        },
        {
            **common,
            "name": f"{each.name}, band",
            "data": [[_plain(a), _plain(b)] for a, b in zip(each.x, height, strict=True)],
            "areaStyle": {"color": colour, "opacity": 0.18},
        },
    ]


def _common(names: Sequence[str], titled: bool, *, below: bool = False) -> Options:
    several = len(names) > 1
    return {
        "textStyle": {"fontFamily": _FONT, "color": theme.INK},
        "animationDuration": 300,
        "animationDurationUpdate": 300,
        "grid": {
            "left": 8,
            "right": 40 if below else 16,  # half of the last number of an axis hangs over
            "top": 56 if several else 36,
            "bottom": 32 if below else 8,
            "containLabel": True,
        },
        "legend": {
            "show": several,
            "top": 0,
            "left": 0,
            "data": list(names),
            "textStyle": {"color": theme.INK},
            "icon": "roundRect",
        },
        "tooltip": _tooltip("axis"),
    }


def _tooltip(trigger: str) -> Options:
    return {
        "trigger": trigger,
        "confine": True,
        "backgroundColor": theme.CARD,
        "borderColor": theme.GRID,
        "textStyle": {"color": theme.INK},
    }


def _axis(name: str) -> Options:
    return {
        "name": name,
        "nameTextStyle": {"color": theme.FAINT, "align": "left"},
        "axisLine": {"show": False, "lineStyle": {"color": theme.GRID}},
        "axisLabel": {"color": theme.FAINT, "hideOverlap": True},
        "splitLine": {"lineStyle": {"color": theme.GRID}},
    }


def _scale(name: str, log: bool, *, below: bool = False) -> Options:
    place: Options = {"nameLocation": "middle", "nameGap": 30} if below else {}
    style = {"color": theme.FAINT, "align": "center" if below else "left"}
    return {**_axis(name), "type": "log" if log else "value", "scale": True, **place, "nameTextStyle": style}


def _plain(value: float) -> float | None:
    """A number that JSON can have."""
    return float(value) if math.isfinite(value) else None
