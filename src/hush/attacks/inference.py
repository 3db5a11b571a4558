"""How often attacks on what lies behind a value succeed, on average: its class, a person's habits, a change.

`attribute` asks for a property of the value, from one report. `pools` asks which class of values somebody favours,
from several fresh reports of changing values (Gadotti et al., USENIX Security 2022). `changes` asks whether a value
turned into another one, which the attacker knows, halfway. All are the success of the best attacker, who has even
chances beforehand; exact where outputs can be listed or a law is known, and else the mean over simulated people of the
attacker's own certainty, which varies less than how often it is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hush import rules
from hush.attacks import pools as pool_inference
from hush.longitudinal import Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import seeded
from hush.types import Floats, Ints

_CELLS = 4_000_000  # scores that are computed for a simulated rate, about
_LEAST, _MOST = 400, 20_000  # people who are simulated
_NEVER = 1e-16  # sizes of reports that are no likelier do not count


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeds.

    Args:
        rate: On average over everything.
        stderr: Standard error of a simulated rate; 0 of an exact one.
        chance_level: Success of the best guess that looks at no report.
    """

    rate: float
    stderr: float
    chance_level: float

    @property
    def advantage(self) -> float:
        """The share of what a blind guess leaves open: 0 where reports tell nothing, 1 where they tell all."""
        return (self.rate - self.chance_level) / (1 - self.chance_level)


def classes(k: int, parts: int) -> Ints:
    """The class of each value, where values in their order are cut into parts that are as even as can be.

    >>> classes(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    rules.domain_size(k)
    rules.integer("parts", parts, 2, k, "cut the values into two parts or more, each with a value")
    return np.asarray(np.arange(k) * parts // k, np.int64)


def attribute(m: FrequencyOracle, parts: int = 2) -> Rate:
    """How often the best attacker names the class of a value from one report, all values being equally likely.

    >>> import hush
    >>> round(attribute(hush.GRR(k=4, epsilon=1.0)).rate, 4)
    0.6502
    """
    of = classes(m.k, parts)
    largest = float(np.bincount(of).max()) / m.k
    shape = m.forms.shape
    if shape is not None and shape.alike and parts == 2:
        return Rate(_halves(shape.law, shape.high, shape.low, of), 0.0, largest)
    listing = m.forms.listed  # of sixteen bits, seconds
    if listing is not None:
        joint = listing.chances @ np.eye(parts)[of] / m.k  # of an output and a class
        return Rate(float(joint.max(axis=1).sum()), 0.0, largest)
    return _simulated(m, np.eye(parts)[of].T / np.bincount(of)[:, None], np.bincount(of) / m.k, 1, largest)


def pools(m: FrequencyOracle, parts: int = 2, *, reports: int = 10, loyalty: float = 1.0) -> Rate:
    """How often the best attacker names the class of values that a person favours, all classes being equally likely.

    Args:
        m: The mechanism of every report.
        parts: Classes of values, as even as can be.
        reports: Fresh reports of one person, each of a value of its own.
        loyalty: How often a value is of the favoured class; otherwise it may be any.

    >>> import hush
    >>> one, ten = (pools(hush.OUE(k=20, epsilon=1.0), reports=reports).rate for reports in (1, 10))
    >>> 0.5 < one < ten < 1.0
    True
    """
    of = classes(m.k, parts)
    rules.integer("reports", reports, 1, 10_000, "count the reports of one person")
    often = rules.share("loyalty", loyalty)
    sizes = np.bincount(of)
    if reports == 1 and (sizes == sizes[0]).all() and (parts == 2 or m.forms.listed is not None):
        one = attribute(m, parts)  # what is not of the favoured class tells nothing
        return Rate(often * one.rate + (1 - often) / parts, often * one.stderr, 1 / parts)
    behaviour = pool_inference.habits([np.nonzero(of == j)[0] for j in range(parts)], m.k, loyalty=often)
    return _simulated(m, behaviour, np.full(parts, 1 / parts), reports, 1 / parts)


def changes(m: FrequencyOracle, *, reports: int = 10) -> Rate:
    """How often the best attacker tells a value that became another one halfway from one that stayed, one time in two.

    The attacker knows both values and when it would have been. Reports are fresh, so those before it tell nothing, and
    the others are told apart as often as their total variation says: of values 0 and 1, or of the first and the last,
    whichever are farther apart.
    """
    rules.integer("reports", reports, 2, 10_000, "count the reports of one person, two or more")
    after = Repeated(m, reports - reports // 2)
    found = [_variation(after, 0, other) for other in sorted({1, m.k - 1})]
    apart, error = max(found)
    return Rate((1 + apart) / 2, error / 2, 0.5)


def _variation(sequence: Repeated, first: int, second: int) -> tuple[float, float]:
    """Total variation between reports of two values, and its standard error: 0 where it is exact."""
    known = sequence.sequence_variation(first, second)
    if known is not None:
        return known, 0.0
    people = _people(sequence.tau)
    values = np.full((people, sequence.tau), first)
    ratio = sequence.sequence_log_ratio(sequence.collect(values, rng=seeded(7)), first, second)
    lost = -np.expm1(-np.maximum(ratio, 0.0))
    return float(lost.mean()), float(lost.std() / math.sqrt(people))


def _simulated(m: FrequencyOracle, behaviour: Floats, prior: Floats, reports: int, chance: float) -> Rate:
    """The mean certainty of the best attacker about simulated people."""
    sequence, rng = Repeated(m, reports), seeded(7)
    people = _people(reports * m.k)
    held = rng.choice(len(prior), people, p=prior)
    values = np.empty((people, reports), np.int64)
    for j, row in enumerate(behaviour):
        values[held == j] = rng.choice(m.k, (int((held == j).sum()), reports), p=row)
    logs = pool_inference.scores(sequence, sequence.collect(values, rng=rng), behaviour) + np.log(prior)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    sure = 1 / weights.sum(axis=1)  # the likeliest weighs 1
    return Rate(float(sure.mean()), float(sure.std() / math.sqrt(people)), chance)


def _people(cells: int) -> int:
    return max(_LEAST, min(_MOST, _CELLS // cells))


def _halves(law: Floats, high: int, low: int, of: Ints) -> float:
    """Two classes, where sets of one size that a report may support are equally likely, with two levels of weights.

    How many of a set are of the first class is hypergeometric.
    """
    from scipy.stats import hypergeom

    k, one, more = of.size, int((of == 0).sum()), high / (high + low)
    less = low / (high + low)
    total = 0.0
    for size in np.nonzero(law > _NEVER)[0].tolist():
        inside = np.arange(max(0, size - (k - one)), min(one, size) + 1)
        other = size - inside
        both = np.stack([more * inside + less * (one - inside), more * other + less * (k - one - other)])
        mean = float(hypergeom.pmf(inside, k, one, size) @ both.max(axis=0))
        total += float(law[size]) * mean / (more * size + less * (k - size))
    return total
