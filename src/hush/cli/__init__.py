"""The command `hush`, one file a command.

Each file declares its options and imports what it needs when it runs, so that ``hush --help`` answers at once.
An error that a person can mend is one message on stderr and exit code 2; an interrupt is exit code 130; tables and
JSON go to stdout, everything else to stderr. This file stays light, so that an early interrupt finds it ready.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "app":
        from hush.cli._app import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command."""
    from hush import _start
    from hush.cli.process import signals

    _start.handle(_start.leave)
    try:
        from hush.cli._app import app
        from hush.cli.shown import terminal

        terminal.show_warnings()
        signals.install()
        app()
    except KeyboardInterrupt as stop:  # just before the work
        _start.leave(signals.number(stop))
    finally:
        _start.handle(_start.leave)
