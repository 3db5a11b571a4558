"""`hush plan`: from wishes to a ranked list of mechanisms and a spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hush.cli import _console
from hush.cli._numbers import real, share, whole
from hush.cli._options import Json, SpecOut

if TYPE_CHECKING:
    from hush.planning.plan import Choice, Plan

_WISHES = "Wishes"
_CROWD = "Collection"


def plan(
    n: Annotated[
        int,
        typer.Option(
            "--n",
            metavar="N",
            parser=whole("--n", 1, "100000"),
            help="People who will report.",
            rich_help_panel=_CROWD,
        ),
    ],
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", parser=whole("--k"), help="Number of values.", rich_help_panel=_CROWD),
    ] = None,
    domain: Annotated[
        Path | None,
        typer.Option(
            "--domain",
            metavar="FILE",
            help="The values in place of --k: one label per line, or JSON.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--other",
            metavar="LABEL",
            help="A label that takes in unknown and missing values.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            "--error",
            metavar="X",
            parser=share("--error", "0.01"),
            help="Largest error of a frequency: 0.01, 1% and 1pp all mean one percentage point.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="How the error is meant: margin (half a 95 % interval), mse or mae.",
            rich_help_panel=_WISHES,
        ),
    ] = "margin",
    worst: Annotated[
        bool,
        typer.Option(
            "--worst",
            help="Hold the error for the worst value, not on average over the values.",
            rich_help_panel=_WISHES,
        ),
    ] = False,
    max_asr: Annotated[
        float | None,
        typer.Option(
            "--max-asr",
            metavar="P",
            parser=share("--max-asr", "0.1"),
            help="Accepted chance that an attacker names a person's value from their report.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    max_epsilon: Annotated[
        float | None,
        typer.Option(
            "--max-epsilon",
            metavar="E",
            parser=real("--max-epsilon", "2.0"),
            help="Accepted privacy loss of a report, in nats.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    max_bits: Annotated[
        int | None,
        typer.Option(
            "--max-bits",
            metavar="B",
            parser=whole("--max-bits", 1, "64"),
            help="Bits that a report may have.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    matters: Annotated[
        str,
        typer.Option(
            "--matters",
            metavar="WHAT",
            help="What matters most: balance, privacy, attack, accuracy, manipulation or bits.",
            rich_help_panel=_WISHES,
        ),
    ] = "balance",
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta",
            metavar="D",
            parser=real("--delta", "1e-6"),
            help="Also consider approximate guarantees with this slack.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    fakes: Annotated[
        float,
        typer.Option(
            "--fakes",
            metavar="P",
            parser=share("--fakes", "0.05"),
            help="Share of reports that fake users send, for the gain of manipulation.",
            rich_help_panel=_CROWD,
        ),
    ] = 0.05,
    targets: Annotated[
        int,
        typer.Option(
            "--targets",
            metavar="R",
            parser=whole("--targets", 1, "1"),
            help="Values that fake users promote.",
            rich_help_panel=_CROWD,
        ),
    ] = 1,
    choose: Annotated[
        str | None,
        typer.Option("--choose", metavar="NAME", help="Write the spec of this row of the table, not of the first."),
    ] = None,
    spec_out: SpecOut = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.png", help="Draw the front of error and attack, with the choice marked."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose a mechanism, its parameters and its budget.

    With --error, every mechanism gets the smallest budget that reaches it; without, the largest that is allowed.
    The exit code is 1 where nothing meets all wishes; then the nearest that can be met are listed.
    """
    import hush
    from hush.cli import _files, _paths
    from hush.cli._domains import read_domain
    from hush.cli._usage import NOTHING
    from hush.errors import ParameterError, message

    _paths.writable({"--spec-out": spec_out, "--plot": plot}, [domain])
    if other is not None and domain is None:
        raise ParameterError(message("--other", "must stand beside --domain", other, "name the file of labels too"))
    if k is None and domain is None:
        raise ParameterError(message("--k", "or --domain must be given", NOTHING, "say how many values there are"))
    made = hush.plan(
        n=n,
        k=k,
        domain=None if domain is None else read_domain(domain, other),
        error=error,
        metric=metric,
        worst=worst,
        max_asr=max_asr,
        max_bits=max_bits,
        max_epsilon=max_epsilon,
        delta=delta,
        matters=matters,
        fakes=fakes,
        targets=targets,
    )
    choice = _chosen(made, choose) if made.feasible else None
    if choice is not None and spec_out is not None:
        _files.write(spec_out, choice.spec.to_json() + "\n")
    if plot is not None:
        _draw(made, choice, plot)
    if as_json:
        _console.print_json({**made.to_dict(), "chosen": None if choice is None else choice.name})
    else:
        _show(made, choice, {"the spec": spec_out if choice else None, "the picture": plot})
    if choice is None:
        raise typer.Exit(1)


def _chosen(made: Plan, name: str | None) -> Choice:
    from hush.errors import ParameterError, message

    if name is None:
        return made.first
    named = [choice for choice in made.choices if choice.name.lower() == name.lower()]
    if not named:
        rule = "must name a row of the table"
        remedy = f"use one of {', '.join(dict.fromkeys(choice.name for choice in made.choices))}"
        raise ParameterError(message("--choose", rule, name, remedy))
    return named[0]


def _draw(made: Plan, choice: Choice | None, path: Path) -> None:
    from hush.cli import _files
    from hush.reports import figures
    from hush.reports.planned import front_figure

    _files.write(path, figures.png(front_figure(made, choice)))


def _show(made: Plan, choice: Choice | None, written: dict[str, Path | None]) -> None:
    from hush.cli import _plan_table

    console = _console.stdout()
    _plan_table.show(console, made)
    if choice is not None:
        console.print()
        for paragraph in _plan_table.paragraphs(made, choice):
            console.print(_console.cell(paragraph), soft_wrap=True)
    for what, path in written.items():
        if path is not None:
            about = f" of {choice.name}" if what == "the spec" and choice is not None else ""
            _console.note(f"wrote {what}{about}, {path}")
    if choice is not None and written["the spec"] is None:
        _console.note("Write the spec with --spec-out FILE.json; privatize and simulate read it with --spec.")
