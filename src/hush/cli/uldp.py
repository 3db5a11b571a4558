"""`hush uldp`: only what is sensitive is hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hush import atomic, rules
from hush.cli.asked import paths, renamed
from hush.cli.asked.options import Epsilon, Json, K, Sensitive, SpecOut, asked
from hush.cli.asked.reading import real, sensitive_in, whole
from hush.cli.shown import grid, terminal
from hush.errors import NOTHING, ParameterError, message
from hush.files.domains import read_domain
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain
from hush.planning.uldp import OLD_WORDS, Recommendation
from hush.planning.uldp import uldp as recommend
from hush.reports.words import DASH, number


def uldp(
    k: K = None,
    epsilon: Epsilon = None,
    sensitive: Sensitive = None,
    domain: Annotated[
        Path | None,
        typer.Option(
            "--domain", metavar="FILE", help="The labels: one per line, or .json, which may name the sensitive."
        ),
    ] = None,
    theta: Annotated[
        float | None,
        typer.Option(
            "--theta",
            metavar="T",
            parser=real("--theta", "0.8"),
            help="Share of people whose value is not sensitive; left out, as if all values were equally frequent.",
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", metavar="N", parser=whole("--n", 1, "100000"), help="People.")] = 100_000,
    matters: Annotated[
        str, typer.Option("--matters", metavar="WHAT", help="What matters most: accuracy, bits or work (the server's).")
    ] = "accuracy",
    slack: Annotated[
        float,
        typer.Option(
            "--slack",
            metavar="X",
            parser=real("--slack", "2"),
            help="For bits and work, accept so many times the least error.",
        ),
    ] = 2.0,
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta",
            metavar="D",
            parser=real("--delta", "1e-6"),
            help="Also look at mechanisms with this slack: (ε, δ)-ULDP.",
        ),
    ] = None,
    spec_out: SpecOut = None,
    as_json: Json = False,
) -> None:
    """Recommend a mechanism that hides sensitive values only, and compare it with hiding everything.

    The sensitive values keep the full epsilon; the others are reported as precisely as that allows. Errors are exact
    sums of variances over all values.
    """
    paths.writable({"--spec-out": spec_out}, [domain])
    if epsilon is None:
        raise ParameterError(message("--epsilon", "must be given", NOTHING, "add e.g. --epsilon 1"))
    whole_domain = _domain(k, sensitive, domain)
    found = asked(
        lambda: recommend(
            whole_domain, epsilon, theta=theta, n=n, matters=_word(matters), slack=slack, delta=_checked(delta)
        ),
        {"matters": "--matters", "delta": "--delta"},
    )
    if as_json:
        terminal.print_json(found.to_dict())
    else:
        _show(found)
    if spec_out is not None:
        atomic.write(spec_out, Spec(found.best.mechanism, whole_domain).to_json())
        terminal.note(f"wrote {spec_out}")


def _checked(delta: float | None) -> float:
    """No slack where none was named; a zero that was named is refused."""
    return 0.0 if delta is None else rules.delta(delta)


def _word(matters: str) -> str:
    """What matters most, in the words of `hush plan`."""
    if matters in OLD_WORDS:
        renamed.warn(f"--matters {matters}", OLD_WORDS[matters])
    return OLD_WORDS.get(matters, matters)


def _domain(k: int | None, sensitive: list[str] | None, path: Path | None) -> Domain:
    if path is None and k is None:
        raise ParameterError(message("--k", "or --domain must be given", NOTHING, "add e.g. --k 100"))
    found = Domain(size=rules.domain_size(k)) if path is None else read_domain(path, None, "--domain")
    if k is not None and k != found.size:
        raise ParameterError(message("--k", f"must be {found.size}, as in {path}", k, "leave it out"))
    if sensitive is not None:
        return sensitive_in(sensitive, found)
    if found.sensitive is None:
        rule, example = "must be given", "0-9" if found.labels is None else found.labels[0]
        remedy = f"name the values, e.g. --sensitive {example}"
        raise ParameterError(message("--sensitive", rule, NOTHING, remedy))
    return found


def _show(found: Recommendation) -> None:
    names = ("", "mechanism", "parameter", "z*", "± (typical value)", "error", "bits", "bytes", "server work")
    ranks = (0, 0, 4, 3, 0, 0, 0, 2, 1)
    columns = [
        grid.Column(n, "left" if 1 <= i <= 2 else "right", r) for i, (n, r) in enumerate(zip(names, ranks, strict=True))
    ]
    rows = [
        [terminal.cell(each) for each in _cells(str(i), option.to_dict())] for i, option in enumerate(found.options, 1)
    ]
    rows.append([terminal.cell(each, "dim") for each in _cells("LDP", found.plain.to_dict())])
    u = found.best.mechanism
    title = (
        f"{found.n:,} people, {u.k:,} values, {len(u.sensitive):,} sensitive, ε = {u.epsilon:g}, θ = {found.theta:.6g}"  # type: ignore[attr-defined]
    )
    console = terminal.stdout()
    grid.show(console, columns, rows, title)
    console.print()
    console.print(terminal.cell(found.statement), soft_wrap=True)
    pair = " --set reveal=pair" if found.best.name.endswith(", in pairs") else ""
    how = f"--mechanism {u.name()}{pair} --set theta={found.theta:.6g}"
    listed = u.name() in registry()
    use = f"Use it with {how}, or write its spec with --spec-out." if listed else "Write its spec with --spec-out."
    console.print(terminal.cell(use), soft_wrap=True)
    terminal.note(
        "z*: how often a value that is not sensitive is told as it is. ±: root of the mean variance. error: sum of "
        "variances. in pairs: a revealed value is sent with its disguise, as in the paper; else alone."
    )


def _cells(place: str, plain: dict[str, object]) -> list[str]:
    shown = ", ".join(f"{n}={v:.3g}" if isinstance(v, float) else f"{n}={v}" for n, v in plain["parameters"].items())  # type: ignore[attr-defined]
    z = plain["z_star"]
    return [
        place,
        str(plain["name"]),
        shown or DASH,
        DASH if z is None else f"{z:.3f}",
        number(plain["rmse"], 3),  # type: ignore[arg-type]
        number(plain["error"], 3),  # type: ignore[arg-type]
        f"{plain['bits']:,}",
        f"{plain['bytes']:,}",
        f"{plain['work']:,}",
    ]
