"""The commands together, and the guard around them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import hush
from hush.cli.asked import renamed
from hush.cli.process import guard
from hush.errors import ParameterError, Unsaid, message

COMMANDS = (
    "plan",
    "budget",
    "capacity",
    "uldp",
    "mechanisms",
    "privatize",
    "estimate",
    "simulate",
    "audit",
    "demo",
    "reproduce",
)
"""Each is a function in the file of its name."""


class _Once(TyperCommand):
    """Refuses an option that is given twice with a value: the last would win, and the first be forgotten.

    An option that has a new name is taken by its old one, too.
    """

    def make_parser(self, ctx: Any) -> Any:
        """The parser, which knows the old names."""
        parser = super().make_parser(ctx)
        renamed.understand(parser, self.name, self.get_params(ctx))
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options, each at most once unless it may be repeated."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        given = renamed.resolved(self.name, order)
        for option in given:
            single = option.param_type_name == "option" and not (option.multiple or option.is_flag or option.count)
            if single and given.count(option) > 1:
                name = max(option.opts, key=len)
                got = Unsaid(f"it {given.count(option)} times")
                raise ParameterError(message(name, "must be given once", got, "leave out all but one"))
        return super().parse_args(ctx, args)


@cache
def _command(name: str) -> Any:
    """A command; its file is imported when it is run or asked for help, so that the others cost no time."""
    alone = typer.Typer(rich_markup_mode="markdown", add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=_Once)(getattr(import_module(f"hush.cli.{name}"), name))
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
