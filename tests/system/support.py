"""Ways to run the real command."""

from __future__ import annotations

import csv
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hush.cli import app

COIN = '''
"""A mechanism of one's own: randomized response on a coin with exact thirds."""

from dataclasses import dataclass

import numpy as np

import hush


@dataclass(frozen=True, kw_only=True)
class Coin(hush.PureOracle):
    """With weight w the true value, with weight 1 each other one."""

    w: int = 3

    @property
    def report_dtype(self):
        return np.dtype("u1")

    @property
    def p_star(self):
        return self.w / (self.w + self.k - 1)

    @property
    def q_star(self):
        return 1 / (self.w + self.k - 1)

    def sample(self, values, rng):
        own = rng.integers(self.w + self.k - 1, size=values.size) < self.w
        other = (values + rng.integers(1, self.k, size=values.size)) % self.k
        return np.where(own, values, other).astype("u1")

    def supports(self, reports, values):
        return reports == values

    def outputs(self, public=None):
        return np.arange(self.k, dtype="u1")

    def weight(self, report, value):
        return self.w if report == value else 1


class Interrupted(Coin):
    def sample(self, values, rng):
        raise KeyboardInterrupt


class Waiting(Coin):
    def sample(self, values, rng):
        import pathlib, time

        pathlib.Path("started").touch()
        while True:  # signal.pause would wait for ever after a signal that arrives just before it
            time.sleep(0.01)


class Raising(Coin):
    def sample(self, values, rng):
        raise RuntimeError("two\\nlines")


class Leaving(Coin):
    def sample(self, values, rng):
        raise SystemExit(0)


class Shapeless(Coin):
    def sample(self, values, rng):
        return np.zeros(2, "u1")


class Unsupporting(Coin):
    def supports(self, reports, values):
        raise KeyError("x")


class Picky(Coin):
    def __post_init__(self):
        raise OSError("not today")


class Untyped(Coin):
    @property
    def report_dtype(self):
        return "u1"


NOT_A_MECHANISM = 7
'''


def run(*arguments: object, columns: int | None = None) -> Result:
    """Run the command in this process, in a window so wide."""
    env = {"COLUMNS": None if columns is None else str(columns)}
    return CliRunner(env=env).invoke(app, [str(each) for each in arguments])


def answer(*arguments: object) -> Any:
    """Run with --json, and read what it prints."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments: object) -> str:
    """Run something that must fail with a message and exit code 2, and give the message."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert result.stdout == ""
    return " ".join(result.stderr.split())


@contextmanager
def remember(*functions: tuple[Any, str]) -> Iterator[None]:
    """Compute deterministic functions once for equal arguments, until the block ends.

    Tests of a command ask one question several times: for its JSON, its tables, its files and its options. With this,
    the command runs each time, and what it asks of the library is computed the first time.

    Arguments are equal if their pickles are; a generator is left in the state that the first call left it in.
    Functions among the arguments only watch the progress, and are not compared.

    Args:
        functions: Each by the module or package where the command looks it up, and its name.
    """
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in functions:
            patch.setattr(owner, name, _remembering(getattr(owner, name)))
        yield


def _remembering(function: Any) -> Any:
    known: dict[bytes, tuple[Any, Any]] = {}

    def remembered(*args: Any, **options: Any) -> Any:
        rng = options.get("rng")
        told = {name: value for name, value in options.items() if isinstance(value, type) or not callable(value)}
        try:
            key = pickle.dumps((args, told))
        except (AttributeError, TypeError, pickle.PicklingError):  # such as a generator of secure randomness
            return function(*args, **options)
        if key not in known:
            found = function(*args, **options)
            known[key] = found, rng.bit_generator.state if isinstance(rng, np.random.Generator) else None
        found, state = known[key]
        if state is not None:
            options["rng"].bit_generator.state = state
        return found

    return remembered


def words(*arguments: object) -> list[str]:
    """What to start for `hush` in a process of its own."""
    return [sys.executable, "-m", "hush", *(str(each) for each in arguments)]


def shell(*arguments: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m hush` in a process of its own, in a folder."""
    env = {**os.environ, **environment}
    return subprocess.run(words(*arguments), cwd=folder, env=env, capture_output=True, text=True, check=False)


SEVERAL = """
import json, os, sys

import hush.cli._app, hush.kernels.orders, pyarrow.parquet  # imported once, and not by every command
from hush.cli import main

codes = []
for i, arguments in enumerate(json.loads(sys.argv[1])):
    if pid := os.fork():
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        continue
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(os.path.join(sys.argv[2], f"{name}{i}"), os.O_WRONLY | os.O_CREAT), stream)
    sys.argv = ["hush", *arguments]
    main()
    sys.exit()
print(json.dumps(codes))
"""


def shells(*commands: tuple[object, ...], folder: Path, **environment: str) -> list[subprocess.CompletedProcess[str]]:
    """Run `hush` several times, one after another, each time in a process forked from one that has imported it."""
    env = {**os.environ, **environment}
    asked = json.dumps([[str(each) for each in command] for command in commands])
    with tempfile.TemporaryDirectory() as streams:
        program = [sys.executable, "-c", SEVERAL, asked, streams]
        done = subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True, check=True)
        return [
            subprocess.CompletedProcess(
                command, code, *((Path(streams) / f"{name}{i}").read_text(encoding="utf-8") for name in ("out", "err"))
            )
            for i, (command, code) in enumerate(zip(commands, json.loads(done.stdout), strict=True))
        ]


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    """A CSV file of these columns."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def heard() -> None:
    """In a process that is started: signals end it, though whoever runs the tests in the background ignores some."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
