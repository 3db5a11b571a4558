"""Simulated collections at a budget, and what they show of Pr[loss <= threshold].

Runs come in blocks, each with a key of its own, so that nothing depends on the number of threads. The common keys make
every budget see the same randomness (common random numbers): the share of satisfied runs then moves little from one
budget to the next but for the budget itself, and is never larger at a smaller threshold.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from hush.estimation.intervals import proportion
from hush.kernels import chunks
from hush.kernels.workers import THREADS, Workers
from hush.planning.optimus.drawing import estimates
from hush.planning.optimus.normal import Normal
from hush.planning.optimus.question import BudgetQuestion, Mechanism
from hush.randomness import chunk_generator, chunk_keys
from hush.types import Floats

Wanted = Callable[[Floats], int]

BLOCK = 50
"""Runs that share a key."""

_MANY = 10_000  # people whose estimates are nearly normal
_CROWDED = 1000  # people for each value, whose estimates are normal but for a few parts in a thousand
_LITTLE = 20_000  # estimates whose loss one core finds sooner than a second one starts

LEVEL = 0.95
"""Of the interval that is given for a share."""


@dataclass(frozen=True)
class Tried:
    """What the runs at one budget showed.

    Args:
        epsilon: The budget.
        runs: How many collections were simulated.
        satisfied: In how many the loss kept the threshold.
        mean: Average loss.
        quantile: The loss that a share of `probability` of the runs did not exceed.
        satisfies: What was concluded; None where the runs did not say.
        law: "exact", or "normal" for runs that only showed where to look.
        seconds: How long they took.
    """

    epsilon: float
    runs: int
    satisfied: int
    mean: float
    quantile: float
    satisfies: bool | None
    law: str
    seconds: float

    @property
    def share(self) -> float:
        """Share of the runs that kept the threshold."""
        return self.satisfied / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the probability that a run does (Clopper-Pearson), for this one budget."""
        return proportion(self.satisfied, self.runs, LEVEL)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "share": self.share, "share_interval": list(self.interval)}


Attempt = Callable[[float], Tried]
"""Tries a budget."""


@dataclass
class BudgetTrials:
    """Simulates, and keeps what was seen."""

    question: BudgetQuestion
    rng: np.random.Generator
    progress: Callable[[float], None] | None = None
    engine: Workers = THREADS
    evidence: list[Tried] = field(default_factory=list)
    expected: float = 1.0
    done: float = 0.0
    _common: list[bytes] = field(default_factory=list)
    _normal: dict[int, Normal] = field(default_factory=dict)

    def keys(self, blocks: int) -> list[bytes]:
        """The common keys of the first blocks."""
        if blocks > len(self._common):
            self._common += chunk_keys(self.rng, blocks - len(self._common))
        return self._common[:blocks]

    def fresh(self, blocks: int) -> list[bytes]:
        """Keys that nothing was drawn from before."""
        return chunk_keys(self.rng, blocks)

    def losses(self, m: Mechanism, keys: list[bytes]) -> Floats:
        """A block of losses for every key, from the exact law."""
        people, measure = self.question.people, self.question.measure  # what may be sent elsewhere, and nothing else

        def work(key: bytes) -> Floats:
            return measure(estimates(m, people, BLOCK, chunk_generator(key)))

        return np.concatenate([*(self.engine.map(work, keys) if self.question.threaded else map(work, keys))])

    def measure(self, rows: Floats) -> Floats:
        """The loss of each row, on all cores where the loss is one of ours and that is worth it."""
        if not self.question.threaded or rows.size < _LITTLE:
            return self.question.measure(rows)
        size = -(-len(rows) // chunks.threads())
        return np.concatenate(chunks.each(len(rows), size, lambda a, b: self.question.measure(rows[a:b])))

    def seen(self, epsilon: float, losses: Floats, start: float, satisfies: bool | None, law: str = "exact") -> Tried:
        """Keep what was seen at a budget."""
        q = self.question
        found = Tried(
            epsilon=epsilon,
            runs=losses.size,
            satisfied=int((losses <= q.threshold).sum()),
            mean=float(losses.mean()),
            quantile=float(np.quantile(losses, q.probability, method="inverted_cdf")),
            satisfies=satisfies,
            law=law,
            seconds=time.perf_counter() - start,
        )
        self.evidence.append(found)
        return found

    def measured(self, epsilon: float, runs: int, wanted: Wanted | None = None, *, surely: bool = False) -> Tried:
        """Try a budget with runs of the common stream; they satisfy where their share reaches the probability.

        Where a run is costly and people are many, the normal law answers, and the exact one is asked of what is found.

        Args:
            epsilon: The budget.
            runs: How many runs.
            wanted: From the losses of these, how many are wanted in all, for a search that spends them where needed.
            surely: Ask the exact law in any case.
        """
        start = time.perf_counter()
        m = self.question.mechanism(epsilon)
        near = None if surely or not m.forms.costly else self._near(m, runs, wanted)
        losses = self._exact(m, runs, wanted) if near is None else near
        self.step()
        return self.seen(epsilon, losses, start, self.satisfied(losses), "exact" if near is None else "normal")

    def attempts(self, runs: int, wanted: Wanted | None = None) -> tuple[Attempt, Attempt]:
        """`measured` as a function of the budget: as it is, and asking the exact law in any case."""
        return (
            lambda epsilon: self.measured(epsilon, runs, wanted),
            lambda epsilon: self.measured(epsilon, runs, wanted, surely=True),
        )

    def _exact(self, m: Mechanism, runs: int, wanted: Wanted | None) -> Floats:
        losses = self.losses(m, self.keys(-(-runs // BLOCK)))
        if wanted is not None:
            runs = max(wanted(losses[:runs]), runs)
            rest = self.keys(-(-runs // BLOCK))[losses.size // BLOCK :]
            losses = np.concatenate([losses, self.losses(m, rest)]) if rest else losses
        return losses[:runs]

    def _near(self, m: Mechanism, runs: int, wanted: Wanted | None) -> Floats | None:
        """Losses by the normal law: of very many people, or where they leave no doubt; None else."""
        q, most = self.question, runs
        if q.people.n < _MANY or not q.threaded or (rows := self._rows(m, runs)) is None:
            return None
        losses = self.measure(rows)
        if wanted is not None and (most := max(wanted(losses), runs)) > runs:
            more = self._rows(m, runs << (-(-most // runs) - 1).bit_length())  # few sizes, to keep the same numbers
            losses = losses if more is None else self.measure(more)[:most]
        if self.nearly_normal(m):
            return losses
        doubt = 5 * np.sqrt(q.probability * (1 - q.probability) / losses.size) + 2 / np.sqrt(q.people.n)
        return losses if abs(np.mean(losses <= q.threshold) - q.probability) > doubt else None

    def nearly_normal(self, m: Mechanism) -> bool:
        """Whether a run is costly, and so many people report that the normal law, with covariances, will do to look."""
        people = self.question.people
        return m.forms.costly and people.n >= _CROWDED * people.k

    def _rows(self, m: Mechanism, runs: int) -> Floats | None:
        if runs not in self._normal:
            self._normal[runs] = Normal(self.question.people, runs, chunk_generator(self.keys(1)[0]))
        return self._normal[runs].estimates(m)

    def satisfied(self, losses: Floats) -> bool:
        """Whether the share of runs that kept the threshold reaches the probability."""
        return bool(np.mean(losses <= self.question.threshold) >= self.question.probability)

    def step(self, weight: float = 1.0) -> None:
        """Tell how far the search has come, as a share."""
        self.done += weight
        if self.progress is not None:
            self.progress(min(self.done / self.expected, 1.0))
