"""The exact loss of a mechanism that states its law, and an output or an event that shows it."""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

from hush.audit.inputs import Values
from hush.audit.numbers import NumberTarget
from hush.audit.result import Witness
from hush.audit.target import Claim, MechanismTarget, Target
from hush.errors import ParameterError, message
from hush.exact.enumeration import enumerated, listings
from hush.exact.loss import loss_at, pair_epsilon, protected_loss
from hush.exact.thresholds import log_ratio as exact_log
from hush.guarantee import ULDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.forms import MOST_CHANCES
from hush.randomness import seeded

_PAIRS = 1 << 26  # weights that are looked at for all pairs of values together
_SAME = 1e-9  # log-ratios that differ by no more are equal
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
            return math.inf, _worst(m, range(m.k)) if _few(m) else None
        if delta and not _few_pairs(m):
            rule = "must be 0 for a utility-optimized mechanism whose outputs are too many to list"
            raise ParameterError(message("delta of the claim", rule, delta, "use a smaller k, or another method"))
        return loss_at(m, Fraction(delta)), None
    sensitive = m.guarantee.sensitive if isinstance(m.guarantee, ULDP) else range(m.k)
    if delta != m._delta:
        if not _few_pairs(m):
            rule = f"must be the mechanism's own, {m._delta:g}, where outputs are too many to list"
            raise ParameterError(message("delta of the claim", rule, delta, "use a smaller k, or another method"))
        found = protected_loss(m, sensitive, Fraction(delta))
    else:
        found = m.exact_epsilon()
    if delta:
        return found, _event(m, Fraction(delta), found, sensitive) if _few_pairs(m) else None
    return found, _worst(m, sensitive) if _few(m) else _met(target)


def of_kind(target: Target, claim: Claim | None) -> tuple[float, Witness | None]:
    """The loss of a number, a tuple or a sequence at the target's own delta, and a witness where one is at hand."""
    own = 0.0 if target.claim is None else target.claim.delta
    if claim is not None and claim.delta != own:
        rule = f"must be the target's own, {own:g}, for the exact loss of {target.unit}"
        raise ParameterError(message("delta of the claim", rule, claim.delta, "leave it out, or use another method"))
    found = target.exact_epsilon()
    return found, _of_numbers(target) if isinstance(target, NumberTarget) else None


def _of_numbers(target: NumberTarget) -> Witness:
    """The output of a mechanism for means that tells most, and the two grid points that it tells apart."""
    m = target.mechanism
    if 2 * m.size > MOST_CHANCES:  # look among reports that were made
        ticks = np.array([0, m.steps])
        made = m.privatize(np.full(_TRIED, m.low), rng=seeded(0))
        report = made[int(np.argmax(m.forms.log_ratio(made, m.low, m.high)))]
    else:
        ticks = np.unique(np.linspace(0, m.steps, min(m.steps + 1, MOST_CHANCES // m.size)).astype(np.int64))
        law = m.chances(ticks)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(law.max(axis=1)) - np.log(law.min(axis=1))
        report = m.outputs()[int(np.argmax(ratios >= np.nanmax(ratios) - _SAME))]
    weights = [m.weight(report, tick) for tick in ticks.tolist()]
    ends = [weights.index(max(weights)), weights.index(min(weights))]
    numbers = [m.low + m.width * (int(ticks[at]) / m.steps) for at in ends]
    asked = target.including(numbers)
    ratio = exact_log(*(weights[at] for at in ends))
    return _told(asked, ratio, *asked.inputs.pair("numbers", numbers), report)


def slack(target: MechanismTarget, epsilon: float) -> float | None:
    """The smallest delta at which the mechanism keeps this epsilon; None where outputs are too many to list."""
    m = target.mechanism
    if not _few(m) or isinstance(m.guarantee, ULDP) or not math.isfinite(epsilon):
        return None
    factor, worst = math.exp(epsilon), Fraction(0)
    for listing in enumerated(m):
        law = listing.chances
        apart = np.stack([np.maximum(law[:, u, None] - factor * law, 0.0).sum(axis=0) for u in range(m.k)])
        u, v = np.unravel_index(int(apart.argmax()), apart.shape)
        rows = (
            (m.weight(y, int(u)), m.weight(y, int(v)), c) for y, c in zip(listing.reports, listing.copies, strict=True)
        )
        excess = sum(c * max(Fraction(0), own - Fraction(factor) * other) for own, other, c in rows)
        worst = max(worst, Fraction(excess, 1) / m.denominator)
    return float(worst)


def _few(m: FrequencyOracle) -> bool:
    """Whether all outputs can be looked at."""
    return listings(m) is not None


def _few_pairs(m: FrequencyOracle) -> bool:
    """Whether they can be for every pair of values."""
    found = listings(m)
    return found is not None and sum(len(listing.reports) for listing in found) * m.k**2 <= _PAIRS


def _event(m: FrequencyOracle, delta: Fraction, found: float, sensitive: Collection[int]) -> Witness | None:
    """The pair and the event that need so much: every output of sensitive values whose ratio exceeds e^loss."""
    for listing in enumerated(m):
        inside = [any(row[v] for v in sensitive) for row in listing.weights]
        law = list(itertools.compress(listing.weights, inside))
        copies = list(itertools.compress(listing.copies, inside))
        for u, v in itertools.permutations(range(m.k), 2):
            if pair_epsilon(law, copies, m.denominator, delta, u, v) >= found * (1 - 1e-12):
                cells = [
                    (c * row[u], c * row[v])
                    for row, c in zip(law, copies, strict=True)
                    if row[u] and (not row[v] or exact_log(row[u], row[v]) >= found)
                ]
                high, low = (float(Fraction(sum(each), m.denominator)) for each in zip(*cells, strict=True))
                words = f"{len(cells)} outputs together have probability {high:.6g} and {low:.6g}"
                return Witness.of(Values(m.k), u, v, words)
    return None


def _worst(m: FrequencyOracle, sensitive: Collection[int]) -> Witness | None:
    """The worst output of all that the claim speaks of: found by its likelihoods, told by exact integers."""
    best: tuple[float, Any] = (-1.0, None)
    for listing in enumerated(m):
        scores = m.scores(listing.reports)
        sent = scores > -np.inf
        alone = sent.sum(axis=1) == 1
        open_ = sent.any(axis=1) & (~alone | sent[:, list(sensitive)].any(axis=1))  # others reveal what they may
        with np.errstate(invalid="ignore"):
            ratios = np.where(open_, scores.max(axis=1) - scores.min(axis=1), -1.0)
        at = int(np.argmax(ratios >= ratios.max() - _SAME))
        if ratios[at] > best[0] + _SAME:
            best = float(ratios[at]), listing.reports[at]
    if best[1] is None:
        return None
    weights = [m.weight(best[1], value) for value in range(m.k)]
    high, low = weights.index(max(weights)), weights.index(min(weights))
    return _told(MechanismTarget(m), exact_log(weights[high], weights[low]), high, low, best[1])


def _met(target: MechanismTarget) -> Witness:
    """The worst output among many that were made, for two values."""
    m, (first, second) = target.mechanism, target.first_pair
    tried = max(200, min(_TRIED, _BYTES // m.report_dtype.itemsize))
    reports = m.privatize(np.full(tried, first), rng=seeded(0))
    at = int(np.nanargmax(target.log_ratio(reports, first, second)))
    ratio = exact_log(m.weight(reports[at], first), m.weight(reports[at], second))
    return _told(target, ratio, first, second, reports[at])


def _told(target: Target, ratio: float, high: int, low: int, report: Any) -> Witness:
    shown = (
        "never occurs under the second" if math.isinf(ratio) else f"is e^{ratio:.6g} times as likely under the first"
    )
    record = np.asarray(report).tobytes().hex()
    return Witness.of(target.inputs, high, low, f"the report {shown}", report=_plain(report), record=record)


def _plain(report: Any) -> str:
    """A report as short text, field by field."""
    one = np.asarray(report)
    if one.dtype.names is None:
        return reprlib.repr(one.tolist())
    return ", ".join(f"{name} {reprlib.repr(one[name].tolist())}" for name in one.dtype.names)
