"""Is a probability above or below a value? Runs are looked at as they come; the answer comes as soon as it is clear.

A mixture of likelihood ratios, over probabilities on one side of the value, is a supermartingale wherever the true one
lies on the other side, so that by Ville's inequality it ever exceeds 1/alpha with probability alpha at most: one may
look after every run (Robbins 1970). The mixture is a beta distribution cut off at the value; its spread is the
difference that is expected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Test:
    """Pr[satisfied] against a probability.

    Args:
        probability: The value that it is compared with.
        margin: How far off it is expected to be.
    """

    probability: float
    margin: float

    @property
    def _prior(self) -> tuple[float, float]:
        spread = self.probability * (1 - self.probability)
        weight = max(spread / max(self.margin, 1e-6) ** 2 - 1, 2.0)
        return weight * self.probability, weight * (1 - self.probability)

    def log_evidence(self, satisfied: int, runs: int) -> tuple[float, float]:
        """Logarithms of the evidence that the probability lies above, and below."""
        from scipy.special import betainc, betaincc, betaln

        a, b = self._prior
        hits, misses, at = satisfied, runs - satisfied, self.probability
        ratio = betaln(a + hits, b + misses) - betaln(a, b) - hits * math.log(at) - misses * math.log1p(-at)
        sides = []
        for tail in (betaincc, betainc):
            share, before = float(tail(a + hits, b + misses, at)), float(tail(a, b, at))
            sides.append(float(ratio) + math.log(share / before) if share > 0 else -math.inf)
        return sides[0], sides[1]

    def verdict(self, satisfied: int, runs: int, above: float, below: float) -> bool | None:
        """True where it is shown to be above, False where below, None while it is not clear.

        Args:
            satisfied: Runs that satisfied.
            runs: All runs.
            above: Probability to say "above" wrongly, at most.
            below: Probability to say "below" wrongly, at most.
        """
        up, down = self.log_evidence(satisfied, runs)
        if up >= -math.log(above):
            return True
        return False if down >= -math.log(below) else None


def runs_needed(probability: float, alpha: float) -> int:
    """Runs without which nothing can be shown to lie above: all of them satisfied, against the best alternative."""
    return math.ceil(math.log(1 / alpha) / -math.log(probability))
