"""`hush budget`: the smallest epsilon that is accurate enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hush import atomic
from hush.cli.asked import paths
from hush.cli.asked.engines import Address, EngineName, workers
from hush.cli.asked.mechanism import MechanismOptions, with_budget
from hush.cli.asked.options import (
    CROWD,
    SEARCH,
    WISH,
    Delta,
    Earlier,
    Json,
    K,
    LeastEpsilon,
    MechanismName,
    SearchPng,
    Seed,
    Sensitive,
    Settings,
    SpecOut,
    StatementFile,
    asked,
    budgets,
    seeded,
)
from hush.cli.asked.people import Source, in_amounts
from hush.cli.asked.reading import parsed, real, share, whole
from hush.cli.shown import bars, statements, terminal
from hush.cli.shown import budget as tables
from hush.errors import ParameterError, message
from hush.longitudinal.ledger import as_written
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.people.clipping import with_amounts
from hush.planning.optimus import METHODS, BudgetAnswer, losses
from hush.planning.optimus import budget as search
from hush.planning.optimus.question import Mechanism, maker
from hush.planning.optimus.trials import BudgetTrials
from hush.reports import budget_in_words

_POINTS, _RUNS, _AROUND = 31, 200, 4.0  # of a picture: budgets, runs at each, how far from the answer
_OFF = 0.2  # a normal law that was off by more is not drawn

Dataset = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        metavar="NAME",
        help="msnbc, adult_age, zipf, spike, dirichlet, geometric, normal or uniform.",
        rich_help_panel=CROWD,
    ),
]
Counts = Annotated[
    Path | None,
    typer.Option(
        "--counts",
        metavar="FILE",
        help="A CSV file with a column count, and label if there are labels.",
        rich_help_panel=CROWD,
    ),
]


def budget(
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="X",
            parser=share("--threshold", "0.3"),
            help="Largest loss that is accepted.",
            rich_help_panel=WISH,
        ),
    ],
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            metavar="NAME",
            help="What is lost: l1 (mean absolute error), l2, max (largest error), kendall (1 - tau), f1 or ndcg of "
            "the most frequent values, kl, emd (ordered values), or mean (of amounts; Duchi, Piecewise and Hybrid have "
            "it, too).",
            rich_help_panel=WISH,
        ),
    ] = "kendall",
    probability: Annotated[
        float,
        typer.Option(
            "--probability",
            metavar="P",
            parser=share("--probability", "0.9"),
            help="How sure that must be: 0.9 and 90% both mean nine collections of ten.",
            rich_help_panel=WISH,
        ),
    ] = 0.9,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="N",
            parser=whole("--top", 1, "10"),
            help="Only the N most frequent values, for f1 and ndcg; 10 where left out.",
            rich_help_panel=WISH,
        ),
    ] = None,
    dataset: Dataset = None,
    counts: Counts = None,
    earlier: Earlier = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            metavar="N",
            parser=whole("--n", 1, "100000"),
            help="People who will report; drawn anew in every run where the data are real, counted or estimated.",
            rich_help_panel=CROWD,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="direct, which proves its answer; or BS, RBS, DBS, MPass or Bayes, as published, mended.",
            rich_help_panel=SEARCH,
        ),
    ] = "direct",
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            metavar="R",
            parser=whole("--runs", 1, "1000"),
            help="Collections to simulate at a budget, at most; 1000 where left out, and more for direct.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    least: LeastEpsilon = 0.001,
    most: Annotated[
        float | None,
        typer.Option(
            "--max-epsilon",
            metavar="E",
            parser=real("--max-epsilon", "10"),
            help="Largest budget to consider; 20 where left out, or what the mechanism takes.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            metavar="W",
            parser=whole("--window", 1, "7"),
            help="Of a stream with a report in every round: also tell what any W consecutive rounds cost.",
            rich_help_panel=WISH,
        ),
    ] = None,
    seed: Seed = None,
    mechanism: MechanismName = None,
    k: K = None,
    delta: Delta = None,
    settings: Settings = None,
    sensitive: Sensitive = None,
    spec_out: SpecOut = None,
    statement: StatementFile = None,
    png: SearchPng = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Find the smallest budget with which a collection is accurate enough, often enough.

    Whole collections are simulated at several budgets, from the exact law of the mechanism. The exit code is 1 where
    no budget of the range does.
    """
    paths.writable({"--spec-out": spec_out, "--statement": statement, "--png": png}, [counts, earlier])
    chosen, rng = seeded(seed)
    crowd = Source(dataset, counts, earlier, k, n).read(rng, mechanism, quiet=as_json)
    if loss == losses.MEAN:
        crowd = replace(crowd, domain=with_amounts(crowd.domain, in_amounts(crowd, counts).amounts.tolist()))
    means = {name.lower(): cls for name, cls in registry("numeric").items()}
    of_mean = means.get((mechanism or "").lower())
    if of_mean is None:
        first, parameters = _first(crowd, mechanism, least, delta, settings, sensitive)
    else:
        refuse_for_numbers({"--delta": delta, "--sensitive": sensitive, "--k": k}, of_mean)
        parameters = parsed(settings)
        first = Spec(
            asked(
                lambda: maker(of_mean, crowd, parameters)[1](least),
                {"epsilon": "--min-epsilon", "domain": "--counts", "parameters": "--set"},
            )
        )
    wish: dict[str, Any] = {
        "loss": loss,
        "threshold": threshold,
        "probability": probability,
        "top": top,
        "method": method,
    }
    with workers(engine, address) as who:
        wish |= {"runs": runs, "parameters": parameters, "engine": who}
        answer = _answered(first.mechanism, crowd, (least, most), rng, as_json, **wish)
    made = None if answer.mechanism is None else Spec(answer.mechanism, first.domain)
    if made is not None and spec_out is not None:
        atomic.write(spec_out, made.to_json() + "\n")
    if png is not None:
        _draw(answer, rng, png, quiet=as_json)
    if as_json:
        terminal.print_json({**_plain(answer, crowd, made, chosen), **_windowed(answer, window)})
    else:
        tables.show(terminal.stdout(), answer, crowd.name, chosen)
        if window is not None and answer.epsilon is not None:
            terminal.note(budget_in_words.windowed(answer.epsilon, window))
        terminal.say_written(made, spec_out, png, read=made is not None)
    statements.write(
        statement, made, quiet=as_json, n=answer.question.people.n, asked=[budget_in_words.asked(answer.question)]
    )
    if not answer.feasible:
        raise typer.Exit(1)


def refuse_for_numbers(given: dict[str, Any], cls: Any) -> None:
    """Options that say nothing to a mechanism for means."""
    for option, value in given.items():
        if value is not None:
            rule = f"must be left out for {cls.name()}, which estimates a mean"
            got = ",".join(value) if isinstance(value, list) else value
            raise ParameterError(message(option, rule, got, "leave it out"))


def _first(
    crowd: Population,
    mechanism: str | None,
    epsilon: float,
    delta: float | None,
    settings: list[str] | None,
    sensitive: list[str] | None,
) -> tuple[Spec, dict[str, Any]]:
    """The collection at the smallest budget, and what the mechanism takes besides k and epsilon."""
    with_budget(mechanism, settings)
    wanted = MechanismOptions(mechanism, None, epsilon, delta, settings, None, sensitive)
    spec = asked(lambda: wanted.build(crowd.domain), {"epsilon": "--min-epsilon"})
    more = {**({} if delta is None else {"delta": delta}), **parsed(settings)}
    if "sensitive" in spec.mechanism.parameters:
        more["sensitive"] = spec.mechanism.parameters["sensitive"]
    return spec, more


def _answered(
    first: Mechanism,
    crowd: Population,
    within: tuple[float, float | None],
    rng: np.random.Generator,
    quiet: bool,
    **wish: Any,
) -> BudgetAnswer:
    least, most = within
    largest = min(20.0, first.largest_epsilon)
    searched = budgets(least, largest if most is None else most)
    names = {name.lower(): name for name in METHODS}
    wish["method"] = names.get(wish["method"].lower(), wish["method"])
    options = {name: f"--{name}" for name in ("loss", "threshold", "probability", "method", "runs", "top", "n")}
    options |= {"population": "--counts", "epsilon": "--max-epsilon", "mechanism": "--mechanism"}
    with bars.bar("Looking for the smallest budget", quiet=quiet) as tell:
        return asked(
            lambda: search(type(first), crowd, epsilon=searched, rng=rng, progress=tell, **wish),
            options,
        )


def _draw(answer: BudgetAnswer, rng: np.random.Generator, path: Path, *, quiet: bool) -> None:
    """Around the answer, some runs at many budgets show how loss and share move."""
    from hush.reports import figures
    from hush.reports.budgeted import budget_figure

    near = {t.epsilon: t.share for t in answer.evidence if t.law == "normal"}
    exactly = any(abs(near.get(t.epsilon, t.share) - t.share) > _OFF for t in answer.evidence if t.law == "exact")
    low, high = answer.question.low, answer.question.high
    if answer.epsilon is not None:
        low, high = max(low, answer.epsilon / _AROUND), min(high, answer.epsilon * _AROUND)
    with bars.bar("Drawing", quiet=quiet) as tell:
        trials = BudgetTrials(answer.question, rng, tell, expected=_POINTS)
        curve = [trials.measured(float(e), _RUNS, surely=exactly) for e in np.geomspace(low, high, _POINTS)]
    atomic.write(path, figures.png(budget_figure(answer, curve)))


def _windowed(answer: BudgetAnswer, window: int | None) -> dict[str, Any]:
    if window is None:
        return {}
    cost = None if answer.epsilon is None else float(as_written(answer.epsilon) * window)
    return {"window": window, "window_epsilon": cost}


def _plain(answer: BudgetAnswer, crowd: Population, made: Spec | None, seed: int) -> dict[str, Any]:
    m = None if made is None else made.mechanism
    return {
        **answer.to_dict(),
        "population": crowd.name,
        "seed": seed,
        "guarantee": None if m is None or m.guarantee is None else str(m.guarantee),
        "asr": m.asr() if isinstance(m, FrequencyOracle) else None,
        "spec_hash": None if made is None else made.hash,
        "spec": None if made is None else made.to_dict(),
    }
