"""The commands together, and the guard around them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import hush
from hush.cli.asked.once import Once
from hush.cli.process import guard

COMMANDS = (
    "plan",
    "budget",
    "capacity",
    "uldp",
    "mechanisms",
    "privatize",
    "estimate",
    "combine",
    "serve",
    "collection",
    "relay",
    "workbench",
    "simulate",
    "audit",
    "demo",
    "reproduce",
)
"""Each is a function in the file of its name, or an application with commands of its own."""


@cache
def _command(name: str) -> Any:
    """A command; its file is imported when it is run or asked for help, so that the others cost no time.

    One that has commands of its own is an application, in which each has a name.
    """
    found = getattr(import_module(f"hush.cli.{name}"), name)
    if isinstance(found, typer.Typer):
        group = typer.main.get_command(found)
        group.name = name
        return group
    alone = typer.Typer(rich_markup_mode="markdown", add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=Once)(found)
    return typer.main.get_command(alone)


class _Guarded(TyperGroup):
    """Turns every error into one message and an exit code, those of the option parser included."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All of them, in the order of a collection."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command, and leave with its exit code."""
        words = sys.argv[1:] if args is None else list(args)

        def work() -> None:
            with self.make_context(prog_name or "hush", words, **extra) as context:
                self.invoke(context)

        sys.exit(guard.guarded(work))


app = typer.Typer(
    cls=_Guarded,
    name="hush",
    help="The whole road of a locally private data collection: choose, randomize, collect, estimate.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"hush {hush.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass
