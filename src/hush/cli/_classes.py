"""Mechanisms by name, a user's own included, and the parameters they take."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hush.errors import HushError, ParameterError, message
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms.registry import register, registry


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()
"""What a message says it got where an option was left out."""


def mechanism_class(name: str) -> type[FrequencyOracle]:
    """The mechanism of that name; for module:Class, imported with the current directory on the path."""
    known = registry()
    if name in known:
        return known[name]
    if ":" in name:
        return _imported(name)
    by_lower = {each.lower(): each for each in known}
    if name.lower() in by_lower:
        return known[by_lower[name.lower()]]
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    if near:
        remedy = f"did you mean {' or '.join(by_lower[each] for each in near)}? `hush mechanisms` lists them all"
    else:
        remedy = f"use one of {', '.join(known)}, or module:Class for one of your own"
    raise ParameterError(message("--mechanism", "must be a known name", name, remedy))


def _imported(name: str) -> type[FrequencyOracle]:
    module, _, path = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever a user's module raises at import
        reason = f"{type(error).__name__}: {error}"
        remedy = f"it failed with {reason}; run hush where {module.split('.')[0]} can be imported"
        raise ParameterError(message("--mechanism", "must be importable as module:Class", name, remedy)) from None
    return register(found)


def parsed(settings: Iterable[str] | None) -> dict[str, Any]:
    """The name=value pairs, numbers as numbers.

    >>> parsed(["g=8", "theta=0.7"])
    {'g': 8, 'theta': 0.7}
    """
    pairs: dict[str, Any] = {}
    for setting in settings or ():
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise ParameterError(message("--set", "must look like name=value", setting, "write e.g. --set g=8"))
        pairs = merged(pairs, {name: _value(value)})
    return pairs


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, if no name stands in both."""
    for name in second:
        if name in first:
            raise ParameterError(message(name, "must be given once", [first[name], second[name]], "leave one out"))
    return {**first, **second}


def takes(cls: type[FrequencyOracle]) -> dict[str, bool]:
    """The parameters that a mechanism takes, and whether each is needed."""
    absent = dataclasses.MISSING
    return {f.name: f.default is absent and f.default_factory is absent for f in dataclasses.fields(cls) if f.init}


def construct(cls: type[FrequencyOracle], parameters: Mapping[str, Any]) -> FrequencyOracle:
    """The mechanism with these parameters; what it lacks or does not take is named."""
    wanted, name = takes(cls), cls.name()
    for given in parameters:
        if given not in wanted:
            rule = f"is no parameter of {name}, which takes {', '.join(wanted)}"
            raise ParameterError(message(given, rule, parameters[given], "leave it out or choose another mechanism"))
    for needed in (each for each, required in wanted.items() if required and each not in parameters):
        how = f"--{needed}" if needed in {"k", "epsilon", "delta"} else f"--set {needed}=…"
        raise ParameterError(message(needed, f"must be given for {name}", NOTHING, f"add {how}"))
    try:
        return cls(**parameters)
    except HushError:
        raise
    except (TypeError, ValueError) as error:  # a mechanism of the user's own
        raise ParameterError(
            message("--mechanism", f"must accept its parameters, but {name} did not", dict(parameters), str(error))
        ) from None
