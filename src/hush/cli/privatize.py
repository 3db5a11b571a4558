"""`hush privatize`: values in, reports out. It has no seed: real people's privacy hangs on its randomness."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hush import atomic
from hush.cli.asked import paths
from hush.cli.asked.clients import ClientsFile, InPeriod, KeepNothing, Limit, Period, Person, PersonOptions
from hush.cli.asked.columns import ColumnOptions
from hush.cli.asked.engines import Address, EngineName, is_far
from hush.cli.asked.mechanism import MechanismOptions
from hush.cli.asked.options import (
    CHOICE,
    Delta,
    Epsilon,
    EpsilonPermanent,
    EpsilonReport,
    High,
    Json,
    Low,
    MechanismName,
    Sensitive,
    Settings,
    SpecFile,
    SpecOut,
    StatementFile,
    asked,
)
from hush.cli.process import complete
from hush.cli.shown import bars, statements, terminal
from hush.errors import ParameterError, message
from hush.files import reports as report_files
from hush.files.clients import ClientStore, PeopleTable
from hush.files.kept import kept_columns
from hush.files.listing import listed
from hush.files.paths import here, quoted
from hush.files.periods import PERIOD
from hush.files.randomizing import Rows, Written
from hush.files.reports import AS_READ
from hush.guarantee import LDP, Guarantee
from hush.mechanisms.spec import Spec
from hush.people.coding import Likeness
from hush.reports.tuples_in_words import of_tuples
from hush.reports.words import described, many

_NAMES = {"clients": "--clients", "limit": "--limit", "output": "--output"}
_INPUT = {"reports": "input"}


def privatize(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files of values (.csv, .csv.gz, .parquet, .arrow, .feather, .arrows), folders of them, or patterns, "
            "here or at a URI such as s3://….",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.parquet",
            help="Where to write the reports (.parquet); with --engine ray a folder of such files, a new one.",
        ),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="The column to protect; repeated, several in one report."),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="[NAME=]FILE",
            help="The labels: one per line, or .json, which may have those of all columns by name. Else values are "
            "0..k-1. Repeatable, with a column's name before it.",
        ),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            "--other",
            metavar="[NAME=]LABEL",
            help="A label that takes in unknown and missing values, of all columns or of one.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="NAME", help="A column to copy in the clear, for `estimate --by`; repeatable."),
    ] = None,
    strip: Annotated[
        bool, typer.Option("--strip", help="Do not count spaces at the ends of cells and labels.")
    ] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", help="Take a cell for a label that differs in upper and lower case only.")
    ] = False,
    clip: Annotated[
        bool,
        typer.Option("--clip", help="Count numbers above the largest value as it, and, for a mean, below the lowest."),
    ] = False,
    keep_order: Annotated[
        bool,
        typer.Option("--keep-order", help="Leave the rows in the input's order, which may tell their values."),
    ] = False,
    temporary: Annotated[
        Path | None,
        typer.Option(
            "--temporary",
            metavar="DIR",
            help="Where rows wait, encrypted, if they do not fit the memory; else the output's folder.",
        ),
    ] = None,
    person: Person = None,
    period: Period = None,
    in_period: InPeriod = None,
    clients: ClientsFile = None,
    limit: Limit = None,
    keep_nothing: KeepNothing = False,
    mechanism: MechanismName = None,
    k: Annotated[
        list[str] | None,
        typer.Option(
            "--k",
            metavar="[NAME=]K",
            help="Number of values in the domain, of all columns or of one.",
            rich_help_panel=CHOICE,
        ),
    ] = None,
    low: Low = None,
    high: High = None,
    epsilon: Epsilon = None,
    epsilon_permanent: EpsilonPermanent = None,
    epsilon_report: EpsilonReport = None,
    delta: Delta = None,
    settings: Settings = None,
    sensitive: Sensitive = None,
    spec: SpecFile = None,
    spec_out: SpecOut = None,
    statement: StatementFile = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Randomize a column of a file, or several, one report a row, with secure randomness, and shuffle the rows.

    Of several files, the rows of all are shuffled together.
    The reports go to a Parquet file that carries the collection's spec. Its rows are in a random order, kept columns
    with them, since the order of people often tells what they hold. A cell means the label that it equals; a
    number and a text also meet when the text reads as that number. How many rows match no label is told, never which.
    CSV columns are read as text, and an empty field is a missing value; so is a blank line in a file of one column.
    Duchi, Piecewise and Hybrid take numbers, from --low to --high, and estimate their mean.
    SMP, SPL, RSFD and RSRFD take several columns; --set mechanism=OUE or variant=OUE-z says how each is randomized.
    Where people report again and again, --person and --period say whose a row is and when it was asked for. Protocols
    that keep answers (LOSUE, LGRR, OLOLOHA, …, and LSMP and LSPL for several columns) keep them in --clients, with
    what each person has spent; a run that is cut short is run again with the same --output.
    """
    said = ColumnOptions(column or [], domain or [], other or [], k or [])
    inputs = asked(lambda: listed(sources), _INPUT)
    far, others = is_far(engine, address), {"--spec-out": spec_out, "--statement": statement}
    if far:
        here("--output", output)
        _refuse({"--keep-order": keep_order, "--temporary": temporary, "--person": person, "--clients": clients})
    paths.writable(
        others if far else {"--output": output, **others},
        [*(Path(each.path) for each in inputs if each.filesystem is None), *said.files, spec, clients],
    )
    paths.outside({"--output": output, **others}, [Path(each) for each in sources if os.path.isdir(each)])
    choice = MechanismOptions(
        mechanism, said.k, epsilon, delta, settings, spec, sensitive, low, high, epsilon_permanent, epsilon_report
    )
    chosen, columns = said.spec(choice)
    kept = kept_columns(keep, columns)
    who = PersonOptions(person, period, in_period, clients, limit, keep_nothing)
    who.check(chosen, columns, kept)
    order = report_files.AS_READ if keep_order else report_files.SHUFFLED
    how: dict[str, Any] = {"progress": partial(bars.progress, quiet=as_json)}
    table = (inputs, columns, kept, chosen, clip, Likeness(strip, ignore_case))
    where, made = _temporary(temporary, output), None
    with complete.told(output):
        if far:
            from hush.engine.ray import connect
            from hush.engine.ray import privatize as scattered

            rows = Rows(*table)
            with connect(address) as workers:
                written = asked(lambda: scattered(workers, rows, output, **how), _INPUT)
        elif person is None:
            rows = Rows(*table)
            written = asked(lambda: rows.write(output, order, where, **how), _INPUT)
        else:
            rows = people = PeopleTable(*table, person=person, period=period, always=in_period)
            with asked(lambda: ClientStore(clients), _NAMES) as store:
                written, made = asked(
                    lambda: people.collect(store, output, order, where, limit=who.most, **how), _NAMES
                )
        if spec_out is not None:
            atomic.write(spec_out, chosen.to_json())
        _warn(rows, written, order, output)
        if made is not None and not as_json:
            who.warn(chosen, made)
        _tell(rows, written, order, output, as_json, {} if made is None else who.plain(chosen, made))
    caveats = statements.of_file(written, order)
    known: dict[str, Any] = {"n": written.reports, "kept": rows.kept}
    if made is not None:
        beside = [PERIOD] if who.has_periods else []
        each = written.reports // max(1, len(made.periods))  # of one period, as estimates are
        caveats += statements.of_store(chosen, stored=clients is not None, limit=who.most)
        known = {
            "n": min(made.people, each) or made.people,
            "kept": [*beside, *rows.kept],
            "reports": max(made.totals.most, 1),
        }
    statements.write(statement, chosen, quiet=as_json, caveats=caveats, **known)


def _refuse(given: dict[str, object]) -> None:
    """Refuse what one machine alone can do."""
    for option, value in given.items():
        if value:
            rule = "must be left out with --engine ray, where rows are shuffled by many machines at once"
            if option in ("--person", "--clients"):
                rule = "must be left out with --engine ray: what people have spent is kept in one place"
            raise ParameterError(message(option, rule, value, "leave it out, or use --engine local"))


def _promise(spec: Spec) -> Guarantee:
    """What one report promises."""
    m = spec.mechanism
    return LDP(m.epsilon_report) if m.kind == "longitudinal" else m.guarantee


def _temporary(given: Path | None, output: Path) -> Path:
    """The folder for rows that wait: the output's own, which must have room for the reports, if none is given."""
    if given is None:
        return Path(os.path.realpath(output)).parent
    if not given.is_dir():
        raise ParameterError(message("--temporary", "must be a folder that exists", quoted(given), "make it first"))
    return given


def _warn(rows: Rows, written: Written, order: str, output: Path) -> None:
    """What the file does not protect."""
    m = rows.spec.mechanism
    if written.rows == written.reports == 0:
        terminal.warn(f"the input has no rows: {output} holds no reports.")
    if any(written.unmatched.values()):
        unused = rows.alike.unused
        hint = f" Where only spaces or case differ, add {' or '.join(unused)}." if unused else ""
        terminal.warn(f"rows that match no label: {_some(rows, written, written.unmatched)}.{hint}")
    if any(written.missing.values()):
        terminal.note(f"Rows without a value: {_some(rows, written, written.missing)}.")
    if rows.clip:
        some = _counted(written.clipped, written.rows, lambda _: "")
        terminal.note(f"Rows whose number lies beyond the range: {some}. They report its end (--clip).")
    if written.blank:
        terminal.warn(f"blank lines: {written.blank:,}. They are nobody's, since rows have several cells.")
    if _promise(rows.spec) is None:
        terminal.warn(f"{m.name()} has no privacy guarantee: it is a baseline for audits, not for people's data.")
    if rows.kept:
        names = ", ".join(rows.kept)
        terminal.warn(f"kept in the clear, with no protection: {names}. Anyone who reads {output} reads them.")
    if order == AS_READ:
        terminal.warn(
            f"the rows of {output} are in the input's order (--keep-order). Where that has to do with the values, as "
            "in a sorted file, the reports around a row tell its value together; and who knows the input's order knows "
            "whose report each is."
        )
    elif rows.kept and written.reports:
        terminal.note(_hidden(written.smallest_group))


def _some(rows: Rows, written: Written, cells: dict[str, int]) -> str:
    """How many rows said no label, and what they report; which they are is nobody's business."""
    domains = getattr(rows.spec.domain, "domains", [rows.spec.domain])
    others = {name: repr(domain.other) for name, domain in zip(rows.columns, domains, strict=True)}
    if len(cells) == 1:
        return f"{_counted(cells, written.rows, lambda _: '')}. They report {others[rows.columns[0]]}"
    return _counted(cells, written.rows, lambda name: f", which report {others[name]}")


def _counted(cells: dict[str, int], n: int, after: Callable[[str], str]) -> str:
    """Numbers of rows: of one column, or of each of several that has any."""
    if len(cells) == 1:
        return f"{sum(cells.values()):,} of {n:,}"
    some = [f"{name} {count:,}{after(name)}" for name, count in cells.items() if count]
    return f"{'; '.join(some) or 'none'}; of {n:,}"


def _hidden(smallest: int | None) -> str:
    """Among how many reports a reader of the file cannot tell one from another."""
    if smallest is None:
        return (
            "Reports with the same kept cells were not counted, since there are too many groups, or cells, such as "
            "lists, that make none: take it that some report has no other to hide among."
        )
    some = many(smallest, "report", "reports")
    return f"A report hides among those with the same kept cells: {some} in the smallest group."


def _tell(rows: Rows, written: Written, order: str, output: Path, as_json: bool, more: dict[str, Any]) -> None:
    spec, n, promise = rows.spec, written.reports, _promise(rows.spec)
    size = spec.mechanism.report_dtype.itemsize
    if as_json:
        terminal.print_json(
            {
                "reports": n,
                "bytes_per_report": size,
                "output": str(output),
                "unmatched": _plain(written.unmatched),
                "missing": _plain(written.missing),
                "clipped": _plain(written.clipped),
                "blank_lines": written.blank,
                "kept": rows.kept,
                "smallest_group": written.smallest_group,
                "order": order,
                "randomness": "secure",
                "guarantee": None if promise is None else str(promise),
                **more,
                "spec_hash": spec.hash,
                "spec": spec.to_dict(),
            }
        )
        return
    placed = "rows in the input's order" if order == AS_READ else "shuffled rows"
    terminal.stdout().print(
        f"{many(n, 'report', 'reports')} of {many(size, 'byte', 'bytes')} each → "
        f"[bold]{terminal.cell(output).markup}[/]\n"
        f"{terminal.cell(described(spec)).markup}, secure randomness, "
        f"{placed}, spec {spec.hash[:12]}",
        soft_wrap=True,
    )
    for sentence in of_tuples(spec):
        terminal.note(sentence)


def _plain(cells: dict[str, int]) -> int | dict[str, int]:
    """Of one column a number, of several one each."""
    return cells if len(cells) > 1 else sum(cells.values())
