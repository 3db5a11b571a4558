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
    from hush.cli import _signals

    _start.handle(_start.leave)
    try:
        from hush.cli import _console
        from hush.cli._app import app

        _console.show_warnings()
        _signals.install()
        app()
    except KeyboardInterrupt as stop:  # just before the work
        _start.leave(_signals.number(stop))
    finally:
        _start.handle(_start.leave)
