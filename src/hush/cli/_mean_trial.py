"""Trials of a mean: its error over many collections of people who hold amounts."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hush.cli import _console, _grid, _progress
from hush.cli._people import Source, in_amounts, one_source
from hush.cli._trial import LEVEL, stderr
from hush.errors import ParameterError, message
from hush.files.numeric_spec import NumericSpec, described
from hush.people import Domain, Population
from hush.reports.words import many, number


def holders(
    spec: NumericSpec,
    dataset: str | None,
    counts: Path | None,
    k: int | None,
    n: int | None,
    rng: np.random.Generator,
    *,
    clip: bool,
) -> Population:
    """The people that the options describe; their amounts must lie in the mechanism's range, or are moved there."""
    one_source(dataset, counts)
    people, m = Source(dataset, counts, None, k, n).read(rng, None, quiet=True).draw(rng), spec.mechanism
    amounts = in_amounts(people, counts).amounts
    beyond = ((amounts < m.low) | (amounts > m.high)) & (people.counts > 0)
    if beyond.any() and not clip:
        rule = f"must lie in the range of {m.name()}, {m.low:,.12g} to {m.high:,.12g}"
        remedy = (
            "add --clip, so that those people count at its end, as `hush privatize --clip` does, or widen the range"
        )
        raise ParameterError(message(f"amounts of {people.name}", rule, float(amounts[beyond][0]), remedy))
    within = Domain(size=people.k, values=m.clip(amounts).tolist())
    moved = int(people.counts[beyond].sum())
    return replace(people, domain=within, clipped=moved, unclipped=float(amounts @ people.counts))


def repeated(
    spec: NumericSpec, people: Population, runs: int, rng: np.random.Generator, *, quiet: bool
) -> dict[str, Any]:
    """Simulate a collection many times; measured beside expected."""
    held = people.counts > 0
    m, squares, covered, seconds = spec.mechanism, np.empty(runs), np.empty(runs), 0.0
    with _progress.progress(f"Simulating {m.name()}", runs, quiet=quiet) as advance:
        for i in range(runs):
            start = time.perf_counter()
            drawn = spec.aggregate(m.privatize(some, rng=rng) for some in people.blocks())
            seconds += time.perf_counter() - start
            estimate = spec.estimate(drawn)
            lower, upper = estimate.interval(LEVEL)
            squares[i] = (estimate.mean - people.mean) ** 2
            covered[i] = lower <= people.mean <= upper
            advance(1)
    return {
        "mean": people.mean,
        "total": people.mean * people.n,
        "clipped": people.clipped,
        "total_unclipped": people.total,
        "mse": float(squares.mean()),
        "mse_stderr": stderr(squares),
        "analytic_variance": m.variance(people.n, people.amounts[held], people.counts[held]),
        "coverage": float(covered.mean()),
        "coverage_stderr": stderr(covered),
        "seconds_per_collection": seconds / runs,
    }


def show(spec: NumericSpec, whole: dict[str, Any]) -> None:
    """Print the table."""

    def plus(value: float, error: float | None) -> str:
        return number(value) + ("" if error is None else f" ± {number(error, 2)}")

    n, runs = whole["n"], "one run" if whole["runs"] == 1 else f"{whole['runs']:,} runs"
    title = f"{described(spec)}; {whole['population']}, {many(n, 'person', 'people')}, {runs}"
    root, wanted = whole["mse"] ** 0.5, whole["analytic_variance"] ** 0.5
    rows = [
        ["mean squared error of the mean", plus(whole["mse"], whole["mse_stderr"]), number(wanted**2)],
        [
            f"typical error of the mean, {whole['mean']:,.6g}",
            number(root),
            number(wanted),
        ],
        [f"typical error of the total, {whole['total']:,.0f}", f"{root * n:,.0f}", f"{wanted * n:,.0f}"],
        ["95 % intervals that hold the truth", plus(whole["coverage"], whole["coverage_stderr"]), "0.95 or more"],
    ]
    console = _console.stdout()
    names = ("", "measured ± standard error", "expected")
    _grid.show(console, [_grid.Column(name, "right" if name else "left") for name in names], rows, title)
    if whole["clipped"]:
        some = many(whole["clipped"], "person was", "people were")
        short = abs(whole["total"] - whole["total_unclipped"])
        said = f"{some} clipped to the range. Errors are measured against the total after that, which is off by "
        console.print(f"{said}{short:,.6g} from the whole, {whole['total_unclipped']:,.12g}.", soft_wrap=True)
    milliseconds = whole["seconds_per_collection"] * 1000
    console.print(f"seed {whole['seed']}; {number(milliseconds, 3)} ms to simulate one collection")
