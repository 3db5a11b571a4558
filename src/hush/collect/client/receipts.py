"""What a client hands back: receipts of answers, what a delivery did, and what a person has spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hush.types import Ints


@dataclass(frozen=True)
class Receipt:
    """That an answer was given: it is made once, and spent for, whatever becomes of it.

    Args:
        collection: The collection's id.
        period: Of the answer.
        batch: The id of the batch that it was made in; what is too large for a server arrives in parts, with others.
        state: "waiting", "accepted" or "dropped".
        reason: Why it waits or was dropped, as the server or the connection had it; "" for nothing.
        told: The period that the server tells of now, where it is below one that it told before; else None.
    """

    collection: str
    period: int
    batch: str
    state: str
    reason: str = ""
    told: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Answered:
    """What became of the answers of many people.

    Args:
        receipts: Those of the batches that their answers are in.
        which: For each person, the place of their receipt there; -1 where no answer was made.
        again: For each, whether they had answered in this period before, with the same value.
        other_value: For each, whether they had with another value: the first answer stands.
        over_limit: For each, whether a limit kept them from answering.
    """

    receipts: tuple[Receipt, ...]
    which: Ints
    again: npt.NDArray[np.bool_]
    other_value: npt.NDArray[np.bool_]
    over_limit: npt.NDArray[np.bool_]

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={int(getattr(self, name).sum())}" for name in ("again", "other_value", "over_limit"))
        made = int((self.which >= 0).sum())
        return f"Answered({made} of {len(self.which)} people in {len(self.receipts)} batches, {told})"


@dataclass(frozen=True)
class Delivery:
    """What sending did.

    Args:
        accepted: Batches that the server has taken.
        dropped: Batches that it never will, by reason; what they spent stays spent.
        waiting: Batches that still wait.
        reason: Why the last of them does, "moved" where all that wait are for another address; "" where nothing waits,
            or nothing was tried.
        due: Seconds until it makes sense to try again.
    """

    accepted: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    reason: str = ""
    due: float = 0.0


@dataclass(frozen=True)
class Spent:
    """What a person has spent, as exact fractions; None where nothing bounds it.

    Args:
        collection: In this collection.
        chain: In it and those that it follows or that follow it.
        total: In all collections of this home.
        delta: The sum of all deltas, in all of them.
        answers: How many answers there are in this collection.
    """

    collection: Fraction | None
    chain: Fraction | None
    total: Fraction | None
    delta: Fraction
    answers: int
