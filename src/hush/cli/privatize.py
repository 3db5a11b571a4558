"""`hush privatize`: values in, reports out. It has no seed: real people's privacy hangs on its randomness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli import _console
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
)

if TYPE_CHECKING:
    from hush.cli._choose import Choice
    from hush.cli._numeric_spec import AnySpec


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
    clip: Annotated[
        bool,
        typer.Option("--clip", help="Count numbers above the largest value as it, and, for a mean, below the lowest."),
    ] = False,
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
    as_json: Json = False,
) -> None:
    """Randomize a column of a file, one report a row, with secure randomness.

    The reports go to a Parquet file that carries the collection's spec. A cell means the label that it equals; a
    number and a text also meet when the text reads as that number. CSV columns are read as text, and an empty
    field is a missing value. Duchi, Piecewise and Hybrid take numbers, from --low to --high, and estimate their mean.
    """
    from hush.cli import _files, _paths
    from hush.cli._choose import Choice

    _paths.writable({"--output": output, "--spec-out": spec_out}, [source, domain, spec])
    chosen = _spec(Choice(mechanism, k, epsilon, delta, settings, spec, sensitive, low, high), domain, other)
    kept = _kept(keep, column)
    n = _run(source, column, kept, chosen, output, clip=clip, quiet=as_json)
    if spec_out is not None:
        _files.write(spec_out, chosen.to_json())
    _tell(chosen, n, output, kept, as_json)


def _spec(choice: Choice, domain: Path | None, other: str | None) -> AnySpec:
    from hush.cli._classes import numeric_class
    from hush.cli._domains import read_domain
    from hush.cli._usage import NOTHING
    from hush.errors import ParameterError, message

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
        raise ParameterError(message("--other", "needs labels beside it", other, "add --domain with a file of labels"))
    return choice.build_any(None if domain is None else read_domain(domain, other))


def _kept(keep: list[str] | None, column: str) -> list[str]:
    from hush.cli._reports import COLUMN
    from hush.errors import ParameterError, message

    names = list(dict.fromkeys(keep or []))
    for name in names:
        if name == column:
            raise ParameterError(message("--keep", "must not be the column to protect", name, "keep another column"))
        if name == COLUMN:
            raise ParameterError(message("--keep", "must not take the reports' own name", name, "rename that column"))
    return names


def _run(source: Path, column: str, kept: list[str], spec: AnySpec, output: Path, *, clip: bool, quiet: bool) -> int:
    from hush.cli import _reports, _tables

    rows = _reports.batch_rows(spec)
    table = _tables.Table(source, {column: "--column", **dict.fromkeys(kept, "--keep")}, rows)
    cells = _reader(spec, column, clip=clip)
    done = 0
    with (
        _reports.writing(output, spec, "secure") as write,
        _console.progress(f"Randomizing {source.name}", table.size, quiet=quiet) as advance,
    ):
        for batch in table.batches(advance):
            values = cells.encode(batch.column(0), done + 1)
            write(spec.mechanism.privatize(values), batch.select(kept) if kept else None)
            done += batch.num_rows
    return done


def _reader(spec: AnySpec, column: str, *, clip: bool) -> Any:
    """What turns the column's cells into what the mechanism takes."""
    from hush.cli._amount_cells import AmountReader
    from hush.cli._labels import Coder
    from hush.cli._numeric_spec import NumericSpec

    if isinstance(spec, NumericSpec):
        return AmountReader(spec.mechanism, column, clip=clip)
    return Coder(spec.domain, column, clip=clip)


def _tell(spec: AnySpec, n: int, output: Path, kept: list[str], as_json: bool) -> None:
    from hush.cli._numeric_spec import described
    from hush.reports.words import many

    m = spec.mechanism
    size = m.report_dtype.itemsize
    if n == 0:
        _console.warn(f"the input has no rows: {output} holds no reports.")
    if m.guarantee is None:
        _console.warn(f"{m.name()} has no privacy guarantee: it is a baseline for audits, not for people's data.")
    if kept:
        names = ", ".join(kept)
        _console.warn(f"kept in the clear, with no protection: {names}. Anyone who reads {output} reads them.")
    if as_json:
        _console.print_json(
            {
                "reports": n,
                "bytes_per_report": size,
                "output": str(output),
                "kept": kept,
                "randomness": "secure",
                "spec_hash": spec.hash,
                "spec": spec.to_dict(),
            }
        )
        return
    _console.stdout().print(
        f"{many(n, 'report', 'reports')} of {many(size, 'byte', 'bytes')} each → "
        f"[bold]{_console.cell(output).markup}[/]\n"
        f"{_console.cell(described(spec)).markup}, secure randomness, spec {spec.hash[:12]}",
        soft_wrap=True,
    )
