"""Poisoning: fake users who push the estimated frequency of some target values up.

Cao, Jia and Gong, "Data poisoning attacks to local differential privacy protocols" (USENIX Security 2021). Three
attacks, from strong to blind:

- ``maximal`` (the paper's maximal gain attack, MGA): the report that decodes to the largest sum over the targets;
- ``item`` (random item attack, RIA): pick a target at random and follow the protocol;
- ``random`` (random perturbed-value attack, RPA): a uniform report, whatever the targets.

All of it works for every mechanism: what depends on it is asked of its forms, `maximal_sum` and `random_sum` (what one
fake report decodes to over the targets), `maximal_reports` and `random_reports`. A mechanism without closed forms is
enumerated; where its outputs are too many, write a companion for it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import manipulation
from hush.analysis.manipulation import Targets, how_many
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import source
from hush.simulation import tallies
from hush.types import Floats, Reports, Values

__all__ = ["ATTACKS", "Gain", "craft", "gain", "simulate_gain"]

ATTACKS = ("maximal", "item", "random")
"""From the strongest to the blindest; MGA, RIA and RPA in the paper."""

_BYTES = 1 << 24  # fake reports held at a time
_MOST = 10**9  # fakes to simulate


def gain(
    m: FrequencyOracle,
    targets: int | Iterable[int] = 1,
    *,
    fraction: float = 0.05,
    attack: str = "maximal",
    frequency: float | None = None,
) -> float:
    """How much fakes add to the estimated total frequency of the targets, on average.

    Args:
        m: The mechanism that is attacked.
        targets: Values to push, or how many: then the set of that size that gains most.
        fraction: Share of fakes among all reports, in [0, 1).
        attack: One of `ATTACKS`.
        frequency: The targets' total frequency among genuine people; their number divided by k when left out.

    >>> from hush import GRR
    >>> round(gain(GRR(k=100, epsilon=1.0), targets=1, fraction=0.05), 4)
    2.9303
    """
    chosen = _targets(m, targets)
    share = how_many(chosen) / m.k if frequency is None else rules.share("frequency", frequency)
    return _expected(m, _attack(attack), chosen, _fraction(fraction), share)


def craft(
    m: FrequencyOracle, attack: str, targets: Iterable[int], size: int, *, rng: np.random.Generator | None = None
) -> Reports:
    """Fake reports, well-formed and as ordinary as the attack allows.

    Args:
        m: The mechanism that is attacked.
        attack: One of `ATTACKS`.
        targets: Values to push.
        size: How many reports.
        rng: `hush.seeded(7)` to repeat them.
    """
    chosen, kind = _values(m, targets), _attack(attack)
    n = rules.integer("size", size, 0, 2**31, "count the fake users")
    drawing = source(rng)
    if kind == "item":
        return np.asarray(m.privatize(drawing.choice(chosen, n), rng=drawing))
    forms = m.forms
    made = forms.maximal_reports(chosen, n, drawing) if kind == "maximal" else forms.random_reports(n, drawing)
    return np.asarray(made, m.report_dtype)


@dataclass(frozen=True)
class Gain:
    """What simulated fakes gained: the mean of all runs, its standard error, and the closed form."""

    mean: float
    stderr: float
    expected: float


def simulate_gain(
    m: FrequencyOracle,
    counts: npt.ArrayLike,
    targets: Iterable[int],
    *,
    fraction: float = 0.05,
    attack: str = "maximal",
    runs: int = 100,
    rng: np.random.Generator | None = None,
) -> Gain:
    """Run whole collections with and without fakes, and compare what is estimated for the targets.

    Args:
        m: The mechanism that is attacked.
        counts: How many genuine people hold each value.
        targets: Values to push.
        fraction: Share of fakes among all reports, in [0, 1), up to the rounding of their number; `expected` takes the
            share that there is.
        attack: One of `ATTACKS`.
        runs: How many collections, at least 2.
        rng: `hush.seeded(7)` to repeat the simulation.
    """
    chosen, kind, share = _values(m, targets), _attack(attack), _fraction(fraction)
    repeats = rules.integer("runs", runs, 2, 10**7, "use e.g. 100")
    drawing, people = source(rng), tallies.people(counts, m.k)
    n = int(people.sum())
    if n == 0:
        raise ParameterError(message("counts", "must hold at least one person", 0, "count the genuine people"))
    fakes = round(share * n / (1 - share))
    if fakes > _MOST:
        rule = f"must leave at most {_MOST} fakes beside {n} people"
        raise ParameterError(message("fraction", rule, fraction, "use gain, which simulates nothing"))
    gains = np.empty(repeats)
    for i in range(repeats):
        genuine = m.simulate(people, rng=drawing)
        both = genuine + m.aggregate(_parts(m, kind, chosen, fakes, drawing))
        before, after = (m.decode(a.tally, a.n)[chosen].sum() for a in (genuine, both))
        gains[i] = after - before
    expected = _expected(m, kind, chosen, fakes / (n + fakes), people / n)
    return Gain(float(gains.mean()), float(gains.std(ddof=1) / math.sqrt(repeats)), expected)


def _parts(m: FrequencyOracle, attack: str, targets: Values, size: int, rng: np.random.Generator) -> Iterator[Reports]:
    """Fake reports, some at a time."""
    rows = max(1, _BYTES // m.report_dtype.itemsize)
    for start in range(0, size, rows):
        yield craft(m, attack, targets, min(rows, size - start), rng=rng)


def _expected(m: FrequencyOracle, attack: str, targets: Targets, share: float, frequencies: float | Floats) -> float:
    """The mean gain of this share of fakes; frequencies are all values', or the targets' in all."""
    if attack == "maximal":
        return m.forms.maximal_gain(targets, share, frequencies)
    if isinstance(frequencies, np.ndarray):
        frequencies = float(frequencies[targets].sum())
    decoded = 1.0 if attack == "item" else m.forms.random_sum(targets)  # who follows the protocol counts as one
    return manipulation.gain(share, decoded, frequencies)


# Rules.


def _targets(m: FrequencyOracle, targets: object) -> Targets:
    """Values, or how many."""
    if isinstance(targets, numbers.Integral) and isinstance(m, FrequencyOracle):
        return rules.integer("targets", targets, 1, m.k, "count the values to push, or list them")
    return _values(m, targets)


def _values(m: FrequencyOracle, targets: object) -> Values:
    """Distinct values of the mechanism's domain."""
    if not isinstance(m, FrequencyOracle):
        raise ParameterError(message("m", "must be a mechanism", m, "pass e.g. hush.OUE(k=10, epsilon=1.0)"))
    if isinstance(targets, Iterable) and not isinstance(targets, (str, bytes)):
        listed = targets if isinstance(targets, np.ndarray) else list(targets)
        try:
            array = np.asarray(listed)
        except ValueError:  # lists of different lengths
            array = np.empty((0, 0))
        if array.ndim == 1 and array.size and array.dtype.kind in "iu" and array.min() >= 0 and array.max() < m.k:
            values = array.astype(np.int64)
            if (np.diff(np.sort(values)) > 0).all():
                return values
    rule = f"must be one or more distinct integers in 0..{m.k - 1}"
    raise ParameterError(message("targets", rule, targets, "list each value to push once, e.g. [0, 3]"))


def _attack(attack: object) -> str:
    if attack not in ATTACKS:
        rule = f"must be one of {', '.join(ATTACKS)}"
        raise ParameterError(message("attack", rule, attack, f"use e.g. {ATTACKS[0]!r}"))
    return str(attack)


def _fraction(fraction: object) -> float:
    real = float(fraction) if isinstance(fraction, numbers.Real) and not isinstance(fraction, bool) else math.nan
    if not 0.0 <= real < 1.0:
        rule = "must be a number from 0 to below 1"
        raise ParameterError(message("fraction", rule, fraction, "use e.g. 0.05, the share of fakes in all reports"))
    return real
