"""What goes to the terminal: tables and JSON on stdout; notes and errors on stderr."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from hush import strict_json

_PIPE_WIDTH = 160


def stdout() -> Console:
    """The console for results: as wide as the window or COLUMNS says, and wide into a pipe."""
    console = Console(highlight=False)
    if is_pipe(console):
        console.width = _PIPE_WIDTH
    return console


def is_pipe(console: Console) -> bool:
    """Whether nothing bounds a line: a file or a program reads it, and COLUMNS does not say how wide it is."""
    return not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit()


def stderr() -> Console:
    """The console for everything that is not a result."""
    return Console(stderr=True, highlight=False)


def error(text: str) -> None:
    """Say what went wrong, in one paragraph."""
    stderr().print(f"[bold red]Error:[/] {_escape(clean(text))}", soft_wrap=True)


def note(text: str) -> None:
    """Say something beside the result."""
    stderr().print(f"[dim]{_escape(clean(text))}[/]", soft_wrap=True)


def warn(text: str) -> None:
    """Say something that must not be missed."""
    stderr().print(f"[bold yellow]Warning:[/] {_escape(clean(text))}", soft_wrap=True)


def show_warnings() -> None:
    """Show what the library warns of like all else that must not be missed; other packages' warnings stay theirs."""
    theirs = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if category.__module__.startswith("hush."):
            warn(str(message))
        else:
            theirs(message, category, *where, **more)

    warnings.showwarning = show


def warn_of_signs(labels: list[str]) -> None:
    """Say which labels a figure cannot spell."""
    if labels:
        some = ", ".join(labels[:3]) + (", …" if len(labels) > 3 else "")
        warn(f"the figure's font lacks signs of {len(labels)} of its labels, which show as boxes: {some}")


def say_written(made: object, spec_out: Path | None, png: Path | None, *, read: bool) -> None:
    """Tell which files were written, or that a spec can be, where other commands would read it."""
    if png is not None:
        note(f"wrote the picture, {png}")
    if spec_out is not None and made is None:
        warn(f"no spec was written, and {spec_out} is as it was")
    elif spec_out is not None:
        note(f"wrote the spec, {spec_out}")
    elif read:
        note("Write the spec with --spec-out FILE.json; privatize and simulate read it with --spec.")


def _escape(text: str) -> str:
    return escape(text)


def clean(text: object) -> str:
    r"""Text that cannot move the cursor or change colours: what does not print becomes a replacement mark.

    >>> clean("café\x1b[2J")
    'café�[2J'
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def cell(text: object, style: str = "") -> Any:
    """Text for a table, with no markup in it and nothing that moves the cursor."""
    return Text(clean(text), style=style)


def parameter(value: object, digits: int) -> str:
    """A parameter in a cell: of a long list the ends, and how many there are.

    >>> parameter(0.123456, 3), parameter((7, 11), 3), parameter((23, 31, 41, 53, 59), 3)
    ('0.123', '(7, 11)', '23…59 (5)')
    """
    if isinstance(value, tuple) and len(value) > 3:
        return f"{value[0]}…{value[-1]} ({len(value)})"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def print_json(data: object) -> None:
    r"""Print data as JSON on stdout, in \u escapes where the stream cannot hold it as it is.

    An infinite number becomes the string "inf", which JSON lacks.
    """
    plain = strict_json.plain(data)
    text = json.dumps(plain, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain, indent=2)
    sys.stdout.write(text + "\n")
