"""`hush combine`: reports of several specs over the same values in, one estimate out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hush import atomic, utility
from hush.cli.asked import paths
from hush.cli.asked.options import Json, SpecOut, asked
from hush.cli.asked.reading import real, whole
from hush.cli.shown import terminal
from hush.cli.shown.estimates import show_rows
from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Aggregate, intervals
from hush.files.datasets import opened
from hush.files.estimates import EstimateSettings, as_csv, rows_of, shown
from hush.files.specs import of_kind
from hush.mechanisms.spec import Spec
from hush.reports.words import many


def combine(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="REPORTS…", help="Files of reports: each carries its spec; those of one spec are merged."
        ),
    ],
    classes: Annotated[
        bool,
        typer.Option(
            "--classes",
            help="The specs are those of different kinds of people, not of people who are in one or another by chance.",
        ),
    ] = False,
    level: Annotated[
        float, typer.Option("--level", metavar="L", parser=real("--level", "0.95"), help="Coverage of the intervals.")
    ] = 0.95,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", parser=whole("--top", 1, "10"), help="Only the N most frequent values in the table."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE.csv", help="Also write all numbers (.csv).")
    ] = None,
    spec_out: SpecOut = None,
    as_json: Json = False,
) -> None:
    """Estimate frequencies from reports of several specs over the same values, each weighed by its people.

    The specs may differ in their mechanism, their ε, and in what is sensitive: the few who are asked first and all
    others, or public classes of people.

    --spec-out, with reports of one spec alone, writes the spec for those who have not reported yet: the same mechanism,
    with the parameter that is best for the share of values that are not sensitive, θ, as these reports tell it.
    """
    outputs = {"--csv": csv, "--spec-out": spec_out}
    paths.writable(outputs, list(map(Path, sources)))
    intervals.tail(level)
    parts = _read(sources)
    found = asked(lambda: utility.combined(parts, alike=not classes), {"parts": "REPORTS"})
    theta, following = _following(parts, classes) if spec_out is not None else (None, None)
    settings = EstimateSettings(level, False, None)
    result = rows_of(found, None, settings)
    if csv is not None:
        atomic.write(csv, as_csv([result], None))
    if spec_out is not None and following is not None:
        atomic.write(spec_out, following.to_json())
    if as_json:
        terminal.print_json(_plain(parts, theta, found.n, shown(result, top).rows))
        return
    title = " and ".join(f"{spec.mechanism.name()} ({many(a.n, 'report', 'reports')})" for spec, a in parts)
    show_rows(title, shown(result, top), settings)
    if theta is not None:
        terminal.note(f"θ, the share of people whose value is not sensitive, is {theta:.6g} by these reports.")
    for path in outputs.values():
        if path is not None:
            terminal.note(f"wrote {path}")


def _read(sources: list[str]) -> list[tuple[Spec, Aggregate]]:
    """Specs in the order in which they come, with all of their reports."""
    specs: dict[str, Spec] = {}
    grouped: dict[str, list[str]] = {}
    for source in sources:
        spec = of_kind(asked(lambda source=source: opened([source]), {}).spec, ["frequency"], source)  # type: ignore[misc]
        specs[spec.hash] = spec
        grouped.setdefault(spec.hash, []).append(source)
    # Those of one spec are opened together, so that nobody counts twice whose file is named twice.
    return [
        (spec, asked(lambda own=grouped[key]: opened(own), {}).aggregate())  # type: ignore[misc]
        for key, spec in specs.items()
    ]


def _following(parts: list[tuple[Spec, Aggregate]], classes: bool) -> tuple[float, Spec]:
    if len(parts) > 1 or classes:
        rule, got = "must be asked of the reports of one spec, that of the people who were first", Unsaid("several")
        raise ParameterError(message("--spec-out", rule, got, "name the files of the first people alone"))
    return asked(lambda: utility.followed(*parts[0]), {"spec": "REPORTS"})


def _plain(
    parts: list[tuple[Spec, Aggregate]], theta: float | None, n: int, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    told = [{"mechanism": s.mechanism.name(), "spec_hash": s.hash, "reports": a.n} for s, a in parts]
    promises = [str(s.mechanism.guarantee) for s, _ in parts]
    specs = [{**each, "guarantee": promise} for each, promise in zip(told, promises, strict=True)]
    return {"n": n, "specs": specs, **({} if theta is None else {"theta": theta}), "values": rows}
