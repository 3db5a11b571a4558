"""How far estimates are off, and how much information is lost: exact for every registered mechanism but one.

A population is fixed: n people, of whom so many hold each value. Errors are of the raw, unbiased estimate. Modular
subset selection is the exception where it says so: its decoder divides by random numbers of reports, those of its
blocks, while every other estimate is a sum over people, and its variance linear in the frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import information
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import source
from hush.types import Floats, Ints

_MOST_PEOPLE = 10**15
_CELLS = 1 << 22


@dataclass(frozen=True)
class InformationLoss:
    """The share of Fisher information that reports lose, and its standard error: 0 where it is exact."""

    loss: float
    stderr: float


def mean_squared_error(
    m: FrequencyOracle, n: int, frequencies: npt.ArrayLike | None = None, *, worst: bool = False
) -> float:
    """Mean squared error of an estimated frequency, exact; for modular subset selection with n/l reports a block.

    A pure oracle's variance is linear in the value's frequency, so its average over the values is that of a value of
    frequency 1/k, for every distribution: the frequencies sum to one. For others, left out means equal frequencies.

    Blocks of l moduli have n/l reports on average only, so for modular subset selection the truth is larger by about
    l/n of itself: 16 per cent at n=20 with 19 blocks.

    Args:
        m: Any mechanism.
        n: How many people report.
        frequencies: Of every value, for the average over the values; or one number, for one value of that frequency,
            in the mean over which one it is.
        worst: The largest error of a value in any population. Where the estimate is a sum over people, the variance
            is linear, and all hold the same value in the worst one. That of modular subset selection is concave, and
            what it says is a proved bound, usually within half a per cent (`hush.analysis.modular.worst_variance`).
    """
    people = _people(m, n)
    if worst:
        _no_frequencies(frequencies)
        return m.forms.worst_variance(people)
    if frequencies is not None and np.ndim(frequencies) == 0:
        return m.variance(people, rules.share("frequencies", frequencies))
    if frequencies is None:
        return m.forms.even_variance(people)
    return float(m.variances(_shares(frequencies, m.k), people).mean())


def mean_absolute_error(
    m: FrequencyOracle, n: int, frequencies: npt.ArrayLike | None = None, *, worst: bool = False
) -> float:
    """Mean absolute error of an estimated frequency.

    Exact for every mechanism here but modular subset selection: the estimate is a sum of independent steps on a
    lattice. For one of your own that is no pure oracle, the steps come from enumerating its outputs, since estimates
    are linear in the tally. Where they lie on no lattice, the answer is the normal value with Edgeworth's correction;
    where the outputs are too many, or randomness is public, as for modular subset selection, the normal value,
    sqrt(2/pi) standard errors.

    Args:
        m: Any mechanism.
        n: How many people report.
        frequencies: Of every value, for the average over the values; equal ones when left out. Or one number, for one
            value of that frequency, the others sharing the rest equally, where it matters: the first one, and for
            modular subset selection the normal value of the mean variance over which one it is. In either case so
            many whole people hold each value as is nearest.
        worst: The error where all people hold the same value, the worst such case. The variance is proved to be
            largest there, and its root is never exceeded; the mean absolute error in between can be larger by about
            1/8v of itself, for a sum of variance v in its own steps. For a pure oracle with n up to 1000 every number
            of holders is looked at, so that it is the true maximum. For modular subset selection it is the normal
            value of the worst mean squared error, whose population is usually a mixture.
    """
    people = _people(m, n)
    if worst:
        _no_frequencies(frequencies)
        return m.forms.worst_absolute_error(people)
    if frequencies is not None and np.ndim(frequencies) == 0:
        return m.forms.single_absolute_error(_one_against_all(people, rules.share("frequencies", frequencies), m.k))
    if frequencies is None:
        return m.forms.even_absolute_error(people)
    return float(m.forms.absolute_errors(_whole(people, _shares(frequencies, m.k)), range(m.k)).mean())


def information_loss(
    m: FrequencyOracle,
    frequencies: npt.ArrayLike | None = None,
    *,
    reports: int = 100_000,
    rng: np.random.Generator | None = None,
) -> InformationLoss:
    """The share of Fisher information about the frequencies that is lost, against seeing the values themselves.

    At equal frequencies it is exact for every mechanism here, hashing being taken as ideal; at others, and for a
    mechanism of your own, it is exact where the outputs are few. Elsewhere it is the mean over simulated reports. The
    worst case over all frequencies is 1 for every private mechanism (see `hush.analysis.information`).

    Args:
        m: Any mechanism.
        frequencies: Of every value; equal ones when left out. At least two values must occur.
        reports: How many to simulate, where it has to be.
        rng: `hush.seeded(7)` to repeat a simulation.
    """
    _mechanism(m)
    rules.integer("reports", reports, 2, 10**12, "use e.g. 100_000")
    shares = None if frequencies is None else _shares(frequencies, m.k)
    if shares is not None and np.count_nonzero(shares) < 2:
        rule = "must have at least two values that occur"
        raise ParameterError(message("frequencies", rule, frequencies, "there is nothing to learn about one value"))
    even = shares is None or shares.min() == shares.max()
    shares = _shares(frequencies, m.k)
    kept = m.forms.even_information() if even else m.forms.information(shares)
    if kept is None:
        return _simulated(m, shares, reports, source(rng))
    return InformationLoss(min(max(1 - kept, 0.0), 1.0), 0.0)


# Checks.


def _mechanism(m: FrequencyOracle) -> None:
    if not isinstance(m, FrequencyOracle):
        raise ParameterError(message("m", "must be a mechanism", m, "use e.g. hush.OUE(k=10, epsilon=1.0)"))


def _people(m: FrequencyOracle, n: int) -> int:
    _mechanism(m)
    return rules.integer("n", n, 1, _MOST_PEOPLE, "count the reports")


def _no_frequencies(frequencies: npt.ArrayLike | None) -> None:
    if frequencies is not None:
        rule = "must be left out where the worst case is asked for"
        raise ParameterError(message("frequencies", rule, frequencies, "choose one of the two"))


def _shares(frequencies: npt.ArrayLike | None, k: int) -> Floats:
    """Checked frequencies of all values; equal ones if none are given."""
    if frequencies is None:
        return np.full(k, 1 / k)
    rule, remedy = f"must be {k} non-negative numbers that sum to 1", "divide the counts by their sum"
    try:
        shares = np.asarray(frequencies, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(message("frequencies", rule, frequencies, remedy)) from None
    if shares.shape != (k,) or not (shares >= 0).all() or not abs(shares.sum() - 1) <= 1e-6:
        raise ParameterError(message("frequencies", rule, frequencies, remedy))
    return np.asarray(shares / shares.sum(), np.float64)


# Populations.


def _whole(n: int, shares: Floats) -> Ints:
    """Whole people, n in all, as near to the shares as can be."""
    exact = n * shares
    counts = np.floor(exact).astype(np.int64)
    nearest = np.argsort(counts - exact, kind="stable")
    counts[nearest[: max(0, n - int(counts.sum()))]] += 1
    counts[np.argmax(counts)] += n - int(counts.sum())  # nothing, but for rounding in the largest populations
    return counts


def _one_against_all(n: int, frequency: float, k: int) -> Ints:
    """Value 0 has this frequency; the others share the rest equally."""
    held = round(n * frequency)
    each, more = divmod(n - held, k - 1)
    counts = np.full(k, each, np.int64)
    counts[0] = held
    counts[1 : 1 + more] += 1
    return counts


# Information.


def _simulated(m: FrequencyOracle, shares: Floats, reports: int, rng: np.random.Generator) -> InformationLoss:
    """The mean over reports, made and forgotten in batches."""
    rows = max(1, _CELLS // m.k)
    ends = np.cumsum(shares)
    total = square = 0.0
    for start in range(0, reports, rows):
        drawn = rng.random(min(rows, reports - start)) * ends[-1]
        values = np.minimum(np.searchsorted(ends, drawn, side="right"), np.nonzero(shares)[0][-1])
        kept = information.from_scores(m.scores(m.privatize(values, rng=rng)), shares)
        total += float(kept.sum())
        square += float((kept**2).sum())
    mean = total / reports
    spread = max(square / reports - mean**2, 0.0) * reports / (reports - 1)
    return InformationLoss(1 - mean, math.sqrt(spread / reports))
