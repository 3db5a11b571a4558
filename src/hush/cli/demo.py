"""`hush demo`: a real population, three mechanisms, one page to look at."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
import typer

from hush import atomic, datasets
from hush.cli import _console, _paths
from hush.cli._numbers import real
from hush.cli._options import Json
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec
from hush.people import Population

if TYPE_CHECKING:
    from hush.reports.outcome import Outcome

MECHANISMS = ("GRR", "OUE", "OLH")
FILES = ("index.html", "estimates.png", "errors.png", "trade-off.png", "results.json")
_STEP = 1 << 18


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to write the page and its figures.")
    ] = Path("hush-demo"),
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon", metavar="E", parser=real("--epsilon", "1.0"), help="Privacy loss of one report, in nats."
        ),
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Randomize 989,818 real visitors under three mechanisms, estimate, attack, and write a page about it.

    Every visitor's report is drawn with secure randomness, so each run gives slightly other numbers.
    """
    from hush.cli._demo_tables import show

    _paths.folder("--out", out, FILES)
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
        atomic.write(out / name, content)
    if as_json:
        _console.print_json(whole)
        return
    show(data, outcomes)
    _console.stdout().print()
    page = (out / "index.html").resolve()
    _console.stdout().print(f"The page with figures: [bold]{_console.cell(page).markup}[/]", soft_wrap=True)


def _trial(
    m: FrequencyOracle, data: Population, values: npt.NDArray[np.int64], advance: Callable[[float], None]
) -> Outcome:
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
