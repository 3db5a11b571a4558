"""Trials of a mean: its error over many collections of people who hold amounts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.cli import _console
from hush.cli._crowd import Source, in_amounts
from hush.cli._numeric_spec import NumericSpec, described
from hush.cli._population import one_source
from hush.cli._trial import LEVEL, stderr
from hush.errors import ParameterError, message
from hush.reports.words import many

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Holders:
    """How many people hold each amount."""

    name: str
    amounts: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    clipped: int = 0
    """How many of them held an amount beyond the range."""
    whole: float = 0.0
    """The total before those were moved to its end."""

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Of the people's amounts."""
        return float(self.amounts @ self.counts / self.n)

    def blocks(self, size: int = _BLOCK) -> Iterator[npt.NDArray[np.float64]]:
        """Everybody's amount, the amounts one after the other, so many people at a time."""
        ends = np.cumsum(self.counts)
        for start in range(0, self.n, size):
            people = np.arange(start, min(start + size, self.n))
            yield self.amounts[np.searchsorted(ends, people, side="right")]

    def values(self, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """One amount a person, in random order."""
        everybody = np.repeat(self.amounts, self.counts)
        rng.shuffle(everybody)
        return everybody


def holders(
    spec: NumericSpec,
    dataset: str | None,
    counts: Path | None,
    k: int | None,
    n: int | None,
    rng: np.random.Generator,
    *,
    clip: bool,
) -> Holders:
    """The people that the options describe; their amounts must lie in the mechanism's range, or are moved there."""
    one_source(dataset, counts)
    crowd = Source(dataset, counts, None, k, n).read(rng, None, quiet=True)
    held = np.asarray(crowd.given, np.int64)
    if crowd.n is not None:
        held = rng.multinomial(crowd.n, held / held.sum()).astype(np.int64)
    amounts = np.array(in_amounts(crowd, counts).values, np.float64)[held > 0]
    held, m = held[held > 0], spec.mechanism
    beyond = (amounts < m.low) | (amounts > m.high)
    if clip:
        return Holders(crowd.name, m.clip(amounts), held, int(held[beyond].sum()), float(amounts @ held))
    for amount in amounts[beyond]:
        rule = f"must lie in the range of {m.name()}, {m.low:,.12g} to {m.high:,.12g}"
        remedy = (
            "add --clip, so that those people count at its end, as `hush privatize --clip` does, or widen the range"
        )
        raise ParameterError(message(f"amounts of {crowd.name}", rule, float(amount), remedy))
    return Holders(crowd.name, amounts, held, 0, float(amounts @ held))


def repeated(spec: NumericSpec, people: Holders, runs: int, rng: np.random.Generator, *, quiet: bool) -> dict[str, Any]:
    """Simulate a collection many times; measured beside expected."""
    m, squares, covered, seconds = spec.mechanism, np.empty(runs), np.empty(runs), 0.0
    with _console.progress(f"Simulating {m.name()}", runs, quiet=quiet) as advance:
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
        "total_unclipped": people.whole,
        "mse": float(squares.mean()),
        "mse_stderr": stderr(squares),
        "analytic_variance": m.variance(people.n, people.amounts, people.counts),
        "coverage": float(covered.mean()),
        "coverage_stderr": stderr(covered),
        "seconds_per_collection": seconds / runs,
    }


def show(spec: NumericSpec, whole: dict[str, Any]) -> None:
    """Print the table."""
    from hush.cli import _grid

    def plus(value: float, error: float | None) -> str:
        return _console.number(value) + ("" if error is None else f" ± {_console.number(error, 2)}")

    n, runs = whole["n"], "one run" if whole["runs"] == 1 else f"{whole['runs']:,} runs"
    title = f"{described(spec)}; {whole['population']}, {many(n, 'person', 'people')}, {runs}"
    root, wanted = whole["mse"] ** 0.5, whole["analytic_variance"] ** 0.5
    rows = [
        ["mean squared error of the mean", plus(whole["mse"], whole["mse_stderr"]), _console.number(wanted**2)],
        [
            f"typical error of the mean, {whole['mean']:,.6g}",
            _console.number(root),
            _console.number(wanted),
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
    console.print(f"seed {whole['seed']}; {_console.number(milliseconds, 3)} ms to simulate one collection")
