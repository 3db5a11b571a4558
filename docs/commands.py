"""The reference of the command line, made from the commands themselves: python docs/commands.py rewrites cli.md.

Each command of the page stands between two marks; a test compares what is there with what `reference` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from hush.cli import app

PAGE = Path(__file__).parent / "cli.md"
MARKED = re.compile(r"(<!-- begin ([\w ]+) -->\n).*?(<!-- end -->)", re.S)


def commands() -> dict[str, Any]:
    """Every command by name; of one that has commands of its own, these."""
    return dict(_of(typer.main.get_command(app), ""))


def _of(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _of(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def reference(name: str) -> str:
    """Usage, purpose and options of one command, in Markdown."""
    command = commands()[name]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    names = "".join(f" {_shown(p)}" if p.required else f" [{_shown(p)}]" for p in arguments)
    lines = [f"Usage: `hush {name}{' [OPTIONS]' if options else ''}{names}`", "", _text(command.help), ""]
    rows = [_row(f"`{_shown(p)}`", p) for p in arguments]
    rows += [_row(", ".join(f"`{o}`" for o in (*p.opts, *p.secondary_opts)), p) for p in options]
    if rows:
        lines += ["| option | default | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _shown(argument: Any) -> str:
    return str(argument.metavar or argument.human_readable_name)


def _row(shown: str, parameter: Any) -> str:
    if parameter.required:
        default = "required"
    elif isinstance(getattr(parameter, "show_default", None), str):
        default = f"`{parameter.show_default}`"
    elif parameter.default in (None, False, "", (), []):
        default = ""
    else:
        default = f"`{parameter.default}`"
    return f"| {shown} | {default} | {_text(getattr(parameter, 'help', '')).replace('|', '&#124;')} |"


def _text(help_: str | None) -> str:
    whole = (help_ or "").split("\f")[0]
    return "\n\n".join(" ".join(part.split()) for part in whole.split("\n\n")).strip()


def rendered(page: str) -> str:
    """The page with every marked part made anew."""
    return MARKED.sub(lambda found: found[1] + reference(found[2]) + found[3], page)


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
