"""A mechanism over all rounds of a survey: fresh reports every time, or answers that a client keeps.

Each answers the same questions: what one report and all of them lose, how well a round is known, what is guessed after
the last one, and what links the reports of one person.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from hush.guarantee import LDP, together
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.multidim import Multidim
from hush.multidim.over_time import TuplesOverTime
from hush.people.domain import Domain
from hush.types import Floats, Ints

Labels = Sequence[Domain] | Mapping[str, Domain] | None
Mechanism = TypeVar("Mechanism", bound=Any)
Lasting = Longitudinal | TuplesOverTime

FRESH, KEPT, STILL = "fresh every round", "kept, with fresh noise", "kept, and repeated"
"""Ways over time."""


@dataclass(frozen=True)
class Course(ABC, Generic[Mechanism]):
    """A mechanism that is used so many times."""

    mechanism: Mechanism
    rounds: int

    independent: ClassVar[bool] = True
    """Whether the errors of different rounds are."""
    guesses_are_bounds: ClassVar[bool] = False
    """Whether an attacker may do better than `scores` does."""

    @property
    @abstractmethod
    def layout(self) -> str:
        """How the attributes are put into a report; a dash where there is one."""

    @property
    @abstractmethod
    def way(self) -> str:
        """What becomes of a report in the next round."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Its name in the table."""

    @property
    @abstractmethod
    def epsilon_report(self) -> float:
        """Loss of one report."""

    @property
    @abstractmethod
    def total(self) -> float:
        """Loss of all reports of one person whose values do not change."""

    @property
    @abstractmethod
    def changing(self) -> float:
        """A bound of the loss of all reports between any two histories of values."""

    @property
    @abstractmethod
    def changing_together(self) -> float:
        """A bound between two histories whose values change at the same times, every attribute for itself."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Information bits of one report."""

    @property
    def pseudonym(self) -> str:
        """What links the reports of one person by what they say; empty where nothing does."""
        return ""

    @abstractmethod
    def variances(self, n: int, *, worst: bool) -> tuple[float, ...]:
        """Mean squared error of a frequency of each attribute in one round."""

    @abstractmethod
    def known_guesses(self) -> tuple[float | None, ...]:
        """How often the best guess from all rounds names each attribute, where there is a formula."""

    @abstractmethod
    def scores(self, tuples: Ints, rng: np.random.Generator) -> list[Floats]:
        """Log-likelihoods of every value of each attribute, from reports of all rounds about unchanging tuples."""

    @abstractmethod
    def spec(self, labels: Labels) -> Spec:
        """What clients and server read."""


class _Fresh(Course[Mechanism]):
    """New randomness in every round: losses add up, whatever values do."""

    @property
    def way(self) -> str:
        """What becomes of a report in the next round."""
        return FRESH

    @property
    def epsilon_report(self) -> float:
        """What one report promises."""
        promise = self.mechanism.guarantee
        return float(promise.epsilon) if isinstance(promise, LDP) else math.inf

    @property
    def total(self) -> float:
        """So many times that of one."""
        promise = self.mechanism.guarantee
        return together([promise], self.rounds).epsilon if isinstance(promise, LDP) else math.inf

    @property
    def changing(self) -> float:
        """The same: rounds are independent."""
        return self.total

    @property
    def changing_together(self) -> float:
        """The same."""
        return self.total

    @property
    def bits(self) -> int:
        """Information bits of one report."""
        return int(self.mechanism.bits)


class Fresh(_Fresh[FrequencyOracle]):
    """One attribute, randomized anew in every round."""

    @property
    def layout(self) -> str:
        """There is one attribute."""
        return "–"

    @property
    def title(self) -> str:
        """The mechanism's."""
        return self.mechanism.name()

    def variances(self, n: int, *, worst: bool) -> tuple[float, ...]:
        """That of the mechanism."""
        forms = self.mechanism.forms
        return (forms.worst_variance(n) if worst else forms.even_variance(n),)

    def known_guesses(self) -> tuple[float | None, ...]:
        """Exact where votes add up, or there is one report."""
        return (self.mechanism.forms.best_guess(self.rounds),)

    def scores(self, tuples: Ints, rng: np.random.Generator) -> list[Floats]:
        """Those of all rounds, added up."""
        values = np.repeat(tuples, self.rounds, axis=1)
        return [self._repeated.sequence_scores(self._repeated.collect(values, rng=rng))]

    @property
    def _repeated(self) -> Repeated:
        return Repeated(self.mechanism, self.rounds)

    def spec(self, labels: Labels) -> Spec:
        """With the domain of the only attribute."""
        return Spec(self.mechanism, only(labels))


class FreshTuples(_Fresh[Multidim]):
    """Several attributes, randomized anew in every round."""

    @property
    def layout(self) -> str:
        """The name of its class."""
        return self.mechanism.name()

    @property
    def title(self) -> str:
        """The layout, and the mechanisms of the attributes."""
        return self.mechanism.title

    @property
    def guesses_are_bounds(self) -> bool:  # type: ignore[override]
        """Where the drawn attribute is hidden, rounds tell more together than one by one."""
        return self.mechanism.hides and self.rounds > 1

    def variances(self, n: int, *, worst: bool) -> tuple[float, ...]:
        """Those of one report."""
        return self.mechanism.round_variances(n, worst=worst)

    def known_guesses(self) -> tuple[float | None, ...]:
        """Where the collection knows them."""
        return self.mechanism.best_guesses(self.rounds)

    def scores(self, tuples: Ints, rng: np.random.Generator) -> list[Floats]:
        """Those of all rounds, added up."""
        m = self.mechanism
        total = [np.zeros((len(tuples), k)) for k in m.sizes]
        for _ in range(self.rounds):
            reports = m.privatize(tuples, rng=rng)
            for j, one in enumerate(total):
                one += m.scores(reports, j)
        return total

    def spec(self, labels: Labels) -> Spec:
        """With a domain for each attribute."""
        return Spec(self.mechanism, labels)


class Kept(Course[Lasting]):
    """Answers that a client draws once for each value, and keeps."""

    independent = False

    @property
    def layout(self) -> str:
        """That of the protocol; a dash where it takes one attribute."""
        return str(self.mechanism.layout)

    @property
    def way(self) -> str:
        """With fresh noise on top, or without."""
        return STILL if self.mechanism.repeats_one_answer else KEPT

    @property
    def title(self) -> str:
        """The protocol's."""
        return self.mechanism.title

    @property
    def epsilon_report(self) -> float:
        """Loss of one report."""
        return self.mechanism.epsilon_report

    @property
    def total(self) -> float:
        """The permanent budget, however many rounds there are."""
        return self.mechanism.epsilon_permanent

    @property
    def changing(self) -> float:
        """That of the fresh noise in every round; infinite where there is none."""
        return self.mechanism.any_histories_bound(self.rounds)

    @property
    def changing_together(self) -> float:
        """Through all that a client keeps, at most."""
        return self.mechanism.history_bound(self.rounds)

    @property
    def bits(self) -> int:
        """Information bits of one report."""
        return self.mechanism.first_report.bits

    @property
    def pseudonym(self) -> str:
        """What a client keeps, it shows again."""
        return self.mechanism.pseudonym

    def variances(self, n: int, *, worst: bool) -> tuple[float, ...]:
        """Those of one report."""
        return self.mechanism.round_variances(n, worst=worst)

    def known_guesses(self) -> tuple[float | None, ...]:
        """Exact where votes add up, or one answer comes again and again."""
        return self.mechanism.best_guesses(self.rounds)

    def scores(self, tuples: Ints, rng: np.random.Generator) -> list[Floats]:
        """Of whole sequences."""
        return self.mechanism.simulated_scores(tuples, self.rounds, rng)

    def spec(self, labels: Labels) -> Spec:
        """With the domain of the only attribute, or one for each."""
        return Spec(self.mechanism, only(labels) if self.layout == "–" else labels)


def only(labels: Labels) -> Domain | None:
    """The domain of the only attribute."""
    if labels is None:
        return None
    return next(iter(labels.values() if isinstance(labels, Mapping) else labels))
