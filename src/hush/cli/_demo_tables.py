"""The demo's numbers on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hush.cli import _console, _grid
from hush.people import Population
from hush.reports.outcome import Outcome

_WIDE = 100
_LINES: dict[str, Callable[[Outcome], str]] = {
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


def show(data: Population, outcomes: list[Outcome]) -> None:
    """Print what was learned, and what it cost."""
    console = _console.stdout()
    epsilon = outcomes[0].mechanism.epsilon
    columns = [_grid.Column("category", "left"), _grid.Column("truth"), *(_grid.Column(o.name) for o in outcomes)]
    _grid.show(
        console,
        columns,
        _shares(data, outcomes, wide=console.width >= _WIDE),
        f"{data.n:,} visitors, {data.k} categories, ε = {epsilon:g}: share in %, with 95 % interval",
        "* the interval misses the truth, as one in twenty should",
    )
    console.print()
    _grid.show(
        console,
        [_grid.Column("", "left"), *(_grid.Column(each.name) for each in outcomes)],
        [[name, *(say(each) for each in outcomes)] for name, say in _LINES.items()],
        "What each costs and leaks",
        f"guessing without a report succeeds {100 / data.k:.2f} % of the time",
    )


def _shares(data: Population, outcomes: list[Outcome], *, wide: bool) -> list[list[Any]]:
    """One row a category, the most frequent first, as on the page; the ends of intervals where there is room."""
    ends, labels = [each.interval for each in outcomes], outcomes[0].estimate.labels
    rows = []
    for i in outcomes[0].order:
        row: list[Any] = [labels[i], f"{data.frequencies[i] * 100:.2f}"]
        for each, (lower, upper) in zip(outcomes, ends, strict=True):
            low, high, centre = lower[i] * 100, upper[i] * 100, each.estimate.frequencies[i] * 100
            reach = f"[{low:5.2f}, {high:5.2f}]" if wide else f"±{(high - low) / 2:.2f}"
            inside = bool(each.covered[i])
            row.append(_console.cell(f"{' ' if inside else '*'}{centre:5.2f} {reach}", "" if inside else "yellow"))
        rows.append(row)
    return rows
