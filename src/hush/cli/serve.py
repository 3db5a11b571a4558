"""`hush serve`: the collector, in one command."""

from __future__ import annotations

import inspect
import json
import logging
import os
import sys
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from hush.cli.asked.collectors import naming, needing, opened
from hush.cli.asked.options import Json
from hush.cli.asked.reading import real, whole
from hush.cli.shown import terminal
from hush.collect.settings import ServerSettings, variable

if TYPE_CHECKING:
    from hush.collect.server.running import Server

_FIRST = "first"
"""The label of the token that is printed at the first start."""
_LOG = "%(asctime)s %(levelname)s %(name)s %(message)s"


def serve(*, as_json: bool, **flags: Any) -> None:
    """Collect reports: serve collections over HTTP until told to stop.

    It listens on this machine alone and keeps everything in a file, unless told otherwise. Each setting is an option,
    or else a variable of the environment: HUSH_PORT, say. The first time, it prints a token for administrators, which
    is shown only then. Stop it with Ctrl-C or SIGTERM: what is under way is settled first.
    """
    with needing():
        from hush.collect.server.running import Server
    given = {name: value for name, value in flags.items() if value is not None}
    named = {each.name: _option(each.name) for each in fields(ServerSettings)}
    named |= {name: variable(name) for name in named.keys() - given.keys() if os.environ.get(variable(name))}
    with naming({**named, "host and port": f"{_option('host')} and {_option('port')}"}):
        settings = ServerSettings.from_environment(os.environ, **given)
        file = None if "://" in settings.store else Path(settings.store)
        server = opened(lambda: Server(settings), file, "stop that server first, or name another store")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=_LOG)
    logging.getLogger("hush").setLevel(logging.INFO)
    try:
        server.serve(ready=lambda running: _announce(running, as_json))
    finally:
        server.close()
    terminal.note("Stopped: all that was taken is in the store.")


def _announce(server: Server, as_json: bool) -> None:
    """Say where it is, and once, what lets its administrator in: on stdout, and never in a log."""
    admins = [each for each in server.service.tokens() if each["role"] == "admin"]
    token = None if admins else server.service.issue_token("admin", label=_FIRST, who="hush serve")
    url = server.database.url
    store = url.database if server.database.embedded else url.render_as_string(hide_password=True)
    if as_json:
        typer.echo(json.dumps({"url": server.url, "store": store, "admin_token": token}))  # one line, for who waits
    else:
        typer.echo(f"Hush collector at {server.url}\nStore: {store}")
        if token is not None:
            typer.echo(f"Admin token, shown only this once: {token}")
    sys.stdout.flush()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _parameter(name: str, kind: Any, default: Any, metadata: Any) -> inspect.Parameter:
    """The option of a setting; it has no default of its own, so that the environment comes before that."""
    plain = next(each for each in get_args(kind) if each is not type(None)) if isinstance(kind, UnionType) else kind
    option = _option(name)
    more: dict[str, Any] = {"help": f"{metadata['help'][0].upper()}{metadata['help'][1:]}."}
    more["show_default"] = False if default in (None, "") else _said(default)
    if plain is bool:
        names: tuple[str, ...] = (f"{option}/--no-{option.removeprefix('--')}",)
    else:
        names = (option,)
        more["metavar"] = {int: "N", float: "X", Path: "PATH"}.get(plain, "TEXT")
    if plain is int:
        more["parser"] = whole(option, None, str(default))
    elif plain is float:
        more["parser"] = real(option, str(default))
    annotation: Any = Annotated[plain | None, typer.Option(*names, **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _said(default: Any) -> str:
    """A default, as it is written."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"{default:g}" if isinstance(default, float) else str(default)


_kinds = get_type_hints(ServerSettings)
_every = [_parameter(each.name, _kinds[each.name], each.default, each.metadata) for each in fields(ServerSettings)]
_every.append(inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))
serve.__signature__ = inspect.Signature(_every)  # type: ignore[attr-defined]
serve.__annotations__ = {each.name: each.annotation for each in _every}
