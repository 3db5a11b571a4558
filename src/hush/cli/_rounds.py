"""Collections over time that are simulated: people whose values change, and the errors of every round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hush import atomic
from hush.cli import _console, _grid, _progress
from hush.cli._numbers import share, whole
from hush.errors import ParameterError, message
from hush.files import reports as report_files
from hush.files.periods import PERIOD
from hush.mechanisms.spec import Spec
from hush.planning.over_time import histories, of_rounds
from hush.planning.trials import LEVEL
from hush.reports.over_time_in_words import of_rounds as not_independent
from hush.reports.words import described, many, number
from hush.types import Ints

Rounds = Annotated[
    int | None,
    typer.Option(
        "--rounds", metavar="M", parser=whole("--rounds", 1, "12"), help="Over time: how often people report; 12."
    ),
]
Change = Annotated[
    float | None,
    typer.Option(
        "--change",
        metavar="P",
        parser=share("--change", "0.05"),
        help="Over time: how likely a value is drawn anew from one round to the next; 0.05.",
    ),
]


@dataclass(frozen=True)
class RoundOptions:
    """What was said about rounds."""

    rounds: int | None
    change: float | None

    def refuse(self, spec: Spec) -> None:
        """Options that say nothing about a single report."""
        for option, value in {"--rounds": self.rounds, "--change": self.change}.items():
            if value is not None:
                rule = f"must be left out for {spec.mechanism.name()}, which reports once"
                raise ParameterError(message(option, rule, value, "use a protocol over time, e.g. LOSUE"))

    def histories(self, first: Ints, rng: np.random.Generator) -> Ints:
        """What people hold in every round."""
        change = 0.05 if self.change is None else self.change
        if not 0 <= change <= 1:
            raise ParameterError(message("--change", "must be a probability", change, "write e.g. --change 0.05"))
        return histories(first, self.rounds or 12, change, rng)


def simulate(
    spec: Spec,
    name: str,
    held: Ints,
    runs: int,
    seed: int,
    rng: np.random.Generator,
    outputs: dict[str, Path | None],
    *,
    as_json: bool,
) -> None:
    """Simulate all rounds, and show the errors of each."""
    with _progress.progress(f"Simulating {spec.mechanism.name()}", runs, quiet=as_json) as advance:
        found, last = of_rounds(spec, held, runs, rng, advance)
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
        _write(spec, held, rng, path, f"simulated, seed {seed}")
    if (path := outputs["--png"]) is not None:
        _draw(spec, last, path, f"{name}: one simulated collection, pointwise 95 % intervals")
    if as_json:
        _console.print_json(whole)
        return
    _show(spec, whole)
    for written in outputs.values():
        if written is not None:
            _console.note(f"wrote {written}")


def _show(spec: Spec, whole: dict[str, Any]) -> None:
    runs = "one run" if whole["runs"] == 1 else f"{whole['runs']:,} runs"
    title = f"{described(spec)}; {whole['population']}, {many(whole['n'], 'person', 'people')}, {runs}"
    column = _grid.Column
    several = "attribute" in whole["rounds"][0]
    columns = [
        column("round"),
        *([column("attribute", "left")] if several else []),
        column("mean squared error"),
        column("expected"),
        column("typical error", rank=1),
        column("95 % intervals that hold", rank=2),
    ]
    rows = [
        [
            f"{each['round']}",
            *([each["attribute"]] if several else []),
            _plus(each["mse"], each["mse_stderr"]),
            number(each["analytic_variance"]),
            number(None if each["mse"] is None else each["mse"] ** 0.5),
            _plus(each["coverage"], each["coverage_stderr"]),
        ]
        for each in whole["rounds"]
    ]
    console = _console.stdout()
    _grid.show(console, columns, rows, title)
    milliseconds = number(whole["seconds_per_collection"] * 1000, 3)
    console.print(f"seed {whole['seed']}; {milliseconds} ms to simulate one collection")
    _console.note(f"Measured ± standard error. {whole['changed']:.1%} of the values change from one round to the next.")
    for sentence in not_independent(spec):
        _console.note(sentence)


def _plus(value: float | None, stderr: float | None) -> str:
    return number(value) + ("" if stderr is None else f" ± {number(stderr, 2)}")


def _write(spec: Spec, held: Ints, rng: np.random.Generator, path: Path, randomness: str) -> None:
    """One collection's reports, of all rounds, in a random order."""
    import pyarrow as pa

    reports = spec.mechanism.collect(held, rng=rng)
    names = np.broadcast_to([str(t + 1) for t in range(held.shape[1])], reports.shape).ravel()
    order, rows = rng.permutation(reports.size), report_files.batch_rows(spec)
    with report_files.writing(path, spec, randomness, report_files.SHUFFLED) as write:
        for start in range(0, reports.size, rows):
            part = order[start : start + rows]
            write(reports.ravel()[part], pa.record_batch([pa.array(names[part].tolist(), pa.string())], [PERIOD]))


def _draw(spec: Spec, last: list[Any], path: Path, title: str) -> None:
    from hush.reports import figures

    several, courses = len(last[0]) > 1, []
    periods = [str(t + 1) for t in range(len(last))]
    for j in range(len(last[0])):
        order = np.argsort(-np.mean([each[j].frequencies for each in last], axis=0), kind="stable")
        parts = [(each[j].frequencies, *each[j].interval(LEVEL)) for each in last]
        centre, lower, upper = (100 * np.stack(part)[:, order] for part in zip(*parts, strict=True))
        domain = spec.domain.domains[j] if hasattr(spec.domain, "domains") else spec.domain
        labels = [str(domain.label(int(i))) for i in order]
        named = min(figures.MOST_LINES, len(labels))
        title_of = spec.domain.word(j) if several else ""
        courses.append(figures.Timeline(title_of, periods, labels, centre, lower, upper, named))
    _console.warn_of_signs(figures.unspellable(courses))
    atomic.write(path, figures.png(figures.timelines(courses, title)))
