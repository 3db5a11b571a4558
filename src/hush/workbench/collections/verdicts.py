"""What the planner says before a collection is opened, in words, and the drafts that would do instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hush.collect.opening import Margin, budgets_of, verdict, with_budget
from hush.mechanisms.spec import Spec
from hush.reports.words import many
from hush.workbench.collections.promises import spec_of

_COPIED = (
    "name",
    "target_n",
    "wished_error",
    "ends",
    "period_seconds",
    "horizon",
    "keep",
    "keep_days",
    "relayed_only",
    "public",
    "release_floor",
    "predecessor",
)


@dataclass(frozen=True)
class Remedy:
    """A draft that the planner would open.

    Args:
        words: What is different, as a button says it.
        spec: Its spec.
        wishes: What else the collector is told of it.
    """

    words: str
    spec: Spec
    wishes: dict[str, Any]


@dataclass(frozen=True)
class Advice:
    """What to expect of a draft.

    Args:
        fits: Whether it gives what was asked for.
        title: In a few words.
        words: What to expect, in sentences.
        remedies: Drafts that would do.
    """

    fits: bool
    title: str
    words: str
    remedies: tuple[Remedy, ...] = ()


def advice(view: Mapping[str, Any], said: str = "") -> Advice:
    """What the planner says of a draft, by the collector's own rule.

    Args:
        view: The draft, as the collector shows it to an admin.
        said: The collector's refusal, which is shown as it is where the mechanism is not known here.
    """
    spec = spec_of(view)
    if spec is None:
        return Advice(not said, "The planner's answer", said or "The collector's planner is asked when it is opened.")
    found = verdict(spec, target_n=view["target_n"], wished_error=view["wished_error"])
    numeric = spec.mechanism.kind == "numeric"
    remedies = _remedies(view, spec, found.enough_n, found.enough_epsilon)
    if found.target_n is None:
        words = "Nobody said how many people are expected, so the error cannot be known before they report."
        if found.enough_n is not None:
            words += f" {many(found.enough_n, 'person is', 'people are')} enough."
        return Advice(False, "How many people?", words, remedies)
    worst = max(found.margins, key=lambda each: each.margin / each.limit)
    people = many(found.target_n, "person", "people")
    expects = f"From {people}, expect a margin of {amount(worst.margin, numeric)}{_of(worst)} (95 %)."
    limit = amount(worst.limit, numeric)
    asked = f"{limit} was asked for" if view["wished_error"] is not None else f"{limit} is {_usual(numeric)}"
    if found.fits:
        return Advice(True, "It gives what was asked for", f"{expects} {_capital(asked)}.")
    words = f"{expects} {_capital(asked)}: the noise drowns what you want to see. {_ways(spec, found)}"
    return Advice(False, "Too much noise for so few people", words, remedies)


def amount(margin: float, numeric: bool = False) -> str:
    """A margin as people read it: points of a share, or in the unit of a mean.

    >>> amount(0.0168), amount(0.8, numeric=True)
    ('±1.68 points', '±0.8')
    """
    return f"±{margin:.3g}" if numeric else f"±{margin * 100:.3g} points"


def _usual(numeric: bool) -> str:
    return "half of the range, beyond which a mean says nothing" if numeric else "what an average answer's share is"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _of(worst: Margin) -> str:
    return "" if worst.attribute is None else f" for {worst.attribute}"


def _ways(spec: Spec, found: Any) -> str:
    ways = [] if found.enough_n is None else [many(found.enough_n, "person", "people")]
    if found.enough_epsilon is not None:
        ways.append(f"ε = {_budget(spec, found.enough_epsilon)}")
    return f"{' or '.join(ways)} would do." if ways else "Ask for less, or choose another mechanism."


def _budget(spec: Spec, epsilon: float) -> str:
    return " and ".join(f"{value:g}" for value in budgets_of(with_budget(spec.mechanism, epsilon)).values())


def _remedies(
    view: Mapping[str, Any], spec: Spec, enough_n: int | None, enough_epsilon: float | None
) -> tuple[Remedy, ...]:
    copied, found = copied_wishes(view), []
    if enough_n is not None:
        words = f"Expect {many(enough_n, 'person', 'people')} instead"
        found.append(Remedy(words, spec, {**copied, "target_n": enough_n}))
    if enough_epsilon is not None:
        other = Spec(with_budget(spec.mechanism, enough_epsilon), spec.domain)
        found.append(Remedy(f"Use ε = {_budget(spec, enough_epsilon)} instead", other, copied))
    return tuple(found)


def copied_wishes(view: Mapping[str, Any]) -> dict[str, Any]:
    """All that a collection was told beside its spec, for another one like it."""
    found = {name: view[name] for name in _COPIED if view[name] is not None}
    return {**found, "anyone_submits": not view["needs_key"]}
