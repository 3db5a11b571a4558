"""`hush reproduce`: the figures of published studies, made again, and their printed numbers checked."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hush import atomic
from hush.cli.asked import paths
from hush.cli.asked.engines import Address, EngineName, workers
from hush.cli.asked.options import Json
from hush.cli.asked.reading import whole
from hush.cli.shown import bars, grid, terminal
from hush.errors import NOTHING, ParameterError, message
from hush.files.paths import quoted
from hush_studies import Check, Part, Settings, Study, Verdict, page, studies
from hush_studies.folder import Made, kept, make, names
from hush_studies.folder import whole as is_whole
from hush_studies.given import GivenData, asked, using
from hush_studies.study import rows_of

FOLDER = "hush-reproduce"
CHECKS = "checks.csv"
SEED = 7

_HEADS = {
    "verdict": 0,
    "claim": 0,
    "printed": 0,
    "matches when": 1,
    "computed": 0,
    "people": 4,
    "figure": 2,
    "where": 3,
}
"""Columns of the checks, and how soon each is left out of a narrow window."""


def reproduce(
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="What to reproduce; left out, the studies are listed.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help=f"Where to write; {FOLDER}/STUDY when left out, STUDY-quick with --quick.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="FIGURE", help="Only this one, e.g. figure-8, or just 8; repeatable."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show the figures of a study, and make none.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in half a minute.")] = False,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="N", parser=whole("--seed", 0, "7"), help="Where the simulations start."),
    ] = SEED,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="NAME=FILE",
            help="A file of data that are not part of Hush (Foursquare, Census, Drug, Emoji, AguaH), in place of "
            "made-up people; repeatable.",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make everything anew, also what is there already.")] = False,
    engine: EngineName = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Make the figures of a published study from our own code, and check the numbers that it prints.

    Each figure becomes a PNG and a CSV file; index.html shows them all. A run that was stopped leaves its page and goes
    on where it was: figures that the folder holds already, made in the same way, are kept. --quick never writes over a
    full run. The exit code is 1 when a check comes out otherwise than is known.

    --data gives people that papers have and Hush has not, as CSV with the columns value and count, and sensitive where
    that is asked; every verdict says whether they or made-up ones were used.
    """
    chosen = _study(study)
    if chosen is None:
        if out or only or quick or fresh or data:
            raise _unnamed()
        _list(as_json)
        return
    if listed:
        _list_parts(chosen, _parts(chosen, only), as_json)
        return
    files = asked(data or (), chosen.name)
    if files and engine != "local":  # people would have to travel, and the names of caches with them
        raise ParameterError(message("--engine", "must be local with --data", engine, "leave it out"))
    run = Run(chosen, _parts(chosen, only), Settings(quick, seed), out, only or (), files)
    run.prepare()
    with using(files), workers(engine, address) as who:
        run.settings = replace(run.settings, engine=who)
        made = run.make(fresh=fresh, quiet=as_json)
        checks = _checks_of(made)
        if as_json:
            terminal.print_json(_summary(run, made, checks))
        else:
            _show(run, made, checks)
    if not all(check.passed for _, check in checks):
        raise typer.Exit(1)


def _study(name: str | None) -> Study | None:
    known = studies()
    if name is None or name in known:
        return None if name is None else known[name]
    near = [f"did you mean {each}?" for each in difflib.get_close_matches(name, known, n=1)]
    remedy = " ".join([*near, "`hush reproduce` lists them"])
    raise ParameterError(message("STUDY", f"must be one of {', '.join(known)}", name, remedy))


def _unnamed() -> Exception:
    return ParameterError(message("STUDY", "must be given with these options", NOTHING, "`hush reproduce` lists them"))


def _parts(study: Study, only: Sequence[str] | None) -> list[Part]:
    wanted = []
    for name in only or ():
        found = study.part(name) or study.part(f"figure-{name}")
        if found is None:
            known = ", ".join(part.id for part in study.parts)
            raise ParameterError(message("--only", f"must be a figure of {study.name}", name, f"use one of {known}"))
        wanted.append(found.id)
    return [part for part in study.parts if not only or part.id in wanted]


def _list_parts(study: Study, parts: Sequence[Part], as_json: bool) -> None:
    if as_json:
        terminal.print_json({"study": study.name, "parts": [_described(part) for part in parts]})
        return
    columns = [grid.Column("figure", "left"), grid.Column("shows", "left"), grid.Column("kind", "left", 1)]
    grid.show(terminal.stdout(), columns, [[p.id, p.title, p.kind] for p in parts], study.title)
    terminal.note(f"Write e.g. `hush reproduce {study.name} --only {parts[0].id}`.")


def _list(as_json: bool) -> None:
    found = list(studies().values())
    if as_json:
        terminal.print_json(
            {
                "studies": [
                    {"name": s.name, "title": s.title, "source": s.source, "parts": [_described(p) for p in s.parts]}
                    for s in found
                ]
            }
        )
        return
    columns = [grid.Column(name, "left", rank) for name, rank in (("study", 0), ("title", 1), ("source", 2))]
    rows = [[s.name, s.title, s.source, f"{len(s.parts)}"] for s in found]
    grid.show(terminal.stdout(), [*columns, grid.Column("figures")], rows, "Studies that can be reproduced")
    terminal.note(
        f"Write e.g. `hush reproduce {found[0].name}`, or `hush reproduce {found[0].name} --quick` first; "
        "--list shows the figures of a study."
    )


def _described(part: Part) -> dict[str, Any]:
    return {"id": part.id, "title": part.title, "kind": part.kind}


def _summary(run: Run, made: Sequence[Made], checks: Sequence[tuple[Part, Check]]) -> dict[str, Any]:
    files = {each.part.id: [str(run.folder / f"{each.part.id}.{kind}") for kind in ("csv", "png")] for each in made}
    return {
        "study": run.study.name,
        "source": run.study.source,
        "out": str(run.folder),
        "quick": run.settings.quick,
        "seed": run.settings.seed,
        "data": [
            {
                "name": file.data.name,
                "file": str(file.path),
                "sha256": file.digest,
                **file.found,
                "differences": file.differences,
            }
            for file in run.files
        ],
        "parts": [
            {
                **_described(each.part),
                **dict(zip(("csv", "png"), files[each.part.id], strict=True)),
                "people": each.people,
                "rows": len(each.table.rows),
                "seconds": each.seconds,
                "kept": each.kept,
            }
            for each in made
        ],
        "checks": [
            {"part": part.id, **check.told(), "holds": check.holds, "passed": check.passed} for part, check in checks
        ],
        "failed": sum(not check.passed for _, check in checks),
    }


def _cells(part: Part, check: Check) -> list[Any]:
    style = "" if check.passed else "bold red"
    verdict = f"{check.verdict}{'' if check.passed else ', UNEXPECTED'}"
    words = (verdict, check.claim, check.printed, f"{check.rule.words} ({check.rule.allowance})", check.computed)
    return [terminal.cell(each, style) for each in (*words, check.people, part.id, check.source)]


def _counted(checks: Sequence[Check]) -> str:
    found = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    told = ", ".join(f"{number} {verdict}" for verdict, number in found.items())
    failed = sum(not check.passed for check in checks)
    return f"{len(checks)} checks: {told}; {failed} otherwise than known."


def _show(run: Run, made: Sequence[Made], checks: Sequence[tuple[Part, Check]]) -> None:
    console = terminal.stdout()
    columns = [grid.Column("figure", "left"), grid.Column("shows", "left", 1), grid.Column("kind", "left", 3)]
    rows = [
        [e.part.id, e.part.title, e.part.kind, f"{len(e.table.rows):,}", "kept" if e.kept else f"{e.seconds:.1f} s"]
        for e in made
    ]
    grid.show(console, [*columns, grid.Column("rows", rank=2), grid.Column("made in")], rows, run.study.title)
    if checks:
        console.print()
        columns = [grid.Column(name, "left", rank) for name, rank in _HEADS.items()]
        grid.show(console, columns, [_cells(part, check) for part, check in checks], "Printed numbers and claims")
        console.print()
        console.print(_counted([check for _, check in checks]))
    for words in _of_whom(run, made):
        console.print(terminal.cell(words).markup, soft_wrap=True)
    console.print()
    index = (run.folder / "index.html").resolve()
    console.print(f"The page with figures: [bold]{terminal.cell(index).markup}[/]", soft_wrap=True)


def _of_whom(run: Run, made: Sequence[Made]) -> list[str]:
    """Which people are made up, and what the files have that the papers have not."""
    wanted = dict.fromkeys(name for each in made for name in each.data)
    files = {file.data.name: file for file in run.files}
    lines = [f"{name} is {file.source}." for name, file in files.items() if name in wanted]
    lines += [f"{name}: {', '.join(file.differences)}." for name, file in files.items() if file.differences]
    lines += [f"{name} was given, and no figure here rests on it." for name in files if name not in wanted]
    made_up = [name for name in wanted if name not in files]
    if made_up:
        way = f"--data {made_up[0]}=FILE gives the real ones"
        lines.append(f"Made-up people stand in for {', '.join(made_up)}; {way}.")
    return lines


@dataclass
class Run:
    """What is made, how and where; its page is written after every figure, so that a run that is stopped leaves it.

    Args:
        study: The study.
        parts: Those of its parts that are wanted.
        settings: How they are made.
        out: The folder that was asked for, if any.
        only: The figures as they were asked for, for the command that goes on.
        files: Data that were given.
    """

    study: Study
    parts: list[Part]
    settings: Settings
    out: Path | None
    only: Sequence[str]
    files: Sequence[GivenData] = ()
    present: dict[str, Made] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where it writes: a quick run has a place of its own."""
        return self.out or Path(FOLDER) / (self.study.name + ("-quick" if self.settings.quick else ""))

    def prepare(self) -> None:
        """Refuse a folder that cannot be, or that holds a full run where a small version is wanted."""
        paths.folder("--output", self.folder, [*names(self.parts), page.NAME, CHECKS])
        if self.settings.quick and is_whole(self.folder):
            rule, remedy = "must not hold a full run when --quick is given", f"use e.g. --output {self.folder}-quick"
            raise ParameterError(message("--output", rule, quoted(self.folder), remedy))
        self.folder.mkdir(parents=True, exist_ok=True)

    def make(self, *, fresh: bool, quiet: bool) -> list[Made]:
        """Make the parts, or keep them; where that is stopped, say what is there and how to go on."""
        self.present = kept(self.study, self.study.parts, self.settings, self.folder)
        wanted = {part.id for part in self.parts}
        there = {} if fresh else {name: made for name, made in self.present.items() if name in wanted}
        left = [part for part in self.parts if part.id not in there]
        self.show()
        done: list[Made] = []

        def begin(part: Part) -> None:
            bar.name(f"{self.study.name}, {part.id} ({len(done) + 1} of {len(left)})")

        def end(made: Made) -> None:
            done.append(made)
            self.present[made.part.id] = made
            self.show()

        total = sum(part.cost(self.settings) for part in left)
        try:
            with bars.progress(f"Reproducing {self.study.name}", total, quiet=quiet) as bar:
                return make(
                    self.study, self.parts, self.settings, self.folder,
                    write=atomic.write, there=there, advance=bar, begin=begin, end=end,
                )  # fmt: skip
        except KeyboardInterrupt:
            again = f"`{self.again(self.only)}` goes on with the rest"
            where = f"; the page shows what is there: {self.folder / 'index.html'}" if self.present else ""
            terminal.note(f"{len(done)} of {len(left)} figures were made{where}. {again}.")
            raise

    def show(self) -> None:
        """Page and checks of all that is there, with what earlier runs made; nothing, where nothing is there."""
        made = [self.present[part.id] for part in self.study.parts if part.id in self.present]
        if made:
            atomic.write(self.folder / page.NAME, page.index(self.study, made, self.settings, self.again(())))
            atomic.write(self.folder / CHECKS, _table(_checks_of(made)))

    def again(self, only: Iterable[str]) -> str:
        """The command that goes on."""
        words = ["hush", "reproduce", self.study.name]
        words += ["--quick"] if self.settings.quick else []
        words += [word for each in only for word in ("--only", each)]
        words += [word for file in self.files for word in ("--data", f"{file.data.name}={file.path}")]
        words += [] if self.settings.seed == SEED else ["--seed", str(self.settings.seed)]
        words += [] if self.out is None else ["--output", str(self.out)]
        return shlex.join(words)


def _checks_of(made: Iterable[Made]) -> list[tuple[Part, Check]]:
    """Every check with its part."""
    return [(each.part, check) for each in made for check in each.checks]


def _table(checks: Iterable[tuple[Part, Check]]) -> str:
    rows = [{"part": part.id, **check.told()} for part, check in checks]
    head = list(rows[0]) if rows else ["part"]
    return rows_of(head, (row.values() for row in rows)).csv()
