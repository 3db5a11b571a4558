"""`hush simulate`: a collection repeated many times, against its formulas."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from hush.cli.asked import paths
from hush.cli.asked.engines import Address, EngineName, workers
from hush.cli.asked.mechanism import MechanismOptions, refuse_for_mean
from hush.cli.asked.options import (
    Delta,
    Epsilon,
    EpsilonPermanent,
    EpsilonReport,
    High,
    Json,
    K,
    Low,
    MechanismName,
    Png,
    Seed,
    Sensitive,
    Settings,
    SpecFile,
    seeded,
)
from hush.cli.asked.people import Change, Crowd, RoundOptions, Rounds, TupleOptions, holders, population
from hush.cli.asked.reading import whole
from hush.cli.shown import bars, terminal
from hush.cli.shown import simulate as tables
from hush.errors import ParameterError, message
from hush.files import reports as report_files
from hush.files.periods import PERIOD
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.planning import trials
from hush.planning.over_time import of_rounds
from hush.planning.trials import LEVEL
from hush.types import Ints


def simulate(
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="msnbc, adult_age, zipf, spike, dirichlet, geometric, normal or uniform.",
        ),
    ] = None,
    counts: Annotated[
        Path | None,
        typer.Option(
            "--counts",
            metavar="FILE",
            help="A CSV file with a column count, and label if there are labels, in any order beside --spec.",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            metavar="N",
            parser=whole("--n", 1, "100000"),
            help="People; drawn from the data where those are real or counted.",
        ),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(
            "--people",
            metavar="FILE",
            help="For tuples, a .csv, .csv.gz or .parquet file with one row a person, its columns named as in --spec.",
        ),
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option(
            "--attributes",
            metavar="K,K,…",
            help="For tuples, how many values each attribute has, where there is no --spec.",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="R", parser=whole("--runs", 1), help="Collections to simulate.")
    ] = 100,
    rounds: Rounds = None,
    change: Change = None,
    seed: Seed = None,
    reports_out: Annotated[
        Path | None,
        typer.Option("--reports-out", metavar="FILE.parquet", help="Also write one collection's reports (.parquet)."),
    ] = None,
    png: Png = None,
    clip: Annotated[
        bool,
        typer.Option("--clip", help="For a mean or --people, count amounts beyond the range as its end."),
    ] = False,
    mechanism: MechanismName = None,
    k: K = None,
    low: Low = None,
    high: High = None,
    epsilon: Epsilon = None,
    epsilon_permanent: EpsilonPermanent = None,
    epsilon_report: EpsilonReport = None,
    delta: Delta = None,
    settings: Settings = None,
    sensitive: Sensitive = None,
    spec: SpecFile = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Repeat a collection over one population, and compare errors and attacks with what the formulas say.

    The population stays the same in all runs. The attack guesses uniformly drawn values from their reports. For a
    mean (Duchi, Piecewise, Hybrid) people hold amounts: a column value of --counts, labels that are numbers, or
    0, 1, 2, …; its errors are compared, and no attack is made.
    For tuples (SMP, SPL, RSFD, RSRFD) each attribute is compared; people come from --people, or hold independent values
    of the --dataset's shape.
    Over time (LOSUE, LGRR, OLOLOHA, …; LSMP and LSPL for tuples) every round is compared; people's values change with
    the probability --change.
    """
    paths.writable({"--reports-out": reports_out, "--png": png}, [counts, people, spec])
    chosen, rng = seeded(seed)
    far = engine, address
    wanted = MechanismOptions(
        mechanism, k, epsilon, delta, settings, spec, sensitive, low, high, epsilon_permanent, epsilon_report
    )
    again, outputs = RoundOptions(rounds, change), {"--reports-out": reports_out, "--png": png}
    if wanted.tells_tuples or attributes is not None or people is not None:
        holding = TupleOptions(wanted, attributes, people, dataset, counts, n)
        held = holding.read(rng, clip=clip, quiet=as_json)
        if held.spec.mechanism.kind == "longitudinal":
            course = again.histories(held.tuples, rng)
            _over_time(held.spec, held.name, course, runs, chosen, rng, outputs, far, as_json=as_json)
            return
        again.refuse(held.spec)
        _of_tuples(held, runs, chosen, rng, reports_out, png, far, as_json=as_json)
        return
    mean = replace(wanted, k=None).of_mean()  # --k is then that of the people
    crowd: Population
    built: Spec
    if mean is not None:
        refuse_for_mean({"--png": png}, mean)
        built, crowd = mean, holders(mean, dataset, counts, k, n, rng, clip=clip)
    else:
        if clip:
            rule = "must be left out where frequencies are estimated, whose people are counted by their values"
            raise ParameterError(message("--clip", rule, True, "add up the counts of the rows that are to be clipped"))
        crowd, built = population(wanted, dataset, counts, n, rng)
        if built.mechanism.kind == "longitudinal":
            course = again.histories(crowd.values(rng), rng)
            _over_time(built, crowd.name, course, runs, chosen, rng, outputs, far, as_json=as_json)
            return
    again.refuse(built)
    title = f"Simulating {built.mechanism.name()}"
    with workers(*far) as who, bars.progress(title, runs, quiet=as_json) as advance:
        if mean is not None:
            found = trials.of_mean(built, crowd, runs, rng, advance, who)
        else:
            found, last = trials.of_frequencies(built, crowd, runs, rng, advance, who)
    if reports_out is not None:
        values = crowd.values(rng) if mean is None else crowd.held(rng)
        _write_reports(built, values, rng, reports_out, f"simulated, seed {chosen}")
    if png is not None:
        tables.draw(last, crowd, png)
    whole = {
        "population": crowd.name,
        "n": crowd.n,
        "runs": runs,
        "seed": chosen,
        "level": LEVEL,
        **found,
        "spec_hash": built.hash,
        "spec": built.to_dict(),
    }
    if as_json:
        terminal.print_json(whole)
        return
    if mean is not None:
        tables.show_mean(mean, whole)
    else:
        tables.show(built, whole)
    for written in (reports_out, png):
        if written is not None:
            terminal.note(f"wrote {written}")


def _of_tuples(
    crowd: Crowd,
    runs: int,
    seed: int,
    rng: np.random.Generator,
    reports_out: Path | None,
    png: Path | None,
    far: tuple[str, str | None],
    *,
    as_json: bool,
) -> None:
    """Simulate a collection of tuples, and show each attribute."""
    spec, name = crowd.spec, crowd.spec.mechanism.name()
    with workers(*far) as who, bars.progress(f"Simulating {name}", runs, quiet=as_json) as advance:
        found, last = trials.of_tuples(spec, crowd.tuples, runs, rng, advance, who)
    if reports_out is not None:
        _write_reports(spec, rng.permutation(crowd.tuples), rng, reports_out, f"simulated, seed {seed}")
    if png is not None:
        title = f"{crowd.name}: one simulated collection, pointwise 95 % intervals"
        tables.draw_tuples(spec, crowd.tuples, last, png, title)
    whole = {
        "population": crowd.name,
        "n": len(crowd.tuples),
        "runs": runs,
        "seed": seed,
        "level": LEVEL,
        "guarantee": str(spec.mechanism.guarantee),
        **found,
        "spec_hash": spec.hash,
        "spec": spec.to_dict(),
    }
    if as_json:
        terminal.print_json(whole)
        return
    tables.show_tuples(spec, whole)
    for written in (reports_out, png):
        if written is not None:
            terminal.note(f"wrote {written}")


def _write_reports(spec: Spec, values: npt.NDArray[Any], rng: np.random.Generator, path: Path, randomness: str) -> None:
    rows = report_files.batch_rows(spec)
    with report_files.writing(path, spec, randomness, report_files.SHUFFLED) as write:  # so the values come
        for start in range(0, len(values), rows):
            write(spec.mechanism.privatize(values[start : start + rows], rng=rng))


def _over_time(
    spec: Spec,
    name: str,
    held: Ints,
    runs: int,
    seed: int,
    rng: np.random.Generator,
    outputs: dict[str, Path | None],
    far: tuple[str, str | None],
    *,
    as_json: bool,
) -> None:
    """Simulate all rounds, and show the errors of each."""
    title = f"Simulating {spec.mechanism.name()}"
    with workers(*far) as who, bars.progress(title, runs, quiet=as_json) as advance:
        found, last = of_rounds(spec, held, runs, rng, advance, who)
    rest = held[:, 1:] != held[:, :-1]
    whole = {
        "population": name,
        "n": len(held),
        "runs": runs,
        "seed": seed,
        "level": LEVEL,
        "changed": float(rest.mean()) if rest.size else 0.0,
        **found,
        "spec_hash": spec.hash,
        "spec": spec.to_dict(),
    }
    if (path := outputs["--reports-out"]) is not None:
        _write_rounds(spec, held, rng, path, f"simulated, seed {seed}")
    if (path := outputs["--png"]) is not None:
        tables.draw_rounds(spec, last, path, f"{name}: one simulated collection, pointwise 95 % intervals")
    if as_json:
        terminal.print_json(whole)
        return
    tables.show_rounds(spec, whole)
    for written in outputs.values():
        if written is not None:
            terminal.note(f"wrote {written}")


def _write_rounds(spec: Spec, held: Ints, rng: np.random.Generator, path: Path, randomness: str) -> None:
    """One collection's reports, of all rounds, in a random order."""
    import pyarrow as pa

    reports = spec.mechanism.collect(held, rng=rng)
    names = np.broadcast_to([str(t + 1) for t in range(held.shape[1])], reports.shape).ravel()
    order, rows = rng.permutation(reports.size), report_files.batch_rows(spec)
    with report_files.writing(path, spec, randomness, report_files.SHUFFLED) as write:
        for start in range(0, reports.size, rows):
            part = order[start : start + rows]
            write(reports.ravel()[part], pa.record_batch([pa.array(names[part].tolist(), pa.string())], [PERIOD]))
