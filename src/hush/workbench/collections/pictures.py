"""What an estimate shows: bars with error bars, a sentence about them, and how far the error bars will shrink."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hush.reports.words import many, shortened
from hush.workbench.collections.verdicts import amount

MOST_BARS = 24
"""Values that are drawn; of more, the most frequent."""
MOST_LINES = 6
"""Values that are followed over time."""
_LONGEST = 40


@dataclass(frozen=True)
class EstimateBar:
    """One value: its share, or of numbers their mean, and the ends of its interval.

    Args:
        label: What it is called.
        centre: The estimate; None where there is no report about it.
        lower: The lower end of the interval.
        upper: The upper end.
    """

    label: str
    centre: float | None
    lower: float
    upper: float

    @property
    def margin(self) -> float:
        """Half of the interval."""
        return (self.upper - self.lower) / 2


@dataclass(frozen=True)
class Panel:
    """What is estimated of one attribute, or of the only one.

    Args:
        attribute: Its name; None where there is one alone.
        n: Reports about it.
        bars: All values, in the order of the domain.
    """

    attribute: str | None
    n: int
    bars: tuple[EstimateBar, ...]

    @property
    def known(self) -> tuple[EstimateBar, ...]:
        """Values that there is a report about."""
        return tuple(each for each in self.bars if each.centre is not None)

    @property
    def margin(self) -> float | None:
        """The widest margin; None without reports."""
        return max((each.margin for each in self.known), default=None)

    @property
    def drawn(self) -> tuple[EstimateBar, ...]:
        """What is drawn: all values in their order, or the most frequent of many."""
        if len(self.bars) <= MOST_BARS:
            return self.bars
        return tuple(sorted(self.known, key=lambda each: -(each.centre or 0.0))[:MOST_BARS])


@dataclass(frozen=True)
class Picture:
    """All that is estimated at one moment.

    Args:
        n: Reports that it rests on.
        level: How sure the intervals are.
        numeric: Whether it is a mean, in a unit of its own, and not shares.
        panels: One for each attribute.
        period: The period that it is of, where each stands alone; None where all count together.
        lines: Over time, the share of each value in each period: pairs of a period and a share, by label.
    """

    n: int
    level: float
    numeric: bool
    panels: tuple[Panel, ...]
    period: int | None = None
    lines: tuple[tuple[str, tuple[tuple[int, float], ...]], ...] = ()

    @property
    def margin(self) -> float | None:
        """The widest margin of all; None without reports."""
        known = [each.margin for each in self.panels if each.margin is not None]
        return max(known, default=None)

    @property
    def sure(self) -> str:
        """How sure the intervals are, in percent."""
        return f"{self.level * 100:g} %"

    def headline(self) -> str:
        """What the estimate says, in a sentence."""
        if self.margin is None:
            return "No report has been counted yet."
        if self.numeric:
            (bar,) = self.panels[0].bars
            return f"The mean is {bar.centre:.4g}, between {bar.lower:.4g} and {bar.upper:.4g} ({self.sure})."
        said = [_leading(panel) for panel in self.panels if panel.known]
        return " ".join(said)

    def margin_words(self, target: int | None = None) -> str:
        """How wide the error bars are, and how wide they will be when as many have reported as are expected."""
        if self.margin is None or not self.n:
            return "Error bars appear with the first reports."
        what = "It is" if self.numeric else "Each share is"
        now = f"{what} known within {amount(self.margin, self.numeric)} ({self.sure})."
        if target is None or target <= self.n:
            return now
        then = self.margin * math.sqrt(self.n / target)
        return f"{now} At {many(target, 'report', 'reports')} it will be about {amount(then, self.numeric)}."


def picture(told: Mapping[str, Any]) -> Picture:
    """What to show of an estimate as the collector tells it; over time, of the latest period."""
    level = float(told["level"])
    if "groups" in told:
        return _course(told, level)
    if told.get("attributes") is None and told.get("estimate") is None:
        return Picture(int(told["n"]), level, False, ())
    return Picture(int(told["n"]), level, isinstance(told.get("estimate"), dict), _panels(told, int(told["n"])))


def _course(told: Mapping[str, Any], level: float) -> Picture:
    groups = sorted(told["groups"], key=lambda each: int(each["group"]))
    if not groups:
        return Picture(int(told["n"]), level, False, (), period=None)
    last = groups[-1]
    panels = _panels(last, int(last["n"]))
    lines: list[tuple[str, tuple[tuple[int, float], ...]]] = []
    if len(groups) > 1 and len(panels) == 1:
        every = [(int(each["group"]), _panels(each, int(each["n"]))[0].bars) for each in groups]
        top = sorted(range(len(panels[0].bars)), key=lambda i: -(panels[0].bars[i].centre or 0.0))[:MOST_LINES]
        for i in sorted(top):
            at = tuple((period, 100 * c) for period, bars in every if (c := bars[i].centre) is not None)
            lines.append((panels[0].bars[i].label, at))
    return Picture(int(last["n"]), level, False, panels, int(last["group"]), tuple(lines))


def _panels(told: Mapping[str, Any], n: int) -> tuple[Panel, ...]:
    if told.get("attributes") is not None:
        return tuple(
            Panel(str(each["attribute"]), int(each["reports"]), _bars(each["estimate"])) for each in told["attributes"]
        )
    found = told["estimate"]
    if isinstance(found, Mapping):
        return (
            Panel(None, n, (EstimateBar("mean", float(found["mean"]), float(found["lower"]), float(found["upper"])),)),
        )
    return (Panel(None, n, _bars(found)),)


def _bars(rows: Sequence[Mapping[str, Any]]) -> tuple[EstimateBar, ...]:
    return tuple(
        EstimateBar(
            shortened(row["label"], _LONGEST),
            None if row["frequency"] is None else float(row["frequency"]),
            float(row["lower"]),
            float(row["upper"]),
        )
        for row in rows
    )


def _leading(panel: Panel) -> str:
    """Which value is the most frequent, or which cannot be told apart as yet."""
    ranked = sorted(panel.known, key=lambda each: -(each.centre or 0.0))
    first, rivals = ranked[0], [each for each in ranked[1:] if each.upper >= ranked[0].lower]
    where = "" if panel.attribute is None else f"{panel.attribute}: "
    share = f"{100 * (first.centre or 0.0):.1f} %"
    if not rivals:
        return f"{where}“{first.label}” is the most frequent, {share} (±{100 * first.margin:.2g} points)."
    if len(rivals) == len(ranked) - 1:
        return f"{where}The answers cannot be told apart yet: the error bars are wider than what lies between them."
    if len(rivals) == 1:
        return f"{where}“{first.label}” ({share}) and “{rivals[0].label}” lead, and cannot be told apart yet."
    return (
        f"{where}“{first.label}” ({share}) leads, with {many(len(rivals), 'other', 'others')} that may be ahead of it."
    )


class Trail:
    """How the widest margin went as reports came in, while a page was open.

    Args:
        most: Points that are kept: of more, every second one goes.
    """

    def __init__(self, most: int = 200) -> None:
        self._most = most
        self.points: list[tuple[int, float]] = []

    def add(self, seen: Picture) -> bool:
        """Take an estimate in; whether it is another than the last one."""
        margin = seen.margin
        if margin is None or (self.points and self.points[-1] == (seen.n, margin)):
            return False
        if self.points and seen.n < self.points[-1][0]:
            self.points.clear()  # another period, or a build that was left out
        self.points.append((seen.n, margin))
        if len(self.points) > self._most:
            self.points[:-1] = self.points[:-1:2]
        return True
