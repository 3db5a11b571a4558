"""One budget, tried for all people who may be meant: where only their mean is known, the hardest of them decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from hush.mechanisms.numeric.base import Numeric
from hush.planning.capri.answer import Evidence
from hush.planning.capri.build import Mechanism
from hush.planning.capri.means import OnlyMean
from hush.planning.capri.population import Population
from hush.planning.capri.question import CapacityQuestion
from hush.planning.capri.trial import CapacityTrials, Watch
from hush.planning.optimus.binary import DBS


@dataclass(eq=False)
class WorstTrials:
    """Tries budgets for everybody of a mean, and keeps the evidence of those for whom each does worst."""

    build: Callable[[float], Mechanism]
    known: OnlyMean
    asked: CapacityQuestion
    rng: np.random.Generator
    watch: Watch | None = None
    evidence: list[Evidence] = field(default_factory=list)
    _decided: dict[float, tuple[str, CapacityTrials]] = field(default_factory=dict)

    @property
    def people(self) -> Population:
        """Some of them; all have the same total."""
        return self.known.apart

    def spread(self, epsilon: float) -> str:
        """Who decided at a budget that was tried: one of `means.SPREADS`."""
        return self._decided[epsilon][0]

    def by_law(self, epsilon: float) -> Evidence:
        """By the law."""
        return self._worst(epsilon, lambda trials: trials.by_law(epsilon))

    def certified(self, epsilon: float) -> Evidence:
        """By the law, however long it takes."""
        return self._worst(epsilon, lambda trials: trials.certified(epsilon))

    def clearly_fails(self, tried: Evidence) -> bool:
        """Whether a budget, tried by the law, fails by more than an estimate's coarseness matters."""
        return self._decided[tried.epsilon][1].clearly_fails(tried)

    def by_bound(self, name: str) -> Callable[[float], Evidence]:
        """By "normal", "cantelli" or "chebyshev" alone."""
        return lambda epsilon: self._worst(epsilon, lambda trials: trials.by_bound(name)(epsilon))

    def by_runs(self, runs: int, dynamic: DBS | None = None) -> Callable[[float], Evidence]:
        """By simulated collections, so many of each."""
        return lambda epsilon: self._worst(epsilon, lambda trials: trials.by_runs(runs, dynamic)(epsilon))

    def confirmed(self, epsilon: float, runs: int | None) -> Evidence | None:
        """Whole tallies, simulated at one budget, of those who decided there."""
        return self._decided[epsilon][1].confirmed(epsilon, runs)

    def _worst(self, epsilon: float, tried: Callable[[CapacityTrials], Evidence]) -> Evidence:
        m = self.build(epsilon)
        assert isinstance(m, Numeric)
        found: list[tuple[Evidence, str, CapacityTrials]] = []
        for name, people in self.known.hardest(m, self.asked.cap).items():
            trials = CapacityTrials(lambda _: m, people, self.asked, self.rng)
            found.append((tried(trials), name, trials))
        worst, name, trials = max(found, key=lambda each: self._how_bad(each[0]))
        self._decided[epsilon] = "any" if len(found) == 1 or self.asked.settled else name, trials
        made = replace(worst, seconds=sum(each.seconds for each, _, _ in found))
        self.evidence.append(made)
        if self.watch is not None:
            self.watch(made)
        return made

    def _how_bad(self, tried: Evidence) -> tuple[bool, float]:
        return not tried.satisfied, tried.probability if self.asked.kept_small else -tried.probability
