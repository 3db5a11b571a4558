"""`hush workbench`: the web page, in one command."""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli.asked.collectors import CollectorOptions, Token, TokenFile, naming, needing
from hush.cli.asked.settings import asking, names
from hush.cli.process import signals
from hush.cli.shown import terminal
from hush.workbench.settings import WorkbenchSettings

if TYPE_CHECKING:
    from hush.workbench.serving import Workbench

_LOG = "%(asctime)s %(levelname)s %(name)s %(message)s"

Open = Annotated[bool, typer.Option("--open", help="Open it in the browser of this machine.")]


@asking(WorkbenchSettings)
def workbench(
    *, token: Token = None, token_file: TokenFile = None, open_browser: Open = False, as_json: bool, **flags: Any
) -> None:
    """Choose, watch and learn in a browser: serve the workbench until told to stop.

    It listens on this machine alone, and prints a link. With --collector it shows that collector's collections to
    whoever signs in with one of its tokens, or to who opens the printed link, if a token is given here. Nothing on its
    pages comes from another machine. Stop it with Ctrl-C or SIGTERM; jobs that run are ended.
    """
    with needing("workbench", "the workbench"):
        from hush.workbench.serving import Workbench
    given = {name: value for name, value in flags.items() if value is not None}
    held = CollectorOptions(None, None, token, token_file, None).held
    with naming(names(WorkbenchSettings, given)):
        settings = WorkbenchSettings.from_environment(os.environ, **given)
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=_LOG)
        logging.getLogger("hush").setLevel(logging.INFO)
        made = Workbench(settings, token=held)
    signals.instead("SIGHUP", made.stop)
    made.serve(ready=lambda running: _announce(running, as_json, open_browser))
    terminal.note("Stopped.")


def _announce(made: Workbench, as_json: bool, open_browser: bool) -> None:
    """Say where it is: on stdout, and never in a log, since the link lets in."""
    if as_json:
        typer.echo(json.dumps({"url": made.url, "link": made.link}))  # one line, for who waits
    else:
        typer.echo(f"Hush workbench at {made.url}\nOpen {made.link}")
        if made.settings.collector:
            typer.echo(f"Collector: {made.settings.collector}")
    sys.stdout.flush()
    if open_browser:
        import webbrowser

        webbrowser.open(made.link)
