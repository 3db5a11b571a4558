"""From a mechanism to the central guarantee of its shuffled reports.

`hush.analysis.shuffle` bounds it from three numbers: the loss of one report, the total variation between the reports of
two values, and how likely a report favours both. All three follow exactly from a mechanism's integer thresholds. The
hash function of local hashing and of the wheel is part of the report and independent of the value, so its report is
one output like any other, and probabilities of pairs are averages over the hash family as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from hush.analysis import shuffle
from hush.errors import ParameterError, message
from hush.exact.loss import worst_ratio
from hush.exact.thresholds import SCALE, log_ratio
from hush.guarantee import LDP, ApproxLDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import LH
from hush.mechanisms.hashing.hashed import RING
from hush.mechanisms.histogram import NoisyHistogram
from hush.mechanisms.histogram.grid import Grid
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.two_level import TwoLevel
from hush.mechanisms.unary import UE
from hush.mechanisms.wheel import Wheel

_WEIGHTS = 1 << 17  # how many weights may be looked up to enumerate a mechanism
_CUT = 0.1  # share of delta that may go to reports beyond the cut of Gaussian noise

Kind = tuple[Fraction, Fraction | None]
"""Of a pair of values: total variation of their reports, and probability that a report favours both if known."""


@dataclass(frozen=True)
class Shuffled:
    """The central guarantee of n shuffled reports; epsilon is None where nothing can be proved, and reason says why.

    Args:
        epsilon: The central epsilon, an upper bound.
        delta: The central delta that it holds at.
        n: Number of reports.
        bound: What proves it: blanket, variation ratio, cut variation ratio, local (nothing gained), or none.
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
        return f"{self.n:,} shuffled reports are together ({self.epsilon:.4g}, {self.delta:.3g})-private."


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
    kinds = _kinds(m)
    name = "variation ratio" if kinds[0][1] is None else "blanket"
    slack = promise.delta if isinstance(promise, ApproxLDP) else 0.0
    if slack and _ours(m) and isinstance(m, NoisyHistogram):
        name = "cut variation ratio"
        loss, missing = _cut(m.grid, m.k, delta)
    else:
        loss, missing = _pure_loss(m), 0.0
    local = promise.epsilon if slack else loss
    central = max(_central(delta, n, loss, kind, missing) for kind in kinds)
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
    return max(_up(variation) for variation, _ in _kinds(_oracle(m)))


def _central(delta: float, n: int, loss: float, kind: Kind, missing: float) -> float:
    """The bound for one kind of pair."""
    if math.isinf(loss):
        return loss
    variation, both = kind
    least = max(loss, shuffle.LEAST_LOCAL)
    found = shuffle.epsilon_after(delta, n, least, _up(variation), None if both is None else _up(both), missing)
    return found if missing else min(found, loss)


def _oracle(m: FrequencyOracle) -> FrequencyOracle:
    if not isinstance(m, FrequencyOracle):
        raise ParameterError(message("mechanism", "must be a mechanism", type(m), "use e.g. GRR(k=10, epsilon=1.0)"))
    return m


def _ours(m: FrequencyOracle) -> bool:
    """A mechanism from outside may derive from one of ours and follow another law."""
    return ":" not in m.name()


def _pure_loss(m: FrequencyOracle) -> float:
    """The worst log-ratio of two values' reports, whatever delta the mechanism promises; the promise if unknowable."""
    if not m.guarantee or isinstance(m.guarantee, LDP):
        try:
            return m.exact_epsilon()
        except ParameterError:
            return math.inf if m.guarantee is None else m.guarantee.epsilon
    if _ours(m) and isinstance(m, TwoLevel):
        low, high = m._weights
        return log_ratio(high, low)
    if _ours(m) and isinstance(m, UE):
        own, other = m._ones
        return log_ratio(own * (SCALE - other), other * (SCALE - own))
    law = _law(m)
    return math.inf if law is None else worst_ratio([row for _, row in law])


def _kinds(m: FrequencyOracle) -> list[Kind]:
    """Pairs of values that differ in what the bound depends on; where none is worst in everything, a worse one."""
    if _ours(m):
        if isinstance(m, LH):
            return [_hashed(m)]
        if isinstance(m, Wheel):
            return [_wheel(m)]
        if isinstance(m, HR):
            return _hadamard(m)
        if isinstance(m, MSS):
            return _modular(m)
        if isinstance(m, PGR):
            p = Fraction(m.keep, SCALE)
            return [(p - m._other, p * Fraction(m.shared, m.favoured))]
        if isinstance(m, GRR):
            p = Fraction(m.keep, SCALE)
            return [(p - (1 - p) / (m.k - 1), Fraction(0))]
        if isinstance(m, SS):
            p = Fraction(m.keep, SCALE)
            return [(p - (m.omega - p) / (m.k - 1), p * (m.omega - 1) / (m.k - 1))]
        if isinstance(m, UE):
            own, other = (Fraction(ones, SCALE) for ones in m._ones)
            return [(own - other, own * other)]
        if isinstance(m, NoisyHistogram):
            return [(m.grid.excess(0.0), None)]
    law = _law(m)
    if law is None:
        return [(Fraction(math.tanh(_pure_loss(m) / 2)), None)]
    pairs = combinations(range(m.k), 2)
    apart = max(sum(copies * max(row[u] - row[v], 0) for copies, row in law) for u, v in pairs)
    return [(Fraction(apart, m.denominator), None)]


def _hashed(m: LH) -> Kind:
    """Two values are told apart where they do not collide, and hidden where they do."""
    p = Fraction(m.keep, SCALE)
    rates = m.collisions()
    return (1 - rates.least) * (p - (1 - p) / (m.g - 1)), p * rates.most


def _wheel(m: Wheel) -> Kind:
    """Two arcs start at a multiple of a power of two from each other; points of one outside the other tell."""
    p = Fraction(m.keep, SCALE)
    most = min(m.arc, RING - m.arc)
    apart = []
    for low in range((m.k - 1).bit_length()):
        step, half = 1 << low, RING >> (low + 1)
        slope = min(most // step, half - 1)
        total = step * slope * (slope + 1) + 2 * (half - 1 - slope) * most + min(step * half, most)
        apart.append(Fraction(total, 2 * half))
    gap = p / m.arc - (1 - p) / (RING - m.arc)
    return max(apart) * gap, p * (m.arc - min(apart)) / m.arc


def _hadamard(m: HR) -> list[Kind]:
    """Codewords of one block share half of their outputs, those of two blocks none."""
    p = Fraction(m.keep, SCALE)
    half = m.width // 2
    gap = p - (1 - p) * half / (m.size - half)
    apart, together = (gap, Fraction(0)), (gap / 2, p / 2)
    return [kind for kind, exists in ((apart, m.blocks > 1), (together, m.k > m.blocks)) if exists]


def _modular(m: MSS) -> list[Kind]:
    """Two values share a residue in the blocks that divide their difference; one worse kind stands for all those."""
    gaps, apart, extra = [], [], []
    for modulus, omega, keep in zip(m.moduli, m.omegas, m.keeps, strict=True):
        p = Fraction(keep, SCALE * len(m.moduli))
        gaps.append(p - (Fraction(omega, len(m.moduli)) - p) / (modulus - 1))
        apart.append(p * (omega - 1) / (modulus - 1))
        extra.append(p - apart[-1])
    differences = {d for modulus in m.moduli for d in range(modulus, m.k, modulus)}
    shared = {tuple(j for j, modulus in enumerate(m.moduli) if d % modulus == 0) for d in differences}
    kinds = [
        (sum(gaps) - sum(gaps[j] for j in blocks), sum(apart) + sum(extra[j] for j in blocks))
        for blocks in {(), *shared}
    ]
    first, *rest = sorted(kinds, reverse=True)
    kinds = [first] if not rest else [first, (rest[0][0], max(both for _, both in rest))]
    return [(Fraction(variation), Fraction(both)) for variation, both in kinds]


def _law(m: FrequencyOracle) -> list[tuple[int, list[int]]] | None:
    """Outputs as (copies, weight of every value); None if they are too many, or public randomness only has examples."""
    if len(m.publics()) > 1:
        return None
    try:
        outputs = m.outputs(m.publics()[0])
    except ParameterError:
        return None
    if len(outputs) * m.k * m.k > _WEIGHTS:
        return None
    return [(m.copies(y), [m.weight(y, v) for v in range(m.k)]) for y in outputs]


def _cut(grid: Grid, k: int, delta: float) -> tuple[float, float]:
    """The loss of a noisy one-hot vector whose coordinates are all within a cut, and the probability that one is not.

    The cut is symmetric about half a unit, so that a coordinate is beyond it as often under a one as under a zero, and
    a report as often under one value as under another.
    """
    limit = int(Fraction(delta) * Fraction(_CUT) * SCALE / k)
    size, cut, beyond = len(grid.null), 0, 0
    while 2 * cut + 2 < size and beyond + grid.null[cut] + grid.null[size - 1 - cut] <= limit:
        beyond += grid.null[cut] + grid.null[size - 1 - cut]
        cut += 1
    inside = range(cut, size - cut)
    if not all(grid.null[i] for i in inside):
        return math.inf, 0.0
    worst = max(inside, key=lambda i: Fraction(grid.own[i], grid.null[i]))
    return log_ratio(grid.own[worst] ** 2, grid.null[worst] ** 2), _up(Fraction(k * beyond, SCALE))


def _up(exact: Fraction) -> float:
    """The least double that is not below."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
