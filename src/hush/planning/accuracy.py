"""How far estimates are off, and how much information is lost: exact for every registered mechanism but one.

A population is fixed: n people, of whom so many hold each value. Errors are of the raw, unbiased estimate. Modular
subset selection is the exception where it says so: its decoder divides by random numbers of reports, those of its
blocks, while every other estimate is a sum over people, and its variance linear in the frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import absolute_error, information
from hush.analysis.capacity import on_lattice
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.histogram import NoisyHistogram
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.subset import SS
from hush.randomness import source
from hush.types import Floats, Ints

_MOST_PEOPLE = 10**15
_LISTED = 1 << 12  # outputs that are enumerated
_CELLS = 1 << 22
_LOOKED_AT = 1000  # up to so many people, every number of holders is looked at for the worst case


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
        if isinstance(m, MSS):
            return m.blocks.worst_variance(people)
        return max(float(m.variances(corner, people).max()) for corner in _corners(m))
    if frequencies is not None and np.ndim(frequencies) == 0:
        return m.variance(people, rules.share("frequencies", frequencies))
    if frequencies is None and isinstance(m, PureOracle):
        return m.variance(people, 1 / m.k)
    if frequencies is None and isinstance(m, MSS):
        return m.blocks.even_variance(people)
    if frequencies is None and isinstance(m, HR):
        return m.even_variance(people)
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
        return _worst_absolute(m, people)
    if frequencies is not None and np.ndim(frequencies) == 0:
        counts = _one_against_all(people, rules.share("frequencies", frequencies), m.k)
        if isinstance(m, MSS):
            return math.sqrt(2 / math.pi * m.variance(people, counts[0] / people))
        return float(_absolute(m, counts, [0])[0])
    if frequencies is None and isinstance(m, PureOracle):
        each, more = divmod(people, m.k)
        fewer, greater = _supports(m, people, np.array([each, each + 1]))
        return float((m.k - more) * fewer + more * greater) / m.k
    counts = _whole(people, _shares(frequencies, m.k))
    return float(_absolute(m, counts, range(m.k)).mean())


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
    kept = _closed_form(m) if shares is None or shares.min() == shares.max() else None
    if kept is None:
        shares = _shares(frequencies, m.k)
        listed = _listed_law(m)
        if listed is None:
            return _simulated(m, shares, reports, source(rng))
        kept = information.channel(listed[0], shares)
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


def _corners(m: FrequencyOracle) -> Iterable[Floats]:
    """Populations where all hold the same value, one of each kind."""
    kinds: Iterable[int] = range(m.k)
    if isinstance(m, (PureOracle, NoisyHistogram)):
        kinds = (0,)
    elif isinstance(m, HR):
        kinds = sorted({0, 1, min(m.blocks, m.k - 1)})
    for value in kinds:
        corner = np.zeros(m.k)
        corner[value] = 1.0
        yield corner


# Mean absolute errors.


def _absolute(m: FrequencyOracle, counts: Ints, values: Sequence[int]) -> Floats:
    """Of the estimates of these values, in a population of so many holders of each value."""
    n = int(counts.sum())
    if isinstance(m, PureOracle):
        holders, where = np.unique(counts[values], return_inverse=True)
        return _supports(m, n, holders)[where]
    if isinstance(m, NoisyHistogram):
        return np.full(len(values), _noise(m, n))
    if isinstance(m, HR):
        block = np.arange(m.k) % m.blocks
        together = np.bincount(block, counts, m.blocks)[block]
        pairs, where = np.unique(np.stack([counts, together], axis=1)[values], axis=0, return_inverse=True)
        kinds = np.stack([pairs[:, 0], pairs[:, 1] - pairs[:, 0], n - pairs[:, 1]])
        return _rows(m, n, kinds)[where.ravel()]
    listed = _listed_law(m)
    if listed is None:
        return np.asarray(np.sqrt(2 / math.pi * m.variances(counts / n, n)[values]), np.float64)
    decoded = _decoded(m, listed[1])
    return np.array([_steps(decoded[:, v], listed[0], counts[None])[0] / n for v in values])


def _worst_absolute(m: FrequencyOracle, n: int) -> float:
    """Where all hold the same value."""
    if isinstance(m, PureOracle):
        holders = np.arange(n + 1) if n <= _LOOKED_AT else np.array([0, n])
        return float(_supports(m, n, holders).max())
    if isinstance(m, NoisyHistogram):
        return _noise(m, n)
    if isinstance(m, HR):
        possible = np.array([True, m.k > m.blocks, m.blocks > 1])
        return float(_rows(m, n, n * np.eye(3)[:, possible]).max())
    listed = _listed_law(m)
    if listed is None:
        return math.sqrt(2 / math.pi * mean_squared_error(m, n, worst=True))
    decoded = _decoded(m, listed[1])
    alone = n * np.eye(m.k, dtype=np.int64)
    return max(float(_steps(decoded[:, v], listed[0], alone).max()) for v in range(m.k)) / n


def _supports(m: PureOracle, n: int, holders: Ints) -> Floats:
    """A pure oracle counts supports: binomial among the holders of a value, and among the others."""
    p, q = m.p_star, m.q_star
    ends = {0: q, n: p}
    found = np.zeros(holders.size)
    inner = ~np.isin(holders, list(ends))
    if inner.any():
        found[inner] = absolute_error.lattice([([1 - p, p], 0, holders[inner]), ([1 - q, q], 0, n - holders[inner])])
    found[~inner] = [absolute_error.binomial(n, ends[int(x)]) for x in holders[~inner]]
    return np.asarray(found / (n * (p - q)), np.float64)


def _noise(m: NoisyHistogram, n: int) -> float:
    """A one has the mirror image of a zero's noise, so it hardly matters who holds what: to eleven digits."""
    grid = m.grid
    off = float(absolute_error.lattice([(grid.probabilities, grid.lowest, n)]))
    return off / (n * (grid.unit - 2 * grid.mean))


def _rows(m: HR, n: int, kinds: npt.ArrayLike) -> Floats:
    """A report adds 1, 0 or -1 to a value's row: so many holders, others of its block, and people of other blocks."""
    p, half = m.p_star, m.width // 2
    missed = (1 - p) * half / (m.size - half)
    elsewhere = (1 - p) * (m.size - m.width) / (m.size - half)
    near = (p + missed) / 2
    laws = [missed, elsewhere, p], [near, elsewhere, near], [missed, 1 - 2 * missed, missed]
    parts = [(law, -1, many) for law, many in zip(laws, np.asarray(kinds), strict=True)]
    return np.asarray(absolute_error.lattice(parts) / (n * (p - missed)), np.float64)


def _steps(decoded: Floats, law: Floats, populations: Ints) -> Floats:
    """What reports add to a value's estimate, times n: exactly if on a lattice, else by Edgeworth's correction."""
    lattice = on_lattice(decoded)
    if lattice is None:
        means = decoded @ law
        second, third, fourth = (((decoded[:, None] - means) ** j * law).sum(axis=0) for j in (2, 3, 4))
        cumulants = populations @ np.stack([second, third, fourth - 3 * second**2], axis=1)
        return np.array([absolute_error.edgeworth(*row) for row in cumulants])
    step, places = lattice
    laws = np.array([np.bincount(places, column) for column in law.T])
    kinds, kind = np.unique(np.round(laws, 15), axis=0, return_inverse=True)
    members = np.eye(len(kinds), dtype=np.int64)[kind.ravel()]
    rows, where = np.unique(populations @ members, axis=0, return_inverse=True)
    parts = [(laws[np.argmax(members[:, j])], 0, rows[:, j]) for j in range(len(kinds))]
    return np.asarray(step * absolute_error.lattice(parts)[where.ravel()], np.float64)


# Information.


def _closed_form(m: FrequencyOracle) -> float | None:
    """The efficiency at equal frequencies, where there is a formula."""
    if isinstance(m, (GRR, SS)):
        return information.subset(m.k, m.omega if isinstance(m, SS) else 1, m.p_star)
    if isinstance(m, HR):
        return information.hadamard(m.k, m.blocks, m.width, m.p_star)
    if isinstance(m, PGR):
        high, low = m.p_star / m.favoured, (1 - m.p_star) / (m.size - m.favoured)
        return information.two_levels(m.k, m.favoured_sums(np.ones(m.k)), high, low)
    if isinstance(m, MSS):
        blocks = zip(m.moduli, m.omegas, m.blocks.p.tolist(), strict=True)
        return sum(information.modular(m.k, *block) for block in blocks) / len(m.moduli)
    if isinstance(m, Hashed):
        return information.bits(m.k, m.p_star, m.q_star)
    if type(m).coordinate_law is not FrequencyOracle.coordinate_law:
        return information.product(m.k, *m.coordinate_law())
    return None


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


# The exact law of a mechanism with few outputs.


def _listed_law(m: FrequencyOracle) -> tuple[Floats, npt.NDArray[np.generic]] | None:
    """Probabilities of outputs as [output, value], and the outputs; None where they are too many or some are public."""
    if len(m.publics()) > 1:
        return None
    try:
        outputs = m.outputs(None)
    except ParameterError:
        return None
    if outputs.size > _LISTED or outputs.size * m.k > _CELLS:
        return None
    scores = m.scores(outputs)
    law = np.zeros(scores.shape)
    for i, y in enumerate(outputs):
        best = int(np.argmax(scores[i]))
        most = m.copies(y) * m.weight(y, best) / m.denominator
        if most:
            law[i] = most * (scores[i] == np.inf if scores[i, best] == np.inf else np.exp(scores[i] - scores[i, best]))
    return law, outputs


def _decoded(m: FrequencyOracle, outputs: npt.NDArray[np.generic]) -> Floats:
    """What each output alone says of each value's frequency."""
    return np.array([m.decode(m.tally(outputs[i : i + 1]), 1) for i in range(outputs.size)])
