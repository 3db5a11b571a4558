"""The smallest ε with which a collection is good enough, often enough: a search that simulates whole collections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import hush
from hush.errors import HushError
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.people.domain import Domain
from hush.planning.optimus import budget
from hush.reports import budget_in_words
from hush.workbench.plan.counted import counts
from hush.workbench.plan.question import Mistakes
from hush.workbench.plan.reading import one_of, real, whole
from hush.workbench.plan.searched import Searched, named_mechanisms, tidy

LOSSES = {
    "l1": "percentages are off by at most X points on average",
    "max": "no percentage is off by more than X points",
    "kendall": "at most X % of all pairs of answers stand in the wrong order",
    "f1": "at least X % of the ten most frequent answers are found",
}
"""What can be wanted; X is a number that people say."""

SHAPES = {
    "zipf": "a few answers are frequent, many are rare",
    "geometric": "each answer is a little rarer than the one before",
    "normal": "most are in the middle",
    "uniform": "all answers are equally frequent",
    "spike": "half of the people give one answer",
    "counts": "I have counts",
}
"""How answers may be spread."""

_MOST_PEOPLE, _MOST_ANSWERS = 10**8, 2_000


@dataclass(frozen=True, kw_only=True)
class BudgetWish:
    """What is asked: of which people, with which mechanism, how good, how often."""

    mechanism: str
    loss: str
    amount: float
    sure: float
    shape: str
    answers: int
    people: int
    labels: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def threshold(self) -> float:
        """As the search takes it."""
        return {
            "l1": self.amount / 100,
            "max": self.amount / 100,
            "kendall": 2 * self.amount / 100,
            "f1": (100 - self.amount) / 100,  # 1 - 0.8 is less than 0.2, and asks for nine of ten
        }[self.loss]

    @property
    def population(self) -> Population:
        """The people."""
        if self.shape == "counts":
            return Population(np.array(self.counts, np.int64), Domain(labels=self.labels), name="your counts")
        made: Population = getattr(hush.datasets, self.shape)(self.answers, self.people, rng=hush.seeded(7))
        return made


def read_budget(said: Mapping[str, str]) -> BudgetWish:
    """The wish, checked.

    Raises:
        Mistakes: By field: mechanism, loss, amount, sure, shape, answers, people or counts.
    """
    wrong: dict[str, str] = {}

    def taken(name: str, reader: Callable[[str], object]) -> object:
        try:
            return reader(said.get(name, "").strip())
        except ValueError as error:
            wrong[name] = str(error)
            return None

    given: dict[str, object] = {
        "mechanism": taken("mechanism", lambda text: one_of(text, tuple(named_mechanisms()))),
        "loss": taken("loss", lambda text: one_of(text, tuple(LOSSES))),
        "amount": taken("amount", lambda text: real(text, 0.0, 100.0)),
        "sure": taken("sure", lambda text: real(text, 0.0, 99.9) / 100),
        "shape": taken("shape", lambda text: one_of(text, tuple(SHAPES))),
    }
    if given["shape"] == "counts":
        found = taken("counts", counts)
        labels, people = found if isinstance(found, tuple) else ((), ())
        given |= {"labels": labels, "counts": people, "answers": len(labels), "people": sum(people)}
    else:
        given["answers"] = taken("answers", lambda text: whole(text, 2, _MOST_ANSWERS))
        given["people"] = taken("people", lambda text: whole(text, 1, _MOST_PEOPLE))
    if wrong:
        raise Mistakes(wrong)
    return BudgetWish(**given)  # type: ignore[arg-type]


def search_budget(progress: Callable[..., None], wish: BudgetWish) -> Searched:
    """The search, as a job of the workbench."""
    people = wish.population
    try:
        answer = budget(
            wish.mechanism,
            people,
            loss=wish.loss,
            threshold=wish.threshold,
            probability=wish.sure,
            rng=hush.seeded(7),
            progress=lambda share: progress(share, "Simulating collections"),
        )
    except HushError as error:
        field = {"threshold": "amount", "probability": "sure", "n": "people"}.get(error.parameter or "")
        raise Mistakes({field: f"This {error.rule}; {error.remedy}."}) if field else error from error
    first, *more = budget_in_words.paragraphs(answer)
    if not answer.feasible:
        more = [
            "Ask more people, accept a larger error, be content with a smaller chance, or choose another mechanism."
        ]
    tried, shares = tidy((t.epsilon, t.share) for t in answer.evidence)
    spec = "" if answer.mechanism is None else Spec(answer.mechanism, people.domain).to_json()
    return Searched(
        (first, *more),
        answer.epsilon,
        tried,
        shares,
        wish.sure,
        "share of simulated collections that keep the wish",
        spec,
    )
