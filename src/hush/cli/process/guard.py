"""What becomes of an error: one message on stderr, and an exit code.

An error that a person can mend, in an option, a file or a mechanism of their own, is exit code 2. One that nobody
foresaw is exit code 70, so that nobody takes it for an answer: 1 is the code of a command whose answer is no.
HUSH_TRACEBACK=1 in the environment shows the traceback of either.
"""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from hush.cli.process import faults, signals, streams
from hush.cli.shown import terminal
from hush.errors import NOTHING, HushError, Unsaid, message

_OURS = 70
_DETAIL = "HUSH_TRACEBACK=1 shows where"

_Usage: type[Exception] = typer.BadParameter.__mro__[1]  # click's UsageError, wherever typer keeps it


def guarded(work: Callable[[], Any]) -> int:
    """Run something; give its exit code, whatever it raises."""
    with streams.dependable():
        _print_anything()
        try:
            try:
                work()
            finally:
                sys.stdout.flush()
                signals.hear()
        except typer.Exit as done:
            return int(done.exit_code)
        except KeyboardInterrupt as stop:
            said = signals.told(stop)
            if said is not None:
                terminal.error(said)
            return signals.code(stop)
        except BaseException as error:  # SystemExit too, which a user's own module may raise
            return _told(error)
    return 0


def _told(error: BaseException) -> int:
    if os.environ.get("HUSH_TRACEBACK", "0") not in {"", "0"}:
        sys.stderr.write(_trace(error, private=faults.saw_people(error)))
    if _asks_for_help(error):
        return 2
    if isinstance(error, SystemExit) and faults.told(error) is None:
        return error.code if isinstance(error.code, int) else 1
    said, code = _verdict(error)
    terminal.error(said)
    return code


def _trace(error: BaseException, *, private: bool) -> str:
    """Where an error and those before it came up; not what they say, where that may be of people."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if private and not isinstance(error, HushError):
        lines = ["Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__)]
        lines.append(f"{type(error).__name__}\n")
    else:
        lines = traceback.format_exception(error, chain=False)
    return ("" if before is None else f"{_trace(before, private=private)}\n") + "".join(lines)


def _verdict(error: BaseException) -> tuple[str, int]:
    if isinstance(error, HushError):
        return str(error), 2
    usage = _misuse(error)
    if usage is not None:
        return usage, 2
    fault = faults.told(error)
    if fault is not None:
        return f"{fault}; {_DETAIL}", 2
    if isinstance(error, OSError):
        return _file(error), 2
    if isinstance(error, UnicodeEncodeError):
        remedy = "rename it, or set PYTHONUTF8=1"
        return f"a file's name must be readable in this locale, got {error.object!a}; {remedy}", 2
    if isinstance(error, MemoryError):
        return f"memory must hold the work, got {error or 'too little'}; use a smaller domain or fewer runs", 2
    return f"internal error: {faults.cause(error)}; please report it; {_DETAIL}", _OURS


def _file(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"a file or a stream cannot be used: {reason}; check the space left and the permissions"
    return f"file {str(error.filename)!r} cannot be used: {reason}; check the path and its permissions"


def _print_anything() -> None:
    """What a terminal cannot show becomes a question mark, not an error, and a width of nothing is no width."""
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors="replace")
    if not os.environ.get("COLUMNS", "").strip("0"):
        os.environ.pop("COLUMNS", None)


# What the option parser objects to, said like every other error.


def _asks_for_help(error: BaseException) -> bool:
    """Whether the command was called bare; then its help is shown."""
    if type(error).__name__ != "NoArgsIsHelpError":
        return False
    if str(error):  # typer prints a rich one while it makes the error
        typer.echo(str(error), err=True)
    return True


def _misuse(error: BaseException) -> str | None:
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
    return _unknown(problem, command, help_)


def _misused(option: str, said: str) -> str:
    if "does not take a value" in said:
        return message(option, "must stand alone", Unsaid("a value"), f"write {option} without one")
    return message(option, "must have a value after it", NOTHING, f"write {option} and then the value")


def _unknown(problem: Any, command: str, help_: str) -> str:
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
