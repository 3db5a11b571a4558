"""`hush mechanisms`: what each mechanism costs and gives at one budget."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hush import rules
from hush.cli.asked.mechanism import mechanism_class
from hush.cli.asked.options import Json
from hush.cli.asked.reading import parsed, real, said, whole
from hush.cli.shown import grid, terminal
from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import SHARED, takes
from hush.reports.mechanism_rows import row_of, shown_with
from hush.reports.words import DASH, number

_OTHERS = {"numeric": "numeric", "tuples": "multidim", "over_time": "longitudinal"}
"""Kinds that are named, but not compared: what JSON calls them, and the registry."""


def mechanisms(
    k: Annotated[
        int, typer.Option("--k", metavar="K", parser=whole("--k"), help="Number of values in the domain.")
    ] = 100,
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon", metavar="E", parser=real("--epsilon", "1.0"), help="Privacy loss of one report, in nats."
        ),
    ] = 1.0,
    delta: Annotated[
        float,
        typer.Option(
            "--delta", metavar="D", parser=real("--delta", "1e-6"), help="Slack of the approximate guarantees."
        ),
    ] = 1e-5,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter for the mechanisms that take it, e.g. g=8 or moduli=7,11,13; by default UE has p=0.75, "
            "LH and LHO g=4.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--mechanism", metavar="NAME", help="Only this one; repeatable; module:Class for your own."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare all mechanisms at one budget: privacy, accuracy, attack success and size of a report.

    The variance is that of one report about a value that nobody holds: divide by the number of people. ASR is the
    chance that the best attacker names the value behind a report, all values being equally likely.
    """
    shared = {"k": rules.domain_size(k), "epsilon": rules.epsilon(epsilon), "delta": rules.delta(delta)}
    everything = [cls for cls in registry().values() if "sensitive" not in takes(cls)]  # those hide some values only
    classes = [mechanism_class(name) for name in only] if only else everything
    extra = parsed(settings)
    for name, value in extra.items():
        if name in SHARED or not any(name in takes(cls) for cls in classes):
            rule = "must name a parameter that one of the mechanisms takes, other than k, epsilon and delta"
            raise ParameterError(message("--set", rule, Unsaid(f"{name}={said(value)}"), _taken(classes)))
    rows = [row_of(cls, shared, extra) for cls in classes]
    for name, value in extra.items():
        takers = [row for cls, row in zip(classes, rows, strict=True) if name in takes(cls)]
        if all("unavailable" in row for row in takers):
            rule = f"must suit {' or '.join(row['name'] for row in takers)}"
            raise ParameterError(message("--set", rule, Unsaid(f"{name}={said(value)}"), takers[0]["unavailable"]))
    if all("unavailable" in row for row in rows):
        raise ParameterError(f"{rows[0]['name']} is not available here: {rows[0]['unavailable']}")
    if as_json:
        others = {name: list(registry(kind)) for name, kind in _OTHERS.items()}
        terminal.print_json({**shared, "mechanisms": rows, **others})
    else:
        _show(rows, shared)


def _taken(classes: list[Any]) -> str:
    """What may be set."""
    if len(classes) > 3:
        return "`hush mechanisms` shows them in the column “parameter”"
    own = {cls.name(): [name for name in takes(cls) if name not in SHARED] for cls in classes}
    return "; ".join(f"{name} takes {', '.join(names) or 'none'}" for name, names in own.items())


def _show(rows: list[dict[str, Any]], shared: dict[str, Any]) -> None:
    left = [("name", 0), ("stands for", 10), ("family", 9), ("LDP", 4), ("parameter", 3)]
    right = [("exact ε", 5), ("p*", 7), ("q*", 6), ("n·Var", 0), ("ASR", 0), ("bits", 8), ("bytes", 2)]
    columns = [grid.Column(name, "left", rank) for name, rank in left]
    columns += [grid.Column(name, "right", rank) for name, rank in right]
    here = [row for row in rows if "unavailable" not in row]
    styles = ["dim" if row["guarantee"] is None else "" for row in here]
    cells = [[terminal.cell(each, style) for each in _cells(row)] for row, style in zip(here, styles, strict=True)]
    console = terminal.stdout()
    title = f"k = {shared['k']:,}, ε = {shared['epsilon']:g}, δ = {shared['delta']:g} where it applies"
    grid.show(console, columns, cells, title)
    for row in (row for row in rows if "unavailable" in row):
        console.print(terminal.cell(f"{row['name']} is not available here: {row['unavailable']}"), soft_wrap=True)
    for row in rows:
        for name, reason in row.get("unknown", {}).items():
            console.print(terminal.cell(f"{row['name']} does not tell its {name}: {reason}"), soft_wrap=True)
    known = registry()
    needs = {row["name"]: shown_with(known[row["name"]]) for row in rows if row["name"] in known}
    needy = [name for name, parameters in needs.items() if parameters]
    ways = sorted({f"--set {name}=…" for each in needy for name in needs[each]}, reverse=True)
    last = f" {_listed(needy)} need a parameter: change it with {' or '.join(ways)}" if needy else ""
    means = list(registry("numeric"))
    terminal.note(
        "n·Var: variance of one report about a value nobody holds; divide by the number of people. "
        f"ASR: success of the best guess, all values equally likely.{last} "
        "Where only some values are sensitive, see `hush uldp`. "
        f"For means of numbers there are {_listed(means)}: `hush privatize --mechanism {means[0]} "
        "--low 0 --high 100 …` collects them, and `hush capacity` plans. "
        f"For several columns at once there are {_listed(list(registry('multidim')))}: `hush privatize --column age "
        "--column region --mechanism SMP …`. For values over time there are "
        f"{_listed(list(registry('longitudinal')))}: `hush privatize --person id --period month --clients FILE …`."
    )


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _cells(row: dict[str, Any]) -> list[str]:
    promise = "none" if row["guarantee"] is None else "ε" if row["delta"] is None else "(ε, δ)"
    chosen = ", ".join(f"{name}={terminal.parameter(value, 3)}" for name, value in row["parameters"].items())
    sizes = [DASH if row[name] is None else f"{row[name]:,}" for name in ("bits", "bytes")]
    exact, variance = number(row["exact_epsilon"]), number(row["variance"])
    shares = [_share(row[name]) for name in ("p_star", "q_star")]
    success = number(row["asr"], 3)
    words = [row["name"], row["full_name"], row["family"], promise, chosen or DASH]
    return [*words, exact, *shares, variance, success, *sizes]


def _share(value: float | None) -> str:
    """Four places, or scientific where these would hide it."""
    if value is None:
        return DASH
    return f"{value:.1e}" if 0 < value < 1e-4 else f"{value:.4f}"
