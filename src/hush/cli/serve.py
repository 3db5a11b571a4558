"""`hush serve`: the collector, in one command."""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli.asked.collectors import naming, needing, opened
from hush.cli.asked.settings import asking, names
from hush.cli.process import signals
from hush.cli.process.beside import Beside
from hush.cli.shown import terminal
from hush.collect.settings import ServerSettings
from hush.errors import ParameterError, Unsaid, message, missing

if TYPE_CHECKING:
    from hush.collect.server.running import Server

_FIRST = "first"
"""The label of the token that is printed at the first start."""
_END = {
    True: "Stopped: all that was taken is in the store.",
    False: "Stopped: all that was acknowledged is in the store; what was still under way is not, and is sent again.",
}
WorkbenchToo = Annotated[
    bool,
    typer.Option(
        "--workbench",
        help="Start a workbench beside it, in a process of its own; HUSH_WORKBENCH_… variables are its settings.",
    ),
]
_LOG = "%(asctime)s %(levelname)s %(name)s %(message)s"


@asking(ServerSettings)
def serve(*, workbench: WorkbenchToo = False, as_json: bool, **flags: Any) -> None:
    """Collect reports: serve collections over HTTP until told to stop.

    It listens on this machine alone and keeps everything in a file, unless told otherwise. Each setting is an option,
    or else a variable of the environment: HUSH_PORT, say. The first time, it prints a token for administrators, which
    is shown only then. Stop it with Ctrl-C or SIGTERM: what is under way is settled first.
    """
    with needing():
        from hush.collect.server.running import Server
    if workbench and find_spec("nicegui") is None:
        raise missing("nicegui", "workbench", "the workbench")
    given = {name: value for name, value in flags.items() if value is not None}
    with naming(names(ServerSettings, given)):
        settings = ServerSettings.from_environment(os.environ, **given)
        if workbench and settings.certificate is not None:
            rule, remedy = "must be left out with TLS", "run `hush workbench --collector https://NAME` beside it"
            raise ParameterError(message("--workbench", rule, Unsaid("both"), remedy))
        file = None if "://" in settings.store else Path(settings.store)
        server = opened(lambda: Server(settings), file, "stop that server first, or name another store")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=_LOG)
    logging.getLogger("hush").setLevel(logging.INFO)
    signals.instead("SIGHUP", server.stop)  # a terminal that is closed; others are the server's own
    with ExitStack() as stack:
        stack.callback(server.close)
        beside = stack.enter_context(Beside(lambda url: _announce_workbench(url, as_json))) if workbench else None
        server.serve(ready=lambda running: _ready(running, beside, as_json))
    terminal.note(_END[bool(server.gate.api.state.settled)])


def _ready(server: Server, beside: Beside | None, as_json: bool) -> None:
    _announce(server, as_json)
    if beside is not None:
        beside.start(server.url)


def _announce_workbench(url: str, as_json: bool) -> None:
    typer.echo(json.dumps({"workbench": url}) if as_json else f"Workbench at {url}: sign in there with a token")
    sys.stdout.flush()


def _announce(server: Server, as_json: bool) -> None:
    """Say where it is, and once, what lets its administrator in: on stdout, and never in a log."""
    admins = [each for each in server.service.tokens() if each["role"] == "admin"]
    new = not admins and server.settings.first_token
    token = server.service.issue_token("admin", label=_FIRST, who="hush serve") if new else None
    url = server.database.url
    store = url.database if server.database.embedded else url.render_as_string(hide_password=True)
    if as_json:
        typer.echo(json.dumps({"url": server.url, "store": store, "admin_token": token}))  # one line, for who waits
    else:
        typer.echo(f"Hush collector at {server.url}\nStore: {store}\nDemo page: {server.url}/demo")
        if token is not None:
            typer.echo(f"Admin token, shown only this once: {token}")
    if not admins and token is None:
        terminal.note("No administrator has a token yet: stop it, and run `hush collection token new --role admin`.")
    sys.stdout.flush()
