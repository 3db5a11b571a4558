"""From a mechanism to the central guarantee of its shuffled reports.

`hush.analysis.shuffle` bounds it from three numbers: the loss of one report, the total variation between the reports of
two values, and how likely a report favours both. All three follow exactly from a mechanism's integer thresholds, and
its forms have them. Where they also know how likely a report is under what others hold, `hush.analysis.crowd` has a
nearer bound, and `hush.analysis.few` one that is nearer still among few people; the least counts. A hash function is
part of its report and independent of the value, so such a report is one output like any other, and probabilities of
pairs are averages over the hash family as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hush.analysis import shuffle
from hush.analysis.crowd import crowd_epsilon
from hush.analysis.few import few_epsilon
from hush.errors import ParameterError, Unsaid, message
from hush.guarantee import LDP, ApproxLDP, above
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import PairKind


@dataclass(frozen=True)
class Shuffled:
    """The central guarantee of n shuffled reports; epsilon is None where nothing can be proved, and reason says why.

    Args:
        epsilon: The central epsilon, an upper bound.
        delta: The central delta that it holds at.
        n: Number of reports.
        bound: What proves it: few, crowd, blanket, variation ratio, cut variation ratio, local (nothing gained), or
            none.
        local_epsilon: The loss of one report: the exact one, or the promised one if that has a delta.
        reason: Why there is no bound.
    """

    epsilon: float | None
    delta: float
    n: int
    bound: str
    local_epsilon: float
    reason: str = ""

    @property
    def words(self) -> str:
        """In a sentence."""
        if self.epsilon is None:
            return f"No central guarantee can be stated for {self.n:,} shuffled reports: {self.reason}."
        whose = "One shuffled report is" if self.n == 1 else f"{self.n:,} shuffled reports are together"
        return f"{whose} ({self.epsilon:.4g}, {self.delta:.3g})-private."


def shuffled_epsilon(m: FrequencyOracle, n: int, delta: float) -> Shuffled:
    """The central epsilon that n reports have at a delta once they are shuffled.

    Holds for one person's value changed, whatever all others hold and whoever knows it. Everybody uses the mechanism
    once, the shuffler hides who sent what, and n is no secret.

    Args:
        m: The mechanism.
        n: Number of reports.
        delta: The central delta, from 0 to 1; far below 1/n, e.g. 1e-6.

    >>> from hush.mechanisms.direct import GRR
    >>> found = shuffled_epsilon(GRR(k=10, epsilon=2.0), 100_000, 1e-6)
    >>> round(found.epsilon, 4), found.bound, round(found.local_epsilon, 4)
    (0.0231, 'blanket', 2.0)
    """
    promise = _oracle(m).guarantee
    n, delta = shuffle.checked_people(n), shuffle.checked_delta(delta)
    if not isinstance(promise, LDP | ApproxLDP):
        return Shuffled(None, delta, n, "none", math.inf, f"one report of {m.name()} promises {promise or 'nothing'}")
    kinds = m.forms.pair_kinds()
    name = "variation ratio" if kinds[0][1] is None else "blanket"
    slack = promise.delta if isinstance(promise, ApproxLDP) else 0.0
    cut = m.forms.cut(delta) if slack else None
    if cut is not None:
        name = "cut variation ratio"
    loss, missing = (m.forms.pure_loss(), 0.0) if cut is None else cut
    local = promise.epsilon if slack else loss
    central = max(_central(delta, n, loss, kind, missing) for kind in kinds)
    crowds = m.forms.crowds() if cut is None and 0 < central < math.inf else []
    if crowds:
        nearer = few_epsilon(delta, n, crowds, central)
        if nearer < central:
            central, name = nearer, "few"
        nearer = max(crowd_epsilon(delta, n, crowd, central) for crowd in crowds)
        if nearer < central:
            central, name = nearer, "crowd"
    if delta >= slack and central >= local:
        central, name = local, "local"
    if math.isinf(central):
        return Shuffled(None, delta, n, "none", local, f"one report has no finite loss at delta={delta:g}")
    return Shuffled(central, delta, n, name, local)


def total_variation(m: FrequencyOracle) -> float:
    """The largest total variation between the reports of two values, rounded up; exact for built-in mechanisms.

    For a mechanism of your own, by enumeration if it is small, else the most that its loss allows.

    >>> from hush.mechanisms.unary import OUE
    >>> round(total_variation(OUE(k=10, epsilon=1.0)), 6)
    0.231059
    """
    return max(above(variation) for variation, _ in _oracle(m).forms.pair_kinds())


def _central(delta: float, n: int, loss: float, kind: PairKind, missing: float) -> float:
    """The bound for one kind of pair."""
    if math.isinf(loss):
        return loss
    variation, both = kind
    least = max(loss, shuffle.LEAST_LOCAL)
    found = shuffle.epsilon_after(delta, n, least, above(variation), None if both is None else above(both), missing)
    return found if missing else min(found, loss)


def _oracle(m: FrequencyOracle) -> FrequencyOracle:
    if not isinstance(m, FrequencyOracle):
        rule, got = "must be a mechanism that estimates frequencies", type(m).__name__
        raise ParameterError(message("mechanism", rule, Unsaid(got), "use e.g. GRR(k=10, epsilon=1.0)"))
    return m
