"""One collection in facts and rows: how it runs, who may do what, which clients reported, what was refused and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hush.collect.refusals import REASONS
from hush.collect.replies import FINAL, TOO_LARGE
from hush.reports.words import DASH, many
from hush.workbench.collections.summaries import moment, span


@dataclass(frozen=True)
class Refusal:
    """Why batches were refused.

    Args:
        reason: The code of its reason.
        times: How often.
        means: What it means.
        then: What clients do about it.
    """

    reason: str
    times: int
    means: str
    then: str


def refusals(view: Mapping[str, Any]) -> list[Refusal]:
    """What was refused, the most frequent first; the words are those of the collector's own table of reasons."""
    found = [
        Refusal(code, times, REASONS[code].title if code in REASONS else "A reason of a later version", _then(code))
        for code, times in view.get("refusals", {}).items()
    ]
    return sorted(found, key=lambda each: (-each.times, each.reason))


def _then(code: str) -> str:
    if code in FINAL:
        return "Dropped: the same bytes will never be taken."
    if code == TOO_LARGE:
        return "Sent again in smaller batches."
    if code not in REASONS or REASONS[code].retry is None:
        return "Kept on the device until somebody helps, and tried again now and then."
    return "Kept on the device, and sent again by itself."


def facts(view: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a collection runs, as names and values."""
    lasts = f"{view['period']:,}, each of {span(view['period_seconds'])}"
    late = f"taken for {many(view['horizon'], 'period', 'periods')} more"
    found = [("Period", lasts), ("Late reports", late), ("Ends", _ends(view)), ("Who submits", _submits(view))]
    found.append(("Who reads", _reads(view)))
    if "keep" in view:
        days = "always" if view["keep_days"] is None else f"for {many(view['keep_days'], 'day', 'days')}"
        found += [("Kept", f"{view['keep']}, {days}"), ("Opened", moment(view["began"]))]
    if view.get("excluded"):
        found.append(("Left out", ", ".join(build or DASH for build in view["excluded"])))
    if view.get("shuffled"):
        found.append(("Relays", str(view["shuffled"]["words"])))
    return [*found, ("Spec hash", str(view["spec_hash"])[:12]), ("Id", str(view["id"]))]


def _ends(view: Mapping[str, Any]) -> str:
    return "when somebody closes it" if view["ends"] is None else moment(view["ends"])


def _submits(view: Mapping[str, Any]) -> str:
    return "relays alone" if view["relayed_only"] else "who has an ingest key" if view["needs_key"] else "anyone"


def _reads(view: Mapping[str, Any]) -> str:
    return f"anyone, from {view['release_floor']:,} reports on" if view["public"] else "who has a token"


def builds(view: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Which client builds reported, and how often, the most frequent first."""
    known = [(name or "no build named", int(n)) for name, n in view.get("builds", {}).items()]
    return sorted(known, key=lambda each: (-each[1], each[0]))
