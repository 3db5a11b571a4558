"""One run of `hush reproduce`: its page is written anew after every figure, so that a run that is stopped leaves it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hush import atomic
from hush.cli import _console, _paths, _progress
from hush.errors import ParameterError, message
from hush.files.paths import quoted
from hush_studies import Check, Part, Settings, Study, page
from hush_studies.folder import Made, kept, make, names, whole
from hush_studies.study import rows_of

FOLDER = "hush-reproduce"
CHECKS = "checks.csv"
SEED = 7


@dataclass
class Run:
    """What is made, how and where.

    Args:
        study: The study.
        parts: Those of its parts that are wanted.
        settings: How they are made.
        out: The folder that was asked for, if any.
        only: The figures as they were asked for, for the command that goes on.
    """

    study: Study
    parts: list[Part]
    settings: Settings
    out: Path | None
    only: Sequence[str]
    present: dict[str, Made] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where it writes: a quick run has a place of its own."""
        return self.out or Path(FOLDER) / (self.study.name + ("-quick" if self.settings.quick else ""))

    def prepare(self) -> None:
        """Refuse a folder that cannot be, or that holds a full run where a small version is wanted."""
        _paths.folder("--output", self.folder, [*names(self.parts), page.NAME, CHECKS])
        if self.settings.quick and whole(self.folder):
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
            with _progress.progress(f"Reproducing {self.study.name}", total, quiet=quiet) as bar:
                return make(
                    self.study, self.parts, self.settings, self.folder,
                    write=atomic.write, there=there, advance=bar, begin=begin, end=end,
                )  # fmt: skip
        except KeyboardInterrupt:
            again = f"`{self.again(self.only)}` goes on with the rest"
            where = f"; the page shows what is there: {self.folder / 'index.html'}" if self.present else ""
            _console.note(f"{len(done)} of {len(left)} figures were made{where}. {again}.")
            raise

    def show(self) -> None:
        """Page and checks of all that is there, with what earlier runs made; nothing, where nothing is there."""
        made = [self.present[part.id] for part in self.study.parts if part.id in self.present]
        if made:
            atomic.write(self.folder / page.NAME, page.index(self.study, made, self.settings, self.again(())))
            atomic.write(self.folder / CHECKS, _table(checks_of(made)))

    def again(self, only: Iterable[str]) -> str:
        """The command that goes on."""
        words = ["hush", "reproduce", self.study.name]
        words += ["--quick"] if self.settings.quick else []
        words += [word for each in only for word in ("--only", each)]
        words += [] if self.settings.seed == SEED else ["--seed", str(self.settings.seed)]
        words += [] if self.out is None else ["--output", str(self.out)]
        return shlex.join(words)


def checks_of(made: Iterable[Made]) -> list[tuple[Part, Check]]:
    """Every check with its part."""
    return [(each.part, check) for each in made for check in each.checks]


def _table(checks: Iterable[tuple[Part, Check]]) -> str:
    rows = [{"part": part.id, **check.told()} for part, check in checks]
    head = list(rows[0]) if rows else ["part"]
    return rows_of(head, (row.values() for row in rows)).csv()
