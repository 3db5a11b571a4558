"""`hush demo`: a real population, three mechanisms, one page to look at."""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from hush import atomic, datasets
from hush.cli.asked import paths
from hush.cli.asked.collectors import needing
from hush.cli.asked.options import Json
from hush.cli.asked.reading import real
from hush.cli.process import servers
from hush.cli.shown import bars, grid, settling, terminal
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec
from hush.people import Population

if TYPE_CHECKING:
    from hush.reports.outcome import MechanismOutcome

MECHANISMS = ("GRR", "OUE", "OLH")
FILES = ("index.html", "estimates.png", "errors.png", "trade-off.png", "results.json")
_STEP = 1 << 18


def demo(
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the page and its figures.")
    ] = Path("hush-demo"),
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon", metavar="E", parser=real("--epsilon", "1.0"), help="Privacy loss of one report, in nats."
        ),
    ] = 1.0,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Start a collector, send it every visitor over HTTP, and watch the estimate settle."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Randomize 989,818 real visitors under three mechanisms, estimate, attack, and write a page about it.

    Every visitor's report is drawn with secure randomness, so each run gives slightly other numbers. With --serve, a
    real server collects them in batches, under one mechanism; it is gone afterwards, and no file is written.
    """
    if serve:
        _served(epsilon, as_json)
        return
    paths.folder("--output", out, FILES)
    data = datasets.msnbc()
    chosen = [registry()[name](k=data.k, epsilon=epsilon) for name in MECHANISMS]
    values = data.values()
    work = 3 * data.n * len(chosen) + data.n
    with bars.progress(f"Hearing {data.n:,} visitors", work, quiet=as_json) as advance:
        from hush.reports.demo import build

        outcomes = [_trial(m, data, values, advance) for m in chosen]
        files = build(data, outcomes)
        advance(data.n)
    summary = {"dataset": data.name, "n": data.n, "k": data.k, "epsilon": epsilon, "out": str(out)}
    whole = {**summary, "mechanisms": {each.name: each.summary() for each in outcomes}}
    files["results.json"] = (json.dumps(whole, indent=2) + "\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        atomic.write(out / name, content)
    if as_json:
        terminal.print_json(whole)
        return
    show(data, outcomes)
    terminal.stdout().print()
    page = (out / "index.html").resolve()
    terminal.stdout().print(f"The page with figures: [bold]{terminal.cell(page).markup}[/]", soft_wrap=True)


def _trial(
    m: FrequencyOracle, data: Population, values: npt.NDArray[np.int64], advance: Callable[[float], None]
) -> MechanismOutcome:
    from hush.reports.outcome import MechanismOutcome

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
    return MechanismOutcome(m, estimate, data.frequencies, right / data.n, seconds, tallying)


_SERVED = "OUE"
_LOOKS = (1_000, 3_000, 10_000, 30_000, 100_000, 200_000, 400_000, 600_000, 800_000)
_BATCH = 10_000


def _served(epsilon: float, as_json: bool) -> None:
    """Send all visitors to a server of their own, in an order of chance, and look at its estimate now and then."""
    with needing():
        from hush.collect.remote import Remote
        from hush.collect.sending import sent
        from hush.collect.speaking import connected
    data = datasets.msnbc()
    m = registry()[_SERVED](k=data.k, epsilon=epsilon)
    values = np.random.default_rng(secrets.randbits(128)).permutation(data.values())
    looks: list[dict[str, Any]] = []
    batches = 0
    with (
        servers.started() as server,
        Remote(server.url, server.token) as collector,
        connected(server.url, timeout=60) as http,
        settling.settling(data, quiet=as_json) as shown,
    ):
        spec = Spec(m, data.domain).to_dict()
        id = collector.create(spec=spec, name=data.name, target_n=data.n, period_seconds=86_400)["id"]
        opened = collector.open(id, force=True)
        key = collector.issue_token("ingest", label="visitors", collection=id)
        ends = [*(n for n in _LOOKS if n < data.n), data.n]
        for start, end in itertools.pairwise([0, *ends]):
            reports = m.privatize(values[start:end])
            batches += sum(1 for _ in sent(http, opened, reports, key=key, build="demo", size=_BATCH))
            looks.append(_look(collector, id, end))
            if shown is not None:
                rows = looks[-1]["estimate"]
                shown.look(end, *(np.array([row[name] for row in rows]) for name in ("frequency", "lower", "upper")))
    final = _compared(m, data, looks, batches)
    if as_json:
        terminal.print_json(final)
    else:
        settling.settled(data, final)


def _look(collector: Any, id: str, n: int) -> dict[str, Any]:
    """The estimate, once everything that was sent is in it."""
    while (found := collector.estimate(id))["n"] < n:
        time.sleep(0.02)
    return {"n": found["n"], "estimate": found["estimate"]}


def _compared(m: FrequencyOracle, data: Population, looks: list[dict[str, Any]], batches: int) -> dict[str, Any]:
    """The last look beside the truth, and how wide the error bars were in each."""
    truth = data.frequencies
    rows = [{**row, "truth": float(share)} for row, share in zip(looks[-1]["estimate"], truth, strict=True)]
    found = np.array([row["frequency"] for row in rows])
    return {
        "dataset": data.name,
        "n": data.n,
        "k": data.k,
        "mechanism": m.name(),
        "epsilon": m.epsilon,
        "batches": batches,
        "bytes": data.n * m.report_dtype.itemsize,
        "looks": [
            {"n": look["n"], "widest": max(row["upper"] - row["lower"] for row in look["estimate"]) / 2}
            for look in looks
        ],
        "rmse": float(np.sqrt(np.mean((found - truth) ** 2))),
        "expected_rmse": float(np.sqrt(m.variances(truth, data.n).mean())),
        "covered": sum(row["lower"] <= row["truth"] <= row["upper"] for row in rows),
        "estimate": rows,
    }


_WIDE = 100
_LINES: dict[str, Callable[[MechanismOutcome], str]] = {
    "exact ε of one report": lambda o: f"{o.mechanism.exact_epsilon():.9f}",
    "RMSE of this run, percentage points": lambda o: f"{o.rmse * 100:.4f}",
    "RMSE of any run, exact expectation": lambda o: f"{o.expected_rmse * 100:.4f}",
    "true values inside their 95 % interval": lambda o: f"{int(o.covered.sum())} of {o.covered.size}",
    "attack success, measured on all reports": lambda o: f"{o.attack_rate * 100:.3f} %",
    "attack success, exact expectation": lambda o: f"{o.mechanism.asr() * 100:.3f} %",
    "bytes per report": lambda o: f"{o.report_bytes:,}",
    "time to randomize everybody": lambda o: f"{o.randomize_seconds:.3f} s",
    "reports per second": lambda o: f"{o.reports_per_second:,.0f}",
}


def show(data: Population, outcomes: list[MechanismOutcome]) -> None:
    """Print what was learned, and what it cost."""
    console = terminal.stdout()
    epsilon = outcomes[0].mechanism.epsilon
    columns = [grid.Column("category", "left"), grid.Column("truth"), *(grid.Column(o.name) for o in outcomes)]
    grid.show(
        console,
        columns,
        _shares(data, outcomes, wide=console.width >= _WIDE),
        f"{data.n:,} visitors, {data.k} categories, ε = {epsilon:g}: share in %, with 95 % interval",
        "* the interval misses the truth, as one in twenty should",
    )
    console.print()
    grid.show(
        console,
        [grid.Column("", "left"), *(grid.Column(each.name) for each in outcomes)],
        [[name, *(say(each) for each in outcomes)] for name, say in _LINES.items()],
        "What each costs and leaks",
        f"guessing without a report succeeds {100 / data.k:.2f} % of the time",
    )


def _shares(data: Population, outcomes: list[MechanismOutcome], *, wide: bool) -> list[list[Any]]:
    """One row a category, the most frequent first, as on the page; the ends of intervals where there is room."""
    ends, labels = [each.interval for each in outcomes], outcomes[0].estimate.labels
    rows = []
    for i in outcomes[0].order:
        row: list[Any] = [labels[i], f"{data.frequencies[i] * 100:.2f}"]
        for each, (lower, upper) in zip(outcomes, ends, strict=True):
            low, high, centre = lower[i] * 100, upper[i] * 100, each.estimate.frequencies[i] * 100
            reach = f"[{low:5.2f}, {high:5.2f}]" if wide else f"±{(high - low) / 2:.2f}"
            inside = bool(each.covered[i])
            row.append(terminal.cell(f"{' ' if inside else '*'}{centre:5.2f} {reach}", "" if inside else "yellow"))
        rows.append(row)
    return rows
