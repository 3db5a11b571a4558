"""Tables: what was measured, what is required, and whether it was reached.

Printed with rich, and written as markdown between two markers in RESULTS.md, so that the figures there always come
from a run and the words around them stay.
"""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

RESULTS = Path(__file__).with_name("RESULTS.md")
LOAD = f"{os.getloadavg()[0]:.1f}"  # other people's work, before ours starts
Item = TypeVar("Item")
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


@dataclass
class Table:
    """Rows of text, each with the names of the requirements it misses."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    note: str = ""
    data: list[dict[str, Any]] = field(default_factory=list)

    def add(self, *cells: str, missed: str = "", **numbers: Any) -> None:
        """One row; `missed` says which requirement it does not meet, and `numbers` go to the JSON file."""
        self.rows.append([*cells, "MISSED" if missed else "ok"])
        if missed:
            self.misses.append(f"{cells[0]}: {missed}")
        self.data.append(numbers)

    def markdown(self) -> str:
        """The table as markdown."""
        head = [*self.columns, ""]
        lines = [f"### {self.title}", ""]
        lines += [self.note, ""] if self.note else []
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines)


def show(table: Table) -> None:
    """Print a table."""
    from rich.console import Console
    from rich.table import Table as Rich

    drawn = Rich(title=table.title, caption=table.note or None)
    for i, column in enumerate([*table.columns, ""]):
        drawn.add_column(column, justify="left" if i == 0 else "right")
    for row in table.rows:
        drawn.add_row(*row, style="bold red" if row[-1] == "MISSED" else None)
    Console(width=None if os.isatty(1) else 150).print(drawn)


def progress(items: Sequence[Item], what: str) -> Iterable[Item]:
    """The items, with a bar on the error stream that is drawn between two of them, so as not to disturb the clock."""
    from rich.console import Console
    from rich.progress import track

    return track(items, what, console=Console(stderr=True), transient=True, auto_refresh=False)


def machine() -> dict[str, str]:
    """What ran, and on what."""
    return {
        "CPU": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "pure-ldp", "multi-freq-ldpy")},
        "load before": LOAD,
        "date": datetime.date.today().isoformat(),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def write(tables: dict[str, list[Table]], how: str) -> None:
    """Put the tables between the markers of RESULTS.md."""
    described = ", ".join(f"{name} {value}" for name, value in machine().items())
    body = "\n\n".join(table.markdown() for group in tables.values() for table in group)
    text = RESULTS.read_text() if RESULTS.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    RESULTS.write_text(f"{before}{BEGIN}\n\n{how} on {described}.\n\n{body}\n\n{END}{after}")


def update(tables: dict[str, list[Table]], how: str) -> None:
    """Put some tables in the place of those with the same titles, or after the others, with what they ran on."""
    text = RESULTS.read_text()
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    head, *blocks = inside.split("\n### ")
    kept = {block.split("\n", 1)[0]: block.rstrip("\n") for block in blocks}
    ran = f"{how} on " + ", ".join(f"{name} {value}" for name, value in machine().items()) + "."
    for table in (table for group in tables.values() for table in group):
        kept[table.title] = f"{table.markdown().removeprefix('### ')}\n\n{ran}"
    body = "".join(f"\n### {block}\n" for block in kept.values())
    RESULTS.write_text(f"{before}{BEGIN}{head}{body}\n{END}{after}")


def into_page(page: Path, tables: list[Table], how: str) -> None:
    """Put tables between the markers of a page of the docs, with what they ran on."""
    described = ", ".join(f"{name} {value}" for name, value in machine().items())
    body = "\n\n".join(table.markdown() for table in tables)
    before, rest = page.read_text("utf-8").split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{how} on {described}.\n\n{body}\n\n{END}{rest.split(END)[1]}", "utf-8")


def as_json(tables: dict[str, list[Table]]) -> dict[str, Any]:
    """Everything measured, for programs."""
    return {"machine": machine(), **{name: [asdict(table) for table in group] for name, group in tables.items()}}


def ratio(x: float) -> str:
    """Like 2.98× or 1,234×."""
    return f"{x:,.0f}×" if x >= 100 else f"{x:.2f}×" if x < 10 else f"{x:.0f}×"


def rate(x: float) -> str:
    """Reports a second, in thousands or millions."""
    return f"{x / 1e6:,.1f} M" if x >= 1e7 else f"{x / 1e6:.2f} M" if x >= 1e6 else f"{x / 1e3:.1f} k"
