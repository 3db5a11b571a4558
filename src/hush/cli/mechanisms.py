"""`hush mechanisms`: what each mechanism costs and gives at one budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli import _console
from hush.cli._options import Json

if TYPE_CHECKING:
    from hush.mechanisms._base import FrequencyOracle

DEFAULTS: dict[str, dict[str, float]] = {"UE": {"p": 0.75}, "LH": {"g": 4}, "LHO": {"g": 4}}
"""What the mechanisms that need a parameter are shown with, unless --set says otherwise."""

_SHARED = ("k", "epsilon", "delta")


def mechanisms(
    k: Annotated[int, typer.Option("--k", metavar="K", help="Number of values in the domain.")] = 100,
    epsilon: Annotated[
        float, typer.Option("--epsilon", metavar="E", help="Privacy loss of one report, in nats.")
    ] = 1.0,
    delta: Annotated[float, typer.Option("--delta", metavar="D", help="Slack of the approximate guarantees.")] = 1e-5,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter for the mechanisms that take it, e.g. g=8; by default UE has p=0.75, LH and LHO g=4.",
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
    from hush.cli._classes import mechanism_class, parsed, takes
    from hush.errors import ParameterError, message
    from hush.mechanisms import _rules
    from hush.mechanisms.registry import registry

    shared = {"k": _rules.domain_size(k), "epsilon": _rules.epsilon(epsilon), "delta": _rules.delta(delta)}
    classes = [mechanism_class(name) for name in only] if only else list(registry().values())
    extra = parsed(settings)
    for name, value in extra.items():
        if name in _SHARED or not any(name in takes(cls) for cls in classes):
            rule = "must name a parameter that one of the mechanisms takes, other than k, epsilon and delta"
            raise ParameterError(message("--set", rule, f"{name}={value}", "see the column “parameter”"))
    rows = [_row(cls, shared, extra) for cls in classes]
    if as_json:
        _console.print_json({**shared, "mechanisms": rows})
    else:
        _show(rows, shared)


def _row(cls: type[FrequencyOracle], shared: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    from hush.cli._classes import construct, takes
    from hush.errors import HushError
    from hush.mechanisms._base import PureOracle

    wanted = takes(cls)
    given = {**shared, **DEFAULTS.get(cls.name(), {}), **extra}
    row: dict[str, Any] = {"name": cls.name(), "family": cls.family}
    try:
        m = construct(cls, {name: value for name, value in given.items() if name in wanted})
        m.report_dtype  # noqa: B018 - a mechanism that cannot say its record is unavailable here
    except HushError as error:
        return {**row, "unavailable": str(error)}
    reasons: dict[str, str] = {}

    def told(name: str, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except HushError as error:
            reasons[name] = str(error)
            return None

    row |= {
        "guarantee": None if m.guarantee is None else str(m.guarantee),
        "epsilon": m.epsilon,
        "delta": getattr(m, "delta", None),
        "exact_epsilon": told("exact_epsilon", m.exact_epsilon),
        "p_star": m.p_star if isinstance(m, PureOracle) else None,
        "q_star": m.q_star if isinstance(m, PureOracle) else None,
        "parameters": _parameters(m),
        "variance": told("variance", m.variance),
        "asr": told("asr", m.asr),
        "bits": told("bits", lambda: m.bits),
        "bytes": m.report_dtype.itemsize,
    }
    return {**row, "unknown": reasons} if reasons else row


def _parameters(m: FrequencyOracle) -> dict[str, Any]:
    """Its own parameters, those that it chooses for itself included; a p that is just p* is not repeated."""
    import dataclasses

    chosen = {f.name: (getattr(m, f.name), f.init) for f in dataclasses.fields(m) if f.name not in _SHARED}
    return {name: value for name, (value, given) in chosen.items() if given or name != "p"}


def _show(rows: list[dict[str, Any]], shared: dict[str, Any]) -> None:
    title = f"k = {shared['k']:,}, ε = {shared['epsilon']:g}, δ = {shared['delta']:g} where it applies"
    table = _console.table(title)
    for name in ("name", "family", "LDP", "parameter"):
        table.add_column(name, no_wrap=True)
    for name in ("exact ε", "p*", "q*", "n·Var", "ASR", "bits", "bytes"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in (row for row in rows if "unavailable" not in row):
        table.add_row(*(_console.cell(each, "dim" if row["guarantee"] is None else "") for each in _cells(row)))
    console = _console.stdout()
    console.print(table)
    for row in (row for row in rows if "unavailable" in row):
        console.print(_console.cell(f"{row['name']} is not available here: {row['unavailable']}"), soft_wrap=True)
    for row in rows:
        for name, reason in row.get("unknown", {}).items():
            _console.note(f"{row['name']} does not tell its {name}: {reason}")
    _console.note(
        "n·Var: variance of one report about a value nobody holds; divide by the number of people. "
        "ASR: success of the best guess, all values equally likely. "
        "UE, LH and LHO need a parameter: change it with --set p=… or --set g=…"
    )


def _cells(row: dict[str, Any]) -> list[str]:
    promise = "none" if row["guarantee"] is None else "ε" if row["delta"] is None else "(ε, δ)"
    chosen = ", ".join(f"{name}={_said(value)}" for name, value in row["parameters"].items())
    shares = [_console.DASH if row[name] is None else f"{row[name]:.4f}" for name in ("p_star", "q_star")]
    sizes = [_console.DASH if row[name] is None else str(row[name]) for name in ("bits", "bytes")]
    exact, variance = _console.number(row["exact_epsilon"]), _console.number(row["variance"])
    success = _console.number(row["asr"], 3)
    return [row["name"], row["family"], promise, chosen or _console.DASH, exact, *shares, variance, success, *sizes]


def _said(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
