"""Several mechanisms on the same people: what they gave side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hush import rules
from hush.errors import HushError
from hush.people import Population
from hush.reports.statements import lay
from hush.types import Ints
from hush.workbench.data.column import CountedColumn, scaled
from hush.workbench.data.trying import TriedMechanism, tried, worthwhile
from hush.workbench.explore.words import margin, points
from hush.workbench.jobs import Progress

MOST_PEOPLE = 10_000_000
LONG = 200
"""With more values than that, some mechanisms take seconds each."""
SHOWN = 20
"""Values that a picture shows, at most."""
HEADER = ("Mechanism", "Typical error", "Error bars", "Truth inside", "Guessed right", "Bits")


@dataclass(frozen=True)
class AskedTrial:
    """What is to be tried.

    Args:
        epsilon: Privacy loss of one report.
        n: People, with the shares of the column; None for those of the column.
        seed: Of the simulation.
        names: Of mechanisms; None for those that are worthwhile.
        most: Values that are kept as they are, the others counting as one; None for all.
    """

    epsilon: float = 1.0
    n: int | None = None
    seed: int = 7
    names: tuple[str, ...] | None = None
    most: int | None = None


@dataclass(frozen=True)
class Compared:
    """What came out.

    Args:
        people: Who was asked.
        trials: Of each mechanism, the shortest error bars first.
        refused: Why other mechanisms cannot be tried, by name.
    """

    people: Population
    trials: tuple[TriedMechanism, ...]
    refused: dict[str, str] = field(default_factory=dict)

    def trial(self, name: str | None) -> TriedMechanism:
        """That of a mechanism; the first where it is not there."""
        return next((each for each in self.trials if each.name == name), self.trials[0])

    @property
    def shown(self) -> Ints:
        """The values that a picture shows: the most frequent."""
        return np.argsort(-self.people.counts, kind="stable")[:SHOWN]

    def rows(self) -> list[Sequence[str]]:
        """A table of all mechanisms, for `HEADER`."""
        return [_row(each, self.people.k) for each in self.trials]


def takes_long(column: CountedColumn, asked: AskedTrial) -> bool:
    """Whether trying them takes so long that it is a job, which can be cancelled."""
    values = len(column.counts)
    return (values if asked.most is None else min(values, asked.most + 1)) > LONG


def compared_job(progress: Progress, column: CountedColumn, asked: AskedTrial) -> Compared:
    """What `compared` gives, as a job."""
    return compared(column, asked, progress)


def compared(
    column: CountedColumn, asked: AskedTrial, progress: Callable[[float, str], None] = lambda fraction, note: None
) -> Compared:
    """Try mechanisms on the people of a column; it takes from milliseconds to seconds, by how many values there are.

    Args:
        column: Whose people.
        asked: What is to be tried.
        progress: Told before each mechanism which it is.
    """
    epsilon = rules.epsilon(asked.epsilon)
    if asked.n is not None:
        rules.integer("n", asked.n, 1, MOST_PEOPLE, "use as many people as you expect")
    people = scaled(column.kept(asked.most), asked.n)
    names = worthwhile(people.k, epsilon, people.n) if asked.names is None else asked.names
    trials, refused = [], {}
    for i, name in enumerate(names):
        progress(i / len(names), f"Simulating {name}")
        try:
            trials.append(tried(name, people, epsilon, asked.seed))
        except HushError as error:
            if error.parameter == "seed":
                raise
            refused[name] = str(error)
    trials.sort(key=lambda each: each.half_width)
    return Compared(people, tuple(trials), refused)


def _row(one: TriedMechanism, k: int) -> Sequence[str]:
    right, luck, of = lay.guesses(one.attack, one.luck)
    return (
        one.name,
        f"{points(one.typical)} points",
        f"{margin(one.half_width)} points",
        f"{one.covered:,} of {k:,}",
        f"{right} in {of} ({luck} without)",
        f"{one.mechanism.bits:,}",
    )
