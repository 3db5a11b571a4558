"""`hush audit`: how private is it really?"""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hush.cli import _console
from hush.cli._numbers import real, share, whole
from hush.cli._options import Delta, Epsilon, Json, K, MechanismName, Png, Sensitive, Settings, SpecFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hush.audit import AuditResult, Target

_FOREIGN = "Foreign code"


def audit(
    mechanism: MechanismName = None,
    k: K = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    settings: Settings = None,
    sensitive: Sensitive = None,
    spec: SpecFile = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="MODULE:NAME",
            help="A Python callable that turns a value 0..k-1 into a report.",
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
    claim: Annotated[
        float | None,
        typer.Option(
            "--claim",
            metavar="E",
            parser=real("--claim", "1.0"),
            help="The promised epsilon; a mechanism's own when left out.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="likelihood, attack, classifier or exact; repeatable. Left out: all that fit but attack.",
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(
            "--trials", metavar="T", parser=whole("--trials", 1000, "1000000"), help="Reports of each of two values."
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
        typer.Option("--pair", metavar="V,W", help="The two values; when left out, the most telling of a few pairs."),
    ] = None,
    bound: Annotated[
        str, typer.Option("--bound", metavar="NAME", help="How alpha is divided: paper or one-sided.")
    ] = "paper",
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
    png: Png = None,
    as_json: Json = False,
) -> None:
    """Prove a lower bound of the privacy loss of one report, and hold it against the claim.

    The exit code is 0 where no violation was found, 1 where one was, 2 where the command cannot be run: made for
    continuous integration. Without --seed, reports are made as real clients make them.
    """
    from hush.cli import _audit_table, _paths

    _paths.writable({"--html": html, "--png": png, "--checkpoint": checkpoint}, [spec])
    what = _target(mechanism, k, epsilon, delta, settings, sensitive, spec, target, pipe, claim, timeout, chunk)
    methods = _methods(method, what)
    try:
        results = _run(what, methods, trials, alpha, _pair(pair), bound, seed, claim, checkpoint, quiet=as_json)
    except KeyboardInterrupt:
        if checkpoint is not None:
            _console.note("the same command goes on from its checkpoint")
        raise
    results = [replace(each, about={**each.about, "seed": seed, "command": shlex.join(sys.argv)}) for each in results]
    if as_json:
        _console.print_json({"violation": any(r.violated for r in results), "audits": [r.to_dict() for r in results]})
    else:
        _audit_table.show(_console.stdout(), results)
    _write(results, html, png)
    if any(result.violated for result in results):
        raise typer.Exit(1)


def _write(results: Sequence[AuditResult], html: Path | None, png: Path | None) -> None:
    """The page and the figure, after the answer is out."""
    from hush.cli import _files

    if png is None and html is None:
        return
    from hush.reports import audited, figures

    if png is not None:
        _files.write(png, figures.png(audited.figure(results)))
    if html is not None:
        _files.write(html, audited.page_of(results))
    for written in (html, png):
        if written is not None:
            _console.note(f"wrote {written}")


def _target(
    mechanism: str | None,
    k: int | None,
    epsilon: float | None,
    delta: float | None,
    settings: list[str] | None,
    sensitive: list[str] | None,
    spec: Path | None,
    target: str | None,
    pipe: str | None,
    claim: float | None,
    timeout: float | None,
    chunk: int | None,
) -> Target:
    """What the options name: exactly one thing."""
    from hush.audit import MechanismTarget
    from hush.cli._choose import Choice
    from hush.cli._usage import NOTHING
    from hush.errors import ParameterError, Unsaid, message

    ways = {"--mechanism or --spec": mechanism or spec, "--target": target, "--pipe": pipe}
    named = [way for way, given in ways.items() if given]
    if len(named) != 1:
        rule = f"must be given, one of {', '.join(ways)}"
        got = Unsaid(" and ".join(named)) if named else NOTHING
        raise ParameterError(message("what to audit", rule, got, "e.g. --mechanism OUE --k 100 --epsilon 1"))
    for option, foreign, beside in (("--timeout", timeout, mechanism or spec), ("--chunk", chunk, not pipe)):
        if foreign is not None and beside:
            rule = f"must be left out beside {named[0]}"
            raise ParameterError(message(option, rule, foreign, "it is for foreign code"))
    if mechanism or spec:
        return MechanismTarget(Choice(mechanism, k, epsilon, delta, settings, spec, sensitive).build().mechanism)
    for option, given in (("--epsilon", epsilon), ("--set", settings), ("--sensitive", sensitive)):
        if given:
            raise ParameterError(
                message(option, f"must be left out beside {named[0]}", given, "foreign code has its own")
            )
    for option, value in (("--k", k), ("--claim", claim)):
        if value is None:
            raise ParameterError(message(option, f"must be given beside {named[0]}", NOTHING, f"add {option}"))
    from hush.audit import Claim
    from hush.audit.foreign import PATIENCE, from_name
    from hush.audit.pipe import PipeTarget
    from hush.randomness import CHUNK

    promised = Claim(float(claim or 0.0), delta or 0.0)
    patience = PATIENCE if timeout is None else timeout
    if pipe is not None:
        return PipeTarget(
            pipe, k=int(k or 0), claim=promised, timeout=patience, chunk=CHUNK if chunk is None else chunk
        )
    return from_name(str(target), k=int(k or 0), claim=promised, timeout=patience)


def _methods(asked: list[str] | None, target: Target) -> list[str]:
    from hush.audit import MechanismTarget

    if asked:
        return list(dict.fromkeys(asked))
    if not isinstance(target, MechanismTarget):
        return ["classifier"]
    return ["likelihood", "exact"] if _ours(target) else ["likelihood", "classifier", "exact"]


def _ours(target: Target) -> bool:
    from hush.audit import MechanismTarget

    return isinstance(target, MechanismTarget) and type(target.mechanism).__module__.startswith("hush.")


def _pairs(target: Target) -> list[tuple[int, int]] | None:
    """Of code from outside, many pairs; of ours, which the conformance suite has seen, the ends."""
    first, second = target.first_pair
    return [(first, second), (target.k - 2, target.k - 1)] if _ours(target) and target.k > 3 else None


def _pair(text: str | None) -> tuple[int, int] | None:
    from hush.errors import ParameterError, message

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise ParameterError(message("--pair", "must be two values and a comma", text, "write e.g. --pair 0,1"))
    return int(parts[0]), int(parts[1])


def _run(
    target: Target,
    methods: Sequence[str],
    trials: int,
    alpha: float,
    pair: tuple[int, int] | None,
    bound: str,
    seed: int | None,
    claim: float | None,
    checkpoint: Path | None,
    *,
    quiet: bool,
) -> list[AuditResult]:
    import hush
    from hush.audit import run
    from hush.audit.pairs import best_pair

    sampled = sum(method != "exact" for method in methods)
    if pair is None and sampled:
        fixed = seed if seed is not None else 0 if target.seedable else None  # so that a checkpoint finds the same
        pair = best_pair(target, _pairs(target), rng=None if fixed is None else hush.seeded([fixed, 1]))
    with (
        _console.progress(f"Auditing {target.name}", 2 * trials * sampled, quiet=quiet) as advance,
        redirect_stdout(sys.stderr),  # what foreign code prints is not the answer
    ):
        return [
            run(
                target,
                method,
                trials=trials,
                alpha=alpha / max(sampled, 1),
                claim=claim,
                pair=pair,
                bound=bound,
                rng=None if seed is None else hush.seeded(seed),
                checkpoint=checkpoint if sampled == 1 else _beside(checkpoint, method),
                progress=advance,
            )
            for method in methods
        ]


def _beside(checkpoint: Path | None, method: str) -> Path | None:
    """Each method keeps its own standing."""
    return None if checkpoint is None else checkpoint.with_name(f"{checkpoint.stem}.{method}{checkpoint.suffix}")
