"""Everything that can be planned with, and of each the one that serves the wishes best, if any does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hashing import OLH
from hush.mechanisms.modular import MSS
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes
from hush.planning import tuning
from hush.planning.families import FAMILIES
from hush.planning.measures import number_of, numbers_of
from hush.planning.named import Named
from hush.planning.shortlist import alike
from hush.planning.tuning import Listed, Modular, Tuned
from hush.planning.wishes import Wishes
from hush.utility.oracle import UtilityOracle

_FAMILY_FOR = 4_096
"""Values up to which hashing by a public family is looked at: what fakes gain is found by going through all of it."""

_SAME = 1e-9
"""Numbers that differ by no more than rounding."""


def candidates(wishes: Wishes) -> Iterator[Named | Tuned | Listed | Modular]:
    """All that can be planned with: registered mechanisms that promise something, and the families to tune."""
    for cls in registry().values():
        wanted = takes(cls)
        required = {name for name, needed in wanted.items() if needed}
        if not required <= {"k", "epsilon", "delta"} or "epsilon" not in wanted:
            continue
        if ("delta" in wanted and wishes.delta is None) or issubclass(cls, UtilityOracle):
            continue  # all values are taken to be sensitive here
        yield Modular(wishes, tuned=False) if cls is MSS else Named(cls, wishes)
    if wishes.k <= _FAMILY_FOR:
        yield Named(OLH, wishes, (("hash", "family"),))
    tuned = wishes.for_tuning()
    for family in FAMILIES:
        yield Tuned(family, tuned)
    yield tuning.hadamard(tuned)
    yield tuning.projective(tuned)
    yield Modular(tuned, tuned=True)


@dataclass(frozen=True)
class Found:
    """A mechanism that meets the wishes, whether its parameter was tuned for them, and its numbers."""

    mechanism: FrequencyOracle
    tuned: bool
    numbers: dict[str, float]

    @property
    def name(self) -> str:
        """What it is called in the table."""
        family = " family" if getattr(self.mechanism, "hash", "") == "family" else ""
        return f"{'tuned ' if self.tuned else ''}{self.mechanism.name()}{family}"


def found(wishes: Wishes) -> list[Found]:
    """Everything that meets the wishes; what tuning finds again is left out."""
    return distinct(served(wishes))


def distinct(rows: Iterable[Found]) -> list[Found]:
    """Without what was tuned and came out as a row before it: BLH is LH with two buckets."""
    kept: list[Found] = []
    for row in rows:
        if not (row.tuned and any(alike(row.numbers, other.numbers, _SAME) for other in kept)):
            kept.append(row)
    return kept


def served(wishes: Wishes) -> Iterator[Found]:
    """Of each candidate the one that serves best, where one does."""
    for each in candidates(wishes):
        try:
            m = each.search()
        except HushError:  # a limit of this mechanism's own
            continue
        if m is not None:
            yield Found(m, each.tuned, numbers_of(m, wishes))


def blind_error(wishes: Wishes) -> float:
    """Mean squared error of who reads no report and answers 1/k for every value, at its largest.

    It is largest where all people hold one value: (1 - 1/k)/k on average over the values, (1 - 1/k)² for that one.
    """
    return (1 - 1 / wishes.k) ** 2 if wishes.worst else (1 - 1 / wishes.k) / wishes.k


def useful(rows: list[Found], wishes: Wishes) -> list[Found]:
    """Those that tell more than no report would, if there are any; all where the error was asked for."""
    if wishes.error is not None:
        return rows
    return [row for row in rows if tells(row.mechanism, wishes)] or rows


def tells(m: FrequencyOracle, wishes: Wishes) -> bool:
    """Whether it does better than answering 1/k for every value."""
    return number_of(m, "mse", wishes) < blind_error(wishes)
