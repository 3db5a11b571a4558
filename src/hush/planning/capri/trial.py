"""One budget, tried: by exact probabilities, by a bound, or by simulated collections."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hush.analysis import capacity as forms
from hush.estimation.intervals import proportion
from hush.planning.capri.answer import Evidence
from hush.planning.capri.build import Mechanism
from hush.planning.capri.laws import law
from hush.planning.capri.population import Population
from hush.planning.capri.question import Question
from hush.planning.capri.total import Law

Watch = Callable[[Evidence], None]

_FEW = 20
_CLEAR = 0.02
"""A rough probability this much away from the threshold, relatively, settles the matter where exact ones cost much."""


@dataclass(eq=False)
class Trials:
    """Tries budgets and keeps the evidence."""

    build: Callable[[float], Mechanism]
    people: Population
    asked: Question
    rng: np.random.Generator
    watch: Watch | None = None
    evidence: list[Evidence] = field(default_factory=list)

    def by_law(self, epsilon: float) -> Evidence:
        """By the law, as well as it is known; roughly, where that settles the matter and exactly takes long."""
        began = time.perf_counter()
        found = law(self.build(epsilon), self.people)
        rough = self._rough(found)
        limit = self.asked.threshold
        if rough is not None and abs(rough - limit) > _CLEAR * min(limit, 1 - limit):
            return self._keep(found, epsilon, rough, "near", began)
        return self._fully(found, epsilon, began)

    def certified(self, epsilon: float) -> Evidence:
        """By the law, however long it takes."""
        began = time.perf_counter()
        return self._fully(law(self.build(epsilon), self.people), epsilon, began)

    def _fully(self, found: Law, epsilon: float, began: float) -> Evidence:
        chance = self.asked.probability(found.at_most(self.asked.cap))
        return self._keep(found, epsilon, chance, found.known, began, chance if found.exact else None)

    def _rough(self, found: Law) -> float | None:
        """The probability to four digits, where exact ones cost much."""
        rough = found.roughly(self.asked.cap) if found.costly else None
        return None if rough is None else self.asked.probability(rough)

    def by_bound(self, name: str) -> Callable[[float], Evidence]:
        """By "normal", "cantelli" or "chebyshev" alone."""

        def trial(epsilon: float) -> Evidence:
            began = time.perf_counter()
            found = law(self.build(epsilon), self.people)
            bound = getattr(forms, name)(found.variance, self._margin(found))
            return self._keep(found, epsilon, self.asked.bounded(bound), found.kind, began)

        return trial

    def by_runs(self, runs: int) -> Callable[[float], Evidence]:
        """By simulated collections. Only whether each exceeds the cap counts, and the number that do is binomial with
        the probability that the law says: it is drawn at once. Where only a normal law is at hand, collections are
        simulated one by one.
        """

        def trial(epsilon: float) -> Evidence:
            began = time.perf_counter()
            found = law(self.build(epsilon), self.people)
            if found.log is None:
                hits = self._hits(found, runs)
                return self._keep(found, epsilon, hits / runs, found.kind, began, None, runs, hits)
            rough = self._rough(found)
            chance = self.asked.probability(found.at_most(self.asked.cap)) if rough is None else rough
            hits = int(self.rng.binomial(runs, chance))
            known = found.known if rough is None else "near"
            return self._keep(
                found, epsilon, hits / runs, known, began, chance if known == "exact" else None, runs, hits
            )

        return trial

    def confirmed(self, epsilon: float, runs: int | None) -> Evidence | None:
        """Whole tallies, simulated at one budget; as many as take about a second, if it is not said how many."""
        began = time.perf_counter()
        found = law(self.build(epsilon), self.people)
        many = int(min(2000.0, 4e6 // found.work)) if runs is None else runs
        if many == 0 or (runs is None and many < _FEW):
            return None
        hits = self._hits(found, many)
        return self._made(found, epsilon, hits / many, found.kind, began, None, many, hits)

    def _hits(self, found: Law, runs: int) -> int:
        drawn = found.draw(runs, self.rng)
        above = int((drawn > self.asked.cap).sum())
        return above * self.asked.counts(math.inf) + (runs - above) * self.asked.counts(-math.inf)

    def _margin(self, found: Law) -> float:
        """How far the estimate is from the cap on average; nothing, if it is on the wrong side."""
        distance = found.mean - self.asked.cap if self.asked.over else self.asked.cap - found.mean
        return max(distance, 0.0)

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
    ) -> Evidence:
        margin = self._margin(found)
        low, high = proportion(hits, runs) if runs else (chance, chance)
        return Evidence(
            epsilon=epsilon,
            satisfied=self.asked.satisfied(chance),
            probability=chance,
            exact=exact,
            runs=runs,
            hits=hits,
            low=low,
            high=high,
            deviation=math.sqrt(found.variance),
            normal=forms.normal(found.variance, margin),
            cantelli=forms.cantelli(found.variance, margin),
            chebyshev=forms.chebyshev(found.variance, margin),
            seconds=time.perf_counter() - began,
            law=known,
        )
