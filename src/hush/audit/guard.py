"""Foreign code on a leash: what it raises and how long it takes is told, whatever it does."""

from __future__ import annotations

import ctypes
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hush import errors

Result = TypeVar("Result")


class Hung(Exception):
    """Nothing happened for too long."""


def watched(work: Callable[[list[int]], Result], patience: float) -> Result:
    """Run work(steps) on a thread of its own; raise `Hung` when steps[0] stands still for so many seconds.

    A thread cannot be ended from outside. One that hangs in Python is told to end and does so at its next step; one
    that hangs in compiled code is left behind, and ends with the process.
    """
    steps = [0]
    done = threading.Event()
    outcome: list[tuple[Result | None, BaseException | None]] = []

    def body() -> None:
        try:
            outcome.append((work(steps), None))
        except BaseException as error:  # whatever it raises, SystemExit included
            outcome.append((None, error))
        finally:
            done.set()

    thread = threading.Thread(target=body, daemon=True, name="audited")
    thread.start()
    try:
        seen = 0
        while not done.wait(patience):
            if steps[0] == seen:
                raise Hung
            seen = steps[0]
    except BaseException:
        _end(thread)
        raise
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def _end(thread: threading.Thread) -> None:
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


def cause(error: BaseException) -> str:
    """The kind of an error, what it says and where it arose, in one line."""
    told = errors.cause(error)
    places = [each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__]
    return f"{told} ({Path(places[-1].filename).name}, line {places[-1].lineno})" if places else told
