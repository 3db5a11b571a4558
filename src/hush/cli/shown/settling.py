"""An estimate that settles while reports come in: a table that is drawn anew, or a line for each look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hush.cli.shown import grid, terminal
from hush.people import Population
from hush.types import Floats

_WIDEST, _BESIDE = 60, 28  # letters of an error bar at most, and of the name and the number beside it
_NAMED = 4


class Settling:
    """Shows one look after the other.

    Args:
        data: The people whose values are estimated, and the truth about them.
        console: Where to.
        live: What is drawn anew, where a person is watching.
    """

    def __init__(self, data: Population, console: Console, live: Live | None) -> None:
        self._data, self._console, self._live = data, console, live
        self._order = [int(i) for i in (-data.frequencies).argsort(kind="stable")]
        self._top = float(data.frequencies.max())

    def look(self, n: int, frequencies: Floats, lower: Floats, upper: Floats) -> None:
        """Show what is estimated of so many."""
        if self._live is not None:
            self._live.update(self._table(n, frequencies, lower, upper), refresh=True)
            return
        widest = float((upper - lower).max()) * 50
        labels = [self._data.domain.label(i) for i in self._order[:_NAMED]]
        some = ", ".join(f"{label} {frequencies[i] * 100:.1f}" for label, i in zip(labels, self._order, strict=False))
        self._console.print(terminal.cell(f"{n:>9,} visitors: ±{widest:6.2f}   {some}, …"), soft_wrap=True)

    def _table(self, n: int, frequencies: Floats, lower: Floats, upper: Floats) -> Group:
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
        for justify in ("left", "right", "left"):
            table.add_column(justify=justify, no_wrap=True)
        wide = max(min(self._console.width - _BESIDE, _WIDEST), 1)
        for i in self._order:
            reach = (upper[i] - lower[i]) * 50
            name = terminal.cell(self._data.domain.label(i))
            number = terminal.cell(f"{frequencies[i] * 100:6.2f} ±{reach:5.2f}")
            table.add_row(
                name, number, _bar((float(lower[i]), float(frequencies[i]), float(upper[i])), self._top * 1.4, wide)
            )
        return Group(terminal.cell(f"{n:,} visitors have reported: share in %, with 95 % interval", "bold"), table)


def _bar(shares: tuple[float, float, float], top: float, wide: int) -> Text:
    """An error bar, from 0 to a share that all bars have in common."""
    low, middle, high = (min(max(round(x / top * (wide - 1)), 0), wide - 1) for x in shares)
    line = [" "] * wide
    line[low : high + 1] = "─" * (high + 1 - low)
    line[middle] = "●"
    return Text("".join(line), style="cyan")


@contextmanager
def settling(data: Population, *, quiet: bool) -> Iterator[Settling | None]:
    """What shows looks; None where programs read the answer."""
    console = terminal.stdout()
    if quiet:
        yield None
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield Settling(data, console, live)
    else:
        yield Settling(data, console, None)


def settled(data: Population, final: dict[str, Any]) -> None:
    """Print what was estimated in the end, beside the truth."""
    console = terminal.stdout()
    columns = [
        grid.Column("category", "left"),
        grid.Column("truth"),
        grid.Column("estimate"),
        grid.Column("95 % interval"),
    ]
    rows = []
    for row in sorted(final["estimate"], key=lambda each: -each["truth"]):
        inside = row["lower"] <= row["truth"] <= row["upper"]
        mark = "" if inside else "yellow"
        between = f"{' ' if inside else '*'}[{row['lower'] * 100:5.2f}, {row['upper'] * 100:5.2f}]"
        numbers = [f"{row['truth'] * 100:.2f}", f"{row['frequency'] * 100:.2f}"]
        rows.append([row["label"], *numbers, terminal.cell(between, mark)])
    title = f"{final['n']:,} visitors, each randomized with ε = {final['epsilon']:g}: share in %"
    grid.show(console, columns, rows, title, "* the interval misses the truth, as one in twenty should")
    console.print()
    for name, text in (
        ("RMSE of this run", f"{final['rmse'] * 100:.4f} percentage points"),
        ("RMSE of any run", f"{final['expected_rmse'] * 100:.4f}, exact expectation"),
        ("truth inside its interval", f"{final['covered']} of {data.k}"),
        ("batches over HTTP", f"{final['batches']:,}, {final['bytes']:,} bytes"),
    ):
        console.print(terminal.cell(f"{name:27}", "dim"), terminal.cell(text), sep="", soft_wrap=True)
