"""Collections, tokens and deeds as tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hush.cli.shown import grid, terminal
from hush.errors import HushError
from hush.mechanisms.spec import Spec
from hush.reports.words import DASH, described, many, number, shortened

if TYPE_CHECKING:
    from hush.collect.partitions import Exported

_SHORT = 8
_NAMES = 13  # letters of the longest name of a fact, and a space or two
_SPANS = ((604_800, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


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


def spec_of(view: dict[str, Any]) -> Spec | None:
    """The spec of a collection; None where this version does not know it."""
    try:
        return Spec.from_dict(view["spec"])
    except HushError:
        return None


def promise(view: dict[str, Any]) -> str:
    """The mechanism and what it promises."""
    spec = spec_of(view)
    return "a mechanism of your own" if spec is None else described(spec)


def builds(view: dict[str, Any]) -> str:
    """Which client builds have reported, in a sentence."""
    known = ", ".join(shortened(name or DASH, 40) for name in view["builds"])
    return f"Builds that reported: {known}." if known else "Nobody has reported yet."


def note_budget(spec: Spec) -> None:
    """Say where a mechanism promises another ε than the one that it was given, and why."""
    from hush.collect.opening import budget_of

    m, given = spec.mechanism, budget_of(spec.mechanism)
    promised = None if m.kind == "longitudinal" else getattr(m.guarantee, "epsilon", None)
    if given is not None and promised is not None and promised > given * (1 + 1e-9):
        terminal.note(
            f"epsilon = {given:g} is what the paper of {m.name()} claims; a report loses up to {promised:g}, which is "
            "what the collection promises and accounts are charged with."
        )


def margins(view: dict[str, Any]) -> list[Any]:
    """The margins to be expected of so many reports as there are; none where there are none."""
    from hush.collect.opening import expected

    spec = spec_of(view)
    over_time = spec is not None and spec.mechanism.kind == "longitudinal"
    if spec is None or not view.get("n") or over_time:
        return []  # over time each period has its own
    return list(expected(spec, view["n"], view.get("wished_error")))


def listed(views: Sequence[dict[str, Any]]) -> None:
    """Print all collections."""
    if not views:
        terminal.note("There is no collection yet: `hush collection create` makes one.")
        return
    columns = [
        grid.Column("id", "left"),
        grid.Column("name", "left"),
        grid.Column("status", "left"),
        grid.Column("spec", "left", 2),
        grid.Column("reports"),
        grid.Column("of", rank=1),
        grid.Column("period", rank=3),
        grid.Column("ends", "left", 4),
    ]
    rows = [
        [
            each["id"][:_SHORT],
            shortened(each["name"], 40),
            _status(each),
            promise(each),
            f"{each['n']:,}" if "n" in each else DASH,
            DASH if each.get("target_n") is None else f"{each['target_n']:,}",
            f"{each['period']:,}",
            moment(each["ends"]),
        ]
        for each in views
    ]
    grid.show(terminal.stdout(), columns, rows)


def whole(view: dict[str, Any]) -> None:
    """Print all of one collection."""
    console = terminal.stdout()
    console.print(terminal.cell(shortened(view["name"], 100), "bold"))
    for name, text in _facts(view):
        console.print(terminal.cell(f"{name:{_NAMES}}", "dim"), end="")
        console.print(text if isinstance(text, Text) else terminal.cell(text), soft_wrap=True)
    if "builds" not in view:
        return
    if view["builds"]:
        console.print()
        builds = [[name or DASH, f"{n:,}"] for name, n in view["builds"].items()]
        grid.show(console, [grid.Column("client build", "left"), grid.Column("reports")], builds)
    console.print()
    if not view["refusals"]:
        console.print("Nothing was refused.")
        return
    from hush.collect.refusals import REASONS

    rows = [
        [reason, f"{n:,}", REASONS[reason].title if reason in REASONS else ""] for reason, n in view["refusals"].items()
    ]
    columns = [grid.Column("refused because", "left"), grid.Column("times"), grid.Column("which means", "left", 1)]
    grid.show(console, columns, rows)


def _facts(view: dict[str, Any]) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [("id", view["id"]), ("status", _status(view)), ("spec", promise(view))]
    if "address" in view:
        facts.insert(1, ("address", view["address"]))
    facts.append(("spec hash", view["spec_hash"][:12]))
    if view.get("shuffled"):  # and nothing where reports may come without a relay
        facts.append(("relayed", view["shuffled"]["words"]))
    if "n" in view:
        target = "" if view["target_n"] is None else f" of {view['target_n']:,}"
        late = f", {view['pending']:,} not yet counted" if view["pending"] else ""
        facts.append(("reports", f"{view['n']:,}{target}{late}"))
        facts += [("error now", text) for text in _errors(view)]
    lasts = f"of {span(view['period_seconds'])}, the oldest that is taken is {view['oldest_period']:,}"
    facts += [("period", f"{view['period']:,}, {lasts}")]
    if view.get("began") is not None:  # to the second, for another collector's --began
        facts.append(("began", datetime.fromtimestamp(view["began"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")))
    facts.append(("ends", moment(view["ends"])))
    submits = "relays only" if view["relayed_only"] else "who has an ingest key" if view["needs_key"] else "anyone"
    facts.append(("who submits", submits))
    reads = f"anyone, from {view['release_floor']:,} reports on" if view["public"] else "who has a token"
    facts.append(("who reads", reads))
    if "keep" in view:
        days = "always" if view["keep_days"] is None else f"for {many(view['keep_days'], 'day', 'days')}"
        facts.append(("kept", f"{view['keep']}, {days}"))
    if view.get("excluded"):
        facts.append(("left out", ", ".join(build or DASH for build in view["excluded"])))
    if view["predecessor"] is not None:
        facts.append(("follows", " ← ".join(id[:_SHORT] for id in view["chain"][1:])))
    return facts


def exported(id: str, to: str, done: Exported) -> None:
    """Print what became of the periods of an export."""
    console = terminal.stdout()
    if done.written:
        rows = [[f"{each['period']:,}", f"{each['n']:,}"] for each in done.written]
        grid.show(console, [grid.Column("period"), grid.Column("reports")], rows)
    number = many(len(done.written), "period", "periods")
    console.print(f"{number} of {id[:_SHORT]} → [bold]{terminal.cell(to).markup}[/]", soft_wrap=True)
    for periods, words in (
        (done.present, "there before; --again writes them anew"),
        (done.unfinished, "not over: more may come"),
        (done.uncounted, "over, and not counted to the end: try again in a moment"),
    ):
        if periods:
            terminal.note(f"{many(len(periods), 'period', 'periods')} {words}.")
    if not (done.written or done.present or done.unfinished or done.uncounted):
        terminal.note("No period has reports yet.")


def _errors(view: dict[str, Any]) -> list[str]:
    """How wide 95 % intervals are now, beside what was wished for."""
    wished = view["wished_error"]
    aim = "" if wished is None else f", wished ±{number(wished, 3)}"
    found = []
    for each in margins(view):
        where = "" if each.attribute is None else f"{each.attribute}: "
        found.append(f"{where}±{number(each.margin, 3)} (95 %){aim}")
    return found or [f"{'of each period by itself' if view['n'] else 'no report yet'}{aim}"]


def _status(view: dict[str, Any]) -> Any:
    colour = {"open": "green", "draft": "yellow", "closed": "dim"}.get(view["status"], "")
    forced = ", against the planner's advice" if view.get("forced") else ""
    return terminal.cell(f"{view['status']}{forced}", colour)


def tokens(rows: Sequence[dict[str, Any]], names: dict[str, str]) -> None:
    """Print what is known of tokens."""
    columns = [grid.Column(name, "left") for name in ("id", "role", "label", "collection", "expires")]
    cells = [
        [
            each["id"],
            each["role"],
            shortened(each["label"], 40),
            "all" if each["collection"] is None else shortened(names.get(each["collection"], each["collection"]), 40),
            moment(each["expires"]),
        ]
        for each in rows
    ]
    grid.show(terminal.stdout(), columns, cells)


def deeds(rows: Sequence[dict[str, Any]]) -> None:
    """Print what administrators did."""
    if not rows:
        terminal.note("Nothing was done yet.")
        return
    columns = [grid.Column(name, "left") for name in ("day", "who", "what", "collection", "detail")]
    cells = [
        [
            each["day"],
            shortened(each["who"], 30),
            each["what"],
            (each["collection"] or DASH)[:_SHORT],
            ", ".join(f"{name} {value}" for name, value in each["detail"].items() if value is not None),
        ]
        for each in rows
    ]
    grid.show(terminal.stdout(), columns, cells)
