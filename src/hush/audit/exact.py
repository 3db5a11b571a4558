"""The exact loss of a mechanism that states its law, and an output or an event that shows it."""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

from hush.audit.result import Witness
from hush.audit.target import Claim, MechanismTarget
from hush.errors import ParameterError, message
from hush.exact.loss import pair_epsilon, smallest_epsilon, worst_ratio
from hush.exact.thresholds import log_ratio as exact_log
from hush.guarantee import ULDP
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import seeded

_WEIGHTS = 1 << 17  # how many may be asked for one by one
_TRIED = 20_000  # reports that are made to look for a witness where there are too many outputs, at most
_BYTES = 1 << 23  # that they may take


def loss(target: MechanismTarget, claim: Claim | None) -> tuple[float, Witness | None]:
    """The loss of one report at the claim's delta, and a witness.

    Args:
        target: The mechanism.
        claim: What is claimed; without one, the loss is at the mechanism's own delta.
    """
    m = target.mechanism
    delta = m._delta if claim is None else claim.delta
    if isinstance(m.guarantee, ULDP) and not target.exempting:  # held against plain LDP
        if len(m.guarantee.sensitive) < m.k and not delta:
            return math.inf, _listed(m, range(m.k)) if _few(m) else None
        if delta and not _few(m):
            rule = "must be 0 for a utility-optimized mechanism whose outputs are too many to list"
            raise ParameterError(message("delta of the claim", rule, delta, "use a smaller k, or another method"))
        return _at(m, Fraction(delta)), None
    if delta != m._delta:
        if not _few(m):
            rule = f"must be the mechanism's own, {m._delta:g}, where outputs are too many to list"
            raise ParameterError(message("delta of the claim", rule, delta, "use a smaller k, or another method"))
        found = _at(m, Fraction(delta))
    else:
        found = m.exact_epsilon()
    if delta:
        return found, _event(m, Fraction(delta), found) if _few(m) else None
    sensitive = m.guarantee.sensitive if isinstance(m.guarantee, ULDP) else range(m.k)
    return found, _listed(m, sensitive) if _few(m) else _met(target)


def slack(target: MechanismTarget, epsilon: float) -> float | None:
    """The smallest delta at which the mechanism keeps this epsilon; None where outputs are too many to list."""
    m = target.mechanism
    if not _few(m) or isinstance(m.guarantee, ULDP) or not math.isfinite(epsilon):
        return None
    factor, worst = Fraction(math.exp(epsilon)), Fraction(0)
    for public in m.publics():
        law, copies = _law(m, public)
        for u, v in itertools.permutations(range(m.k), 2):
            excess = sum(c * max(Fraction(0), row[u] - factor * row[v]) for row, c in zip(law, copies, strict=True))
            worst = max(worst, Fraction(excess, 1) / m.denominator)
    return float(worst)


def _few(m: FrequencyOracle) -> bool:
    try:
        return m.k * sum(len(m.outputs(public)) for public in m.publics()) <= _WEIGHTS
    except ValueError:  # too many to list
        return False


def _law(m: FrequencyOracle, public: Any) -> tuple[list[list[int]], list[int]]:
    outputs = m.outputs(public)
    return [[m.weight(y, v) for v in range(m.k)] for y in outputs], [m.copies(y) for y in outputs]


def _at(m: FrequencyOracle, delta: Fraction) -> float:
    """The loss at any delta, worst over public randomness."""
    worst = 0.0
    for public in m.publics():
        law, copies = _law(m, public)
        here = smallest_epsilon(law, copies, m.denominator, delta) if delta else worst_ratio(law)
        worst = max(worst, here)
    return worst


def _event(m: FrequencyOracle, delta: Fraction, found: float) -> Witness | None:
    """The pair and the event that need so much: every output whose ratio exceeds e^loss."""
    for public in m.publics():
        law, copies = _law(m, public)
        for u, v in itertools.permutations(range(m.k), 2):
            if pair_epsilon(law, copies, m.denominator, delta, u, v) >= found * (1 - 1e-12):
                inside = [
                    (c * row[u], c * row[v])
                    for row, c in zip(law, copies, strict=True)
                    if row[u] and (not row[v] or exact_log(row[u], row[v]) >= found)
                ]
                high, low = (float(Fraction(sum(each), m.denominator)) for each in zip(*inside, strict=True))
                words = f"{len(inside)} outputs together have probability {high:.6g} and {low:.6g}"
                return Witness(u, v, words)
    return None


def _listed(m: FrequencyOracle, sensitive: Collection[int]) -> Witness | None:
    """The worst output of all that the claim speaks of, by exact integers."""
    worst: tuple[float, int, int, Any] = (-1.0, 0, 1, None)
    for report in itertools.chain.from_iterable(m.outputs(public) for public in m.publics()):
        weights = [m.weight(report, value) for value in range(m.k)]
        if not any(weights):  # nobody can send it
            continue
        alone = sum(w > 0 for w in weights) == 1
        if alone and not any(weights[value] for value in sensitive):  # it may reveal a value that is not sensitive
            continue
        high, low = int(np.argmax(weights)), int(np.argmin(weights))
        ratio = exact_log(weights[high], weights[low])
        if ratio > worst[0]:
            worst = (ratio, high, low, report)
    return None if worst[0] < 0 else _told(*worst)


def _met(target: MechanismTarget) -> Witness:
    """The worst output among many that were made, for two values."""
    m, (first, second) = target.mechanism, target.first_pair
    tried = max(200, min(_TRIED, _BYTES // m.report_dtype.itemsize))
    reports = m.privatize(np.full(tried, first), rng=seeded(0))
    at = int(np.nanargmax(target.log_ratio(reports, first, second)))
    ratio = exact_log(m.weight(reports[at], first), m.weight(reports[at], second))
    return _told(ratio, first, second, reports[at])


def _told(ratio: float, high: int, low: int, report: Any) -> Witness:
    shown = (
        "never occurs under the second" if math.isinf(ratio) else f"is e^{ratio:.6g} times as likely under the first"
    )
    return Witness(high, low, f"the report {shown}", _plain(report), np.asarray(report).tobytes().hex())


def _plain(report: Any) -> str:
    """A report as short text, field by field."""
    one = np.asarray(report)
    if one.dtype.names is None:
        return reprlib.repr(one.tolist())
    return ", ".join(f"{name} {reprlib.repr(one[name].tolist())}" for name in one.dtype.names)
