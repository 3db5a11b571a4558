"""`hush estimate`: reports in, frequencies with error bars out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hush.cli import _console
from hush.cli._options import Json, MechanismName, Png, SpecFile, SpecOut


def estimate(
    sources: Annotated[
        list[Path], typer.Argument(metavar="REPORTS…", help="Report files (.parquet) and saved aggregates (.hush).")
    ],
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="One estimate for each group of a kept column.")
    ] = None,
    level: Annotated[float, typer.Option("--level", metavar="L", help="Coverage of the intervals.")] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Cover all values together at that level, not each on its own.")
    ] = False,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="METHOD", help="Add a post-processed column: simplex, clip or norm-cut."),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", min=1, help="Show the N most frequent; the CSV file holds all.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Also write all numbers as CSV.")] = None,
    png: Png = None,
    aggregate_out: Annotated[
        Path | None,
        typer.Option("--aggregate-out", metavar="FILE.hush", help="Also save the aggregate, to merge later."),
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
    from hush.cli import _files
    from hush.cli._choose import allow
    from hush.cli._collect import collect
    from hush.cli._estimates import as_csv, as_dict, rows_of, show, shown
    from hush.errors import ParameterError, message
    from hush.estimation import consistency, intervals

    intervals.quantile(level)
    if project is not None:
        consistency.method(project)
    if by is not None and aggregate_out is not None:
        raise ParameterError(message("--aggregate-out", "must stand without --by", by, "save the whole, or one group"))
    allow(mechanism)
    collection = collect(sources, spec, by, quiet=as_json)
    results = [
        rows_of(collection.spec.estimate(part), group, level, simultaneous, project)
        for group, part in collection.parts.items()
    ]
    picked = [shown(result, top) for result in results]
    if csv is not None:
        _files.write(csv, as_csv(results, by))
    if png is not None:
        from hush.reports import figures

        title = f"{collection.title}: {'simultaneous ' if simultaneous else ''}{level * 100:g} % intervals"
        _files.write(png, figures.png(figures.estimates([result.series(by is not None) for result in picked], title)))
    if aggregate_out is not None:
        _files.write(aggregate_out, collection.total.to_bytes())
    if spec_out is not None:
        _files.write(spec_out, collection.spec.to_json())
    settings = {"level": level, "simultaneous": simultaneous, "projection": project}
    if as_json:
        _console.print_json(as_dict(collection, picked, by, settings))
        return
    show(collection, picked, by, level, simultaneous, project)
    for written in (csv, png, aggregate_out, spec_out):
        if written is not None:
            _console.note(f"wrote {written}")
