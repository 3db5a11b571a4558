"""Options of the commands that look for the smallest budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hush.cli._numbers import real

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
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE.png", help="Draw what was seen at every budget, and the answer (.png)."),
]
