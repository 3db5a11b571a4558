"""What is estimated of a collection of numbers, as plain rows, JSON and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from hush.estimation.laws import Interval
from hush.files.collections import Collection
from hush.files.groups import plain_group
from hush.mechanisms.numeric.estimate import MeanEstimate


@dataclass(frozen=True)
class GroupMean:
    """The mean and the total of one group."""

    group: Any
    estimate: MeanEstimate
    interval: Interval[float]

    @property
    def plain(self) -> dict[str, Any]:
        """The group, for programs."""
        return plain_group(self.group, self.estimate.n)

    @property
    def row(self) -> dict[str, Any]:
        """Plain numbers."""
        found, n = self.estimate, self.estimate.n
        lower, upper = self.interval
        return {
            "n": n,
            "mean": found.mean,
            "stderr": found.stderr,
            "lower": lower,
            "upper": upper,
            "method": self.interval.method,
            "total": found.total,
            "total_stderr": found.total_stderr,
            "total_lower": lower * n,
            "total_upper": upper * n,
        }


def means_of(collection: Collection, level: float) -> list[GroupMean]:
    """One for each group."""
    found = [(group, collection.spec.estimate(part)) for group, part in collection.parts.items()]
    return [GroupMean(group, each, each.interval(level)) for group, each in found]


def as_dict(collection: Collection, means: list[GroupMean], by: str | None, level: float) -> dict[str, Any]:
    """The JSON of `hush estimate`."""
    whole = {
        **collection.to_dict(),
        "level": level,
    }
    if by is None:
        return {**whole, "estimate": means[0].row}
    return {
        **whole,
        "by": by,
        "groups": [{**each.plain, "estimate": each.row} for each in means],
    }


def as_csv(means: list[GroupMean], by: str | None) -> str:
    """All numbers, one line a group."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*([] if by is None else [by]), *means[0].row])
    writer.writerows([*([] if by is None else [each.plain["group"]]), *each.row.values()] for each in means)
    return text.getvalue()
