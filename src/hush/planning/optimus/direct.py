"""Direct search: look where the normal law points, then prove it with runs of the exact law, no more than it takes.

First the normal law, with the same random numbers at every budget, shows where the constraint begins to hold; a look at
the exact law there corrects it. Then budgets just above and below are tested with fresh runs until one is shown to
satisfy and one is shown not to: sequential tests, whose errors add up to alpha at most. The budget returned is the
smallest that was shown to satisfy, and the true one lies between the two, at the confidence 1 - alpha, where the
probability to keep the threshold rises with the budget.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import FrequencyOracle
from hush.planning.optimus.drawing import costly, slow
from hush.planning.optimus.found import Found
from hush.planning.optimus.normal import Normal
from hush.planning.optimus.sequential import Test, runs_needed
from hush.planning.optimus.trials import BLOCK, Trials

Floats = npt.NDArray[np.float64]

_STEPS = 14  # halvings of the range by the pilot
_FEW = 200  # runs at a budget where the pilot has no normal law
_TESTS = 20  # budgets that are tested at most


@dataclass(frozen=True, kw_only=True)
class Direct:
    """Direct search.

    Args:
        precision: Relative distance of the first budgets tested from where the constraint seems to begin.
        alpha: Probability that the answer or its interval is wrong, at most.
    """

    precision: float = 0.01
    alpha: float = 0.05
    name: ClassVar[str] = "direct"

    def usual_runs(self, m: FrequencyOracle) -> int:
        """More where a run is cheap; in any case enough for the usual probabilities."""
        if slow(m):
            return 2000
        return 4000 if costly(m) else min(max(4_000_000 // m.k, 4000), 20_000)

    def __post_init__(self) -> None:
        _rules.number("precision", self.precision, 0.0, 1.0, "use e.g. 0.01")
        _rules.number("alpha", self.alpha, 0.0, 0.5, "use e.g. 0.05", closed=True)

    def search(self, trials: Trials, runs: int) -> Found:
        """At most so many runs at a budget."""
        probability = trials.question.probability
        needed = 2 * runs_needed(probability, self.alpha / 4)
        if runs < needed:
            rule = f"must be at least {needed:,} to show a probability of {probability:g}"
            raise ParameterError(message("runs", rule, runs, "ask for more runs, or for a smaller probability"))
        trials.expected = 10.0
        pilot = Pilot(trials)
        return _Proof(self, trials, pilot, runs).found()


class Pilot:
    """Where the constraint seems to begin to hold, from common random numbers."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        q = trials.question
        most = 400 if costly(q.mechanism(q.high)) else 4000
        self.runs = int(np.clip(400_000 // q.people.k, 400, most)) // BLOCK * BLOCK
        self.normal = Normal(q.people, self.runs, trials.rng)
        self.shift = 0.0
        self._shares: dict[float, float] = {}

    def share(self, epsilon: float) -> float:
        """Of the runs that keep the threshold, by the normal law where the mechanism has one; corrected."""
        if epsilon not in self._shares:
            start = time.perf_counter()
            q = self.trials.question
            m = q.mechanism(epsilon)
            rows = self.normal.estimates(m)
            if rows is None:
                self.runs = _FEW
                losses, law = self.trials.losses(m, self.trials.keys(_FEW // BLOCK)), "exact"
            else:
                losses, law = self.trials.measure(rows), "normal"
            self._shares[epsilon] = self.trials.seen(epsilon, losses, start, None, law).share
            self.trials.step(0.2)
        return self._shares[epsilon] + self.shift

    def begin(self, wanted: float) -> float:
        """The smallest budget with that share, about; between the nearest budgets that were looked at before."""
        q = self.trials.question
        if self.share(q.low) >= wanted:
            return q.low
        if self.share(q.high) < wanted:
            return q.high
        a = math.log(max(e for e in self._shares if self.share(e) < wanted))
        b = math.log(min(e for e in self._shares if self.share(e) >= wanted and math.log(e) > a))
        for _ in range(_STEPS):
            if b - a < 1e-3:
                break
            middle = (a + b) / 2
            a, b = (a, middle) if self.share(math.exp(middle)) >= wanted else (middle, b)
        return math.exp(b)

    def correct(self, epsilon: float) -> None:
        """Look at the exact law at a budget, and shift the shares by what was missed there."""
        start = time.perf_counter()
        before = self.share(epsilon)
        m = self.trials.question.mechanism(epsilon)
        few = slow(m) or costly(m)
        losses = self.trials.losses(m, self.trials.keys((_FEW if few else min(self.runs, 1000)) // BLOCK))
        seen = self.trials.seen(epsilon, losses, start, None)
        self.trials.step()
        if abs(seen.share - before) > 2 * math.sqrt(max(before * (1 - before), 1e-3) / losses.size):
            self.shift += seen.share - before


@dataclass
class _Proof:
    """Tests of budgets from both sides, until one is shown to satisfy and one is shown not to."""

    method: Direct
    trials: Trials
    pilot: Pilot
    runs: int
    shown: float | None = None
    refuted: float | None = None
    tests: int = 0

    def found(self) -> Found:
        """The smallest budget shown to satisfy."""
        q = self.trials.question
        centre = self.pilot.begin(q.probability)
        if not self.trials.nearly_normal(q.mechanism(centre)):
            self.pilot.correct(centre)
            centre = self.pilot.begin(q.probability)
        if centre > q.low or not self._test(q.low):
            self._upwards(centre)
        if self.shown is not None and self.shown > q.low and self.refuted is None:
            self._downwards(centre)
        self._narrow()
        if self.shown is None:
            return Found(None)
        low = q.low if self.refuted is None else min(self.refuted, self.shown)
        return Found(self.shown, (low, self.shown), 1 - self.method.alpha)

    def _distance(self, centre: float, sign: int) -> float:
        """How far to step, relatively, so that so many runs are likely to be enough."""
        q = self.trials.question
        margin = self._margin * math.sqrt(q.probability * (1 - q.probability) / self.runs)
        wanted = min(q.probability + margin, (1 + q.probability) / 2) if sign > 0 else q.probability - margin
        distance = self.method.precision
        while distance < 0.5 and sign * self.pilot.share(self._at(centre, distance, sign)) < sign * wanted:
            distance *= 1.5
        return distance

    @property
    def _margin(self) -> float:
        """In standard errors: wider where a run is costly, so that fewer of them show it."""
        return 5.5 if costly(self.trials.question.mechanism(self.trials.question.high)) else 4.5

    def _at(self, centre: float, distance: float, sign: int) -> float:
        q = self.trials.question
        return min(max(centre * (1 + distance) ** sign, q.low), q.high)

    def _upwards(self, centre: float) -> None:
        distance, top = self._distance(centre, 1), self.trials.question.high
        while self.tests < _TESTS:
            at = self._at(centre, distance, 1)
            if self._test(at) or at >= top:
                return
            distance *= 2

    def _downwards(self, centre: float) -> None:
        distance, bottom = self._distance(centre, -1), self.trials.question.low
        while self.tests < _TESTS:
            at = self._at(centre, distance, -1)
            if self._test(at) is False or at <= bottom:
                return
            distance *= 2

    def _narrow(self) -> None:
        """Halve what lies between, where the pilot was far off."""
        wide = 4 * math.log1p(self.method.precision)
        while self.shown is not None and self.refuted is not None and self.tests < _TESTS:
            if math.log(self.shown / self.refuted) <= wide or self._test(math.sqrt(self.shown * self.refuted)) is None:
                return

    def _test(self, epsilon: float) -> bool | None:
        """A sequential test with fresh runs; the errors of all tests add up to alpha."""
        start = time.perf_counter()
        q = self.trials.question
        self.tests += 1
        alpha = self.method.alpha / 2 / (self.tests * (self.tests + 1))
        test = Test(q.probability, abs(self.pilot.share(epsilon) - q.probability))
        m = q.mechanism(epsilon)
        losses, verdict = np.empty(0), None
        while verdict is None and losses.size < self.runs:
            more = min(max(2 * BLOCK, losses.size // 2), self.runs - losses.size)
            losses = np.concatenate([losses, self.trials.losses(m, self.trials.fresh(-(-more // BLOCK)))])
            verdict = test.verdict(int((losses <= q.threshold).sum()), losses.size, alpha, alpha)
        self.trials.seen(epsilon, losses, start, verdict)
        self.trials.step(2.0)
        if verdict is True:
            self.shown = epsilon if self.shown is None else min(self.shown, epsilon)
        elif verdict is False:
            self.refuted = epsilon if self.refuted is None else max(self.refuted, epsilon)
        return verdict
