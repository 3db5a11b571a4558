"""The command `hush`, one file a command.

Each file declares its options and imports what it needs when it runs, so that ``hush --help`` answers at once.
An error that a person can mend is one message on stderr and exit code 2; an interrupt is exit code 130; tables and
JSON go to stdout, everything else to stderr.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hush.cli import _console
from hush.cli.demo import demo
from hush.cli.estimate import estimate
from hush.cli.mechanisms import mechanisms
from hush.cli.privatize import privatize
from hush.cli.simulate import simulate
from hush.errors import HushError


class _Guarded(TyperGroup):
    """Turns the errors that a person can mend into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (HushError, OSError) as error:
            _console.error(_told(error))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            _console.error("interrupted; no half-written file is left")
            raise typer.Exit(130) from None


def _told(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"file {str(error.filename)!r} cannot be used: {error.strerror}; check the path and its permissions"
    return str(error)


app = typer.Typer(
    cls=_Guarded,
    name="hush",
    help="The whole road of a locally private data collection: choose, randomize, collect, estimate.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        import hush

        typer.echo(f"hush {hush.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


for _command in (mechanisms, privatize, estimate, simulate, demo):
    app.command()(_command)


def main() -> None:
    """Run the command."""
    app()
