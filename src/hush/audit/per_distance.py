"""The exact loss for each unit of distance of what states its law, and the pair of inputs that shows it.

Along a line it is enough to look at neighbours: the loss between two inputs is at most the sum of those between the
ones that lie between them, as their distance is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import TypeGuard

import numpy as np

from hush.audit.collections import TupleTarget
from hush.audit.inputs import Values
from hush.audit.numbers import NumberTarget
from hush.audit.result import Witness
from hush.audit.target import Claim, MechanismTarget, Target
from hush.errors import ParameterError, message
from hush.exact.enumeration import listings
from hush.exact.thresholds import log_ratio as exact_log
from hush.guarantee import ULDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.forms import MOST_CHANCES

_PAIRS = 1 << 26  # weights that are looked at for all pairs of values together
_MOST_VALUES = 2000  # whose distances are all looked at
_SAME = 1e-12

Found = tuple[float, Witness]


def fits(target: Target, claim: Claim) -> TypeGuard[MechanismTarget | NumberTarget | TupleTarget]:
    """Whether such a target has an exact loss for such a distance, if it is small enough."""
    return (
        isinstance(target, MechanismTarget)
        or (isinstance(target, NumberTarget) and _named(claim) in ("absolute", "euclidean"))
        or (isinstance(target, TupleTarget) and _named(claim) == "hamming")
    )


def loss(target: Target, claim: Claim) -> Found:
    """The largest loss of a report divided by the distance of the two inputs, and these."""
    if not fits(target, claim):
        raise _refused(target, f"has no exact loss for the metric {_named(claim)}")
    if isinstance(target, NumberTarget):
        return _numbers(target, claim)
    if isinstance(target, TupleTarget):
        return _tuples(target)
    return _values(target, claim)


def _values(target: MechanismTarget, claim: Claim) -> Found:
    """Of all pairs where outputs can be listed, else of the closest."""
    if isinstance(target.mechanism.guarantee, ULDP):
        raise _refused(target, "may reveal values that are not sensitive")
    return _listed(target, claim) if _few(target.mechanism) else _nearest(target, claim)


def worst_pair(target: MechanismTarget, claim: Claim) -> tuple[int, int] | None:
    """The two values with the largest loss for each unit of distance; None where outputs are too many to list."""
    if not _few(target.mechanism) or isinstance(target.mechanism.guarantee, ULDP):
        return None
    witness = _listed(target, claim)[1]
    return witness.first, witness.second


def _listed(target: MechanismTarget, claim: Claim) -> Found:
    """Every pair of values and every output: found by likelihoods, told by exact integers."""
    m, inputs = target.mechanism, Values(target.k)
    apart = np.full((m.k, m.k), np.inf)
    for u, v in combinations(range(m.k), 2):
        apart[u, v] = apart[v, u] = claim.between(inputs, u, v)
    best, shown = -1.0, None
    for listing in listings(m) or ():
        with np.errstate(divide="ignore"):
            logs = np.log(listing.chances)
        for u in range(m.k):
            with np.errstate(invalid="ignore"):
                ratios = np.where(np.isneginf(logs[:, [u]]), -np.inf, logs[:, [u]] - logs)
            most = ratios.max(axis=0) / apart[u]
            v = int(np.argmax(most))
            if most[v] > best * (1 + _SAME) + _SAME:
                best, shown = float(most[v]), (u, v, listing.reports[int(np.argmax(ratios[:, v]))])
    if shown is None:
        return 0.0, Witness.of(inputs, 0, 1, "no report tells any two values apart", distance=float(apart[0, 1]))
    u, v, report = shown
    ratio = exact_log(m.weight(report, u), m.weight(report, v))
    return ratio / float(apart[u, v]), _told(target, u, v, ratio, float(apart[u, v]))


def _nearest(target: MechanismTarget, claim: Claim) -> Found:
    """Two levels of probability, one report that tells any two values apart: those that are closest lose most."""
    m, inputs = target.mechanism, Values(target.k)
    if m.k > _MOST_VALUES:
        raise _refused(target, f"has more than {_MOST_VALUES} values, and too many outputs to list")
    near = min(combinations(range(m.k), 2), key=lambda pair: claim.between(inputs, *pair))
    telling = m.forms.telling(*near)
    if telling is None or min(telling) <= 0:
        raise _refused(target, "has too many outputs to list, and no two levels of probability")
    ratio, apart = m.forms.pure_loss(), claim.between(inputs, *near)
    return ratio / apart, _told(target, *near, ratio, apart)


def _numbers(target: NumberTarget, claim: Claim) -> Found:
    """Between two steps of the grid the law is linear, so a report changes fastest where it is less likely."""
    m = target.mechanism
    if m.size * (m.steps + 1) > MOST_CHANCES:
        raise _refused(target, "has too many outputs to list")
    law = m.chances(np.arange(m.steps + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.maximum(law[:, 1:], law[:, :-1]) / np.minimum(law[:, 1:], law[:, :-1])
    at, tick = (int(x) for x in np.unravel_index(int(np.nanargmax(rise)), rise.shape))
    report, step = m.outputs()[at], Fraction(m.high) - Fraction(m.low)
    pair = [m.weight(report, tick), m.weight(report, tick + 1)]
    likely = tick if pair[0] >= pair[1] else tick + 1
    ends = [m.low + m.width * (each / m.steps) for each in (likely, 2 * tick + 1 - likely)]
    asked = target.including(ends)
    positions = asked.inputs.pair("numbers", ends)
    rate = math.inf if min(pair) == 0 else float((Fraction(max(pair), min(pair)) - 1) * m.steps / step)
    words = f"as numbers near the second come closer, a report changes by a factor of e^{rate:.6g} for each unit"
    return rate, Witness.of(asked.inputs, *positions, words, distance=claim.between(asked.inputs, *positions))


def _tuples(target: TupleTarget) -> Found:
    """By how many attributes differ."""
    most = target.m.d if target.changed is None else target.changed
    losses = {c: target.m.exact_epsilon(c) / c for c in range(1, most + 1)}
    worst = max(losses, key=lambda c: losses[c])
    second = target.index([k - 1 if j < worst else 0 for j, k in enumerate(target.m.sizes)])
    words = f"of tuples that differ in {worst}, the worst lose {losses[worst] * worst:.6g}"
    return losses[worst], Witness.of(target.inputs, 0, second, words, distance=float(worst))


def _few(m: FrequencyOracle) -> bool:
    found = listings(m)
    return found is not None and sum(len(listing.reports) for listing in found) * m.k**2 <= _PAIRS


def _named(claim: Claim) -> str:
    return "" if claim.metric is None else str(claim.metric)


def _told(target: Target, first: int, second: int, ratio: float, distance: float) -> Witness:
    often = "infinitely often" if math.isinf(ratio) else f"e^{ratio:.6g} times as often"
    return Witness.of(target.inputs, first, second, f"some report comes {often} under the first", distance=distance)


def _refused(target: Target, why: str) -> ParameterError:
    rule = f"must be another than exact for {target.name}, which {why}"
    return ParameterError(message("method", rule, "exact", "use 'likelihood' or 'classifier'"))
