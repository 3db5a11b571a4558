"""One budget, tried: by exact probabilities, by a bound, or by simulated collections."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hush.analysis import capacity
from hush.analysis.totals import Law
from hush.estimation.intervals import proportion
from hush.planning.capri.answer import Evidence
from hush.planning.capri.build import Mechanism
from hush.planning.capri.laws import law
from hush.planning.capri.population import Population
from hush.planning.capri.question import CapacityQuestion, exceeds
from hush.planning.optimus.binary import DBS

Watch = Callable[[Evidence], None]

_RUNS, _HITS, _WORK = 2000, 20, 4e6
"""Of a confirmation: collections and hits expected at the threshold, at least; and random numbers, at most."""
_CLEAR = 0.02
"""A rough probability this much away from the threshold, relatively, settles the matter where exact ones cost much."""


@dataclass(eq=False)
class CapacityTrials:
    """Tries budgets and keeps the evidence."""

    build: Callable[[float], Mechanism]
    people: Population
    asked: CapacityQuestion
    rng: np.random.Generator
    watch: Watch | None = None
    evidence: list[Evidence] = field(default_factory=list)
    _jumps: dict[float, float] = field(default_factory=dict)

    def by_law(self, epsilon: float) -> Evidence:
        """By the law, as well as it is known; roughly, where that settles the matter and exactly takes long."""
        began = time.perf_counter()
        found = law(self.build(epsilon), self.people)
        self._jumps[epsilon] = self._jump(found)
        rough = self._rough(found)
        limit = self.asked.threshold
        if rough is not None and abs(rough - limit) > _CLEAR * min(limit, 1 - limit):
            return self._keep(found, epsilon, rough, "near", began)
        return self._fully(found, epsilon, began)

    def certified(self, epsilon: float) -> Evidence:
        """By the law, however long it takes."""
        began = time.perf_counter()
        return self._fully(law(self.build(epsilon), self.people), epsilon, began)

    def clearly_fails(self, tried: Evidence) -> bool:
        """Whether a budget, tried by the law, fails by more than two of the totals that an estimate can take matter."""
        return not tried.satisfied and abs(tried.probability - self.asked.threshold) > 2 * self._jumps[tried.epsilon]

    def _jump(self, found: Law) -> float:
        """About how likely a single total is near the mean: of those of a lattice, or else of far more than people."""
        deviation = math.sqrt(found.variance)
        apart = min(self._coarser * found.step or 20 * deviation / self.people.n, 0.1 * deviation)
        return apart / (deviation * math.sqrt(2 * math.pi)) if deviation else 0.0

    @cached_property
    def _coarser(self) -> float:
        """How much farther apart the nearest two amounts are than the step that all are multiples of."""
        amounts = np.unique(self.people.amounts)
        step = capacity.lattice(amounts.tolist(), from_first=True)
        return float(np.diff(amounts).min() / step) if step and amounts.size > 1 else 1.0

    def _fully(self, found: Law, epsilon: float, began: float) -> Evidence:
        """Met only if it is wherever the probability lies within its error."""
        chance = self.asked.probability(found.at_most(self.asked.cap))
        off = found.error(self.asked.cap) or 0.0
        return self._keep(found, epsilon, chance, found.known, began, chance if found.exact else None, 0, 0, off)

    def _rough(self, found: Law) -> float | None:
        """The probability to four digits, where exact ones cost much."""
        rough = found.roughly(self.asked.cap) if found.costly else None
        return None if rough is None else self.asked.probability(rough)

    def by_bound(self, name: str) -> Callable[[float], Evidence]:
        """By "normal", "cantelli" or "chebyshev" alone."""

        def trial(epsilon: float) -> Evidence:
            began = time.perf_counter()
            found = law(self.build(epsilon), self.people)
            bound = self._wrong(found)[name]
            return self._keep(found, epsilon, self.asked.bounded(bound), found.kind, began)

        return trial

    def by_runs(self, runs: int, dynamic: DBS | None = None) -> Callable[[float], Evidence]:
        """By simulated collections. Only whether each exceeds the cap counts, and the number that do is binomial with
        the probability that the law says: it is drawn at once. Where only a normal law is at hand, collections are
        simulated one by one.

        With a dynamic search there are fewer where their share is far from the threshold: at least so many that its
        least number of them decides wrongly at the threshold, and more as the distance, in thresholds, is smaller.
        """

        def drawn(draw: Callable[[int], int]) -> tuple[int, int]:
            if dynamic is None:
                return draw(runs), runs
            first = min(math.ceil(dynamic.least / self._limit), runs)
            hits = draw(first)
            gap = abs(hits / first - self.asked.threshold) / self._limit
            more = (runs if gap * runs <= dynamic.c * first else math.floor(dynamic.c * first / gap)) - first
            return hits + draw(max(more, 0)), first + max(more, 0)

        def trial(epsilon: float) -> Evidence:
            began = time.perf_counter()
            found = law(self.build(epsilon), self.people)
            if found.log is None:
                hits, many = drawn(lambda size: self._hits(found, size))
                return self._keep(found, epsilon, hits / many, found.kind, began, None, many, hits)
            rough = self._rough(found)
            chance = self.asked.probability(found.at_most(self.asked.cap)) if rough is None else rough
            hits, many = drawn(lambda size: int(self.rng.binomial(size, chance)))
            known = found.known if rough is None else "near"
            return self._keep(
                found, epsilon, hits / many, known, began, chance if known == "exact" else None, many, hits
            )

        return trial

    def confirmed(self, epsilon: float, runs: int | None) -> Evidence | None:
        """Whole tallies, simulated at one budget; if it is not said how many, as many as take about a second, and none
        if these could not tell twice the threshold from the threshold.
        """
        began = time.perf_counter()
        found = law(self.build(epsilon), self.people)
        many = int(min(max(_RUNS, _HITS / self._limit), _WORK // found.work)) if runs is None else runs
        if many == 0 or (runs is None and not self._telling(many)):
            return None
        hits = self._hits(found, many)
        return self._made(found, epsilon, hits / many, found.kind, began, None, many, hits)

    def _telling(self, runs: int) -> bool:
        """Whether so many runs show that a probability at the threshold is not twice as far from 0 (from 1)."""
        return runs > 0 and proportion(round(runs * self._limit), runs)[1] <= 2 * self._limit

    @property
    def _limit(self) -> float:
        return self.asked.threshold if self.asked.kept_small else 1 - self.asked.threshold

    def _hits(self, found: Law, runs: int) -> int:
        above = int(exceeds(found.draw(runs, self.rng), self.asked.cap, self.asked.size).sum())
        return above * self.asked.counts(exceeded=True) + (runs - above) * self.asked.counts(exceeded=False)

    def _wrong(self, found: Law) -> dict[str, float]:
        """The probability of a wrong decision as the variance alone tells it: if normal, and bounds, which need the
        mean of the estimate to be on the right side.
        """
        distance = found.mean - self.asked.cap if self.asked.over else self.asked.cap - found.mean
        variance, margin = found.variance, max(distance, 0.0)
        return {
            "normal": capacity.normal(variance, distance) if variance else float(distance < 0),
            "cantelli": capacity.cantelli(variance, margin) if margin else 1.0,
            "chebyshev": min(capacity.chebyshev(variance, margin), 1.0),
        }

    def _keep(self, found: Law, epsilon: float, chance: float, known: str, began: float, *more: Any) -> Evidence:
        made = self._made(found, epsilon, chance, known, began, *more)
        self.evidence.append(made)
        if self.watch is not None:
            self.watch(made)
        return made

    def _made(
        self,
        found: Law,
        epsilon: float,
        chance: float,
        known: str,
        began: float,
        exact: float | None = None,
        runs: int = 0,
        hits: int = 0,
        off: float = 0.0,
    ) -> Evidence:
        low, high = proportion(hits, runs) if runs else (max(chance - off, 0.0), min(chance + off, 1.0))
        return Evidence(
            epsilon=epsilon,
            satisfied=self.asked.satisfied(chance if runs else high if self.asked.kept_small else low),
            probability=chance,
            exact=exact,
            runs=runs,
            hits=hits,
            low=low,
            high=high,
            deviation=math.sqrt(found.variance),
            seconds=time.perf_counter() - began,
            law=known,
            **self._wrong(found),
        )
