"""What is answered to a wish: words, numbers, a table, a spec. Plain data, which travel between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hush.mechanisms.spec import Spec
from hush.workbench.plan.question import Question

Paragraphs = tuple[str, ...]


@dataclass(frozen=True)
class PlanOption:
    """One way to collect that meets the wish.

    Args:
        name: Its row in the table, by which it can be chosen.
        called: What its name stands for, in words.
        numbers: epsilon, error and asr (shares), gain, bits and work, as far as they are known.
        gains: Where it is better than the recommendation, in words, the most first.
        gives_up: Where it is worse.
        on_front: Whether no other is as good in everything and better in something.
        row: Its cells under the table's header.
        when: Who should think about it.
    """

    name: str
    called: str
    numbers: Mapping[str, float]
    gains: Paragraphs = ()
    gives_up: Paragraphs = ()
    on_front: bool = True
    row: tuple[str, ...] = ()
    when: str = ""

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        return self.name if self.called in self.name else f"{self.called} ({self.name})"


@dataclass(frozen=True)
class WayOut:
    """A wish that can be met, near one that cannot."""

    words: str
    question: Question


@dataclass(frozen=True)
class Curve:
    """The least attack success (in 100) for every error (in points) that any mechanism reaches."""

    points: tuple[float, ...] = ()
    guesses: tuple[float, ...] = ()
    most_epsilon: float = 0.0


@dataclass(frozen=True)
class Shuffling:
    """What shuffling would add: in words, and the central ε for other numbers of people who report."""

    words: Paragraphs
    delta: float = 0.0
    people: tuple[int, ...] = ()
    epsilon: tuple[float, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The answer to one wish.

    Args:
        question: What was asked.
        headline: The recommendation, a sentence each.
        why: Why this one is recommended; or why nothing is.
        options: Everything that meets the wish, the recommended one first.
        alternatives: The two or three to think about beside the recommendation.
        chosen: Which of the options the words and the spec are of; None where nothing meets the wish.
        header: Of the whole table.
        details: What it means for people and for the estimates, under headings.
        shuffling: What shuffling would add.
        curve: What another error would cost.
        ways_out: Where nothing meets the wish, what could be met.
        spec: The collection, as JSON.
        call: How the same is asked in Python.
        command: How the same is asked at the command line.
        caution: What to think of before this is promised to anybody, where there is reason to.
    """

    question: Question
    headline: Paragraphs
    why: str
    options: tuple[PlanOption, ...] = ()
    alternatives: tuple[PlanOption, ...] = ()
    chosen: PlanOption | None = None
    header: tuple[str, ...] = ()
    details: tuple[tuple[str, Paragraphs], ...] = ()
    shuffling: Shuffling | None = None
    curve: Curve = field(default_factory=Curve)
    ways_out: tuple[WayOut, ...] = ()
    spec: str = ""
    call: str = ""
    command: str = ""
    caution: str = ""

    @property
    def feasible(self) -> bool:
        """Whether anything meets the wish."""
        return self.chosen is not None

    @property
    def recommended(self) -> PlanOption | None:
        """The first of the options."""
        return self.options[0] if self.options else None

    @property
    def made(self) -> Spec:
        """The spec, ready to use."""
        return Spec.from_json(self.spec)

    @property
    def kind(self) -> str:
        """Of the mechanism: frequency, or longitudinal."""
        kind: Any = self.made.mechanism.kind
        return str(kind)
