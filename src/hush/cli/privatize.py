"""`hush privatize`: values in, reports out. It has no seed: real people's privacy hangs on its randomness."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hush import atomic
from hush.cli import _console, _paths, _progress, _statement
from hush.cli._choose import MechanismOptions, numeric_class
from hush.cli._options import (
    Delta,
    Epsilon,
    High,
    Json,
    K,
    Low,
    MechanismName,
    Sensitive,
    Settings,
    SpecFile,
    SpecOut,
    StatementFile,
)
from hush.errors import NOTHING, ParameterError, message
from hush.files import reports as report_files
from hush.files.domains import read_domain
from hush.files.kept import kept_columns
from hush.files.paths import quoted
from hush.files.randomizing import Rows, Written
from hush.files.reports import AS_READ
from hush.mechanisms.spec import Spec
from hush.people.coding import Likeness
from hush.reports.words import described, many


def privatize(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="A .csv, .csv.gz or .parquet file of values.")],
    column: Annotated[str, typer.Option("--column", metavar="NAME", help="The column to protect.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.parquet", help="Where to write the reports (.parquet).")
    ],
    domain: Annotated[
        Path | None,
        typer.Option("--domain", metavar="FILE", help="The labels: one per line, or .json. Else values are 0..k-1."),
    ] = None,
    other: Annotated[
        str | None, typer.Option("--other", metavar="LABEL", help="A label that takes in unknown and missing values.")
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
    mechanism: MechanismName = None,
    k: K = None,
    low: Low = None,
    high: High = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    settings: Settings = None,
    sensitive: Sensitive = None,
    spec: SpecFile = None,
    spec_out: SpecOut = None,
    statement: StatementFile = None,
    as_json: Json = False,
) -> None:
    """Randomize a column of a file, one report a row, with secure randomness, and shuffle the rows.

    The reports go to a Parquet file that carries the collection's spec. Its rows are in a random order, kept columns
    with them, since the order of people often tells what they hold. A cell means the label that it equals; a
    number and a text also meet when the text reads as that number. How many rows match no label is told, never which.
    CSV columns are read as text, and an empty field is a missing value; so is a blank line in a file of one column.
    Duchi, Piecewise and Hybrid take numbers, from --low to --high, and estimate their mean.
    """
    _paths.writable({"--output": output, "--spec-out": spec_out, "--statement": statement}, [source, domain, spec])
    chosen = _spec(MechanismOptions(mechanism, k, epsilon, delta, settings, spec, sensitive, low, high), domain, other)
    rows = Rows(source, column, kept_columns(keep, column), chosen, clip, Likeness(strip, ignore_case))
    order = report_files.AS_READ if keep_order else report_files.SHUFFLED
    written = rows.write(
        output, order, _temporary(temporary, output), progress=partial(_progress.progress, quiet=as_json)
    )
    if spec_out is not None:
        atomic.write(spec_out, chosen.to_json())
    _warn(rows, written, order, output)
    _tell(rows, written, order, output, as_json)
    caveats = _statement.of_file(written, order)
    _statement.write(statement, chosen, quiet=as_json, n=written.reports, kept=rows.kept, caveats=caveats)


def _spec(choice: MechanismOptions, domain: Path | None, other: str | None) -> Spec:
    if domain is None and choice.k is None and choice.spec is None and numeric_class(choice.mechanism) is None:
        raise ParameterError(
            message(
                "domain",
                "must be given: labels are never taken from the data, since which labels occur is itself private",
                NOTHING,
                "add --domain with a file of labels, or --k for the values 0..k-1",
            )
        )
    if other is not None and domain is None:
        said = "leave it out, the spec says it" if choice.spec is not None else "add --domain with a file of labels"
        raise ParameterError(message("--other", "needs labels beside it", other, said))
    return choice.build_any(None if domain is None else read_domain(domain, other, "--domain"))


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
    if written.reports == 0:
        _console.warn(f"the input has no rows: {output} holds no reports.")
    if written.unmatched:
        _console.warn(_strange(written, rows))
    if written.missing:
        _console.note(f"Rows without a value: {written.missing:,} of {written.reports:,}. They report {_other(rows)}.")
    if rows.clip:
        some = f"{written.clipped:,} of {written.reports:,}"
        _console.note(f"Rows whose number lies beyond the range: {some}. They report its end (--clip).")
    if written.blank:
        _console.warn(f"blank lines: {written.blank:,}. They are nobody's, since rows have several cells.")
    if m.guarantee is None:
        _console.warn(f"{m.name()} has no privacy guarantee: it is a baseline for audits, not for people's data.")
    if rows.kept:
        names = ", ".join(rows.kept)
        _console.warn(f"kept in the clear, with no protection: {names}. Anyone who reads {output} reads them.")
    if order == AS_READ:
        _console.warn(
            f"the rows of {output} are in the input's order (--keep-order). Where that has to do with the values, as "
            "in a sorted file, the reports around a row tell its value together; and who knows the input's order knows "
            "whose report each is."
        )
    elif rows.kept and written.reports:
        _console.note(_hidden(written.smallest_group))


def _strange(written: Written, rows: Rows) -> str:
    """How many rows match no label; which they are is nobody's business."""
    unused = rows.alike.unused
    hint = f" Where only spaces or case differ, add {' or '.join(unused)}." if unused else ""
    some = f"{written.unmatched:,} of {written.reports:,}"
    return f"rows that match no label: {some}. They report {_other(rows)}.{hint}"


def _other(rows: Rows) -> str:
    return repr(getattr(getattr(rows.spec, "domain", None), "other", None))


def _hidden(smallest: int | None) -> str:
    """Among how many reports a reader of the file cannot tell one from another."""
    if smallest is None:
        return (
            "Reports with the same kept cells were not counted, since there are too many groups, or cells, such as "
            "lists, that make none: take it that some report has no other to hide among."
        )
    some = many(smallest, "report", "reports")
    return f"A report hides among those with the same kept cells: {some} in the smallest group."


def _tell(rows: Rows, written: Written, order: str, output: Path, as_json: bool) -> None:
    spec, n, size = rows.spec, written.reports, rows.spec.mechanism.report_dtype.itemsize
    if as_json:
        _console.print_json(
            {
                "reports": n,
                "bytes_per_report": size,
                "output": str(output),
                "unmatched": written.unmatched,
                "missing": written.missing,
                "clipped": written.clipped,
                "blank_lines": written.blank,
                "kept": rows.kept,
                "smallest_group": written.smallest_group,
                "order": order,
                "randomness": "secure",
                "spec_hash": spec.hash,
                "spec": spec.to_dict(),
            }
        )
        return
    placed = "rows in the input's order" if order == AS_READ else "shuffled rows"
    _console.stdout().print(
        f"{many(n, 'report', 'reports')} of {many(size, 'byte', 'bytes')} each → "
        f"[bold]{_console.cell(output).markup}[/]\n"
        f"{_console.cell(described(spec)).markup}, secure randomness, "
        f"{placed}, spec {spec.hash[:12]}",
        soft_wrap=True,
    )
