"""Direct search: look where the normal law points, then prove it with runs of the exact law, no more than it takes.

First the normal law, with the same random numbers at every budget, shows where the constraint begins to hold; a look at
the exact law there corrects it. Then budgets just above and below are tested with fresh runs until one is shown to
satisfy and one is shown not to: sequential tests, whose errors add up to alpha at most. Where the normal law is far
off, and where nothing is shown near the place it named, the ends of the range are tested, and what lies between is
halved: there is no answer only where the largest budget itself was not shown to satisfy. The budget returned is the
smallest that was shown to. It and the largest one that was shown not to are both right at the confidence 1 - alpha;
the smallest budget that satisfies lies between them where the probability to keep the threshold rises with the budget.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hush import rules
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.planning.optimus.found import FoundBudget, rounded
from hush.planning.optimus.normal import Normal
from hush.planning.optimus.question import Mechanism
from hush.planning.optimus.sequential import Test, runs_needed
from hush.planning.optimus.trials import BLOCK, BudgetTrials, Tried

_STEPS = 14  # halvings of the range by the pilot
_FEW = 200  # runs at a budget where the pilot has no normal law
_TESTS = 24  # budgets that are tested at most
_FAR = 0.5  # steps beyond this, relatively, go to the end of the range
_UNCLEAR = 0.25  # logarithm of what is left open at most, once a test of what the pilot named did not tell
_WRONG = 0.2  # a pilot whose share is off by more, beyond chance, is not asked again


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

    def usual_runs(self, m: Mechanism) -> int:
        """More where a run is cheap; in any case enough for the usual probabilities."""
        if m.forms.one_by_one:
            return 2000
        numbers = m.k if isinstance(m, FrequencyOracle) else 1
        return 4000 if m.forms.costly else min(max(4_000_000 // numbers, 4000), 20_000)

    def __post_init__(self) -> None:
        rules.number("precision", self.precision, 0.0, 1.0, "use e.g. 0.01")
        rules.number("alpha", self.alpha, 0.0, 0.5, "use e.g. 0.05", closed=True)

    def search(self, trials: BudgetTrials, runs: int) -> FoundBudget:
        """At most so many runs at a budget."""
        probability = trials.question.probability
        needed = 2 * runs_needed(probability, self.alpha / 2)
        if runs < needed:
            rule = f"must be at least {needed:,} to show a probability of {probability:g}"
            raise ParameterError(message("runs", rule, runs, "ask for more runs, or for a smaller probability"))
        trials.expected = 10.0
        pilot = Pilot(trials)
        return _Proof(self, trials, pilot, runs).found()


class Pilot:
    """Where the constraint seems to begin to hold, from common random numbers."""

    def __init__(self, trials: BudgetTrials) -> None:
        self.trials = trials
        q = trials.question
        most = 400 if q.mechanism(q.high).forms.costly else 4000
        self.runs = int(np.clip(400_000 // q.people.k, 400, most)) // BLOCK * BLOCK
        self.normal = Normal(q.people, self.runs, trials.rng)
        self.shift = 0.0  # of the logarithm of the odds
        self.trusted = True
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
        share = self._shares[epsilon]
        return _with_odds(_log_odds(share, self.runs) + self.shift) if self.shift else share

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
        """Look at the exact law at a budget, and shift the odds of all shares by what was missed there."""
        start = time.perf_counter()
        before = self.share(epsilon)
        m = self.trials.question.mechanism(epsilon)
        few = m.forms.one_by_one or m.forms.costly
        losses = self.trials.losses(m, self.trials.keys((_FEW if few else min(self.runs, 1000)) // BLOCK))
        seen = self.trials.seen(epsilon, losses, start, None)
        self.trials.step()
        self.compare(epsilon, seen)
        if self.trusted and abs(seen.share - before) > 2 * math.sqrt(max(before * (1 - before), 1e-3) / losses.size):
            self.shift += _log_odds(seen.share, seen.runs) - _log_odds(before, self.runs)

    def compare(self, epsilon: float, seen: Tried) -> None:
        """Trust this no more where it is far from what the exact law showed."""
        low, high = seen.interval
        self.trusted = self.trusted and low - _WRONG <= self.share(epsilon) <= high + _WRONG

    def margin(self, epsilon: float) -> float:
        """How far from the probability the share at a budget is expected to be."""
        p = self.trials.question.probability
        return abs(self.share(epsilon) - p) if self.trusted else 0.2 * math.sqrt(p * (1 - p))


def _log_odds(share: float, runs: int) -> float:
    """Of a share of so many runs; none and all of them are taken as half a run from there."""
    kept = min(max(share, 0.5 / runs), 1 - 0.5 / runs)
    return math.log(kept / (1 - kept))


def _with_odds(logarithm: float) -> float:
    return 1 / (1 + math.exp(-logarithm))


@dataclass
class _Proof:
    """Tests of budgets from both sides, until one is shown to satisfy and one is shown not to."""

    method: Direct
    trials: BudgetTrials
    pilot: Pilot
    runs: int
    shown: float | None = None
    refuted: float | None = None
    tests: int = 0

    def found(self) -> FoundBudget:
        """The smallest budget shown to satisfy."""
        q = self.trials.question
        centre = self.pilot.begin(q.probability)
        if not self.trials.nearly_normal(q.mechanism(centre)):
            self.pilot.correct(centre)
            centre = self.pilot.begin(q.probability)
        if centre > q.low or not self._test(q.low):
            self._stepped(centre, 1)
        if self.shown is not None and self.shown > q.low and self.refuted is None:
            self._stepped(min(centre, self.shown), -1)
        self._narrow()
        return FoundBudget(self.shown, self.refuted, 1 - self.method.alpha)

    def _stepped(self, centre: float, sign: int) -> None:
        """Test budgets ever farther above (or below) until one is shown to satisfy (or not to), then the end."""
        end = self.trials.question.high if sign > 0 else self.trials.question.low
        distance = self._distance(centre, sign) if self.pilot.trusted else _FAR
        while self.pilot.trusted and distance < _FAR and self.tests < _TESTS // 2:
            at = self._at(centre * (1 + distance) ** sign)
            if self._test(at) is (sign > 0) or at == end:
                return
            distance *= 2
        self._test(end)

    def _distance(self, centre: float, sign: int) -> float:
        """How far to step, relatively, so that so many runs are likely to be enough."""
        q = self.trials.question
        margin = self._margin * math.sqrt(q.probability * (1 - q.probability) / self.runs)
        wanted = min(q.probability + margin, (1 + q.probability) / 2) if sign > 0 else q.probability - margin
        distance = self.method.precision
        while (
            distance < _FAR / 2 and sign * self.pilot.share(self._at(centre * (1 + distance) ** sign)) < sign * wanted
        ):
            distance *= 1.5
        return distance

    @property
    def _margin(self) -> float:
        """In standard errors: wider where a run is costly, so that fewer of them show it."""
        return 5.5 if self.trials.question.mechanism(self.trials.question.high).forms.costly else 4.5

    def _at(self, epsilon: float) -> float:
        """A budget that is told as it is, within the range."""
        q = self.trials.question
        return rounded(max(epsilon, q.low), q)

    def _narrow(self) -> None:
        """Halve what lies between, where the pilot was far off, from above and then from below."""
        if self.shown is None or self.refuted is None:
            return
        low = self._halved(self.refuted, self.shown, True)
        if low > self.refuted:  # a budget that the runs did not tell
            self._halved(low, self.refuted, False)

    def _halved(self, far: float, near: float, enough: bool) -> float:
        """Bring the budget with this verdict nearer to the far one; gives the nearest without that verdict."""
        wide = 4 * math.log1p(self.method.precision)
        while self.tests < _TESTS and abs(math.log(near / far)) > wide:
            at = self._at(math.sqrt(near * far))
            if at in (near, far):
                break
            verdict = self._test(at)
            near, far = (at, far) if verdict is enough else (near, at)
            if verdict is None and self.pilot.trusted:
                wide = _UNCLEAR
        return far

    def _test(self, epsilon: float) -> bool | None:
        """A sequential test with fresh runs; the errors of all tests add up to alpha."""
        start = time.perf_counter()
        q = self.trials.question
        self.tests += 1
        alpha = self.method.alpha / (self.tests * (self.tests + 1))
        test = Test(q.probability, self.pilot.margin(epsilon))
        m = q.mechanism(epsilon)
        losses, verdict = np.empty(0), None
        while verdict is None and losses.size < self.runs:
            more = min(max(2 * BLOCK, losses.size // 2), self.runs - losses.size)
            fresh = self.trials.losses(m, self.trials.fresh(-(-more // BLOCK)))
            losses = np.concatenate([losses, fresh])[: self.runs]
            verdict = test.verdict(int((losses <= q.threshold).sum()), losses.size, alpha, alpha)
        self.pilot.compare(epsilon, self.trials.seen(epsilon, losses, start, verdict))
        self.trials.step(2.0)
        if verdict is True:
            self.shown = epsilon if self.shown is None else min(self.shown, epsilon)
        elif verdict is False:
            self.refuted = epsilon if self.refuted is None else max(self.refuted, epsilon)
        return verdict
