"""`hush plan`: from wishes to a ranked list of mechanisms and a spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import hush
from hush import atomic
from hush.cli.asked import paths, survey
from hush.cli.asked.options import Json, SpecOut, StatementFile, asked
from hush.cli.asked.reading import real, share, small_share, whole
from hush.cli.shown import bars, statements, terminal
from hush.cli.shown import plan as tables
from hush.errors import NOTHING, ParameterError, message
from hush.files.counts import read_groups
from hush.files.domains import read_domain
from hush.planning.plan import Choice, Plan
from hush.reports import plan_in_words

_WISHES = "Wishes"
_CROWD = "Collection"
_ATTACKS = {
    "observed": ("pools", "changes"),
    "parts": ("attribute", "pools"),
    "collections": ("reidentification",),
}
"""Objectives that each of these options is for."""


def plan(
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            metavar="N",
            parser=whole("--n", 1, "100000"),
            help="People who will report; may be left out beside --groups.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", parser=whole("--k"), help="Number of values.", rich_help_panel=_CROWD),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="[NAME=]FILE",
            help="The values in place of --k: one label per line, or JSON; one file for each of several attributes.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--other",
            metavar="LABEL",
            help="A label that takes in unknown and missing values.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option(
            "--attributes",
            metavar="K,K,...",
            help="Several attributes at once: how many values each has. Then --max-epsilon is a person's total.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="M",
            parser=whole("--rounds", 1, "12"),
            help="How often each person is asked. Then --max-epsilon is a person's total over all rounds.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    changing: Annotated[
        bool,
        typer.Option(
            "--changing",
            help="Over rounds: hold the total for people whose values change at any time, too.",
            rich_help_panel=_WISHES,
        ),
    ] = False,
    report_share: Annotated[
        float | None,
        typer.Option(
            "--report-share",
            metavar="P",
            parser=share("--report-share", "0.5"),
            help="Over rounds: share of the total that one report may lose where kept answers get noise; 0.5.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            "--groups",
            metavar="FILE.csv",
            help="Tell the error in each group: a column of names, and how many people each has in column count.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    smallest_group: Annotated[
        int | None,
        typer.Option(
            "--smallest-group",
            metavar="N",
            parser=whole("--smallest-group", 1, "2600"),
            help="People of the smallest group, where no more is known of groups.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            "--error",
            metavar="X",
            parser=small_share("--error", "0.01"),
            help="Largest error of a frequency: 0.01, 1% and 1pp all mean one percentage point.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    in_every_group: Annotated[
        bool,
        typer.Option(
            "--in-every-group",
            help="Hold the error in every group, and so in the smallest, not for everybody together.",
            rich_help_panel=_WISHES,
        ),
    ] = False,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="How the error is meant: margin (half a 95 % interval), mse or mae.",
            rich_help_panel=_WISHES,
        ),
    ] = "margin",
    worst: Annotated[
        bool,
        typer.Option(
            "--worst",
            help="Hold the error for the worst value, not on average over the values.",
            rich_help_panel=_WISHES,
        ),
    ] = False,
    max_asr: Annotated[
        float | None,
        typer.Option(
            "--max-asr",
            metavar="P",
            parser=share("--max-asr", "0.1"),
            help="Accepted chance that an attacker names a person's value from their report.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    max_epsilon: Annotated[
        float | None,
        typer.Option(
            "--max-epsilon",
            metavar="E",
            parser=real("--max-epsilon", "2.0"),
            help="Accepted privacy loss of a report, in nats (1 without --error); of a person, with --attributes or "
            "--rounds.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    max_bits: Annotated[
        int | None,
        typer.Option(
            "--max-bits",
            metavar="B",
            parser=whole("--max-bits", 1, "64"),
            help="Information bits that a report may have; hashing needs 65 or more, 17 with a public family.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    matters: Annotated[
        str,
        typer.Option(
            "--matters",
            metavar="WHAT",
            help="What matters most: balance, privacy, attack, accuracy, manipulation, bits, work (the server's), or "
            "one of --objectives.",
            rich_help_panel=_WISHES,
        ),
    ] = "balance",
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta",
            metavar="D",
            parser=real("--delta", "1e-6"),
            help="Also consider approximate guarantees with this slack.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    fakes: Annotated[
        float,
        typer.Option(
            "--fakes",
            metavar="P",
            parser=share("--fakes", "0.05"),
            help="Share of reports that fake users send, for the gain of manipulation.",
            rich_help_panel=_CROWD,
        ),
    ] = 0.05,
    targets: Annotated[
        int,
        typer.Option(
            "--targets",
            metavar="R",
            parser=whole("--targets", 1, "1"),
            help="Values that fake users promote.",
            rich_help_panel=_CROWD,
        ),
    ] = 1,
    objectives: Annotated[
        str | None,
        typer.Option(
            "--objectives",
            metavar="NAME,NAME,...",
            help="What choices are compared in, any number: error, epsilon, asr, attribute, pools, changes, "
            "reidentification, gain, bits, work, variance, mse, mae, margin, information.",
            rich_help_panel=_WISHES,
        ),
    ] = None,
    observed: Annotated[
        int | None,
        typer.Option(
            "--observed",
            metavar="M",
            parser=whole("--observed", 2, "10"),
            help="Fresh reports of one person that an attacker has, for the objectives pools and changes (10).",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(
            "--parts",
            metavar="P",
            parser=whole("--parts", 2, "2"),
            help="Classes into which values are cut at random, for the objectives attribute and pools (2).",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    collections: Annotated[
        int | None,
        typer.Option(
            "--collections",
            metavar="C",
            parser=whole("--collections", 1, "3"),
            help="Attributes of one person that are reported so, for the objective reidentification (1).",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    central_delta: Annotated[
        float | None,
        typer.Option(
            "--central-delta",
            metavar="D",
            parser=real("--central-delta", "1e-8"),
            help="Delta of the guarantee after shuffling; 0.1/n, at most 1e-6, when left out.",
            rich_help_panel=_CROWD,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show all choices that meet the wishes, not only those worth a thought.")
    ] = False,
    choose: Annotated[
        str | None,
        typer.Option("--choose", metavar="ROW", help="Take this row of the table, by name or number, not the first."),
    ] = None,
    spec_out: SpecOut = None,
    statement: StatementFile = None,
    png: Annotated[
        Path | None,
        typer.Option(
            "--png",
            metavar="FILE.png",
            help="Draw the choices where they differ, or in the first two --objectives, and what another error would "
            "cost.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose a mechanism, its parameters and its budget.

    With --error, every mechanism gets the smallest budget that reaches it. Without, it gets the largest allowed, or a
    smaller one that gives nearly the same: at most 1 without --max-epsilon, and at most 4 unless accuracy
    matters most. Where the recommendation protects little or hardly, or tells nothing, the first sentence
    says so. It is shown with five others at most that are worth a thought; --all shows the rest, --json tells
    everything. The exit code is 1 where nothing meets all wishes; then the nearest that can be met are listed.

    With --attributes or --rounds it is the plan of a survey: how several attributes go into a report, and whether
    people answer afresh in every round or keep their answers, within one budget of a person for all of it.
    """
    files = [survey.named_file(each) for each in domain or ()]
    read = [*(path for _, path in files), groups]
    paths.writable({"--spec-out": spec_out, "--statement": statement, "--png": png}, read)
    if other is not None and not files:
        raise ParameterError(message("--other", "must stand beside --domain", other, "name the file of labels too"))
    files = survey.several(files)
    if attributes is not None or rounds is not None or len(files) > 1:
        unused = {
            "--max-asr": max_asr,
            "--max-bits": max_bits,
            "--delta": delta,
            "--central-delta": central_delta,
            "--in-every-group": in_every_group or None,
            "--matters": None if matters == "balance" else matters,
            "--fakes": None if fakes == 0.05 else fakes,
            "--targets": None if targets == 1 else targets,
            "--objectives": objectives,
            "--observed": observed,
            "--parts": parts,
            "--collections": collections,
        }
        wished = {
            "n": n,
            "rounds": 1 if rounds is None else rounds,
            "error": error,
            "metric": metric,
            "worst": worst,
            "max_epsilon": max_epsilon,
            "changing": changing,
            "report_share": 0.5 if report_share is None else report_share,
        }
        wished |= survey.of_groups(n, groups, smallest_group)
        asked_for = survey.SurveyAsked(k, attributes, files, other, wished, unused)
        survey.run(asked_for, survey.SurveyAnswered(every, choose, spec_out, statement, png, as_json))
        return
    for option, given in {"--changing": changing or None, "--report-share": report_share}.items():
        if given is not None:
            raise ParameterError(message(option, "must stand beside --rounds", given, "say how many rounds there are"))
    labels = None if not files else read_domain(survey.unnamed(files[0]), other, "--domain")
    if k is None and labels is None:
        raise ParameterError(message("--k", "or --domain must be given", NOTHING, "say how many values there are"))
    names = None if objectives is None else tuple(name.strip() for name in objectives.split(","))
    made = _asked(
        n=n,
        k=k,
        domain=labels,
        error=error,
        metric=metric,
        worst=worst,
        max_asr=max_asr,
        max_bits=max_bits,
        max_epsilon=max_epsilon,
        delta=delta,
        matters=matters,
        fakes=fakes,
        targets=targets,
        groups=None if groups is None else read_groups(groups, "--groups"),
        smallest_group=smallest_group,
        in_every_group=in_every_group,
        objectives=names,
        **_of_attackers(names or (), {"observed": observed, "parts": parts, "collections": collections}),
        quiet=as_json,
    )
    choice = _chosen(made, choose) if made.feasible else None
    if choice is not None and spec_out is not None:
        atomic.write(spec_out, choice.spec.to_json() + "\n")
    if png is not None:
        _draw(made, choice, png)
    if as_json:
        told = {"chosen": None if choice is None else choice.name, **_groups(made, choice)}
        terminal.print_json({**made.to_dict(central_delta), **told})
    else:
        _show(made, choice, spec_out, png, central_delta, every=every)
    spec = None if choice is None else choice.spec
    sentences = [plan_in_words.asked(made), *([] if choice is None else plan_in_words.smallest_group(choice))]
    statements.write(statement, spec, quiet=as_json, n=made.wishes.n, asked=sentences)
    if choice is None:
        raise typer.Exit(1)


def _asked(*, quiet: bool, **wishes: Any) -> Plan:
    """The plan; a wish that breaks its rule is named as the option. A bar where objectives may be simulated."""
    options = {name: f"--{name.replace('_', '-')}" for name in wishes}
    with bars.bar("Planning", quiet=quiet or wishes["objectives"] is None) as tell:
        return asked(lambda: hush.plan(**wishes, progress=tell), options)


def _of_attackers(objectives: Sequence[str], given: Mapping[str, int | None]) -> dict[str, int]:
    """What was said of attackers, each of whom must be asked for."""
    told = {name: number for name, number in given.items() if number is not None}
    for name, number in told.items():
        if not set(_ATTACKS[name]) & set(objectives):
            rule = f"must stand beside --objectives with {' or '.join(_ATTACKS[name])}"
            remedy = f"add {_ATTACKS[name][0]} to the objectives, or leave it out"
            raise ParameterError(message(f"--{name}", rule, number, remedy))
    return told


def _chosen(made: Plan, row: str | None) -> Choice:
    if row is None:
        return made.first
    named = [c for i, c in enumerate(made.choices, 1) if row.lower() in {c.name.lower(), str(i)}]
    if not named:
        rule = "must name a row of the table"
        remedy = f"use its number, or one of {', '.join(choice.name for choice in made.choices)}"
        raise ParameterError(message("--choose", rule, row, remedy))
    return named[0]


def _groups(made: Plan, choice: Choice | None) -> dict[str, Any]:
    """Of every group how well it is known by the choice, and what the wished error in every group would need."""
    if choice is None or made.wishes.smallest_group is None:
        return {}
    least = made.least_for_groups
    needed = None if least is None else {"mechanism": least[0], "epsilon": least[1]}
    return {"group_errors": [each.to_dict() for each in choice.group_errors], "least_for_groups": needed}


def _draw(made: Plan, choice: Choice | None, path: Path) -> None:
    from hush.reports import figures
    from hush.reports.planned import front_figure

    atomic.write(path, figures.png(front_figure(made, choice)))


def _show(
    made: Plan,
    choice: Choice | None,
    spec_out: Path | None,
    png: Path | None,
    central_delta: float | None,
    *,
    every: bool,
) -> None:
    console = terminal.stdout()
    tables.show(console, made, every=every)
    if choice is not None:
        tables.show_groups(console, choice)
        for paragraph in plan_in_words.paragraphs(made, choice, central_delta):
            console.print()
            console.print(terminal.cell(paragraph))
    if png is not None:
        terminal.note(f"wrote the picture, {png}")
    if choice is None:
        if spec_out is not None:
            terminal.warn(f"no spec was written, and {spec_out} is as it was")
    elif spec_out is None:
        terminal.note("Write the spec with --spec-out FILE.json; privatize and simulate read it with --spec.")
    else:
        terminal.note(f"wrote the spec of {choice.name}, {spec_out}")
