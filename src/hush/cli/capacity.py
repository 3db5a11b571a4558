"""`hush capacity`: the smallest epsilon that tells a total from a capacity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hush import atomic
from hush.cli.asked import capacity as asks
from hush.cli.asked import paths
from hush.cli.asked.options import (
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
    asked,
    budgets,
    seeded,
)
from hush.cli.asked.people import Source, in_amounts, mean_of
from hush.cli.asked.reading import real, share, whole
from hush.cli.shown import bars, terminal
from hush.cli.shown import capacity as tables
from hush.errors import NOTHING, ParameterError, message
from hush.files.counts import read_history
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain
from hush.planning import capri
from hush.planning.capri import CapacityAnswer, Exposure, OnlyMean, Population, Step
from hush.planning.capri.build import builder
from hush.reports.history_in_words import unplanned
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
    above: Annotated[
        float | None,
        typer.Option(
            "--above",
            metavar="X",
            parser=real("--above", "30"),
            help="Count the people whose amount is above this: --cap is then how many there may be.",
            rich_help_panel=WISH,
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
            help="exact; capri, capri-r, BS, RBS, DBS, MPass or bayes, by simulated collections; or normal, cantelli "
            "or chebyshev.",
            rich_help_panel=SEARCH,
        ),
    ] = "exact",
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            metavar="R",
            parser=whole("--runs", 1, "50000"),
            help="Collections to simulate at a budget, where they are simulated; at most so many for DBS.",
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
    paths.writable({"--spec-out": spec_out, "--png": png}, [counts, earlier, history])
    chosen, rng = seeded(seed)
    cls = asks.named(mechanism, settings)
    low, high = budgets(least, min(10.0, cls.largest_epsilon) if largest is None else largest)
    asking = {"mechanism": cls, "cap": cap, "metric": outcome, "threshold": probability, "lowest": low, "highest": high}
    asking |= {"method": method.lower(), "runs": runs, "above": above}
    if history is not None:
        beside = {"--dataset": dataset, "--counts": counts, "--earlier": earlier, "--limit": limit, "--n": n, "--k": k}
        asks.alone({**beside, "--spec-out": spec_out}, "--history")
        _over_time(
            history,
            asking,
            lambda amounts: asks.parameters(
                cls, asks.described(amounts, amounts, sensitive, most), low, delta, settings, sensitive
            ),
            (most, first),
            (chosen, rng),
            png,
            as_json=as_json,
        )
        return
    asks.some({"--dataset": dataset, "--counts": counts, "--earlier": earlier})
    if earlier is not None:
        asks.alone({"--first": first}, "--earlier")
    people: Population | OnlyMean | None = None
    if earlier is not None and (dataset, counts) == (None, None):
        people = mean_of(earlier, mechanism, quiet=as_json)
    if isinstance(people, OnlyMean):
        beside = {"--n": n, "--k": k, "--limit": limit, "--clip-above": most}
        asks.alone(beside, f"{people.name}, of which only a mean is known")
        name, spent, domain = people.name, people.spent, people.domain
    else:
        crowd = Source(dataset, counts, earlier, k, n).read(rng, mechanism, quiet=as_json)
        if n is not None and crowd.drawn is not None:
            remedy = "leave it out: a total is that of the people who are counted"
            raise ParameterError(message("--n", f"must be left out beside {crowd.name}", n, remedy))
        amounts = in_amounts(crowd, counts)
        asks.once(crowd.domain, amounts)
        people = asked(lambda: capri.population(crowd, domain=amounts, most=most), asks.OPTIONS)
        name, spent, domain = crowd.name, crowd.spent, asks.described(crowd.domain, amounts, sensitive, most)
    asking["parameters"] = asks.parameters(cls, domain, low, delta, settings, sensitive)
    plans: tuple[CapacityAnswer, ...]
    if first is None or isinstance(people, OnlyMean):
        plans = (asks.answered(asking, people, spent, rng, quiet=as_json),)
    else:
        plans = asks.rehearsed(asking, people, first, rng, quiet=as_json)
    answer = plans[0]
    m = None if answer.epsilon is None else builder(cls, people, asking["parameters"])(answer.epsilon)
    seen = None if m is None or isinstance(people, OnlyMean) else asks.exposed(m, people, limit, rng)
    made = None if m is None else Spec(m, domain if m.kind == "frequency" else None)
    if made is not None and spec_out is not None:
        atomic.write(spec_out, made.to_json() + "\n")
    if png is not None:
        tables.draw(asking, people, answer, rng, png, first=first is not None, quiet=as_json)
    if as_json:
        rounds = None if first is None else plans
        terminal.print_json(_plain(answer, rounds, seen, made, name, chosen))
    else:
        about = f"{answer.mechanism}, {people.k:,} values, {name}, {many(answer.n, 'person', 'people')}"
        tables.show(terminal.stdout(), plans, seen, m, about, chosen, first=first is not None)
        terminal.say_written(made, spec_out, png, read=made is not None)
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
        {name: value for name, value in each.to_dict().items() if name in ("epsilon", "total", "spread", "truth")}
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


def _over_time(
    path: Path,
    asking: dict[str, Any],
    parameters: Callable[[Domain], dict[str, Any]],
    given: tuple[float | None, float | None],
    chance: tuple[int, np.random.Generator],
    png: Path | None,
    *,
    as_json: bool,
) -> None:
    """Simulate the collections of a history, and tell what came of them.

    Args:
        path: The history.
        asking: The question, as `capri.over_time` takes it.
        parameters: From the domain to what the mechanism takes besides k and epsilon.
        given: What --clip-above and --first said.
        chance: The seed, and the generator it gives.
        png: Where to draw.
        as_json: Whether to print JSON, and no bar.
    """
    most, first = given
    if first is None:
        rule = "must be given beside --history, for the collection that nothing is known before"
        raise ParameterError(message("--first", rule, NOTHING, "add e.g. --first 0.5"))
    history = read_history(path, "--history")
    domain = Domain(size=len(history.amounts), values=list(history.amounts))
    options = {**asks.OPTIONS, "history": "--history"}
    options |= {"epsilon": "--first", "counts": "--history", "domain": "--history"}
    with bars.bar("Collecting, and planning the next", quiet=as_json) as tell:
        asking = {**asking, "parameters": parameters(domain), "most": most}

        def told_of(step: Step) -> None:
            tell((step.time + 1) / len(history.times))

        steps = asked(
            lambda: capri.over_time(
                history=history.counts, first=first, domain=domain, told=told_of, rng=chance[1], **asking
            ),
            options,
        )
    name = asking["mechanism"].name()
    if png is not None:
        from hush.reports import figures
        from hush.reports.capacity_time import capacity_time_figure

        atomic.write(png, figures.png(capacity_time_figure(steps, history.times, name)))
    if as_json:
        terminal.print_json(tables.history_plain(steps, history.times, name, history.name, chance[0]))
    else:
        tables.show_history(steps, history, name, most, chance[0])
        if png is not None:
            terminal.note(f"wrote the picture, {png}")
    if any(unplanned(step) for step in steps):
        raise typer.Exit(1)
