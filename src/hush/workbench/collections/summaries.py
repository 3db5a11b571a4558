"""Collections as rows of a list: what each is, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hush.reports.words import DASH, many
from hush.workbench.collections.promises import SpecPromise, promised, spec_of

STATUSES = {
    "open": "People can report.",
    "draft": "Nobody can report yet: open it when all is right. A draft can still be deleted.",
    "closed": "Nobody can report any more. What is there stays, and can be read.",
}
"""What each status means."""
_ORDER = {status: i for i, status in enumerate(STATUSES)}
_SPANS = ((604_800, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True)
class Summary:
    """One collection.

    Args:
        id: Its id.
        name: What people call it.
        status: Draft, open or closed.
        promise: What it promises.
        n: Reports that were accepted; None where whoever looks may not know.
        target: How many are expected, where that is known.
        period: The present one.
        last_period: The last one with reports, where that is known.
        period_seconds: How long a period is.
        forced: Whether it was opened against the planner's advice.
        follows: The id of the one before it.
    """

    id: str
    name: str
    status: str
    promise: SpecPromise
    n: int | None
    target: int | None
    period: int
    last_period: int | None
    period_seconds: int
    forced: bool
    follows: str | None

    @property
    def share(self) -> float | None:
        """How much of what is expected is there, 1 at most; None where nothing is expected or known."""
        return None if self.n is None or not self.target else min(self.n / self.target, 1.0)

    @property
    def reports(self) -> str:
        """How many reports there are, of how many."""
        if self.n is None:
            return DASH
        return f"{self.n:,}" if self.target is None else f"{self.n:,} of {self.target:,}"

    @property
    def last(self) -> str:
        """The last period with reports, and how long ago that is."""
        if self.last_period is None:
            return "no report yet" if self.n is not None else DASH
        ago = self.period - self.last_period
        if ago <= 0:
            return f"{self.last_period:,}, now" if self.status == "open" else f"{self.last_period:,}"
        return f"{self.last_period:,}, {span(ago * self.period_seconds)} ago"


def summary(view: Mapping[str, Any]) -> Summary:
    """A collection as the collector shows it: whole to an admin, less to a reader."""
    return Summary(
        str(view["id"]),
        str(view["name"]),
        str(view["status"]),
        promised(spec_of(view)),
        view.get("n"),
        view.get("target_n"),
        int(view["period"]),
        view.get("last_period"),
        int(view["period_seconds"]),
        bool(view.get("forced")),
        view["predecessor"],
    )


def summaries(views: Iterable[Mapping[str, Any]]) -> list[Summary]:
    """Open ones first, then drafts, then closed ones; the latest first in each."""
    latest = [summary(view) for view in views][::-1]
    return sorted(latest, key=lambda each: _ORDER.get(each.status, len(_ORDER)))


def counted(rows: Iterable[Summary]) -> str:
    """How many there are of each status, in words."""
    every = [each.status for each in rows]
    names = {"open": "open", "draft": "draft" if every.count("draft") == 1 else "drafts", "closed": "closed"}
    return ", ".join(f"{every.count(status):,} {word}" for status, word in names.items() if status in every)


def span(seconds: int) -> str:
    """A length of time.

    >>> span(86_400), span(7200), span(90)
    ('1 day', '2 hours', '90 seconds')
    """
    size, name = next((size, name) for size, name in _SPANS if seconds % size == 0)
    return many(seconds // size, name, f"{name}s")


def moment(second: int | None) -> str:
    """A moment, in UTC; a dash for none.

    >>> moment(0), moment(None)
    ('1970-01-01 00:00 UTC', '–')
    """
    try:
        return DASH if second is None else datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        return f"second {second:,}"
