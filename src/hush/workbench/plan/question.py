"""What somebody wishes of a collection, as a person says it: in points, people, answers and right guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hush.errors import HushError
from hush.people.domain import Domain, Label

MOST_PEOPLE = 10**12
MOST_POINTS = 100.0
MOST_EPSILON = 40.0
"""Beyond these nothing can be wished."""

EACH, AVERAGE = "each", "average"
"""Whether the error holds for every percentage, however large it is, or on average over the answers."""

MATTERS = {
    "balance": "a balance of everything",
    "privacy": "the smallest ε",
    "attack": "the fewest right guesses",
    "bits": "the shortest reports",
    "work": "the least work for the server",
    "accuracy": "the smallest error",
    "manipulation": "that liars gain least",
}
"""What can matter most, in words."""


class Mistakes(HushError, ValueError):
    """What is wrong with a wish, in words, by the field that it stands in."""

    def __init__(self, by_field: Mapping[str, str]) -> None:
        self.by_field = dict(by_field)
        super().__init__(" ".join(self.by_field.values()))

    def __reduce__(self) -> tuple[type[Mistakes], tuple[dict[str, str]]]:
        return type(self), (self.by_field,)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One wish.

    Args:
        people: How many people report.
        points: Percentage points within which a percentage shall be, 19 times in 20; None for as near as the risk
            that is accepted allows.
        answers: How many answers there are.
        labels: What they are called; None for 0, 1, 2, …
        other: The label that takes in whatever is unknown or missing.
        sensitive: The places of the answers that need protection; () for all of them.
        held: EACH or AVERAGE.
        guesses: How many of 100 guesses of a person's answer may be right, at most.
        epsilon: The largest ε that is accepted: of one report, or of a person over all rounds.
        matters: What matters most, one of `MATTERS`.
        rounds: How often each person is asked.
        changing: Whether ε is to hold for people whose answers change between rounds, too.
        chosen: The row of the table that was chosen in place of the recommendation; "" for that.
    """

    people: int
    points: float | None
    answers: int
    labels: tuple[Label, ...] | None = None
    other: str | None = None
    sensitive: tuple[int, ...] = ()
    held: str = EACH
    guesses: float | None = None
    epsilon: float | None = None
    matters: str = "balance"
    rounds: int = 1
    changing: bool = False
    chosen: str = ""

    @property
    def domain(self) -> Domain:
        """The answers, as a collection knows them."""
        if self.labels is None:
            return Domain(size=self.answers, sensitive=self.sensitive or None)
        sensitive = [self.labels[i] for i in self.sensitive] or None
        return Domain(labels=self.labels, other=self.other, sensitive=sensitive)

    @property
    def error(self) -> float | None:
        """As the planner takes it: a share."""
        return None if self.points is None else self.points / 100

    @property
    def worst(self) -> bool:
        """Whether the error holds for every percentage."""
        return self.held == EACH

    @property
    def words(self) -> str:
        """The wish in a sentence."""
        which = "each percentage" if self.worst else "percentages, on average over the answers,"
        wish = (
            "percentages as exact as the risk allows"
            if self.points is None
            else f"{which} within ±{_points(self.points)}"
        )
        said = [f"Wanted: {wish}, from about {self.people:,} people, over {self.answers:,} answers"]
        if self.sensitive:
            said.append(f"of which {len(self.sensitive):,} {'is' if len(self.sensitive) == 1 else 'are'} sensitive")
        if self.rounds > 1:
            said.append(f"asked {self.rounds:,} times")
            said += ["whose answers may change in between"] if self.changing else []
        if self.guesses is not None:
            said.append(f"with at most {self.guesses:g} of 100 guesses of a person's answer right")
        if self.epsilon is not None:
            said.append(f"with ε = {self.epsilon:g} at most")
        if self.matters != "balance":
            said.append(f"where {MATTERS[self.matters]} matters most")
        return ", ".join(said) + "."


def _points(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"
