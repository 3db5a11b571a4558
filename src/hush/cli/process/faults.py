"""Errors inside a mechanism of the user's own: whose they are, what it was doing, and why."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType

from hush import errors
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.mechanisms.spec import Spec

_PEOPLE = "hush.files.randomizing"
"""The module through which every value of a person goes."""


def told(error: BaseException) -> str | None:
    """What a mechanism of the user's own failed at; None if none had a part in it."""
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, line in reversed(frames):
        owner = frame.f_locals.get("self")
        doing = frame.f_code.co_name
        if _own(owner) and not doing.startswith("_") and hasattr(type(owner), doing):
            where = _where(type(owner), frames) or f"{Path(frame.f_code.co_filename).name}, line {line}"
            return f"mechanism {_name(owner)} failed in {doing} ({where}) with {cause(error)}; {_mend(error)}"
    if isinstance(error, OSError):
        return None  # of a disk or a stream, which a mechanism that is only at hand does not touch
    for frame, _ in reversed(frames):
        for held in frame.f_locals.values():
            mechanism = held.mechanism if isinstance(held, Spec) else held
            if _own(mechanism):
                remedy = "hush.testing.check_mechanism tells what a mechanism must do"
                return f"mechanism {_name(mechanism)} failed with {cause(error)}; {remedy}"
    return None


def cause(error: BaseException) -> str:
    """The kind of an error and what it says, in one line; only its kind where it may speak of people."""
    if saw_people(error):
        return f"{type(error).__name__}, whose words are left out, since they may tell a person's value"
    return errors.cause(error)


def _mend(error: BaseException) -> str:
    return "mend its class" + (", with hush.testing.check_mechanism, which makes values up" * saw_people(error))


def saw_people(error: BaseException) -> bool:
    """Whether an error came up while people's own values were at hand."""
    return _PEOPLE in (frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__))


def _own(thing: object) -> bool:
    return isinstance(thing, FrequencyOracle) and from_outside(type(thing))


def _name(thing: object) -> str:
    return f"{type(thing).__module__}:{type(thing).__qualname__}"


def _where(cls: type, frames: list[tuple[FrameType, int]]) -> str | None:
    """The last line of the class's own module that ran."""
    lines = [
        f"{Path(f.f_code.co_filename).name}, line {n}"
        for f, n in frames
        if f.f_globals.get("__name__") == cls.__module__
    ]
    return lines[-1] if lines else None
