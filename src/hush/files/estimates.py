"""What is estimated of a collection, as plain rows, JSON and CSV."""

from __future__ import annotations

import csv
import io
import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError
from hush.estimation import Estimate
from hush.estimation.laws import Interval
from hush.files.collections import Collection
from hush.files.groups import plain_group
from hush.people.domain import Domain
from hush.types import Floats


@dataclass(frozen=True)
class EstimateSettings:
    """How the numbers were asked for."""

    level: float
    simultaneous: bool
    projection: str | None
    together: int = 1
    """Attributes that intervals cover at once, where they cover all values at once."""
    total: bool = False
    """Whether the total is told of every domain, or only of those that say what their values amount to."""

    @property
    def kind(self) -> str:
        """What the intervals cover."""
        return "simultaneous" if self.simultaneous else "pointwise"

    @property
    def over(self) -> str:
        """How many attributes they cover at once, where those are several."""
        return f" over all {self.together} attributes" if self.simultaneous and self.together > 1 else ""

    @property
    def interval(self) -> str:
        """The intervals, in words."""
        return f"{self.level * 100:g} % interval"

    def caption(self, results: list[Result]) -> str:
        """What a figure shows, in words."""
        final = "" if self.projection is None else f", and a {self.projection} projection, which has none"
        return f"{self.kind} {self.interval}s{self.over}, {resting(results)}{final}"


@dataclass(frozen=True)
class Result:
    """The numbers of one group; `order` says which values to show, and in which order."""

    group: Any
    estimate: Estimate
    interval: Interval[Floats]
    projected: Floats | None
    order: npt.NDArray[np.int64]
    attribute: str | None = None
    """Which attribute of a tuple it is about; None for a single value."""
    about: int = 0
    """How many reports are."""
    total: dict[str, Any] | None = None
    """The total of what values amount to, with its interval, where it was asked for."""

    @property
    def known(self) -> bool:
        """Whether there is any report about it."""
        return self.about > 0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One plain dict for each value shown; each count stands after the frequency that it comes from."""
        raw, labels = self.estimate, self.estimate.labels
        amounts = None if self.total is None else raw.domain.amounts
        found = []
        for i in self.order:
            row = {
                "label": labels[i],
                "frequency": float(raw.frequencies[i]),
                "stderr": float(raw.stderr[i]),
                "lower": float(self.interval.lower[i]),
                "upper": float(self.interval.upper[i]),
                "method": self.interval.methods[i],
                "count": float(raw.frequencies[i]) * raw.n,
            }
            if amounts is not None:
                row["amount"] = float(amounts[i])
            if self.projected is not None:
                final = float(self.projected[i])
                row |= {"projected": final, "projected_count": final * raw.n}
            found.append(row)
        return found

    @property
    def plain(self) -> dict[str, Any]:
        """The group, for programs."""
        return plain_group(self.group, self.estimate.n)


def resting(results: list[Result]) -> str:
    """In a word or two, what the intervals rest on."""
    some = [each for each in results if each.known] or results
    return " and ".join(sorted({word for each in some for word in each.interval.methods}))


def rows_of(
    estimate: Estimate, group: Any, settings: EstimateSettings, attribute: str | None = None, about: int | None = None
) -> Result:
    """Everything that is printed of one group, and of one attribute of it; a union bound takes attributes together."""
    level = 1 - (1 - settings.level) / (settings.together if settings.simultaneous else 1)
    found = estimate.interval(level, simultaneous=settings.simultaneous)
    reports, size = estimate.n if about is None else about, estimate.domain.size
    projected = None if settings.projection is None or not reports else estimate.project(settings.projection)
    final = None if projected is None else projected.frequencies
    if settings.projection is not None and final is None:
        final = np.full(size, np.nan)
    total = total_of(estimate, settings.level) if _adds_up(estimate.domain, settings, attribute) else None
    return Result(group, estimate, found, final, np.arange(size), attribute, reports, total)


def _adds_up(domain: Domain, settings: EstimateSettings, attribute: str | None) -> bool:
    """Whether a total is told; of the attributes of a tuple, of those that say what their values amount to."""
    if not settings.total or attribute is None:
        return settings.total or domain.values is not None
    try:
        return domain.amounts.size > 0
    except ParameterError:
        return False


def total_of(estimate: Estimate, level: float) -> dict[str, Any]:
    """The estimated total of what values amount to, and its interval, by itself; what is not known is None."""
    found, error = estimate.total_interval(level), estimate.total_stderr
    return {
        "total": None if math.isnan(estimate.total) else estimate.total,
        "stderr": None if math.isnan(error) else error,
        "lower": found.lower,
        "upper": found.upper,
        "method": found.method,
    }


def results_of(collection: Collection, settings: EstimateSettings, only: str | None = None) -> list[Result]:
    """One for each group, or for each attribute of each group; or for one attribute only."""
    found = []
    for group, part in collection.parts.items():
        about = collection.reports_about(part)
        for name, each in collection.estimates(part).items():
            if only in (None, name):
                found.append(rows_of(each, group, settings, name, about[name]))
    return found


def shown(result: Result, top: int | None) -> Result:
    """The most frequent values first, and only so many; all in the domain's order when no number is given."""
    if top is None:
        return result
    return replace(result, order=np.argsort(-result.estimate.frequencies, kind="stable")[:top])


def as_dict(
    collection: Collection, results: list[Result], by: str | None, settings: EstimateSettings
) -> dict[str, Any]:
    """The JSON of `hush estimate`."""
    whole = {
        **collection.to_dict(),
        "level": settings.level,
        "simultaneous": settings.simultaneous,
        "projection": settings.projection,
    }
    if collection.attributes:
        whole |= {"guarantee": str(collection.spec.mechanism.guarantee)}
    if by is None:
        return {**whole, **_told(results)}
    groups = [{**each[0].plain, **_told(each)} for each in _by_group(results)]
    return {**whole, "by": by, "groups": groups}


def _told(results: list[Result]) -> dict[str, Any]:
    """The numbers of one group: its estimate, or that of each attribute."""
    if results[0].attribute is None:
        return {"estimate": results[0].rows, **_sum(results[0])}
    return {
        "attributes": [{"attribute": r.attribute, "reports": r.about, "estimate": r.rows, **_sum(r)} for r in results]
    }


def _sum(result: Result) -> dict[str, Any]:
    return {} if result.total is None else {"total": result.total}


def _by_group(results: list[Result]) -> list[list[Result]]:
    """The results of each group, which stand side by side."""
    return [list(some) for _, some in itertools.groupby(results, key=lambda each: each.group)]


def as_csv(results: list[Result], by: str | None) -> str:
    """All numbers, one line a value; a total, where there is one, stands on each line of its group."""
    text = io.StringIO()
    sums = next((each.total for each in results if each.total is not None), None)
    several = results[0].attribute is not None
    lead = [*([] if by is None else [by, "n"]), *(["attribute"] if several else [])]
    writer = csv.writer(text, lineterminator="\n")
    names = max((list(each.rows[0]) for each in results), key=len)
    after = [] if sums is None else [name if name == "total" else f"total_{name}" for name in sums]
    writer.writerow([*lead, *names, *after])
    for each in results:
        first = [*([] if by is None else [each.plain["group"], each.estimate.n])]
        first += [each.attribute] if several else []
        last = [] if sums is None else list((each.total or dict.fromkeys(sums)).values())
        writer.writerows([*first, *(row.get(name) for name in names), *last] for row in each.rows)
    return text.getvalue()
