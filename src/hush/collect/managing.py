"""What a collection may be: its settings, checked once, before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hush import rules
from hush.canonical import canonical
from hush.collect.envelope import MOST_PERIODS
from hush.collect.refusals import Refused
from hush.collect.store.collections import AGGREGATES, REPORTS, StoredCollection
from hush.collect.tokens import ROLES
from hush.errors import HushError, ParameterError, Unsaid, message
from hush.files.collections import KINDS
from hush.files.specs import of_kind, spec_from
from hush.mechanisms.spec import Spec

LONGEST_NAME = 200
MOST_HORIZON = 100_000
LONGEST_PERIOD = 10 * 366 * 86_400
LONGEST_TOKEN = 100 * 366 * 86_400
"""Seconds that a token may hold."""
_LONGEST_LABEL = 100
_MOST = 1 << 62
_OF_SHARES = "use e.g. 0.01, one percentage point of a frequency"
_OF_MEANS = "use a margin in the unit of the numbers, within their range"


@dataclass(frozen=True, kw_only=True)
class CollectionSettings:
    """What whoever makes a collection decides.

    Args:
        name: What people call it.
        target_n: How many reports are expected; opening needs it.
        wished_error: The margin that estimates should have; the uniform share if left out.
        ends: The second of the clock (since 1970) from which nothing is taken any more.
        period_seconds: How long a period lasts.
        horizon: How many periods a batch may be late.
        keep: "reports", or "aggregates", when reports are forgotten once they are folded: then there is no `verify`,
            no export, no maximum likelihood.
        keep_days: Days, in whole periods, after which reports are forgotten and aggregates stay; where only aggregates
            are kept, these go. None for always. Nothing goes before its period's late time is over.
        anyone_submits: No key is needed.
        relayed_only: Only relays may submit.
        public: Anyone may read estimates of at least `release_floor` reports.
        release_floor: See `public`.
        predecessor: The id of the collection that this one follows.
    """

    name: str
    target_n: int | None = None
    wished_error: float | None = None
    ends: int | None = None
    period_seconds: int = 86_400
    horizon: int = 7
    keep: str = REPORTS
    keep_days: int | None = None
    anyone_submits: bool = False
    relayed_only: bool = False
    public: bool = False
    release_floor: int = 100
    predecessor: str | None = None

    def __post_init__(self) -> None:
        check_words("name", self.name, LONGEST_NAME, "use e.g. visits")
        rules.named("keep", self.keep, (REPORTS, AGGREGATES), "use reports, unless they must not be kept")
        rules.integer("period_seconds", self.period_seconds, 1, LONGEST_PERIOD, "use e.g. 86400, a day")
        rules.integer("horizon", self.horizon, 0, MOST_HORIZON, "use e.g. 7 periods")
        rules.integer("release_floor", self.release_floor, 1, MOST_PERIODS - 1, "use e.g. 100 reports")
        for name, most in (("target_n", _MOST), ("ends", _MOST), ("keep_days", MOST_HORIZON)):
            if getattr(self, name) is not None:
                rules.integer(name, getattr(self, name), 1, most, "leave it out, or give a whole number")
        if self.wished_error is not None:
            rules.number("wished_error", self.wished_error, 0.0, float("inf"), "use e.g. 0.01")
        for name in ("anyone_submits", "relayed_only", "public"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(message(name, "must be true or false", getattr(self, name), "use one of them"))
        if self.relayed_only and self.horizon < 1:
            rule = "must be at least 1 where only relays submit: they send when a period is over"
            raise ParameterError(message("horizon", rule, self.horizon, "use 2 or more"))

    def row(self) -> dict[str, Any]:
        """Its columns."""
        return dict(self.__dict__)


def check_words(name: str, text: object, longest: int, remedy: str) -> None:
    """Refuse what people could not read as the name of something."""
    if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable() or not text.strip():
        rule = f"must be 1 to {longest} printable characters, and not spaces alone"
        raise ParameterError(message(name, rule, Unsaid("another one"), remedy))


def check_token(role: str, label: str, seconds: int | None) -> None:
    """Refuse a token that cannot be: of no role, without a name, or for no time."""
    rules.named("role", role, ROLES, "use e.g. ingest")
    check_words("label", label, _LONGEST_LABEL, "say whose it is")
    if seconds is not None:
        rules.integer("seconds", seconds, 1, LONGEST_TOKEN, "leave it out, or say how long")


def check_error(spec: Spec, wished_error: float | None) -> None:
    """Refuse a margin that every collection of a spec has: it would switch the planner's look before opening off."""
    if wished_error is None:
        return
    m = spec.mechanism
    if m.kind == "numeric":
        rules.number("wished_error", wished_error, 0.0, m.high - m.low, _OF_MEANS, closed=True)
    else:
        rules.number("wished_error", wished_error, 0.0, 1.0, _OF_SHARES, closed=True)


def settings_of(collection: StoredCollection) -> dict[str, Any]:
    """The settings of a collection, for one that follows it; its end is its own."""
    return {name: getattr(collection, name) for name in CollectionSettings.__dataclass_fields__ if name != "ends"}


def settings(values: Mapping[str, Any], now: float) -> CollectionSettings:
    """Settings that hold, or a refusal."""
    with refusing():
        made = CollectionSettings(**values)
        if made.ends is not None and made.ends <= now:
            rule = f"must lie after now, the second {int(now)}"
            raise ParameterError(message("ends", rule, made.ends, "count seconds since 1970"))
    return made


def begun(collection: StoredCollection, began: int, now: int) -> dict[str, int]:
    """The columns of a collection whose period 0 began then, and which is opened now."""
    with refusing():
        rules.integer("began", began, 0, now, "leave it out, or use that of the other collector")
        period = (now - began) // collection.period_seconds
        rules.integer("period of now", period, 0, MOST_PERIODS - 1, "use a later second, or longer periods")
    return {"began": began, "period": period, "pruned_below": max(0, period - collection.horizon)}


def spec_of(plain: Any) -> Spec:
    """The spec of plain data, of a kind that can be collected."""
    with refusing():
        if not isinstance(plain, Mapping):
            got = Unsaid(f"a {type(plain).__name__}")
            raise ParameterError(message("spec", "must be a spec's JSON", got, "write it with --spec-out"))
        try:
            text = canonical(plain).encode()
        except (TypeError, ValueError, RecursionError):
            got = Unsaid("other data")
            raise ParameterError(message("spec", "must be a spec's JSON", got, "write it with --spec-out")) from None
        try:
            return of_kind(spec_from(text, "the request"), KINDS, "the request")
        except HushError as error:
            rule = "must be one that reports can be collected of"
            raise ParameterError(message("spec", rule, Unsaid("another one"), str(error))) from None


class refusing:
    """Turn what breaks a rule into a refusal."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if isinstance(error, HushError) and not isinstance(error, Refused):
            raise Refused("parameter", error.args[0]) from None
