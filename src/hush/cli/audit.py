"""`hush audit`: how private is it really?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import hush
from hush import atomic
from hush.audit import AuditResult, Claim, Screening, Target, per_distance, run
from hush.audit.games import Game
from hush.audit.screening import reports_for, screen
from hush.audit.several import usual
from hush.cli.asked import paths
from hush.cli.asked.audit import Asked, named, pair_of, played_by
from hush.cli.asked.engines import Address, EngineName, workers
from hush.cli.asked.options import (
    Attributes,
    Delta,
    Epsilon,
    EpsilonPermanent,
    EpsilonReport,
    High,
    Json,
    K,
    Low,
    MechanismName,
    Png,
    Sensitive,
    Settings,
    SpecFile,
)
from hush.cli.asked.options import asked as naming
from hush.cli.asked.reading import real, share, whole
from hush.cli.shown import audit as tables
from hush.cli.shown import bars, terminal

_FOREIGN = "Foreign code"
_WHAT = "Inputs"
_GAMES = "Games"
_EXITS = {"violation": 1, "inconclusive": 3}


def audit(
    mechanism: MechanismName = None,
    k: K = None,
    low: Low = None,
    high: High = None,
    attributes: Attributes = None,
    epsilon: Epsilon = None,
    epsilon_permanent: EpsilonPermanent = None,
    epsilon_report: EpsilonReport = None,
    delta: Delta = None,
    settings: Settings = None,
    sensitive: Sensitive = None,
    spec: SpecFile = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="MODULE:NAME",
            help="A Python callable that turns a value 0..k-1, a number or a tuple into a report.",
            rich_help_panel=_FOREIGN,
        ),
    ] = None,
    pipe: Annotated[
        str | None,
        typer.Option(
            "--pipe",
            metavar="COMMAND",
            help="A program that reads values, one a line, and writes a report for each, one a line.",
            rich_help_panel=_FOREIGN,
        ),
    ] = None,
    adapter: Annotated[
        str | None,
        typer.Option(
            "--adapter",
            metavar="LIBRARY:NAME",
            help="A client of pure-ldp, multi-freq-ldpy or opendp, with the claim that it makes, e.g. pure-ldp:OLH.",
            rich_help_panel=_FOREIGN,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            parser=real("--timeout", "60"),
            help="Without a report for so long, foreign code is taken to hang (60).",
            rich_help_panel=_FOREIGN,
        ),
    ] = None,
    chunk: Annotated[
        int | None,
        typer.Option(
            "--chunk",
            metavar="N",
            parser=whole("--chunk", 1, "1000"),
            help="Values for each process of --pipe, at most; 1 for a client that remembers its answer.",
            rich_help_panel=_FOREIGN,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="N",
            parser=whole("--rounds", 1, "12"),
            help="Audit all of so many reports of one person about a value that does not change.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    histories: Annotated[
        str | None,
        typer.Option(
            "--histories",
            metavar="LIST:LIST",
            help="Two histories of values to tell apart in place of two values, e.g. 0,0,0:0,0,1.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    changed: Annotated[
        int | None,
        typer.Option(
            "--changed",
            metavar="C",
            parser=whole("--changed", 1, "1"),
            help="Tell apart tuples that differ in at most so many attributes; when left out, in all.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    pools: Annotated[
        int | None,
        typer.Option(
            "--pools",
            metavar="P",
            parser=whole("--pools", 2, "2"),
            help="--method pools: how many classes the values are cut into, in their order (2).",
            rich_help_panel=_GAMES,
        ),
    ] = None,
    loyalty: Annotated[
        float | None,
        typer.Option(
            "--loyalty",
            metavar="SHARE",
            parser=share("--loyalty", "0.9"),
            help="--method pools: how often a value is of the class that its holder favours; else, any (1).",
            rich_help_panel=_GAMES,
        ),
    ] = None,
    attribute: Annotated[
        int | None,
        typer.Option(
            "--attribute",
            metavar="J",
            parser=whole("--attribute", 0, "0"),
            help="--method attributes: which one is guessed, counted from 0.",
            rich_help_panel=_GAMES,
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(
            "--people",
            metavar="N",
            parser=whole("--people", 2, "10"),
            help="--method reidentification: people of the table (10).",
            rich_help_panel=_GAMES,
        ),
    ] = None,
    collections: Annotated[
        int | None,
        typer.Option(
            "--collections",
            metavar="C",
            parser=whole("--collections", 1, "3"),
            help="--method reidentification: reports of one person about the same tuple (1).",
            rich_help_panel=_GAMES,
        ),
    ] = None,
    claim: Annotated[
        float | None,
        typer.Option(
            "--claim",
            metavar="E",
            parser=real("--claim", "1.0"),
            help="The promised epsilon; a mechanism's own when left out.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="--claim is for each unit of this distance: absolute, cyclic, euclidean or hamming (d-privacy).",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="likelihood, attack, classifier, exact, or a game: pools, changes, attributes, reidentification; "
            "repeatable. Left out: likelihood, classifier and exact, where they fit.",
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(
            "--trials",
            metavar="T",
            parser=whole("--trials", 1000, "1000000"),
            help="Reports of each of two values; of a game, how often it is played.",
        ),
    ] = 1_000_000,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha",
            metavar="A",
            parser=share("--alpha", "0.01"),
            help="Probability that a proved loss exceeds the true one, at most, all methods together.",
        ),
    ] = 0.01,
    pair: Annotated[
        str | None,
        typer.Option(
            "--pair",
            metavar="V,W",
            rich_help_panel=_WHAT,
            help="The two values, numbers or tuples (0,0:1,4); when left out, every value is tried, and many numbers.",
        ),
    ] = None,
    bound: Annotated[
        str, typer.Option("--bound", metavar="NAME", help="How alpha is divided: paper or one-sided.")
    ] = "paper",
    require: Annotated[
        float,
        typer.Option(
            "--require",
            metavar="SHARE",
            parser=share("--require", "0.5"),
            help="Share of the claim that must be proved; below it, the audit is inconclusive and leaves with 3.",
        ),
    ] = 0.5,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", parser=whole("--seed", 0, "7"), help="Repeat an audit of a mechanism exactly."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE.json", help="Keep where the audit stands, and go on from there."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE.html", help="Also write a page for the files (.html).")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE.xml", help="Also write a JUnit report (.xml).")
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE.sarif", help="Also write a SARIF 2.1.0 log (.sarif).")
    ] = None,
    png: Png = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Prove a lower bound of the privacy loss of one report, or of all of one person's, and hold it against the claim.

    The exit code is 0 where no violation was found that the audit would have seen, 1 where one was found, 2 where the
    command cannot be run, 3 where the audit saw too little to tell: made for continuous integration. Without --seed,
    reports are made as real clients make them.
    """
    written = {"--html": html, "--junit": junit, "--sarif": sarif, "--png": png}
    paths.writable({**written, "--checkpoint": checkpoint}, [spec])
    asked = Asked(
        mechanism=mechanism,
        k=k,
        low=low,
        high=high,
        attributes=attributes,
        epsilon=epsilon,
        epsilon_permanent=epsilon_permanent,
        epsilon_report=epsilon_report,
        delta=delta,
        settings=settings,
        sensitive=sensitive,
        spec=spec,
        target=target,
        pipe=pipe,
        adapter=adapter,
        rounds=rounds,
        histories=histories,
        changed=changed,
        claim=claim,
        metric=metric,
        timeout=timeout,
        chunk=chunk,
    )
    what = asked.build()
    settings_of: dict[str, dict[str, Any]] = {
        "pools": {"pools": pools, "loyalty": loyalty},
        "attributes": {"attribute": attribute},
        "reidentification": {"people": people, "collections": collections},
    }
    promised = asked.promised(what)
    methods = played_by(_methods(method, what, promised), settings_of)
    options = {name: f"--{name}" for settings in settings_of.values() for name in settings} | {
        name: f"--{name}" for name in ("method", "k", "attributes")
    }
    for game in (each for each in methods if isinstance(each, Game)):
        naming(partial(game.of, what), {**options, "tau": "--rounds"})  # before any method begins
    rules: dict[str, Any] = {"trials": trials, "bound": bound, "require": require, "claim": promised}
    try:
        with workers(engine, address) as who:
            rules["engine"] = who
            results = _run(what, methods, alpha, pair_of(pair, what.inputs), seed, checkpoint, rules, quiet=as_json)
    except KeyboardInterrupt:
        if checkpoint is not None and checkpoint.exists():
            terminal.note("the same command goes on from its checkpoint")
        raise
    results = [replace(each, about={**each.about, "seed": seed, "command": shlex.join(sys.argv)}) for each in results]
    verdicts = {result.verdict for result in results}
    if as_json:
        found = [result.to_dict() for result in results]
        plain = {"violation": "violation" in verdicts, "inconclusive": "inconclusive" in verdicts, "audits": found}
        terminal.print_json(plain)
    else:
        tables.show(terminal.stdout(), results)
    _write(results, written)
    for verdict, code in _EXITS.items():
        if verdict in verdicts:
            raise typer.Exit(code)


def _write(results: Sequence[AuditResult], written: dict[str, Path | None]) -> None:
    """Pages, logs and the figure, after the answer is out."""
    chosen = {option: path for option, path in written.items() if path is not None}
    if not chosen:
        return
    from hush.reports import audited, checks, figures

    makers: dict[str, Callable[[Sequence[AuditResult]], str | bytes]] = {
        "--html": audited.page_of,
        "--junit": checks.junit,
        "--sarif": checks.sarif,
        "--png": lambda found: figures.png(audited.figure(found)),
    }
    for option, path in chosen.items():
        atomic.write(path, makers[option](results))
        terminal.note(f"wrote {path}")


def _methods(asked: list[str] | None, target: Target, claim: float | Claim | None) -> list[str]:
    if asked:
        return list(dict.fromkeys(asked))
    known = not isinstance(claim, Claim) or per_distance.fits(target, claim)
    return [method for method in usual(target) if known or method != "exact"]


def _run(
    target: Target,
    methods: Sequence[str | Game],
    alpha: float,
    pair: tuple[Any, Any] | None,
    seed: int | None,
    checkpoint: Path | None,
    rules: dict[str, Any],
    *,
    quiet: bool,
) -> list[AuditResult]:
    games = sum(isinstance(method, Game) for method in methods)
    sampled = sum(method != "exact" for method in methods)
    trials = rules["trials"]
    screening = reports_for(target, trials) if pair is None and sampled > games else 0
    if isinstance(rules["claim"], Claim) and not target.screened:
        screening = 0  # the law says which pair is the worst for its distance
    chosen: tuple[Any, Any] | Screening | None = pair
    with (
        bars.progress(f"Auditing {target.name}", (2 * sampled - games) * trials + screening, quiet=quiet) as advance,
        redirect_stdout(sys.stderr),  # what foreign code prints is not the answer
    ):
        if screening:
            fixed = seed if seed is not None else 0 if target.seedable else None  # so that a checkpoint finds the same
            rng = None if fixed is None else hush.seeded([fixed, 1])
            promised = rules["claim"] if isinstance(rules["claim"], Claim) else None
            chosen = screen(target, trials=trials, rng=rng, progress=advance, claim=promised)
        return [
            run(
                target,
                method,
                alpha=alpha / max(sampled, 1),
                pair=chosen,
                rng=None if seed is None else hush.seeded(seed),
                checkpoint=checkpoint if sampled == 1 else _beside(checkpoint, named(method)),
                progress=advance,
                **rules,
            )
            for method in methods
        ]


def _beside(checkpoint: Path | None, method: str) -> Path | None:
    """Each method keeps its own standing."""
    return None if checkpoint is None else checkpoint.with_name(f"{checkpoint.stem}.{method}{checkpoint.suffix}")
