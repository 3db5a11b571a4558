"""A bar that shows how far the work has come, where a person is watching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from hush.cli.shown import terminal


class Bar:
    """A progress bar: called with an amount, it moves on; told a title, it shows that."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def __call__(self, amount: float) -> None:
        """Move on."""
        self._bar.update(self._task, advance=amount)

    def name(self, title: str) -> None:
        """What is being done now."""
        self._bar.update(self._task, description=escape(terminal.clean(title)))


@contextmanager
def progress(title: str, total: float | None, *, quiet: bool = False) -> Iterator[Bar]:
    """A bar with the time left, on stderr, where a person is watching."""
    console = terminal.stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        yield Bar(bar, bar.add_task(escape(terminal.clean(title)), total=total))


@contextmanager
def bar(title: str, *, quiet: bool) -> Iterator[Callable[[float], None]]:
    """A bar with the time left; gives the function that is told how far the search has come, from 0 to 1."""
    with progress(title, 1.0, quiet=quiet) as advance:
        reached = 0.0

        def tell(share: float) -> None:
            nonlocal reached
            advance(max(share - reached, 0.0))
            reached = max(share, reached)

        yield tell
