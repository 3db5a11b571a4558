"""`hush demo`: a real population, three mechanisms, one page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli import _console
from hush.cli._options import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from hush.datasets import Dataset
    from hush.mechanisms._base import FrequencyOracle
    from hush.reports.outcome import Outcome

MECHANISMS = ("GRR", "OUE", "OLH")
_STEP = 1 << 18


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to write the page and its figures.")
    ] = Path("hush-demo"),
    epsilon: Annotated[
        float, typer.Option("--epsilon", metavar="E", help="Privacy loss of one report, in nats.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Randomize 989,818 real visitors under three mechanisms, estimate, attack, and write a page about it.

    Every visitor's report is drawn with secure randomness, so each run gives slightly other numbers.
    """
    import json

    from hush import datasets
    from hush.cli import _files
    from hush.errors import ParameterError, message
    from hush.mechanisms.registry import registry

    if out.exists() and not out.is_dir():
        raise ParameterError(message("--out", "must be a folder", str(out), "name another place"))
    data = datasets.msnbc()
    chosen = [registry()[name](k=data.k, epsilon=epsilon) for name in MECHANISMS]
    values = data.values()
    with _console.progress(f"Hearing {data.n:,} visitors", 3 * data.n * len(chosen) + data.n, quiet=as_json) as advance:
        outcomes = [_trial(m, data, values, advance) for m in chosen]
        from hush.reports.demo import build

        files = build(data, outcomes)
        advance(data.n)
    summary = {"dataset": data.name, "n": data.n, "k": data.k, "epsilon": epsilon, "out": str(out)}
    whole = {**summary, "mechanisms": {each.name: each.summary() for each in outcomes}}
    files["results.json"] = (json.dumps(whole, indent=2) + "\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        _files.write(out / name, content)
    if as_json:
        _console.print_json(whole)
        return
    _show(data, outcomes)
    _console.stdout().print()
    page = (out / "index.html").resolve()
    _console.stdout().print(f"The page with figures: [bold]{_console.cell(page).markup}[/]", soft_wrap=True)


def _trial(
    m: FrequencyOracle, data: Dataset, values: npt.NDArray[np.int64], advance: Callable[[float], None]
) -> Outcome:
    import time

    import numpy as np

    from hush.mechanisms.spec import Spec
    from hush.reports.outcome import Outcome

    spec = Spec(m, data.domain)
    m.aggregate(m.privatize(values[:2]))  # compiles
    parts, seconds = [], 0.0
    for start in range(0, values.size, _STEP):
        some = values[start : start + _STEP]
        before = time.perf_counter()
        parts.append(m.privatize(some))
        seconds += time.perf_counter() - before
        advance(some.size)
    before = time.perf_counter()
    estimate = spec.estimate(spec.aggregate(iter(parts)))
    tallying = time.perf_counter() - before
    advance(data.n)
    right = 0
    for i, reports in enumerate(parts):
        right += int(np.sum(m.attack(reports) == values[i * _STEP : (i + 1) * _STEP]))
        advance(reports.size)
    return Outcome(m, estimate, data.frequencies, right / data.n, seconds, tallying)


def _show(data: Dataset, outcomes: list[Outcome]) -> None:
    console = _console.stdout()
    console.print(_estimates(data, outcomes))
    console.print()
    console.print(_summary(data, outcomes))


def _estimates(data: Dataset, outcomes: list[Outcome]) -> Any:
    epsilon = outcomes[0].mechanism.epsilon
    table = _console.table(
        f"{data.n:,} visitors, {data.k} categories, ε = {epsilon:g}: share in %, with 95 % interval",
        "* the interval misses the truth, as one in twenty should",
    )
    table.add_column("category", no_wrap=True)
    table.add_column("truth", justify="right", no_wrap=True)
    for each in outcomes:
        table.add_column(f"{each.name}", justify="right", no_wrap=True)
    ends = [each.interval for each in outcomes]
    for i, label in enumerate(outcomes[0].estimate.labels):
        row = [_console.cell(label), _console.cell(f"{data.frequencies[i] * 100:.2f}")]
        for each, (lower, upper) in zip(outcomes, ends, strict=True):
            inside = bool(each.covered[i])
            between = f"[{lower[i] * 100:5.2f}, {upper[i] * 100:5.2f}]"
            said = f"{' ' if inside else '*'}{each.estimate.frequencies[i] * 100:5.2f} {between}"
            row.append(_console.cell(said, "" if inside else "yellow"))
        table.add_row(*row)
    return table


def _summary(data: Dataset, outcomes: list[Outcome]) -> Any:
    table = _console.table(
        "What each costs and leaks", f"guessing without a report succeeds {100 / data.k:.2f} % of the time"
    )
    table.add_column("")
    for each in outcomes:
        table.add_column(each.name, justify="right")
    lines: dict[str, Callable[[Outcome], str]] = {
        "exact ε of one report": lambda o: f"{o.mechanism.exact_epsilon():.9f}",
        "RMSE, percentage points": lambda o: f"{o.rmse * 100:.4f}",
        "true values inside their 95 % interval": lambda o: f"{int(o.covered.sum())} of {o.covered.size}",
        "attack success, measured on all reports": lambda o: f"{o.attack_rate * 100:.3f} %",
        "attack success, exact expectation": lambda o: f"{o.mechanism.asr() * 100:.3f} %",
        "bytes per report": lambda o: f"{o.report_bytes}",
        "time to randomize everybody": lambda o: f"{o.randomize_seconds:.3f} s",
        "reports per second": lambda o: f"{o.reports_per_second:,.0f}",
    }
    for name, say in lines.items():
        table.add_row(name, *(say(each) for each in outcomes))
    return table
