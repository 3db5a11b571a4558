"""`hush simulate`: a collection repeated many times, against its formulas."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console

from hush import atomic
from hush.cli import _console, _grid, _paths, _progress, _rounds, _tuples
from hush.cli._choose import MechanismOptions
from hush.cli._means import refuse
from hush.cli._numbers import whole
from hush.cli._options import (
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
from hush.cli._people import holders, population
from hush.cli._rounds import Change, RoundOptions, Rounds
from hush.errors import ParameterError, message
from hush.estimation import Estimate
from hush.files import reports as report_files
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.planning import trials
from hush.planning.trials import LEVEL
from hush.reports.words import described, many, number


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
    _paths.writable({"--reports-out": reports_out, "--png": png}, [counts, people, spec])
    chosen, rng = seeded(seed)
    wanted = MechanismOptions(
        mechanism, k, epsilon, delta, settings, spec, sensitive, low, high, epsilon_permanent, epsilon_report
    )
    again, outputs = RoundOptions(rounds, change), {"--reports-out": reports_out, "--png": png}
    if wanted.tells_tuples or attributes is not None or people is not None:
        holding = _tuples.TupleOptions(wanted, attributes, people, dataset, counts, n)
        held = holding.read(rng, clip=clip, quiet=as_json)
        if held.spec.mechanism.kind == "longitudinal":
            course = again.histories(held.tuples, rng)
            _rounds.simulate(held.spec, held.name, course, runs, chosen, rng, outputs, as_json=as_json)
            return
        again.refuse(held.spec)
        _of_tuples(held, runs, chosen, rng, reports_out, png, as_json=as_json)
        return
    mean = replace(wanted, k=None).of_mean()  # --k is then that of the people
    crowd: Population
    built: Spec
    if mean is not None:
        refuse({"--png": png}, mean)
        built, crowd = mean, holders(mean, dataset, counts, k, n, rng, clip=clip)
    else:
        if clip:
            rule = "must be left out where frequencies are estimated, whose people are counted by their values"
            raise ParameterError(message("--clip", rule, True, "add up the counts of the rows that are to be clipped"))
        crowd, built = population(wanted, dataset, counts, n, rng)
        if built.mechanism.kind == "longitudinal":
            course = again.histories(crowd.values(rng), rng)
            _rounds.simulate(built, crowd.name, course, runs, chosen, rng, outputs, as_json=as_json)
            return
    again.refuse(built)
    with _progress.progress(f"Simulating {built.mechanism.name()}", runs, quiet=as_json) as advance:
        if mean is not None:
            found = trials.of_mean(built, crowd, runs, rng, advance)
        else:
            found, last = trials.of_frequencies(built, crowd, runs, rng, advance)
    if reports_out is not None:
        values = crowd.values(rng) if mean is None else crowd.held(rng)
        _write_reports(built, values, rng, reports_out, f"simulated, seed {chosen}")
    if png is not None:
        _draw(last, crowd, png)
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
        _console.print_json(whole)
        return
    if mean is not None:
        _show_mean(mean, whole)
    else:
        _show(built, whole)
    for written in (reports_out, png):
        if written is not None:
            _console.note(f"wrote {written}")


def _of_tuples(
    crowd: _tuples.Crowd,
    runs: int,
    seed: int,
    rng: np.random.Generator,
    reports_out: Path | None,
    png: Path | None,
    *,
    as_json: bool,
) -> None:
    """Simulate a collection of tuples, and show each attribute."""
    spec, name = crowd.spec, crowd.spec.mechanism.name()
    with _progress.progress(f"Simulating {name}", runs, quiet=as_json) as advance:
        found, last = trials.of_tuples(spec, crowd.tuples, runs, rng, advance)
    if reports_out is not None:
        _write_reports(spec, rng.permutation(crowd.tuples), rng, reports_out, f"simulated, seed {seed}")
    if png is not None:
        _tuples.draw(crowd, last, png)
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
        _console.print_json(whole)
        return
    _tuples.show(spec, whole)
    _last(_console.stdout(), whole)
    for written in (reports_out, png):
        if written is not None:
            _console.note(f"wrote {written}")


def _write_reports(spec: Spec, values: npt.NDArray[Any], rng: np.random.Generator, path: Path, randomness: str) -> None:
    rows = report_files.batch_rows(spec)
    with report_files.writing(path, spec, randomness, report_files.SHUFFLED) as write:  # so the values come
        for start in range(0, len(values), rows):
            write(spec.mechanism.privatize(values[start : start + rows], rng=rng))


def _draw(estimate: Estimate, people: Population, path: Path) -> None:
    from hush.reports import figures

    lower, upper = estimate.interval(LEVEL)
    labels = [str(label) for label in estimate.labels]
    one = figures.Series("", labels, estimate.frequencies, lower, upper, truth=people.frequencies)
    title = f"{people.name}: one simulated collection, pointwise 95 % intervals"
    _console.warn_of_signs(figures.unprintable([one]))
    atomic.write(path, figures.png(figures.estimates([one], title)))


def _show(spec: Spec, whole: dict[str, Any]) -> None:
    root = whole["mse"] ** 0.5, whole["analytic_variance"] ** 0.5
    rows = [
        ["mean squared error", _plus(whole["mse"], whole["mse_stderr"]), number(whole["analytic_variance"])],
        ["root of it, a typical error", number(root[0]), number(root[1])],
        ["95 % intervals that hold the truth", _plus(whole["coverage"], whole["coverage_stderr"]), "0.9500 or more"],
        [
            f"attack success, {many(whole['attacked'], 'report', 'reports')}",
            _plus(whole["asr"], whole["asr_stderr"]),
            number(whole["asr_expected"]),
        ],
    ]
    _last(_table(spec, whole, rows), whole)


def _show_mean(spec: Spec, whole: dict[str, Any]) -> None:
    """Print the table."""
    n, root, wanted = whole["n"], whole["mse"] ** 0.5, whole["analytic_variance"] ** 0.5
    rows = [
        ["mean squared error of the mean", _plus(whole["mse"], whole["mse_stderr"]), number(wanted**2)],
        [
            f"typical error of the mean, {whole['mean']:,.6g}",
            number(root),
            number(wanted),
        ],
        [f"typical error of the total, {whole['total']:,.0f}", f"{root * n:,.0f}", f"{wanted * n:,.0f}"],
        ["95 % intervals that hold the truth", _plus(whole["coverage"], whole["coverage_stderr"]), "0.95 or more"],
    ]
    console = _table(spec, whole, rows)
    if whole["clipped"]:
        some = many(whole["clipped"], "person was", "people were")
        short = abs(whole["total"] - whole["total_unclipped"])
        said = f"{some} clipped to the range. Errors are measured against the total after that, which is off by "
        console.print(f"{said}{short:,.6g} from the whole, {whole['total_unclipped']:,.12g}.", soft_wrap=True)
    _last(console, whole)


def _plus(value: float, stderr: float | None) -> str:
    return number(value) + ("" if stderr is None else f" ± {number(stderr, 2)}")


def _table(spec: Spec, whole: dict[str, Any], rows: list[list[str]]) -> Console:
    runs = "one run" if whole["runs"] == 1 else f"{whole['runs']:,} runs"
    title = f"{described(spec)}; {whole['population']}, {many(whole['n'], 'person', 'people')}, {runs}"
    names, console = ("", "measured ± standard error", "expected"), _console.stdout()
    _grid.show(console, [_grid.Column(name, "right" if name else "left") for name in names], rows, title)
    return console


def _last(console: Console, whole: dict[str, Any]) -> None:
    milliseconds = whole["seconds_per_collection"] * 1000
    console.print(f"seed {whole['seed']}; {number(milliseconds, 3)} ms to simulate one collection")
