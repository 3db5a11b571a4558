"""`hush capacity`: the smallest epsilon that tells a total from a capacity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hush.cli import _console
from hush.cli._budget_options import CROWD, SEARCH, WISH, Earlier, LeastEpsilon, Plot
from hush.cli._numbers import real, share, whole
from hush.cli._options import Delta, Json, K, Seed, Sensitive, Settings, SpecOut

if TYPE_CHECKING:
    import numpy as np

    from hush.domain import Domain
    from hush.planning.capri import Answer, Evidence, Exposure, Population

_POINTS = 80
_AROUND = 8.0
_OPTIONS = {name: f"--{name}" for name in ("cap", "metric", "threshold", "method", "runs", "counts")}
_OPTIONS |= {"most": "--clip", "epsilon": "--max-epsilon", "domain": "--counts"}


def capacity(
    cap: Annotated[
        float,
        typer.Option("--cap", metavar="X", parser=real("--cap", "1500000"), help="The capacity.", rich_help_panel=WISH),
    ],
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="P",
            parser=share("--threshold", "0.01"),
            help="How likely the outcome may be (fn, fp, error), or must be (tp, tn).",
            rich_help_panel=WISH,
        ),
    ],
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Which outcome: fn (a missed exceedance), fp (a false alarm), tp, tn, or error (whichever can be).",
            rich_help_panel=WISH,
        ),
    ] = "fn",
    counts: Annotated[
        Path | None,
        typer.Option(
            "--counts",
            metavar="FILE",
            help="A CSV file with a column count, and the amounts in a column value or label; 0, 1, 2, … without.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="adult_age, zipf, spike, dirichlet, geometric, normal or uniform.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    earlier: Earlier = None,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FILE",
            help="A CSV file with columns time, value (or label) and count: simulate a collection at each time, whose "
            "estimate plans the next. The first has the budget of --first.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            metavar="N",
            parser=whole("--n", 1, "100000"),
            help="People, for a dataset that is a shape.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    most: Annotated[
        float | None,
        typer.Option(
            "--clip",
            metavar="X",
            parser=real("--clip", "40"),
            help="Clip amounts above this: fewer values, less noise; the decision is still held against the whole.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    first: Annotated[
        float | None,
        typer.Option(
            "--first",
            metavar="E",
            parser=real("--first", "0.5"),
            help="Simulate a first round with this budget, and plan from what it estimates, not from the counts.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            metavar="X",
            parser=real("--limit", "5"),
            help="Also tell how well reports show who is at or below this amount.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="exact; capri, capri-r or bayes, by simulated collections; or normal, cantelli or chebyshev.",
            rich_help_panel=SEARCH,
        ),
    ] = "exact",
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            metavar="R",
            parser=whole("--runs", 1, "50000"),
            help="Collections to simulate at a budget, for capri, capri-r and bayes.",
            rich_help_panel=SEARCH,
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
            rich_help_panel=SEARCH,
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
    sensitive: Sensitive = None,
    spec_out: SpecOut = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Find the smallest budget with which a total is told from a capacity, with few enough wrong decisions.

    The server estimates the total and says whether it exceeds the capacity. How likely each outcome is comes from the
    exact law of the estimate, or is told not to. The exit code is 1 where no budget of the range does.
    """
    from hush.cli import _amounts, _asking, _capacity_table, _capacity_time, _files, _paths
    from hush.cli._crowd import Source, in_amounts
    from hush.cli._seed import seeded
    from hush.errors import ParameterError, message
    from hush.mechanisms._base import FrequencyOracle
    from hush.planning import capri

    _paths.writable({"--spec-out": spec_out, "--plot": plot}, [counts, earlier, history])
    chosen, rng = seeded(seed)
    cls = _named(mechanism, settings)
    low, high = _asking.budgets(least, min(10.0, getattr(cls, "_largest", 10.0)) if largest is None else largest)
    asking = {"mechanism": cls, "cap": cap, "metric": metric, "threshold": threshold, "lowest": low, "highest": high}
    asking |= {"method": method.lower(), "runs": runs}
    if history is not None:
        beside = {"--dataset": dataset, "--counts": counts, "--earlier": earlier, "--limit": limit, "--n": n, "--k": k}
        _alone({**beside, "--spec-out": spec_out})
        _capacity_time.run(
            history,
            asking,
            lambda amounts: parameters(
                cls, _amounts.described(amounts, amounts.values or (), sensitive, most), low, delta, settings, sensitive
            ),
            (most, first),
            (chosen, rng),
            plot,
            as_json=as_json,
        )
        return
    crowd = Source(dataset, counts, earlier, k, n).read(rng, mechanism, quiet=as_json)
    if crowd.n is not None:
        remedy = "leave it out: a total is that of the people who are counted"
        raise ParameterError(message("--n", f"must be left out beside {crowd.name}", n, remedy))
    amounts = in_amounts(crowd, counts)
    people = _asking.asked(lambda: capri.population(crowd.given, domain=amounts, most=most), _OPTIONS)
    domain = _amounts.described(crowd.domain, amounts.values or (), sensitive, most)
    asking["parameters"] = parameters(cls, domain, low, delta, settings, sensitive)
    if first is None and earlier is None and people.total == cap:
        rule = "must differ from the true total, since no estimate tells two equal numbers apart"
        raise ParameterError(message("--cap", rule, cap, "give the capacity that is planned for"))
    if first is not None:
        options = {"epsilon": "--first", "mechanism": "--mechanism"}
        people = _asking.asked(lambda: _estimated(asking, people, first, rng), options)
    answer = _answered(asking, people, crowd.spent + (first or 0.0), rng, quiet=as_json)
    m = None if answer.epsilon is None else _made(asking, people, answer.epsilon)
    seen = None if m is None else _exposed(m, people, limit, rng)
    made = None if m is None else _amounts.spec_of(m, domain)
    if made is not None and spec_out is not None:
        _files.write(spec_out, made.to_json() + "\n")
    if plot is not None:
        _draw(answer, _curve(asking, people, answer.epsilon, rng, quiet=as_json), plot)
    if as_json:
        _console.print_json(_plain(answer, seen, made, crowd.name, chosen))
    else:
        _capacity_table.show(_console.stdout(), answer, seen, m, people.k, crowd.name, chosen)
        _asking.say_written(made, spec_out, plot, read=isinstance(m, FrequencyOracle))
    if not answer.feasible:
        raise typer.Exit(1)


def _named(mechanism: str | None, settings: list[str] | None) -> Any:
    """The class of a mechanism for frequencies or means."""
    from hush.cli._asking import with_budget
    from hush.mechanisms.numeric import NUMERIC

    means = {name.lower(): cls for name, cls in NUMERIC.items()}
    return means.get((mechanism or "").lower()) or with_budget(mechanism, settings)


def _alone(given: dict[str, Any]) -> None:
    """Refuse what says nothing beside counts over time."""
    from hush.errors import ParameterError, message

    for option, value in given.items():
        if value is not None:
            raise ParameterError(message(option, "must be left out beside --history", str(value), "leave one out"))


def parameters(
    cls: Any, domain: Domain, epsilon: float, delta: float | None, settings: list[str] | None, named: list[str] | None
) -> dict[str, Any]:
    """What the mechanism takes besides k and epsilon, checked by making it at the smallest budget."""
    from hush.cli._asking import asked
    from hush.cli._classes import construct, merged, parsed
    from hush.errors import ParameterError, message
    from hush.mechanisms._base import FrequencyOracle
    from hush.mechanisms.settings import takes

    more = merged({} if delta is None else {"delta": delta}, parsed(settings))
    if "sensitive" in takes(cls):
        more["sensitive"] = domain.sensitive
    elif named is not None:
        rule = f"must be left out for {cls.name()}, which protects all values alike"
        raise ParameterError(message("--sensitive", rule, ",".join(named), "use e.g. uSS"))
    if issubclass(cls, FrequencyOracle):
        asked(lambda: construct(cls, {"k": domain.size, "epsilon": epsilon, **more}), {"epsilon": "--min-epsilon"})
    for name in more:
        if name == "epsilon" or name not in takes(cls):
            rule = f"must be a parameter of {cls.name()}, which takes {', '.join(takes(cls))}, but not the budget"
            raise ParameterError(message(f"--set {name}", rule, more[name], "leave it out"))
    return more


def _answered(
    asking: dict[str, Any], people: Population, spent: float, rng: np.random.Generator, *, quiet: bool
) -> Answer:
    from hush.cli import _asking
    from hush.planning import capri

    steps = 40 if asking["method"] == "bayes" else 20
    with _asking.bar("Looking for the smallest budget", quiet=quiet) as tell:
        tried = [0]

        def watch(_: Evidence) -> None:
            tried[0] += 1
            tell(min(tried[0] / (steps + 2), 0.95))

        return _asking.asked(
            lambda: capri.capacity(counts=people, spent=spent, watch=watch, rng=rng, **asking), _OPTIONS
        )


def _estimated(asking: dict[str, Any], people: Population, first: float, rng: np.random.Generator) -> Population:
    """The people as a simulated first round estimates them."""
    from hush.planning import capri

    return capri.estimated(asking["mechanism"], people, first, parameters=asking["parameters"], rng=rng)


def _made(asking: dict[str, Any], people: Population, epsilon: float) -> Any:
    """The mechanism at a budget."""
    from hush.planning.capri.build import builder

    return builder(asking["mechanism"], people, asking["parameters"])(epsilon)


def _exposed(m: Any, people: Population, limit: float | None, rng: np.random.Generator) -> Exposure:
    """How well reports at the budget are guessed from."""
    from hush.cli._asking import asked
    from hush.planning import capri

    return asked(lambda: capri.exposure(m, people, limit=limit, reports=50_000, rng=rng), {"limit": "--limit"})


def _curve(
    asking: dict[str, Any], people: Population, epsilon: float | None, rng: np.random.Generator, *, quiet: bool
) -> list[Evidence]:
    """What the law says at budgets around the answer; of the whole range where there is none."""
    import numpy as np

    from hush.cli._asking import bar
    from hush.planning.capri.build import builder
    from hush.planning.capri.question import question
    from hush.planning.capri.trial import Trials

    asked = question(asking["metric"], asking["threshold"], asking["cap"], people)
    low, high = asking["lowest"], asking["highest"]
    if epsilon is not None:
        low, high = max(low, epsilon / _AROUND), min(high, epsilon * _AROUND)
    with bar("Drawing", quiet=quiet) as tell:
        trials = Trials(builder(asking["mechanism"], people, asking["parameters"]), people, asked, rng)
        trials.watch = lambda _: tell(len(trials.evidence) / _POINTS)
        return [trials.by_law(float(e)) for e in np.geomspace(low, high, _POINTS)]


def _draw(answer: Answer, curve: list[Evidence], path: Path) -> None:
    from hush.cli import _files
    from hush.reports import figures
    from hush.reports.budgeted import capacity_figure

    _files.write(path, figures.png(capacity_figure(answer, curve)))


def _plain(answer: Answer, seen: Exposure | None, made: Any, people: str, seed: int) -> dict[str, Any]:
    m = None if made is None else made.mechanism
    return {
        **answer.to_dict(),
        "population": people,
        "seed": seed,
        "exposure": None if seen is None else seen.to_dict(),
        "guarantee": None if m is None or m.guarantee is None else str(m.guarantee),
        "spec_hash": None if made is None else made.hash,
        "spec": None if made is None else made.to_dict(),
    }
