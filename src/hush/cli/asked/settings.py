"""The settings of a server as options: each is one, or else a variable of the environment."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_type_hints

import typer

from hush.cli.asked.options import Json
from hush.cli.asked.reading import real, whole
from hush.collect.settings import SpokenSettings

Settings = type[SpokenSettings]


def option(name: str) -> str:
    """The option of a setting.

    >>> option("most_body")
    '--most-body'
    """
    return f"--{name.replace('_', '-')}"


def names(of: Settings, given: Collection[str]) -> dict[str, str]:
    """What to call each setting in a message: its option, or the variable where that said it."""
    found = {each.name: option(each.name) for each in fields(of)}
    found |= {name: of.variable(name) for name in found.keys() - set(given) if os.environ.get(of.variable(name))}
    return found


def asking(of: Settings, *, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with an option for each setting, before its own.

    Args:
        of: Whose settings.
        without: Those that are no options.
    """
    kinds = get_type_hints(of)
    its_own = list(of.__annotations__)  # come before what every server has
    listed = sorted(fields(of), key=lambda each: its_own.index(each.name) if each.name in its_own else len(its_own))
    every = [
        _parameter(each.name, kinds[each.name], each.default, each.metadata)
        for each in listed
        if each.name not in without
    ]

    def decorated(work: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(work, include_extras=True)
        own = [each for each in inspect.signature(work).parameters.values() if each.kind is not each.VAR_KEYWORD]
        every.extend(each.replace(annotation=hints[each.name]) for each in own if each.name != "as_json")
        every.append(inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))
        work.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        work.__annotations__ = {each.name: each.annotation for each in every}
        return work

    return decorated


def _parameter(name: str, kind: Any, default: Any, metadata: Any) -> inspect.Parameter:
    """The option of a setting; it has no default of its own, so that the environment comes before that."""
    plain = next(each for each in get_args(kind) if each is not type(None)) if isinstance(kind, UnionType) else kind
    flag = option(name)
    more: dict[str, Any] = {"help": f"{metadata['help'][0].upper()}{metadata['help'][1:]}."}
    more["show_default"] = False if default in (None, "") else _said(default)
    if plain is bool:
        written: tuple[str, ...] = (f"{flag}/--no-{flag.removeprefix('--')}",)
    else:
        written = (flag,)
        more["metavar"] = {int: "N", float: "X", Path: "PATH"}.get(plain, "TEXT")
    if plain is int:
        more["parser"] = whole(flag, None, str(default))
    elif plain is float:
        more["parser"] = real(flag, str(default))
    annotation: Any = Annotated[plain | None, typer.Option(*written, **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _said(default: Any) -> str:
    """A default, as it is written."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"{default:g}" if isinstance(default, float) else str(default)
