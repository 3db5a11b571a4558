"""Mechanisms by name, a user's own included, and the parameters they take."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from hush.cli import _faults
from hush.cli._names import FULL_NAMES, meant
from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import register, registry

Mechanism = TypeVar("Mechanism", FrequencyOracle, Numeric)


def numeric_class(name: str | None) -> type[Numeric] | None:
    """The mechanism for means of that name, in any case; None if it is none."""
    return {each.lower(): cls for each, cls in registry("numeric").items()}.get((name or "").lower())


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
    if numeric_class(name) is not None:
        remedy = "`hush capacity`, `privatize` and `simulate` take it; here use e.g. OUE"
        raise ParameterError(message("--mechanism", "must estimate frequencies, and not a mean", name, remedy))
    near = meant(name, known)
    if near:
        full = f", {FULL_NAMES[near[0]]}" if len(near) == 1 and near[0] in FULL_NAMES else ""
        remedy = f"did you mean {' or '.join(near)}{full}? `hush mechanisms` lists them all"
    else:
        remedy = f"use one of {', '.join(known)}, or module:Class for one of your own"
    raise ParameterError(message("--mechanism", "must be a known name", name, remedy))


def _imported(name: str) -> type[FrequencyOracle]:
    module, _, path = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *path.split("."))):
        rule = "must look like module:Class"
        raise ParameterError(message("--mechanism", rule, name, "name a module, a colon and a class in it"))
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's module raises at import, SystemExit included
        remedy = f"it failed with {_faults.cause(error)}; run hush where {module.split('.')[0]} can be imported"
        raise ParameterError(message("--mechanism", "must be importable as module:Class", name, remedy)) from error
    for part in path.split("."):
        if not hasattr(found, part):
            rule, remedy = f"must name a class that {module} has", "check the name after the colon"
            raise ParameterError(message("--mechanism", rule, name, remedy))
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, FrequencyOracle)):
        rule = "must be a mechanism class"
        raise ParameterError(message("--mechanism", rule, name, "derive it from hush.FrequencyOracle"))
    if inspect.isabstract(found):
        lacks = Unsaid(f"{name!r}, which lacks {', '.join(sorted(found.__abstractmethods__))}")
        raise ParameterError(message("--mechanism", "must be a complete mechanism class", lacks, "write what it lacks"))
    return register(found)


def parsed(settings: Iterable[str] | None) -> dict[str, Any]:
    """The name=value pairs, numbers as numbers; commas, or brackets, make a list.

    >>> parsed(["g=8", "theta=0.7", "moduli=7,11,13"])
    {'g': 8, 'theta': 0.7, 'moduli': [7, 11, 13]}
    """
    pairs: dict[str, Any] = {}
    for setting in settings or ():
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise ParameterError(message("--set", "must look like name=value", setting, "write e.g. --set g=8"))
        pairs = merged(pairs, {name: _moduli(value) if name == "moduli" else _value(value)})
    return pairs


def said(value: object) -> str:
    """A setting's value as it is written on the command line.

    >>> said([7, 11, 13]), said(0.5)
    ('7,11,13', '0.5')
    """
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _value(text: str) -> int | float | str | list[Any]:
    ends = text[0] + text[-1]
    inner = text[1:-1] if len(text) > 1 and ends in {"[]", "()"} else text
    if inner != text or "," in text:
        return [_value(part.strip()) for part in inner.split(",") if part.strip()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _moduli(text: str) -> list[Any]:
    """A list, also where there is only one."""
    given = _value(text)
    listed = given if isinstance(given, list) else [given]
    if not listed or not all(isinstance(each, int) for each in listed):
        rule = "must be whole numbers with commas between them"
        raise ParameterError(message("--set moduli", rule, text, "write e.g. --set moduli=7,11,13"))
    return listed


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, if no name stands in both."""
    for name in second:
        if name in first:
            raise ParameterError(message(name, "must be given once", [first[name], second[name]], "leave one out"))
    return {**first, **second}
