"""Alarms: how a sample differs from the law it should follow, or the empty string.

Each alarm is false with a probability of at most FALSE_ALARM, all its comparisons together, where the test is exact
(counts, means) and about that where it is asymptotic (cells that expect a hundred, correlations of many rows).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.types import Floats

FALSE_ALARM = 1e-9


def sigmas(comparisons: int = 1) -> float:
    """How many standard deviations a normal quantity may be off."""
    from scipy.special import ndtri

    return float(-ndtri(FALSE_ALARM / (2 * comparisons)))


def count_alarm(seen: int, n: int, chance: float, *, comparisons: int = 1) -> str:
    """Exact binomial tails."""
    from scipy.stats import binom

    p = 2 * min(float(binom.cdf(seen, n, chance)), float(binom.sf(seen - 1, n, chance)))
    return "" if p > FALSE_ALARM / comparisons else f"{seen} of {n}, where {n * chance:.6g} are due (p = {p:.2g})"


def mixed_count_alarm(seen: int, chances: Floats, *, comparisons: int = 1) -> str:
    """A count of independent events with different chances: Bernstein's inequality."""
    due = float(chances.sum())
    alarm = sum_alarm(seen - due, float((chances * (1 - chances)).sum()), 1.0, comparisons=comparisons)
    return f"{seen} of {chances.size}, where {due:.6g} are due" if alarm else ""


def sum_alarm(gap: float, variance: float, most: float, *, comparisons: int = 1) -> str:
    """How far a sum of independent numbers lies from its mean, none further than `most` from its own: Bernstein's
    inequality.
    """
    far = abs(gap)
    bound = 2 * np.exp(-(far**2) / (2 * (variance + most * far / 3 + 1e-300))) if far > 0 else 1.0
    alarm = bound <= FALSE_ALARM / comparisons
    return f"off by {far:.3g}, which has p < {bound:.2g}" if alarm else ""


def mean_alarm(sample: Floats, mean: float, most: float, *, comparisons: int = 1) -> str:
    """A mean of values in [0, most]: the empirical Bernstein bound of Maurer and Pontil (2009)."""
    n, nats = sample.size, float(np.log(4 * comparisons / FALSE_ALARM))
    reach = np.sqrt(2 * sample.var(ddof=1) * nats / n) + 7 * most * nats / (3 * (n - 1))
    gap = abs(float(sample.mean()) - mean)
    return f"off by {gap:.2g}, where {reach:.2g} could be chance" if gap > reach else ""


def counts_alarm(expected: Floats, observed: npt.NDArray[np.int64], *, comparisons: int = 1) -> str:
    """Chi-square over cells, the rare ones joined until each expects a hundred; exact tails where only one is left."""
    from scipy.stats import chi2

    order = np.argsort(-expected, kind="stable")
    cells = [[0.0, 0.0]]
    for e, o in zip(expected[order], observed[order], strict=True):
        if cells[-1][0] >= 100:
            cells.append([0.0, 0.0])
        cells[-1][0] += e
        cells[-1][1] += o
    if len(cells) > 1 and cells[-1][0] < 100:
        rest = cells.pop()
        n = int(observed.sum())
        alarm = count_alarm(int(rest[1]), n, min(rest[0] / n, 1.0), comparisons=2 * comparisons)
        if alarm:
            return f"rare outputs: {alarm}"
    if len(cells) == 1:
        return ""
    statistic = sum((o - e) ** 2 / e for e, o in cells)
    p = float(chi2.sf(statistic, len(cells) - 1))
    return "" if p > FALSE_ALARM / (2 * comparisons) else f"chi-square of {len(cells)} cells has p = {p:.2g}"


def correlation_alarm(columns: Floats) -> str:
    """No two columns are correlated."""
    spread = columns.std(axis=0)
    varied = columns[:, spread > 0]
    if varied.shape[1] < 2:
        return ""
    pairs = np.atleast_2d(np.corrcoef(varied.T))[np.triu_indices(varied.shape[1], 1)]
    worst = float(np.abs(pairs).max() * np.sqrt(len(columns)))
    return f"a correlation of {worst:.1f} sigma" if worst > sigmas(pairs.size) * 1.1 else ""


def bits_alarm(first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8]) -> str:
    """Two samples of bit rows agree in every bit, and in the parities of 64 fixed sets of bits."""
    masks = np.random.default_rng(1).integers(0, 2, (64, first.shape[1]))
    masks = np.concatenate([np.eye(first.shape[1], dtype=np.int64), masks]).astype(np.float64)  # small sums are exact
    # The lowest bit of an integer is much faster to take than the remainder of a float.
    shares = [((rows.astype(np.float64) @ masks.T).astype(np.int64) & 1).mean(axis=0) for rows in (first, second)]
    pooled = (shares[0] + shares[1]) / 2
    spread = np.sqrt(pooled * (1 - pooled) * (1 / len(first) + 1 / len(second))) + 1e-300
    z = np.abs(shares[0] - shares[1]) / spread
    return f"a difference of {z.max():.1f} sigma" if z.max() > sigmas(z.size) * 1.1 else ""
