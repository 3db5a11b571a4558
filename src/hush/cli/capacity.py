"""`hush capacity`: the smallest epsilon that tells a total from a capacity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hush import atomic
from hush.cli import _asking, _capacity_ask, _capacity_table, _capacity_time, _console, _paths
from hush.cli._numbers import real, share, whole
from hush.cli._options import (
    CROWD,
    SEARCH,
    WISH,
    Delta,
    Earlier,
    Json,
    K,
    LeastEpsilon,
    SearchPng,
    Seed,
    Sensitive,
    Settings,
    SpecOut,
    seeded,
)
from hush.cli._people import Source, in_amounts
from hush.errors import ParameterError, message
from hush.mechanisms.spec import Spec
from hush.planning import capri
from hush.planning.capri import CapacityAnswer, Exposure
from hush.planning.capri.build import builder
from hush.reports.words import many


def capacity(
    cap: Annotated[
        float,
        typer.Option("--cap", metavar="X", parser=real("--cap", "1500000"), help="The capacity.", rich_help_panel=WISH),
    ],
    probability: Annotated[
        float,
        typer.Option(
            "--probability",
            metavar="P",
            parser=share("--probability", "0.01"),
            help="How likely the outcome may be (fn, fp, error), or must be (tp, tn).",
            rich_help_panel=WISH,
        ),
    ],
    outcome: Annotated[
        str,
        typer.Option(
            "--outcome",
            metavar="NAME",
            help="Which outcome: error (a wrong decision, whichever can be), fn (a missed exceedance), fp (a false "
            "alarm), tp or tn (a right one).",
            rich_help_panel=WISH,
        ),
    ] = "error",
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
            "estimate plans the next. Times follow each other as they first appear in the file; the first has the "
            "budget of --first.",
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
            "--clip-above",
            metavar="X",
            parser=real("--clip-above", "40"),
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
            help="Simulate a first round with this budget, and plan from what it estimates, not from the counts; "
            "then tell what the plan does for the true counts, and what other first rounds would have planned.",
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
    png: SearchPng = None,
    as_json: Json = False,
) -> None:
    """Find the smallest budget with which a total is told from a capacity, with few enough wrong decisions.

    The server estimates the total and says whether it exceeds the capacity. How likely each outcome is comes from the
    exact law of the estimate, or is told not to. The exit code is 1 where no budget of the range does.
    """
    _paths.writable({"--spec-out": spec_out, "--png": png}, [counts, earlier, history])
    chosen, rng = seeded(seed)
    cls = _capacity_ask.named(mechanism, settings)
    low, high = _asking.budgets(least, min(10.0, cls.largest_epsilon) if largest is None else largest)
    asking = {"mechanism": cls, "cap": cap, "metric": outcome, "threshold": probability, "lowest": low, "highest": high}
    asking |= {"method": method.lower(), "runs": runs}
    if history is not None:
        beside = {"--dataset": dataset, "--counts": counts, "--earlier": earlier, "--limit": limit, "--n": n, "--k": k}
        _capacity_ask.alone({**beside, "--spec-out": spec_out}, "--history")
        _capacity_time.run(
            history,
            asking,
            lambda amounts: _capacity_ask.parameters(
                cls, _capacity_ask.described(amounts, amounts, sensitive, most), low, delta, settings, sensitive
            ),
            (most, first),
            (chosen, rng),
            png,
            as_json=as_json,
        )
        return
    _capacity_ask.some({"--dataset": dataset, "--counts": counts, "--earlier": earlier})
    if earlier is not None:
        _capacity_ask.alone({"--first": first}, "--earlier")
    crowd = Source(dataset, counts, earlier, k, n).read(rng, mechanism, quiet=as_json)
    if n is not None and crowd.drawn is not None:
        remedy = "leave it out: a total is that of the people who are counted"
        raise ParameterError(message("--n", f"must be left out beside {crowd.name}", n, remedy))
    amounts = in_amounts(crowd, counts)
    _capacity_ask.once(crowd.domain, amounts)
    people = _asking.asked(lambda: capri.population(crowd, domain=amounts, most=most), _capacity_ask.OPTIONS)
    domain = _capacity_ask.described(crowd.domain, amounts, sensitive, most)
    asking["parameters"] = _capacity_ask.parameters(cls, domain, low, delta, settings, sensitive)
    plans: tuple[CapacityAnswer, ...]
    if first is None:
        plans = (_capacity_ask.answered(asking, people, crowd.spent, rng, quiet=as_json),)
    else:
        plans = _capacity_ask.rehearsed(asking, people, first, rng, quiet=as_json)
    answer = plans[0]
    m = None if answer.epsilon is None else builder(cls, people, asking["parameters"])(answer.epsilon)
    seen = None if m is None else _capacity_ask.exposed(m, people, limit, rng)
    made = None if m is None else Spec(m, domain if m.kind == "frequency" else None)
    if made is not None and spec_out is not None:
        atomic.write(spec_out, made.to_json() + "\n")
    if png is not None:
        _capacity_ask.draw(asking, people, answer, rng, png, first=first is not None, quiet=as_json)
    if as_json:
        rounds = None if first is None else plans
        _console.print_json(_plain(answer, rounds, seen, made, crowd.name, chosen))
    else:
        about = f"{answer.mechanism}, {people.k:,} values, {crowd.name}, {many(answer.n, 'person', 'people')}"
        _capacity_table.show(_console.stdout(), plans, seen, m, about, chosen, first=first is not None)
        _asking.say_written(made, spec_out, png, read=made is not None)
    if not answer.feasible:
        raise typer.Exit(1)


def _plain(
    answer: CapacityAnswer,
    rounds: tuple[CapacityAnswer, ...] | None,
    seen: Exposure | None,
    made: Any,
    people: str,
    seed: int,
) -> dict[str, Any]:
    m = None if made is None else made.mechanism
    told = [
        {name: value for name, value in each.to_dict().items() if name in ("epsilon", "total", "truth")}
        for each in rounds or ()
    ]
    return {
        **answer.to_dict(),
        "first_rounds": None if rounds is None else told,
        "population": people,
        "seed": seed,
        "exposure": None if seen is None else seen.to_dict(),
        "guarantee": None if m is None or m.guarantee is None else str(m.guarantee),
        "spec_hash": None if made is None else made.hash,
        "spec": None if made is None else made.to_dict(),
    }
