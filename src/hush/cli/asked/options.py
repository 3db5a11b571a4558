"""Options that several commands share, and errors that name them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
import typer

import hush
from hush import rules
from hush.cli.asked.reading import real, whole
from hush.errors import ParameterError, message

Found = TypeVar("Found")

CHOICE = "Mechanism"

MechanismName = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="A name that `hush mechanisms` lists, or module:Class for one of your own.",
        rich_help_panel=CHOICE,
    ),
]
K = Annotated[
    int | None,
    typer.Option(
        "--k", metavar="K", parser=whole("--k"), help="Number of values in the domain.", rich_help_panel=CHOICE
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="E",
        parser=real("--epsilon", "1.0"),
        help="Privacy loss of one report, in nats.",
        rich_help_panel=CHOICE,
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(
        "--delta",
        metavar="D",
        parser=real("--delta", "1e-6"),
        help="Slack of an approximate guarantee (AGRR, AGM, …).",
        rich_help_panel=CHOICE,
    ),
]
Low = Annotated[
    float | None,
    typer.Option(
        "--low",
        metavar="X",
        parser=real("--low", "0"),
        help="Smallest number, for Duchi, Piecewise and Hybrid, which estimate a mean.",
        rich_help_panel=CHOICE,
    ),
]
High = Annotated[
    float | None,
    typer.Option(
        "--high", metavar="X", parser=real("--high", "100"), help="Largest number, for those.", rich_help_panel=CHOICE
    ),
]
Attributes = Annotated[
    str | None,
    typer.Option(
        "--attributes",
        metavar="K,K,…",
        help="Numbers of values of several attributes, for SPL, SMP, RSFD and RSRFD, e.g. 7,10,12,20.",
        rich_help_panel=CHOICE,
    ),
]
EpsilonPermanent = Annotated[
    float | None,
    typer.Option(
        "--epsilon-permanent",
        metavar="E",
        parser=real("--epsilon-permanent", "2.0"),
        help="Loss of any number of reports, for LGRR, LOSUE, … over time.",
        rich_help_panel=CHOICE,
    ),
]
EpsilonReport = Annotated[
    float | None,
    typer.Option(
        "--epsilon-report",
        metavar="E",
        parser=real("--epsilon-report", "1.0"),
        help="Loss of one report, for those.",
        rich_help_panel=CHOICE,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another parameter of the mechanism, e.g. g=8 or moduli=7,11,13; may be repeated.",
        rich_help_panel=CHOICE,
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        metavar="VALUES",
        help="What needs protection (uSS, uLH, …): labels, or values and ranges such as 0-24,30; repeatable.",
        rich_help_panel=CHOICE,
    ),
]
SpecFile = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        metavar="FILE",
        help="The collection's spec, as JSON or in a report file, in place of the options above.",
        rich_help_panel=CHOICE,
    ),
]
SpecOut = Annotated[
    Path | None, typer.Option("--spec-out", metavar="FILE.json", help="Also write the spec (.json), in canonical form.")
]
StatementFile = Annotated[
    Path | None,
    typer.Option(
        "--statement",
        metavar="FILE.md|.html",
        help="Also write what the collection promises, and what not, for a data-protection officer (.md or .html).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs, and no progress bar.")]
Png = Annotated[Path | None, typer.Option("--png", metavar="FILE.png", help="Also draw a figure (.png).")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        parser=whole("--seed", 0, "7"),
        help="Repeat a simulation exactly; drawn and printed when left out.",
    ),
]


def seeded(seed: int | None) -> tuple[int, np.random.Generator]:
    """The seed, and what draws from it."""
    chosen = secrets.randbits(32) if seed is None else seed
    return chosen, hush.seeded(chosen)


WISH = "Wish"
CROWD = "Collection"
SEARCH = "Search"

Earlier = Annotated[
    Path | None,
    typer.Option(
        "--earlier",
        metavar="FILE.parquet",
        help="Reports of an earlier collection: plan from what they estimate.",
        rich_help_panel=CROWD,
    ),
]
LeastEpsilon = Annotated[
    float,
    typer.Option(
        "--min-epsilon",
        metavar="E",
        parser=real("--min-epsilon", "0.001"),
        help="Smallest budget to consider.",
        rich_help_panel=SEARCH,
    ),
]
SearchPng = Annotated[
    Path | None,
    typer.Option("--png", metavar="FILE.png", help="Draw what was seen at every budget, and the answer (.png)."),
]


def asked(work: Callable[[], Found], options: Mapping[str, str]) -> Found:
    """What the work gives; a parameter that breaks its rule is named as the option that said it."""
    try:
        return work()
    except ParameterError as error:
        if error.parameter is None or error.parameter not in options:
            raise
        raise error.naming(options[error.parameter]) from None


def budgets(least: float, most: float) -> tuple[float, float]:
    """The range of budgets to search, checked."""
    asked(lambda: rules.epsilon(least), {"epsilon": "--min-epsilon"})
    asked(lambda: rules.epsilon(most), {"epsilon": "--max-epsilon"})
    if least >= most:
        rule = f"must be below --max-epsilon, {most:g}"
        raise ParameterError(message("--min-epsilon", rule, least, "use e.g. 0.01 and 10"))
    return least, most
