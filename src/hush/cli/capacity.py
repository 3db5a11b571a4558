"""`hush capacity`: the smallest epsilon that tells a total from a capacity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli import _console
from hush.cli._numbers import real, share, whole
from hush.cli._options import Delta, Json, K, Seed, Settings
from hush.cli.budget import Earlier, LeastEpsilon, Plot

if TYPE_CHECKING:
    import numpy as np

    from hush.cli._crowd import Crowd
    from hush.domain import Domain
    from hush.planning.capri import Answer, Evidence, Exposure, Population

_WISH = "Wish"
_CROWD = "Collection"
_SEARCH = "Search"
_POINTS = 80
_AROUND = 8.0


def capacity(
    cap: Annotated[
        float,
        typer.Option(
            "--cap", metavar="X", parser=real("--cap", "1500000"), help="The capacity.", rich_help_panel=_WISH
        ),
    ],
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="P",
            parser=share("--threshold", "0.01"),
            help="How likely the outcome may be (fn, fp, error), or must be (tp, tn).",
            rich_help_panel=_WISH,
        ),
    ],
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Which outcome: fn (a missed exceedance), fp (a false alarm), tp, tn, or error (whichever can be).",
            rich_help_panel=_WISH,
        ),
    ] = "fn",
    counts: Annotated[
        Path | None,
        typer.Option(
            "--counts",
            metavar="FILE",
            help="A CSV file with a column count, and the amounts in a column value or label; 0, 1, 2, … without.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="adult_age, zipf, spike, dirichlet, geometric, normal or uniform.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    earlier: Earlier = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            metavar="N",
            parser=whole("--n", 1, "100000"),
            help="People, for a dataset that is a shape.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    most: Annotated[
        float | None,
        typer.Option(
            "--clip",
            metavar="X",
            parser=real("--clip", "40"),
            help="Clip amounts above this: fewer values, less noise; the decision is still held against the whole.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    first: Annotated[
        float | None,
        typer.Option(
            "--first",
            metavar="E",
            parser=real("--first", "0.5"),
            help="Simulate a first round with this budget, and plan from what it estimates, not from the counts.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            metavar="X",
            parser=real("--limit", "5"),
            help="Also tell how well reports show who is at or below this amount.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="exact; capri, capri-r or bayes, by simulated collections; or normal, cantelli or chebyshev.",
            rich_help_panel=_SEARCH,
        ),
    ] = "exact",
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            metavar="R",
            parser=whole("--runs", 1, "50000"),
            help="Collections to simulate at a budget, for capri, capri-r and bayes.",
            rich_help_panel=_SEARCH,
        ),
    ] = 50_000,
    least: LeastEpsilon = 0.001,
    largest: Annotated[
        float | None,
        typer.Option(
            "--max-epsilon",
            metavar="E",
            parser=real("--max-epsilon", "10"),
            help="Largest budget to consider; 10 where left out, or what the mechanism takes.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    seed: Seed = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            metavar="NAME",
            help="A name that `hush mechanisms` lists, module:Class for one of your own, or Duchi, Piecewise or "
            "Hybrid, which estimate the mean.",
            rich_help_panel="Mechanism",
        ),
    ] = None,
    k: K = None,
    delta: Delta = None,
    settings: Settings = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Find the smallest budget with which a total is told from a capacity, with few enough wrong decisions.

    The server estimates the total and says whether it exceeds the capacity. How likely each outcome is comes from the
    exact law of the estimate, or is told not to. The exit code is 1 where no budget of the range does.
    """
    import secrets

    import hush
    from hush.cli import _capacity_table, _paths
    from hush.cli._asking import budgets
    from hush.cli._crowd import Source, in_amounts
    from hush.errors import ParameterError, message

    _paths.writable({"--plot": plot}, [counts, earlier])
    chosen = secrets.randbits(32) if seed is None else seed
    rng = hush.seeded(chosen)
    crowd = Source(dataset, counts, earlier, k, n).read(rng, mechanism, quiet=as_json)
    if crowd.n is not None:
        remedy = "leave it out: a total is that of the people who are counted"
        raise ParameterError(message("--n", f"must be left out beside {crowd.name}", n, remedy))
    domain = in_amounts(crowd, counts)
    cls = _named(mechanism, settings)
    low, high = budgets(least, min(10.0, getattr(cls, "_largest", 10.0)) if largest is None else largest)
    asking = {
        "mechanism": cls,
        "parameters": _checked(cls, crowd, low, delta, settings),
        "cap": cap,
        "metric": metric,
        "threshold": threshold,
        "lowest": low,
        "highest": high,
    }
    answer, people = _answered(asking, crowd, domain, most, first, method.lower(), runs, rng, quiet=as_json)
    seen = None if answer.epsilon is None else _exposed(asking, people, answer.epsilon, limit, rng)
    exactly = _exactly(asking, people)
    if plot is not None:
        _draw(answer, _curve(asking, people, answer.epsilon, rng), plot)
    if as_json:
        exposure = None if seen is None else seen.to_dict()
        beside = {"population": crowd.name, "seed": chosen, "law": "exact" if exactly else "normal"}
        _console.print_json({**answer.to_dict(), **beside, "exposure": exposure})
    else:
        _capacity_table.show(_console.stdout(), answer, seen, people.k, crowd.name, chosen)
        if not exactly:
            _console.warn(
                f"the law of {answer.mechanism} is not known exactly: the total is taken as normal, with a variance "
                "from simulated collections, so the budget may be a few percent off"
            )
        if plot is not None:
            _console.note(f"wrote the picture, {plot}")
    if not answer.feasible:
        raise typer.Exit(1)


def _named(mechanism: str | None, settings: list[str] | None) -> Any:
    """The class of a mechanism for frequencies or means."""
    from hush.cli._asking import with_budget
    from hush.mechanisms.numeric import NUMERIC

    means = {name.lower(): cls for name, cls in NUMERIC.items()}
    return means.get((mechanism or "").lower()) or with_budget(mechanism, settings)


def _checked(cls: Any, crowd: Crowd, epsilon: float, delta: float | None, settings: list[str] | None) -> dict[str, Any]:
    """What the mechanism takes besides k and epsilon."""
    from hush.cli._asking import asked
    from hush.cli._classes import construct, merged, parsed
    from hush.errors import ParameterError, message
    from hush.mechanisms._base import FrequencyOracle
    from hush.mechanisms.settings import takes

    more = merged({} if delta is None else {"delta": delta}, parsed(settings))
    if issubclass(cls, FrequencyOracle):
        asked(
            lambda: construct(cls, {"k": crowd.domain.size, "epsilon": epsilon, **more}), {"epsilon": "--min-epsilon"}
        )
    for name in more:
        if name == "epsilon" or name not in takes(cls):
            rule = f"must be a parameter of {cls.name()}, which takes {', '.join(takes(cls))}, but not the budget"
            raise ParameterError(message(f"--set {name}", rule, more[name], "leave it out"))
    return more


def _answered(
    asking: dict[str, Any],
    crowd: Crowd,
    domain: Domain,
    most: float | None,
    first: float | None,
    method: str,
    runs: int,
    rng: np.random.Generator,
    *,
    quiet: bool,
) -> tuple[Answer, Population]:
    from hush.cli import _asking
    from hush.planning import capri

    options = {name: f"--{name}" for name in ("cap", "metric", "threshold", "method", "runs", "counts")}
    options |= {"most": "--clip", "first": "--first", "epsilon": "--max-epsilon", "domain": "--counts"}
    people = _asking.asked(lambda: capri.population(crowd.given, domain=domain, most=most), options)
    if first is not None:
        people = _asking.asked(lambda: _estimated(asking, people, first, rng), {"epsilon": "--first"})
    steps = 40 if method == "bayes" else 20
    with _asking.bar("Looking for the smallest budget", quiet=quiet) as tell:
        tried = [0]

        def watch(_: Evidence) -> None:
            tried[0] += 1
            tell(min(tried[0] / (steps + 2), 0.95))

        def work() -> Answer:
            spent = crowd.spent + (first or 0.0)
            return capri.capacity(counts=people, method=method, runs=runs, spent=spent, watch=watch, rng=rng, **asking)

        return _asking.asked(work, options), people


def _estimated(asking: dict[str, Any], people: Population, first: float, rng: np.random.Generator) -> Population:
    """The people as a simulated first round estimates them."""
    from hush.planning.capri import population, rounds

    seen = rounds._collected(asking["mechanism"], people, first, asking["parameters"], rng)
    return population(seen, domain=rounds._amounts(people))


def _exposed(
    asking: dict[str, Any], people: Population, epsilon: float, limit: float | None, rng: np.random.Generator
) -> Exposure:
    """How well reports at the budget are guessed from."""
    from hush.cli._asking import asked
    from hush.planning import capri
    from hush.planning.capri.build import builder

    m = builder(asking["mechanism"], people, asking["parameters"])(epsilon)
    return asked(lambda: capri.exposure(m, people, limit=limit, reports=50_000, rng=rng), {"limit": "--limit"})


def _exactly(asking: dict[str, Any], people: Population) -> bool:
    """Whether the law of the estimated total is known, and not a normal one in its place."""
    from hush.mechanisms._numeric import Numeric
    from hush.planning import accuracy, capri
    from hush.planning.capri.build import builder

    m = builder(asking["mechanism"], people, asking["parameters"])(asking["highest"])
    known = capri.law.dispatch(type(m)) is not capri.law.dispatch(object)
    return known or isinstance(m, Numeric) or accuracy._listed_law(m) is not None


def _curve(
    asking: dict[str, Any], people: Population, epsilon: float | None, rng: np.random.Generator
) -> list[Evidence]:
    """What the law says at budgets around the answer; of the whole range where there is none."""
    import numpy as np

    from hush.planning.capri.build import builder
    from hush.planning.capri.question import question
    from hush.planning.capri.trial import Trials

    asked = question(asking["metric"], asking["threshold"], asking["cap"], people)
    trials = Trials(builder(asking["mechanism"], people, asking["parameters"]), people, asked, rng)
    low, high = asking["lowest"], asking["highest"]
    if epsilon is not None:
        low, high = max(low, epsilon / _AROUND), min(high, epsilon * _AROUND)
    return [trials.by_law(float(e)) for e in np.geomspace(low, high, _POINTS)]


def _draw(answer: Answer, curve: list[Evidence], path: Path) -> None:
    from hush.cli import _files
    from hush.reports import figures
    from hush.reports.budgeted import capacity_figure

    _files.write(path, figures.png(capacity_figure(answer, curve)))
