"""Options that had another name in version 0.1: the old one works, warns, and goes in version 0.3."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hush.cli.shown import terminal

_PICTURE = {"--plot": "--png"}
_FOLDER = {"--out": "--output"}
RENAMED = {
    "plan": _PICTURE,
    "budget": _PICTURE,
    "capacity": {
        **_PICTURE,
        "--threshold": "--probability",
        "--metric": "--outcome",
        "--clip": "--clip-above",
    },
    "uldp": {"--prefer": "--matters"},
    "demo": _FOLDER,
    "reproduce": _FOLDER,
}
"""Of each command, the new name of every old one."""


def warn(old: str, new: str) -> None:
    """Say what to write in place of an old name."""
    terminal.warn(f"{old} is now {new}; the old name goes in version 0.3.")


@dataclass(frozen=True)
class OldName:
    """What the parser has seen where an option was given by its old name."""

    name: str
    option: Any


def understand(parser: Any, command: str | None, options: Iterable[Any]) -> None:
    """Let a command's parser take the old names, which its help does not show."""
    named = {name: option for option in options for name in option.opts}
    for old, new in RENAMED.get(command or "", {}).items():
        option = named[new]
        parser.add_option(obj=OldName(old, option), opts=[old], dest=option.name, action="store", nargs=option.nargs)


def resolved(command: str | None, given: Iterable[Any]) -> list[Any]:
    """The options that were given, those with an old name as themselves, with a warning."""
    found = []
    for each in given:
        if isinstance(each, OldName):
            new = RENAMED[command or ""][each.name]
            warn(each.name, new)
        found.append(each.option if isinstance(each, OldName) else each)
    return found
