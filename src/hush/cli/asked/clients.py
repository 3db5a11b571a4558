"""What was said of whose the rows are, and of which period: people who report again and again."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from hush.cli.shown import terminal
from hush.errors import NOTHING, ParameterError, message
from hush.files.clients import StoreRun
from hush.files.periods import PERIOD
from hush.longitudinal.ledger import amount_of
from hush.mechanisms.spec import Spec
from hush.reports import over_time_in_words as words
from hush.reports.words import many

PANEL = "People who report again"

Person = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="NAME",
        help="The column that says whose a row is. It is written nowhere; rows are counted by it.",
        rich_help_panel=PANEL,
    ),
]
Period = Annotated[
    str | None,
    typer.Option(
        "--period",
        metavar="NAME",
        help="The column that says when a row was asked for, such as a month. It is written in the clear.",
        rich_help_panel=PANEL,
    ),
]
InPeriod = Annotated[
    str | None,
    typer.Option(
        "--in-period",
        metavar="TEXT",
        help="The one period of all rows, such as 2026-03, where no column says it.",
        rich_help_panel=PANEL,
    ),
]
ClientsFile = Annotated[
    Path | None,
    typer.Option(
        "--clients",
        metavar="FILE.hushdb",
        help="Where people's permanent answers and accounts are kept from run to run; as sensitive as the data.",
        rich_help_panel=PANEL,
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="E",
        help="The most that one person may lose in all, in nats; whoever would exceed it does not report.",
        rich_help_panel=PANEL,
    ),
]
KeepNothing = Annotated[
    bool,
    typer.Option(
        "--keep-nothing",
        help="Keep no answers after this run, where a protocol over time would: another run then draws new ones.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class PersonOptions:
    """The options that speak of people and periods."""

    person: str | None
    period: str | None
    in_period: str | None
    clients: Path | None
    limit: str | None
    nothing: bool

    @property
    def most(self) -> Fraction | None:
        """The limit."""
        return None if self.limit is None else amount_of("--limit", self.limit)

    @property
    def has_periods(self) -> bool:
        """Whether rows are of periods."""
        return self.period is not None or self.in_period is not None

    def check(self, spec: Spec, columns: list[str], kept: list[str]) -> None:
        """Refuse what does not go together."""
        over_time = spec.mechanism.kind == "longitudinal"
        if self.person is None:
            said = {
                "--period": self.period,
                "--in-period": self.in_period,
                "--clients": self.clients,
                "--limit": self.limit,
                "--keep-nothing": self.nothing or None,
            }
            for option, value in said.items():
                if value is not None:
                    remedy = "name the column that says whose a row is"
                    raise ParameterError(message(option, "needs --person beside it", str(value), remedy))
            if over_time:
                rule = f"must be given for {spec.mechanism.name()}, which keeps answers for each person"
                raise ParameterError(message("--person", rule, NOTHING, "name the column that says whose a row is"))
            return
        self._names(columns, kept)
        self._store(spec, over_time)
        _ = self.most

    def _names(self, columns: list[str], kept: list[str]) -> None:
        for option, name in {"--person": self.person, "--period": self.period}.items():
            if name is not None and name in columns:
                raise ParameterError(message(option, "must not be a column to protect", name, "name another column"))
        if self.person in {*kept, self.period}:
            rule = "must stand in no output, so it is neither kept nor the period"
            raise ParameterError(message("--person", rule, self.person, "keep another column"))
        if self.period is not None and self.in_period is not None:
            raise ParameterError(message("--in-period", "must stand without --period", self.in_period, "name one"))
        if self.in_period == "":
            raise ParameterError(message("--in-period", "must name a period", self.in_period, "write e.g. 2026-03"))
        if self.has_periods and PERIOD in kept:
            rule = "must not take the name of the periods' own column"
            raise ParameterError(message("--keep", rule, PERIOD, "leave it out: the period is kept anyway"))

    def _store(self, spec: Spec, over_time: bool) -> None:
        if self.clients is not None and self.nothing:
            raise ParameterError(message("--keep-nothing", "must stand without --clients", "both", "name one"))
        if self.clients is not None and not self.has_periods:
            rule = "needs the period of each row, since nobody reports twice in one"
            raise ParameterError(message("--clients", rule, str(self.clients), "add --period, or --in-period 2026-03"))
        if over_time and self.clients is None and not self.nothing:
            rule = f"must be given for {spec.mechanism.name()}, whose answers are kept from run to run"
            remedy = "name a file, or say --keep-nothing where there will be no other run"
            raise ParameterError(message("--clients", rule, NOTHING, remedy))

    def warn(self, spec: Spec, made: StoreRun) -> None:
        """What reports of the same people again and again cost and show."""
        if made.again:
            terminal.warn(words.of_several(spec, made, periods=self.has_periods))
        if made.refused and self.most is not None:
            terminal.warn(words.of_refused(spec, made, self.most))
        if made.passed_over:
            rows = many(made.passed_over, "row", "rows")
            terminal.note(f"{rows} of people who had reported in that period already: passed over, and not charged.")
        if made.left_over:
            some = many(made.left_over, "report", "reports")
            terminal.note(f"{some} made by a run that was cut short: written now, and not made again.")
        if self.has_periods:
            terminal.note("The period of each report is in the clear.")
        for sentence in words.of_account(spec, made, self.most, stored=self.clients is not None):
            terminal.note(sentence)
        for sentence in words.of_protocol(spec):
            terminal.note(sentence)
        if self.clients is not None:
            holds = "permanent answers" if spec.mechanism.kind == "longitudinal" else "what everybody has spent"
            terminal.note(f"{self.clients} holds {holds}: keep it as safely as the data, and make no copies.")

    def plain(self, spec: Spec, made: StoreRun) -> dict[str, Any]:
        """The same, for programs."""
        totals = made.totals

        def number(amount: Fraction | None) -> float | None:
            return None if amount is None else float(amount)

        return {
            "people": made.people,
            "periods": list(made.periods),
            "several_rows": made.again,
            "passed_over": made.passed_over,
            "refused": made.refused,
            "refused_people": made.refused_people,
            "left_over": made.left_over,
            "clients": None if self.clients is None else str(self.clients),
            "account": {
                "fewest_reports": totals.fewest,
                "most_reports": totals.most,
                "least_epsilon": number(totals.least_spent),
                "most_epsilon": number(totals.most_spent),
                "limit": number(self.most),
            },
        }
