"""`hush relay`: a relay before somebody else's collector, in one command."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli.asked.collectors import naming, needing, opened, secret
from hush.cli.asked.settings import asking, names
from hush.cli.shown import terminal
from hush.collect.relay.settings import RelaySettings

if TYPE_CHECKING:
    from hush.collect.server.running import Server

_LOG = "%(asctime)s %(levelname)s %(name)s %(message)s"
_NOT_ASKED = ("key", "backups", "first_token", "most_listeners")

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="PATH",
        help="A file with the relay's own key, of the role relay; the variable HUSH_KEY if left out.",
        show_default=False,
    ),
]
NewKey = Annotated[
    str | None,
    typer.Option(
        "--new-key",
        metavar="LABEL",
        help="Issue one more key for devices, and print it; those that there are hold as before.",
        show_default=False,
    ),
]


@asking(RelaySettings, without=_NOT_ASKED)
def relay(*, key_file: KeyFile = None, new_key: NewKey = None, as_json: bool, **flags: Any) -> None:
    """Stand between devices and somebody else's collector: take batches, and pass their reports on, permuted.

    The collector sees neither addresses nor keys, client builds, batches, nor the order of reports: only batches of at
    least so many reports of one period, from the relay. What was acknowledged to a device is passed on once, whatever
    happens to the relay. The first time, it prints a key for devices, which is shown only then.

    Reports of a period in which fewer came in all wait until the collector is about to refuse it, and are then dropped:
    so few would tell too much. Stop it with Ctrl-C or SIGTERM; what waits is sent when it runs again.
    """
    with needing():
        from hush.collect.relay.app import fates
        from hush.collect.relay.app import relay as made
    given = {name: value for name, value in flags.items() if value is not None}
    named = {
        **names(RelaySettings, given),
        **({"key": "--key-file"} if key_file or not os.environ.get("HUSH_KEY") else {}),
    }
    with naming(named):
        if key_file is not None:
            given["key"] = secret("--key-file", key_file)
        settings = RelaySettings.from_environment(os.environ, **given)
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=_LOG)
        logging.getLogger("hush").setLevel(logging.INFO)
        file = None if "://" in settings.store else Path(settings.store)
        server = opened(lambda: made(settings), file, "stop that relay first, or name another store")
    try:
        server.serve(ready=lambda running: _announce(running, settings, new_key, as_json))
        told = fates(server.database)
    finally:
        server.close()
    terminal.note(_summary(told))


def _announce(server: Server, settings: RelaySettings, new_key: str | None, as_json: bool) -> None:
    """Say where it is, and once, what lets devices in: on stdout, and never in a log."""
    known = [each for each in server.service.tokens() if each["role"] == "ingest"]
    key = None
    if new_key is not None or not (known or settings.anyone):
        key = server.service.issue_token("ingest", label=new_key or "devices", who="hush relay")
    if as_json:
        told = {"url": server.url, "collector": settings.collector, "least": settings.least, "device_key": key}
        typer.echo(json.dumps(told))
    else:
        typer.echo(f"Hush relay at {server.url}, for {settings.collector}")
        for id in settings.ids:
            typer.echo(f"Devices report to {server.url}/v1/collections/{id}")
        if key is not None:
            typer.echo(f"Key for devices, shown only this once: {key}")
    sys.stdout.flush()


def _summary(told: dict[str, int]) -> str:
    dropped = {
        "few": "too few in their period",
        "ended": "closed",
        "refused": "refused by the collector",
    }
    lost = [f"{told[fate]:,} ({why})" for fate, why in dropped.items() if told[fate]]
    return (
        f"Stopped: {told['forwarded']:,} reports passed on, {told['held'] + told['outgoing']:,} wait in the store, "
        f"{' and '.join(lost) or 'none'} dropped."
    )
