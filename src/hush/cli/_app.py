"""The commands together, and the guard around them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hush.cli import _guard
from hush.cli.audit import audit
from hush.cli.budget import budget
from hush.cli.capacity import capacity
from hush.cli.demo import demo
from hush.cli.estimate import estimate
from hush.cli.mechanisms import mechanisms
from hush.cli.plan import plan
from hush.cli.privatize import privatize
from hush.cli.reproduce import reproduce
from hush.cli.simulate import simulate
from hush.cli.uldp import uldp


class _Guarded(TyperGroup):
    """Turns every error into one message and an exit code, those of the option parser included."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command, and leave with its exit code."""
        words = sys.argv[1:] if args is None else list(args)

        def work() -> None:
            with self.make_context(prog_name or "hush", words, **extra) as context:
                self.invoke(context)

        sys.exit(_guard.guarded(work))


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


for _command in (plan, budget, capacity, uldp, mechanisms, privatize, estimate, simulate, audit, demo, reproduce):
    app.command()(_command)
