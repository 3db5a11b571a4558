"""What was said of a collection that is to be: its spec, how long it runs, who may send and read."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from hush.cli.asked.collectors import extended
from hush.cli.asked.columns import ColumnOptions
from hush.cli.asked.mechanism import MechanismOptions
from hush.cli.asked.options import (
    CHOICE,
    Delta,
    Epsilon,
    EpsilonPermanent,
    EpsilonReport,
    High,
    Low,
    MechanismName,
    Sensitive,
    Settings,
    SpecFile,
)
from hush.cli.asked.reading import OptionError, share, whole
from hush.collect.manager import Manager
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.mechanisms.spec import Spec

COLLECTION = "Collection"
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
OPTIONS = {
    "name": "--name",
    "target_n": "--n",
    "wished_error": "--error",
    "ends": "--ends",
    "period_seconds": "--period",
    "horizon": "--horizon",
    "keep": "--keep",
    "keep_days": "--keep-days",
    "anyone_submits": "--open-to-all",
    "relayed_only": "--relayed-only",
    "public": "--public",
    "release_floor": "--floor",
    "spec": "--spec",
    "build": "--build",
    "label": "--label",
    "role": "--role",
    "seconds": "--expires",
    "after": "--after",
}
"""What the parameters of a collector are called here."""
ROLES = ("admin", "reader", "ingest", "relay")
"""What tokens are for, as `hush.collect.tokens` has it."""


def duration(option: str, example: str = "1d", *, least: int = 0) -> Callable[[str | int], int]:
    """A reader of lengths of time, in seconds, at least so many.

    >>> duration("--period")("1d"), duration("--period")("90"), duration("--period")("2h")
    (86400, 90, 7200)
    """

    def read(text: str | int) -> int:
        found = re.fullmatch(r"\s*([0-9]{1,12})\s*([smhdw]?)\s*", str(text))
        if found is None:
            rule = "must be a number of seconds, or of m, h, d or w"
            raise OptionError(message(option, rule, text, f"write e.g. {option} {example}"))
        seconds = int(found[1]) * _SECONDS[found[2] or "s"]
        if seconds < least:
            rule = f"must be at least {least} second{'s' * (least > 1)}"
            raise OptionError(message(option, rule, text, f"write e.g. {option} {example}"))
        return seconds

    return read


def moment(option: str, *, past: bool = True) -> Callable[[str | int], int]:
    """A reader of moments, in seconds since 1970: a date or a time, in UTC if it does not say, or 30d from now.

    >>> moment("--ends")("2027-01-01"), moment("--ends")("2027-01-01T12:00+02:00")
    (1798761600, 1798797600)
    >>> moment("--began")("2027-01-01T12:00:07Z")
    1798804807
    """

    def read(text: str | int) -> int:
        said = str(text).strip()
        try:
            if re.fullmatch(r"\+?[0-9]+[smhdw]", said):
                span = timedelta(seconds=duration(option)(said.removeprefix("+")))
                return int((datetime.now(UTC) + span).timestamp())
            found = datetime.fromisoformat(said)
        except (ValueError, OverflowError):
            rule = "must be a date, a time, or a length of time from now"
            raise OptionError(message(option, rule, text, f"write e.g. {option} 2027-01-31, or {option} 30d")) from None
        second, now = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), datetime.now(UTC)
        if not past and second <= now.timestamp():
            rule = f"must lie after now, {now:%Y-%m-%d %H:%M} UTC"
            raise OptionError(message(option, rule, text, f"write e.g. {option} 30d"))
        return int(second)

    return read


class Share(float):
    """A number that was written as a share, with % or pp."""


def margin(option: str) -> Callable[[str | float], float]:
    """A reader of margins: a share, which tells that it was written as one, or a number.

    >>> margin("--error")("5%"), isinstance(margin("--error")("5%"), Share), isinstance(margin("--error")("3"), Share)
    (0.05, True, False)
    """
    plain = share(option, "0.01")

    def read(text: str | float) -> float:
        return Share(plain(text)) if str(text).strip().endswith(("%", "pp")) else plain(text)

    return read


def check_token(role: str, label: str, seconds: int | None) -> None:
    """Refuse here what the collector would, in words that are not those of its interface."""
    from hush.collect import managing

    managing.check_token(role, label, seconds)


def check_wishes(wishes: dict[str, Any], spec: Spec) -> None:
    """Refuse here what the collector would, in the same words wherever it is; and shares where there are none."""
    from hush.collect import managing

    error = wishes.get("wished_error")
    managing.settings({"name": "of its predecessor", **wishes}, time.time())
    if isinstance(error, Share) and spec.mechanism.kind == "numeric":
        rule, got = "must be a number in the unit of the mean", Unsaid("a share")
        raise ParameterError(message("wished_error", rule, got, "leave out % and pp"))
    managing.check_error(spec, error)


Name = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", help="What people call it.", rich_help_panel=COLLECTION),
]
TargetN = Annotated[
    int | None,
    typer.Option(
        "--n",
        metavar="N",
        parser=whole("--n", 1, "10000"),
        help="How many people are expected to report; over time, in a period.",
        rich_help_panel=COLLECTION,
    ),
]
WishedError = Annotated[
    float | None,
    typer.Option(
        "--error",
        metavar="X",
        parser=margin("--error"),
        help="The widest margin of a frequency that is useful (0.01, 1% or 1pp), or of a mean, in its unit.",
        rich_help_panel=COLLECTION,
    ),
]
Ends = Annotated[
    int | None,
    typer.Option(
        "--ends",
        metavar="WHEN",
        parser=moment("--ends", past=False),
        help="When it closes by itself: 2027-01-31, a time, or 30d from now.",
        rich_help_panel=COLLECTION,
    ),
]
PeriodLength = Annotated[
    int | None,
    typer.Option(
        "--period",
        metavar="TIME",
        parser=duration("--period"),
        help="How long a period is (1d if left out): nobody reports twice in one, and it is all that is kept of when.",
        rich_help_panel=COLLECTION,
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        "--horizon",
        metavar="N",
        parser=whole("--horizon", 0, "7"),
        help="How many periods late a batch may come (7 if left out).",
        rich_help_panel=COLLECTION,
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="reports|aggregates",
        help="What the store keeps. Without reports there is no verify, no export and no maximum likelihood.",
        rich_help_panel=COLLECTION,
    ),
]
KeepDays = Annotated[
    int | None,
    typer.Option(
        "--keep-days",
        metavar="DAYS",
        parser=whole("--keep-days", 1, "90"),
        help="For how long; always if left out.",
        rich_help_panel=COLLECTION,
    ),
]
OpenToAll = Annotated[
    bool | None,
    typer.Option(
        "--open-to-all/--with-key",
        help="Whether anyone may submit, or only who has an ingest key, as is usual.",
        rich_help_panel=COLLECTION,
        show_default=False,
    ),
]
RelayedOnly = Annotated[
    bool | None,
    typer.Option(
        "--relayed-only/--direct",
        help="Whether only relays may submit.",
        rich_help_panel=COLLECTION,
        show_default=False,
    ),
]
Public = Annotated[
    bool | None,
    typer.Option(
        "--public/--private",
        help="Whether anyone may read estimates, of at least --floor reports, or only who has a token.",
        rich_help_panel=COLLECTION,
        show_default=False,
    ),
]
Floor = Annotated[
    int | None,
    typer.Option(
        "--floor",
        metavar="N",
        parser=whole("--floor", 1, "100"),
        help="The fewest reports of which the public sees an estimate (100 if left out).",
        rich_help_panel=COLLECTION,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="What an attribute is called, where there are several; repeated, one for each.",
        rich_help_panel=CHOICE,
    ),
]
Domains = Annotated[
    list[str] | None,
    typer.Option(
        "--domain",
        metavar="[NAME=]FILE",
        help="The labels: one per line, or .json. Else values are 0..k-1. Repeatable, with an attribute's name before.",
        rich_help_panel=CHOICE,
    ),
]
Others = Annotated[
    list[str] | None,
    typer.Option(
        "--other",
        metavar="[NAME=]LABEL",
        help="A label that takes in unknown and missing values, of all attributes or of one.",
        rich_help_panel=CHOICE,
    ),
]
Sizes = Annotated[
    list[str] | None,
    typer.Option(
        "--k",
        metavar="[NAME=]K",
        help="Number of values, of all attributes or of one.",
        rich_help_panel=CHOICE,
    ),
]


@dataclass(frozen=True)
class SpecOptions:
    """What was said of a spec, in the words of `hush privatize`."""

    columns: list[str]
    domains: list[str]
    others: list[str]
    sizes: list[str]
    mechanism: str | None
    spec: Path | None
    more: dict[str, Any]

    def read(self) -> Spec:
        """The spec itself."""
        said = ColumnOptions(self.columns or ["value"], self.domains, self.others, self.sizes)
        choice = MechanismOptions(self.mechanism, said.k, spec=self.spec, **self.more)
        if self.spec is None:
            if choice.tells_tuples and not self.columns:
                rule, remedy = "must be given, one for each attribute", "write e.g. --column town --column age"
                raise ParameterError(message("--column", rule, NOTHING, remedy))
            if self.mechanism is None:
                remedy = "use e.g. OUE, or --spec with a spec's file"
                raise ParameterError(message("--mechanism", "must be given", NOTHING, remedy))
            return said.spec(choice)[0]
        for option, given in (("--domain", self.domains), ("--other", self.others), ("--column", self.columns)):
            if given:
                rule = "must not stand beside --spec"
                raise ParameterError(message(option, rule, Unsaid("both"), "the spec has its own labels"))
        return choice.of_tuples() if choice.tells_tuples else choice.build_any()


def meant(manager: Manager, text: str) -> str:
    """The id of the collection that a text means: its id, the beginning of it, or its name."""
    if re.fullmatch(r"[0-9a-f]{32}", text):
        return text
    known = manager.list()
    begins = len(text) >= 4
    found = [each["id"] for each in known if each["name"] == text or (begins and each["id"].startswith(text))]
    if len(found) == 1:
        return str(found[0])
    rule = "must be the id of a collection, four or more of its first digits, or its name"
    got = Unsaid(repr(text) if not found else f"{text!r}, which means {' or '.join(id[:8] for id in found[:5])}")
    raise ParameterError(message("COLLECTION", rule, got, "see `hush collection list`"))


_SPEC: dict[str, Any] = {
    "mechanism": MechanismName,
    "column": Columns,
    "domain": Domains,
    "other": Others,
    "k": Sizes,
    "low": Low,
    "high": High,
    "epsilon": Epsilon,
    "epsilon_permanent": EpsilonPermanent,
    "epsilon_report": EpsilonReport,
    "delta": Delta,
    "settings": Settings,
    "sensitive": Sensitive,
    "spec": SpecFile,
}
_WISHES: dict[str, Any] = {
    "name": Name,
    "target_n": TargetN,
    "wished_error": WishedError,
    "ends": Ends,
    "period_seconds": PeriodLength,
    "horizon": Horizon,
    "keep": Keep,
    "keep_days": KeepDays,
    "anyone_submits": OpenToAll,
    "relayed_only": RelayedOnly,
    "public": Public,
    "release_floor": Floor,
}


def describing(work: Callable[..., None]) -> Callable[..., None]:
    """A command whose second and third arguments are the spec and the wishes that its options tell of a collection."""

    def run(manager: Manager, **given: Any) -> None:
        said = {name: given.pop(name) for name in _SPEC}
        wishes = {name: value for name in _WISHES if (value := given.pop(name)) is not None}
        numbers = {name: said[name] for name in ("epsilon", "delta", "settings", "sensitive", "low", "high")}
        numbers |= {"permanent": said["epsilon_permanent"], "report": said["epsilon_report"]}
        columns, domains, others, sizes = (said[name] or [] for name in ("column", "domain", "other", "k"))
        asked = SpecOptions(columns, domains, others, sizes, said["mechanism"], said["spec"], numbers)
        work(manager, asked, wishes, **given)

    made = extended(work, 3, {**_WISHES, **_SPEC}, run)
    first = inspect.Parameter("manager", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Manager)
    made.__signature__ = inspect.Signature([first, *made.__signature__.parameters.values()])  # type: ignore[attr-defined]
    made.__annotations__["manager"] = Manager
    return made
