"""What a simulation measured beside what the formulas say, as tables, and its last collection as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from hush import atomic
from hush.cli.shown import grid, terminal
from hush.estimation import Estimate
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.planning.trials import LEVEL
from hush.reports.over_time_in_words import of_rounds as not_independent
from hush.reports.tuples_in_words import of_tuples
from hush.reports.words import described, many, number
from hush.types import Ints


def show(spec: Spec, whole: dict[str, Any]) -> None:
    """Print the table of frequencies."""
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


def show_mean(spec: Spec, whole: dict[str, Any]) -> None:
    """Print the table of a mean."""
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


def show_tuples(spec: Spec, found: dict[str, Any]) -> None:
    """Print a line for each attribute, and what a report costs."""
    column = grid.Column
    columns = [
        column("attribute", "left"),
        column("values", rank=4),
        column("mean squared error"),
        column("expected"),
        column("typical error", rank=1),
        column("95 % intervals that hold", rank=2),
        column("attack success"),
        column("expected"),
    ]
    grid.show(terminal.stdout(), columns, [_tuple_cells(each) for each in found["attributes"]], _title(spec, found))
    lost = [each for each in found["attributes"] if each["unreported"]]
    if lost:
        some = ", ".join(f"{each['attribute']} in {many(each['unreported'], 'run', 'runs')}" for each in lost)
        terminal.warn(f"no report was about {some}: errors are those of the other runs.")
    attacked = many(found["attacked"], "report", "reports")
    terminal.note(f"Measured ± standard error. The attack guesses each attribute from {attacked} of uniform tuples.")
    for sentence in of_tuples(spec):
        terminal.note(sentence)
    _last(terminal.stdout(), found)


def _tuple_cells(each: dict[str, Any]) -> list[str]:
    root = None if each["mse"] is None else each["mse"] ** 0.5
    return [
        each["attribute"],
        f"{each['size']:,}",
        _plus(each["mse"], each["mse_stderr"]),
        number(each["analytic_variance"]),
        number(root),
        _plus(each["coverage"], each["coverage_stderr"]),
        _plus(each["asr"], each["asr_stderr"]),
        number(each["asr_expected"]),
    ]


def show_rounds(spec: Spec, whole: dict[str, Any]) -> None:
    """Print a line for each round, and each of its attributes."""
    column = grid.Column
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
    console = terminal.stdout()
    grid.show(console, columns, rows, _title(spec, whole))
    _last(console, whole)
    terminal.note(f"Measured ± standard error. {whole['changed']:.1%} of the values change from one round to the next.")
    for sentence in not_independent(spec):
        terminal.note(sentence)


def _plus(value: float | None, stderr: float | None) -> str:
    return number(value) + ("" if stderr is None else f" ± {number(stderr, 2)}")


def _table(spec: Spec, whole: dict[str, Any], rows: list[list[str]]) -> Console:
    names, console = ("", "measured ± standard error", "expected"), terminal.stdout()
    grid.show(console, [grid.Column(name, "right" if name else "left") for name in names], rows, _title(spec, whole))
    return console


def _title(spec: Spec, whole: dict[str, Any]) -> str:
    runs = "one run" if whole["runs"] == 1 else f"{whole['runs']:,} runs"
    return f"{described(spec)}; {whole['population']}, {many(whole['n'], 'person', 'people')}, {runs}"


def _last(console: Console, whole: dict[str, Any]) -> None:
    milliseconds = whole["seconds_per_collection"] * 1000
    console.print(f"seed {whole['seed']}; {number(milliseconds, 3)} ms to simulate one collection")


def draw(estimate: Estimate, people: Population, path: Path) -> None:
    """The last collection, over the truth."""
    from hush.reports import figures

    lower, upper = estimate.interval(LEVEL)
    labels = [str(label) for label in estimate.labels]
    one = figures.Series("", labels, estimate.frequencies, lower, upper, truth=people.frequencies)
    title = f"{people.name}: one simulated collection, pointwise 95 % intervals"
    terminal.warn_of_signs(figures.unprintable([one]))
    atomic.write(path, figures.png(figures.estimates([one], title)))


def draw_tuples(spec: Spec, tuples: Ints, estimates: tuple[Estimate, ...], path: Path, title: str) -> None:
    """The last collection, a panel for each attribute, over the truth."""
    from hush.reports import figures

    series = []
    for j, (domain, one) in enumerate(zip(spec.domain.domains, estimates, strict=True)):
        truth = np.bincount(tuples[:, j], minlength=domain.size) / len(tuples)
        labels, (lower, upper) = [str(domain.label(i)) for i in range(domain.size)], one.interval(LEVEL)
        name = spec.domain.word(j)
        series.append(figures.Series(name, labels, one.frequencies, lower, upper, truth=truth))
    terminal.warn_of_signs(figures.unprintable(series))
    atomic.write(path, figures.png(figures.attributes(series, title)))


def draw_rounds(spec: Spec, last: list[Any], path: Path, title: str) -> None:
    """The last collection, a panel for each attribute, with the lines of its values from round to round."""
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
    terminal.warn_of_signs(figures.unspellable(courses))
    atomic.write(path, figures.png(figures.timelines(courses, title)))
