"""`hush estimate`: reports in, frequencies or a mean with error bars out."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hush import atomic
from hush.cli.asked import paths
from hush.cli.asked.engines import Address, EngineName, cluster
from hush.cli.asked.mechanism import agree, allow, refuse_for_mean
from hush.cli.asked.options import Json, MechanismName, Png, SpecFile, SpecOut, StatementFile, asked
from hush.cli.asked.reading import real, whole
from hush.cli.shown import bars, periods, statements, terminal
from hush.cli.shown import means as shown_means
from hush.cli.shown.estimates import series_of, show, title_of
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.estimation import consistency, intervals
from hush.files import means
from hush.files.collections import KINDS, Collection
from hush.files.datasets import opened
from hush.files.estimates import EstimateSettings, as_csv, as_dict, results_of, rows_of, shown
from hush.files.groups import Together, by_size, folded, telling
from hush.files.periods import PERIOD
from hush.files.specs import of_kind

_TOTAL = {"domain": "--total"}


def estimate(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="REPORTS…",
            help="Files of reports (Parquet or Arrow) and saved aggregates (.hush): paths, folders, patterns, URIs.",
        ),
    ],
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="One estimate for each group of a kept column.")
    ] = None,
    attribute: Annotated[
        str | None,
        typer.Option("--attribute", metavar="NAME", help="Of tuples, this attribute only; else one table for each."),
    ] = None,
    all_periods: Annotated[
        bool,
        typer.Option("--all-periods", help="Take all periods together, where reports have some."),
    ] = False,
    in_period: Annotated[
        str | None,
        typer.Option(
            "--in-period", metavar="TEXT", help="Only this period, such as 2026-03, and its groups with --by."
        ),
    ] = None,
    floor: Annotated[
        int | None,
        typer.Option(
            "--floor",
            metavar="N",
            parser=whole("--floor", 1, "100"),
            help="Take groups of fewer people together; left out, only the picture does, where they would say nothing.",
        ),
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
            help="Only the N most frequent values, in the table and the figure; the CSV file holds all.",
        ),
    ] = None,
    total: Annotated[
        bool,
        typer.Option(
            "--total",
            help="Also the total, where labels are amounts; it is told by itself where the spec has values that are.",
        ),
    ] = False,
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
    statement: StatementFile = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Estimate how frequent each value is, or the mean and total of numbers, from reports of one collection.

    Of tuples, each attribute is estimated.

    Reports with periods are estimated period by period, and --png shows their course.

    Files are read in batches, in bounded memory, and merged. Frequencies are raw and unbiased, so a rare value's may
    fall below zero; --project adds a column that looks like a distribution, for which no error bar holds.
    A saved aggregate needs --spec; a mechanism of your own needs --mechanism module:Class.
    """
    outputs = {"--csv": csv, "--png": png, "--aggregate-out": aggregate_out, "--spec-out": spec_out}
    written = {**outputs, "--statement": statement}
    paths.writable(written, [*map(Path, sources), spec])
    paths.outside(written, [Path(each) for each in sources if os.path.isdir(each)])
    intervals.tail(level)
    if project is not None and project not in consistency.METHODS:
        rule = f"must be one of {', '.join(consistency.METHODS)}"
        raise ParameterError(message("--project", rule, project, "use e.g. simplex"))
    if by is not None and aggregate_out is not None:
        raise ParameterError(message("--aggregate-out", "must stand without --by", by, "save the whole, or one group"))
    allow(mechanism)
    found = asked(lambda: opened(sources, spec, by), {"by": "--by", "spec": "--spec"})
    paths.writable(written, [Path(place.path) for place in found.places if place.filesystem is None])
    if in_period is not None:
        if all_periods:
            raise ParameterError(message("--in-period", "must stand without --all-periods", in_period, "name one"))
        found = asked(partial(found.of_period, in_period), {"period": "--in-period"})
    one = in_period is not None or by == PERIOD
    course = by is None and aggregate_out is None and not all_periods and in_period is None and found.has_periods
    kept = found.spec.mechanism.kind == "longitudinal"
    if found.has_periods and not course and kept and (not one or aggregate_out is not None):
        option = "--all-periods" if all_periods else "--aggregate-out" if aggregate_out is not None else "--by"
        rule = "must be left out where people keep their answers: reports of one person in several periods are not "
        rule += "independent, and no interval of all of them together holds"
        remedy = "leave it out" if aggregate_out is not None else "leave it out, or name one period with --in-period"
        raise ParameterError(message(option, rule, Unsaid(found.spec.mechanism.name()), remedy))
    by = PERIOD if course else by
    if by is None and floor is not None:
        raise ParameterError(message("--floor", "must stand with --by", floor, "leave it out, or name a column"))
    where = str(spec or found.files[0].path)
    agree(mechanism, found.spec, where)
    of_mean = of_kind(found.spec, KINDS, where).mechanism.kind == "numeric"
    if of_mean:
        unsaid = {"--project": project, "--simultaneous": simultaneous, "--top": top, "--png": None if course else png}
        unsaid |= {"--total": total}
        refuse_for_mean(unsaid, found.spec)
    progress = partial(bars.progress, quiet=as_json)
    names = {"by": "--by", "period": "--in-period"}
    with cluster(engine, address) as far:
        read = partial(found.merged, by, progress=progress, engine=far)
        collection = folded(asked(read, names), floor or 0)
    _asked_for(collection, attribute, None if course else by, png)
    several = len(collection.attributes) if attribute is None and collection.attributes else 1
    settings = EstimateSettings(level, simultaneous, project, several, total)
    if of_mean:
        _mean(collection, by, level, outputs, as_json=as_json)
    elif course:
        _course(collection, top, settings, outputs, attribute, as_json)
    else:
        _frequencies(collection, by, top, settings, outputs, only=attribute, floor=floor, as_json=as_json)
    if found.has_periods and not course and not one and not as_json:
        terminal.note("Reports of all periods are taken together; --in-period takes those of one.")
    known = {} if statement is None else statements.of_collection(found.files, collection, by, settings, attribute)
    statements.write(statement, collection.spec, quiet=as_json, **known)
    for path in outputs.values():
        if path is not None and not as_json:
            terminal.note(f"wrote {path}")


def _mean(
    collection: Collection, by: str | None, level: float, outputs: dict[str, Path | None], *, as_json: bool
) -> None:
    found = means.means_of(collection, level)
    _save(collection, outputs, lambda: means.as_csv(found, by))
    if outputs["--png"] is not None:
        periods.draw_means(outputs["--png"], collection, found, level)
    if as_json:
        terminal.print_json(means.as_dict(collection, found, by, level))
    else:
        shown_means.show(collection, found, by, level)


def _course(
    collection: Collection,
    top: int | None,
    settings: EstimateSettings,
    outputs: dict[str, Path | None],
    only: str | None,
    as_json: bool,
) -> None:
    """Period by period: a table of each attribute, and a picture of its course."""
    results = asked(lambda: results_of(collection, settings, only), _TOTAL)
    _save(collection, outputs, lambda: as_csv(results, PERIOD))
    if outputs["--png"] is not None:
        periods.draw(outputs["--png"], collection, results, top, settings)
    if as_json:
        terminal.print_json(as_dict(collection, [shown(each, top) for each in results], PERIOD, settings))
        return
    periods.show(collection, results, top, settings)


def _frequencies(
    collection: Collection,
    by: str | None,
    top: int | None,
    settings: EstimateSettings,
    outputs: dict[str, Path | None],
    *,
    only: str | None,
    floor: int | None,
    as_json: bool,
) -> None:
    results = asked(lambda: results_of(collection, settings, only), _TOTAL)
    picked = [shown(result, top) for result in results]
    _save(collection, outputs, lambda: as_csv(results, by))
    together = None
    if outputs["--png"] is not None:
        together = _draw(outputs["--png"], collection, by, top, settings, only, floor)
    if as_json:
        terminal.print_json(as_dict(collection, picked, by, settings))
        return
    show(collection, picked, by, settings)
    if together is not None and floor is None:
        terminal.note(f"The picture shows {together}; with --floor you say from how many on a group stands alone.")


def _save(collection: Collection, outputs: dict[str, Path | None], numbers: Callable[[], str]) -> None:
    """Write the files that were asked for."""
    makers: dict[str, Callable[[], str | bytes]] = {
        "--csv": numbers,
        "--aggregate-out": lambda: collection.total.to_bytes(),
        "--spec-out": lambda: collection.spec.to_json(),
    }
    for option, make in makers.items():
        path = outputs[option]
        if path is not None:
            atomic.write(path, make())


def _draw(
    path: Path,
    collection: Collection,
    by: str | None,
    top: int | None,
    settings: EstimateSettings,
    only: str | None,
    floor: int | None,
) -> Together | None:
    """A panel for each group, the largest first; what small ones are called that are one panel together.

    Of tuples without groups, a panel for each attribute.
    """
    from hush.reports import figures

    if collection.attributes and only is None:
        _draw_attributes(path, collection, top, settings)
        return None
    whole = None
    if by is not None:
        whole = collection.estimates(collection.total)[only]
        least = telling(collection, only) if floor is None else floor
        most = figures.most_panels(min(top or whole.domain.size, whole.domain.size))
        collection = by_size(folded(collection, least, most))
    results = [each for each in results_of(collection, settings, only) if each.known]
    if not results:
        raise ParameterError(message("--png", "must have something to show", NOTHING, f"no report is about {only}"))
    order = shown(rows_of(whole or results[0].estimate, None, settings), top).order  # of all, so that groups compare
    series = [series_of(replace(result, order=order), whole) for result in results]
    terminal.warn_of_signs(figures.unprintable(series))
    what = "".join(([] if only is None else [f", {only}"]) + ([] if by is None else [f", by {by}"]))
    title = f"{title_of(collection)}{what}\n{settings.caption(results)}"
    atomic.write(path, figures.png(figures.estimates(series, title)))
    return next((group for group in collection.parts if isinstance(group, Together)), None)


def _draw_attributes(path: Path, collection: Collection, top: int | None, settings: EstimateSettings) -> None:
    """A panel for each attribute that there are reports about."""
    from hush.reports import figures

    results = [shown(each, top) for each in results_of(collection, settings) if each.known]
    series = [series_of(each) for each in results]
    terminal.warn_of_signs(figures.unprintable(series))
    title = f"{title_of(collection)}\n{settings.caption(results)}"
    atomic.write(path, figures.png(figures.attributes(series, title)))


def _asked_for(collection: Collection, attribute: str | None, by: str | None, png: Path | None) -> None:
    """Refuse an attribute that is none, and a figure of groups that shows more than one."""
    known = collection.attributes
    if attribute is not None and attribute not in known:
        rule = f"must be one of {', '.join(known)}" if known else "must be left out, since people hold a single value"
        raise ParameterError(message("--attribute", rule, attribute, "check its spelling" if known else "leave it out"))
    if known and attribute is None and by is not None and png is not None:
        rule = "must be of one attribute where there are groups"
        raise ParameterError(message("--png", rule, str(png), f"add --attribute {known[0]}, or leave --by out"))
