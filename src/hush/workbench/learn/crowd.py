"""A crowd whose reports come in one after the other, and what they say together. Its truth is drawn, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hush.estimation import Aggregate, Estimate
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.spec import Spec
from hush.people import Domain
from hush.randomness import source
from hush.types import Floats, Ints

LEVEL = 0.95
"""How often an error bar holds the truth."""


@dataclass(frozen=True)
class Standing:
    """What so many reports say.

    Args:
        n: How many there are.
        estimate: The share of each answer, raw and unbiased.
        low: The lower ends of error bars.
        high: The upper ends.
        truth: The share of each answer among those who reported.
    """

    n: int
    estimate: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    truth: tuple[float, ...]

    @property
    def reach(self) -> float:
        """Half of the widest error bar."""
        return max(high - low for low, high in zip(self.low, self.high, strict=True)) / 2

    @property
    def off(self) -> float:
        """How far the farthest estimate lies from the truth."""
        return max(abs(guess - true) for guess, true in zip(self.estimate, self.truth, strict=True))


@dataclass
class InventedCrowd:
    """People who are invented, and whose reports are real.

    Args:
        labels: The answers.
        epsilon: The privacy loss of one report.
        shares: How many of all hold each answer; drawn at random if left out, so that nobody knows it beforehand.
        rng: `hush.seeded(7)` to repeat a crowd.
    """

    labels: Sequence[str]
    epsilon: float
    shares: Sequence[float] = ()
    rng: np.random.Generator | None = None
    spec: Spec = field(init=False)
    _held: Ints = field(init=False)
    _kept: Aggregate | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        k = len(self.labels)
        self.spec = Spec(GRR(k=k, epsilon=self.epsilon), Domain(labels=list(self.labels)))
        self._held = np.zeros(k, np.int64)
        if not len(self.shares):
            self.shares = tuple(source(self.rng).dirichlet(np.full(k, _EVENNESS)).tolist())

    @property
    def mechanism(self) -> FrequencyOracle:
        """How reports are made."""
        found: FrequencyOracle = self.spec.mechanism
        return found

    @property
    def n(self) -> int:
        """How many reports there are."""
        return 0 if self._kept is None else self._kept.n

    def join(self, people: int) -> None:
        """So many more people answer: each holds an answer by the shares, and only a report of it is kept."""
        held = source(self.rng).multinomial(people, np.asarray(self.shares))
        self._held += held
        self._add(self.spec.simulate(held, rng=self.rng))

    def answer(self, report: int) -> None:
        """One more report, made elsewhere, of an answer that nobody here knows."""
        self._add(self.spec.aggregate(np.array([report], self.mechanism.report_dtype)))

    def standing(self) -> Standing:
        """What all reports say."""
        if self._kept is None:
            raise ValueError("nobody has answered yet")
        found: Estimate = self.spec.estimate(self._kept)
        low, high = found.interval(LEVEL)
        known = self._held / max(1, self._held.sum())
        return Standing(self.n, *(tuple(map(float, each)) for each in (found.frequencies, low, high, known)))

    def _add(self, more: Aggregate) -> None:
        self._kept = more if self._kept is None else self._kept + more


_EVENNESS = 3.0  # of the drawn shares: they differ, and none is next to nothing
STEPS = (100, 200, 400, 800, 1500, 3000, 6000, 12_000, 20_000)
"""How many people have answered at each step."""


def settled(
    share: float, m: FrequencyOracle, sizes: Sequence[int], rng: np.random.Generator | None = None
) -> list[Standing]:
    """One collection as it grows, of two answers: what its reports say at each size.

    Args:
        share: Of the people who hold the first answer.
        m: The mechanism, over two values.
        sizes: How many people have answered, rising.
        rng: `hush.seeded(7)` to repeat it.
    """
    crowd = InventedCrowd(("yes", "no"), m.epsilon, (share, 1 - share), rng)
    found = []
    for size in sizes:
        crowd.join(size - crowd.n)
        found.append(crowd.standing())
    return found


def reported(m: FrequencyOracle, share: float) -> float:
    """The share of reports that say the first of two answers, where a share of people holds it.

    >>> round(reported(GRR(k=2, epsilon=1.0986122886681098), 0.3), 3)
    0.4
    """
    chances: Floats = np.exp(m.log_prob(np.zeros(2, m.report_dtype), np.arange(2)))
    return float(chances @ np.array([share, 1 - share]))
