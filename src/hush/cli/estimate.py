"""`hush estimate`: reports in, frequencies with error bars out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hush.cli import _console
from hush.cli._numbers import real, whole
from hush.cli._options import Json, MechanismName, Png, SpecFile, SpecOut

if TYPE_CHECKING:
    from hush.cli._estimates import Result


def estimate(
    sources: Annotated[
        list[Path], typer.Argument(metavar="REPORTS…", help="Report files (.parquet) and saved aggregates (.hush).")
    ],
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="One estimate for each group of a kept column.")
    ] = None,
    level: Annotated[
        float, typer.Option("--level", metavar="L", parser=real("--level", "0.95"), help="Coverage of the intervals.")
    ] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Cover all values together at that level, not each on its own.")
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="METHOD",
            help="Add a post-processed column: simplex (sums to 1), clip (any sum) or norm-cut (may fall well short "
            "of 1).",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="N",
            parser=whole("--top", 1, "10"),
            help="Show the N most frequent; the CSV file holds all.",
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE.csv", help="Also write all numbers (.csv).")
    ] = None,
    png: Png = None,
    aggregate_out: Annotated[
        Path | None,
        typer.Option("--aggregate-out", metavar="FILE.hush", help="Also save the aggregate (.hush), to merge later."),
    ] = None,
    mechanism: MechanismName = None,
    spec: SpecFile = None,
    spec_out: SpecOut = None,
    as_json: Json = False,
) -> None:
    """Estimate how frequent each value is, from reports of one collection.

    Files are read in batches, in bounded memory, and merged. Frequencies are raw and unbiased, so a rare value's may
    fall below zero; --project adds a column that looks like a distribution, for which no error bar holds.
    A saved aggregate needs --spec; a mechanism of your own needs --mechanism module:Class.
    """
    from hush.cli import _files, _paths
    from hush.cli._choose import allow
    from hush.cli._collect import collect
    from hush.cli._estimate_table import show
    from hush.cli._estimates import Settings, as_csv, as_dict, rows_of, shown
    from hush.errors import ParameterError, message
    from hush.estimation import consistency, intervals

    outputs = {"--csv": csv, "--png": png, "--aggregate-out": aggregate_out, "--spec-out": spec_out}
    _paths.writable(outputs, [*sources, spec])
    intervals.quantile(level)
    if project is not None and project not in consistency.METHODS:
        rule = f"must be one of {', '.join(consistency.METHODS)}"
        raise ParameterError(message("--project", rule, project, "use e.g. simplex"))
    if by is not None and aggregate_out is not None:
        raise ParameterError(message("--aggregate-out", "must stand without --by", by, "save the whole, or one group"))
    allow(mechanism)
    collection = collect(sources, spec, by, mechanism, quiet=as_json)
    settings = Settings(level, simultaneous, project)
    results = [rows_of(collection.spec.estimate(part), group, settings) for group, part in collection.parts.items()]
    picked = [shown(result, top) for result in results]
    if csv is not None:
        _files.write(csv, as_csv(results, by))
    if png is not None:
        _draw(png, f"{collection.title}\n{settings.caption}", picked, by is not None)
    if aggregate_out is not None:
        _files.write(aggregate_out, collection.total.to_bytes())
    if spec_out is not None:
        _files.write(spec_out, collection.spec.to_json())
    if as_json:
        _console.print_json(as_dict(collection, picked, by, settings))
        return
    show(collection, picked, by, settings)
    for written in outputs.values():
        if written is not None:
            _console.note(f"wrote {written}")


def _draw(path: Path, title: str, results: list[Result], grouped: bool) -> None:
    from hush.cli import _files
    from hush.reports import figures

    series = [result.series(grouped) for result in results]
    _console.warn_of_signs(figures.unprintable(series))
    _files.write(path, figures.png(figures.estimates(series, title)))
