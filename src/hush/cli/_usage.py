"""What the option parser objects to, said like every other error: parameter, rule, value received, remedy."""

from __future__ import annotations

import difflib
from typing import Any

import typer

from hush.errors import NOTHING, Unsaid, message

_Usage: type[Exception] = typer.BadParameter.__mro__[1]  # click's UsageError, wherever typer keeps it


def asks_for_help(error: BaseException) -> bool:
    """Whether the command was called bare; then its help is shown."""
    if type(error).__name__ != "NoArgsIsHelpError":
        return False
    if str(error):  # typer prints a rich one while it makes the error
        typer.echo(str(error), err=True)
    return True


def told(error: BaseException) -> str | None:
    """A message for an error of usage; None for any other."""
    if not isinstance(error, _Usage):
        return None
    problem: Any = error
    command = problem.ctx.command_path if problem.ctx is not None else "hush"
    kind, help_ = type(error).__name__, f"`{command} --help` lists them"
    if kind == "MissingParameter":
        return message(_named(problem.param), "must be given", NOTHING, f"`{command} --help` says what it means")
    if kind == "NoSuchOption":
        near = [f"did you mean {' or '.join(sorted(problem.possibilities))}?"] if problem.possibilities else []
        return message("option", f"must be one that {command} takes", problem.option_name, " ".join([*near, help_]))
    if kind == "BadOptionUsage":
        return _misused(problem.option_name, problem.message)
    if isinstance(error, typer.BadParameter):
        return message(_named(problem.param), "must be well formed", Unsaid(problem.message.rstrip(".")), help_)
    return _other(problem, command, help_)


def _misused(option: str, said: str) -> str:
    if "does not take a value" in said:
        return message(option, "must stand alone", Unsaid("a value"), f"write {option} without one")
    return message(option, "must have a value after it", NOTHING, f"write {option} and then the value")


def _other(problem: Any, command: str, help_: str) -> str:
    """A command that does not exist, or words that no command takes."""
    words = [*getattr(problem.ctx, "_protected_args", []), *getattr(problem.ctx, "args", [])]
    known = problem.cmd.list_commands(problem.ctx) if hasattr(problem.cmd, "list_commands") else []
    quoted = problem.message.split("'")
    if known and len(quoted) > 1:
        near = [f"did you mean {each}?" for each in difflib.get_close_matches(quoted[1], known, n=1)]
        return message("command", f"must be one of {', '.join(known)}", quoted[1], " ".join([*near, help_]))
    extra = problem.message.rpartition("(")[2].rstrip(")") if "(" in problem.message else " ".join(words)
    return message("arguments", f"must be those that {command} takes", extra or problem.message, help_)


def _named(parameter: Any) -> str:
    if parameter is None:
        return "option"
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.human_readable_name)
    return str(max(parameter.opts, key=len))
