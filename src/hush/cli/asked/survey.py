"""`hush plan` of a survey: several attributes, several rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from hush import atomic
from hush.cli.asked.options import asked
from hush.cli.asked.reading import whole
from hush.cli.shown import plan as tables
from hush.cli.shown import statements, terminal
from hush.cli.shown.bars import bar
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.counts import read_groups
from hush.files.domains import from_plain, read_plain
from hush.people.domain import Domain
from hush.planning.surveys import SurveyChoice, SurveyPlan, survey
from hush.reports import survey_in_words

NamedFile = tuple[str | None, Path]


@dataclass(frozen=True)
class SurveyAsked:
    """What the options said of people and wishes; `unused` are those that a survey does not take."""

    k: int | None
    attributes: str | None
    files: Sequence[NamedFile]
    other: str | None
    wishes: Mapping[str, Any]
    unused: Mapping[str, Any]


@dataclass(frozen=True)
class SurveyAnswered:
    """How the answer is to be given."""

    every: bool
    choose: str | None
    spec_out: Path | None
    statement: Path | None
    png: Path | None
    as_json: bool


def named_file(text: str) -> NamedFile:
    """The name and the file in NAME=FILE, or a file alone.

    >>> named_file("region=regions.txt"), named_file("regions.txt")
    (('region', PosixPath('regions.txt')), (None, PosixPath('regions.txt')))
    """
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        return None, Path(text)
    if not name or not path:
        rule = "must be a file, or NAME=FILE"
        raise ParameterError(message("--domain", rule, text, "write e.g. --domain region=regions.txt"))
    return name, Path(path)


def several(files: Sequence[NamedFile]) -> list[NamedFile]:
    """The files of labels; one that has those of several attributes by name stands for each of these."""
    if len(files) != 1 or files[0][0] is not None or files[0][1].suffix.lower() != ".json":
        return list(files)
    path = files[0][1]
    plain = read_plain(path, "--domain")
    by_name = isinstance(plain, dict) and bool(plain) and not {"labels", "size"} & set(plain)
    return [(name, path) for name in plain] if by_name else list(files)


def of_groups(n: int | None, groups: Path | None, smallest: int | None) -> dict[str, int | None]:
    """How many people there are, and in the smallest group."""
    if groups is None:
        return {"n": n, "smallest_group": smallest}
    sizes = read_groups(groups, "--groups").values()
    if smallest is not None:
        rule = "must stand without --groups, which tells it"
        raise ParameterError(message("--smallest-group", rule, smallest, "leave it out"))
    if n is not None and n != sum(sizes):
        rule = f"must be the sum of the groups, {sum(sizes):,}"
        raise ParameterError(message("--n", rule, n, "leave it out, or count again"))
    return {"n": sum(sizes), "smallest_group": min(sizes)}


def unnamed(file: NamedFile) -> Path:
    """The file of the only attribute, whatever it is called."""
    return file[1]


def run(asked_for: SurveyAsked, how: SurveyAnswered) -> None:
    """Plan, and tell."""
    with bar("planning", quiet=how.as_json) as tell:
        made = _made(asked_for, tell)
    choice = _chosen(made, how.choose) if made.feasible else None
    if choice is not None and how.spec_out is not None:
        atomic.write(how.spec_out, choice.spec.to_json() + "\n")
    if how.png is not None:
        from hush.reports import figures
        from hush.reports.surveyed import survey_figure

        atomic.write(how.png, figures.png(survey_figure(made, choice)))
    if how.as_json:
        terminal.print_json({**made.to_dict(), "chosen": None if choice is None else choice.name})
    else:
        _show(made, choice, how)
    spec = None if choice is None else choice.spec
    known = {"n": made.wishes.n, "reports": made.wishes.rounds, "asked": survey_in_words.told(made, choice)}
    statements.write(how.statement, spec, quiet=how.as_json, **known)
    if choice is None:
        raise typer.Exit(1)


def _made(asked_for: SurveyAsked, tell: Callable[[float], None]) -> SurveyPlan:
    for option, given in asked_for.unused.items():
        if given is not None:
            rule = "must be left out with --attributes and --rounds"
            remedy = "plan one attribute and one round for it"
            if option == "--in-every-group":
                remedy = "plan for so many people as the smallest group has, with --n"
            raise ParameterError(message(option, rule, given, remedy))
    if asked_for.wishes["n"] is None:
        raise ParameterError(message("--n", "must be given", NOTHING, "say how many people report in every round"))
    names = {name: f"--{name.replace('_', '-')}" for name in asked_for.wishes}
    attributes = _attributes(asked_for)
    one = "--k" if asked_for.k is not None else "--attributes"
    return asked(lambda: survey(attributes=attributes, **asked_for.wishes, progress=tell), {**names, "attributes": one})


def _attributes(asked_for: SurveyAsked) -> Sequence[int] | Mapping[str, Domain]:
    """Sizes, or domains by name: from one of the three options that tell."""
    given = {"--k": asked_for.k, "--attributes": asked_for.attributes, "--domain": asked_for.files or None}
    told = [option for option, value in given.items() if value is not None]
    if len(told) != 1:
        rule = "or --k or --domain must be given, and one of them only"
        got = Unsaid(", ".join(told)) if told else NOTHING
        raise ParameterError(message("--attributes", rule, got, "write e.g. --attributes 7,10,12"))
    if asked_for.k is not None:
        return [asked_for.k]
    if asked_for.attributes is not None:
        read = whole("--attributes", 2, "7,10,12")
        return [read(part) for part in asked_for.attributes.split(",")]
    domains: dict[str, Domain] = {}
    for name, path in asked_for.files:
        called = path.stem if name is None else name
        if called in domains:
            rule = "must name each attribute once"
            raise ParameterError(message("--domain", rule, called, "give each a name of its own, NAME=FILE"))
        plain = read_plain(path, "--domain")
        inner = plain.get(name) if isinstance(plain, dict) and "labels" not in plain and "size" not in plain else plain
        domains[called] = from_plain(inner, asked_for.other, str(path), "--domain")
    return domains


def _chosen(made: SurveyPlan, row: str | None) -> SurveyChoice:
    if row is None:
        return made.first
    named = [c for i, c in enumerate(made.choices, 1) if row.lower() in {c.name.lower(), str(i)}]
    if not named:
        rule = "must name a row of the table"
        remedy = f"use its number, or one of {', '.join(choice.name for choice in made.choices)}"
        raise ParameterError(message("--choose", rule, row, remedy))
    return named[0]


def _show(made: SurveyPlan, choice: SurveyChoice | None, how: SurveyAnswered) -> None:
    console = terminal.stdout()
    tables.show_survey(console, made, every=how.every)
    if choice is not None:
        tables.show_attributes(console, choice)
        for paragraph in survey_in_words.paragraphs(made, choice):
            console.print()
            console.print(terminal.cell(paragraph))
    if how.png is not None:
        terminal.note(f"wrote the picture, {how.png}")
    if choice is None:
        if how.spec_out is not None:
            terminal.warn(f"no spec was written, and {how.spec_out} is as it was")
    elif how.spec_out is None:
        terminal.note("Write the spec with --spec-out FILE.json.")
    else:
        terminal.note(f"wrote the spec of {choice.name}, {how.spec_out}")
