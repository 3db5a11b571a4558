"""What one fake report decodes to, summed over the targets: closed forms, and enumeration for any other mechanism."""

from __future__ import annotations

from functools import lru_cache, singledispatch

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import manipulation
from hush.attacks import _modular
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import LH
from hush.mechanisms.hashing.hashed import RING, Hashed
from hush.mechanisms.histogram import NoisyHistogram, ServerTHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.mechanisms.wheel import Wheel
from hush.types import Floats, Reports, Values

Targets = int | Values
"""Values; or how many, which stands for the set of that size with the largest sum."""


def count(targets: Targets) -> int:
    """How many targets."""
    return targets if isinstance(targets, int) else targets.size


@singledispatch
def maximal_sum(m: FrequencyOracle, targets: Targets) -> float:
    """The largest sum over the targets that one report decodes to.

    Args:
        m: The mechanism; one without a closed form is enumerated.
        targets: Values, or how many: then of the set of that size for which it is largest.
    """
    return float(_sums(m, outputs(m)[0], targets).max())


@maximal_sum.register
def _(m: GRR, targets: Targets) -> float:
    return _pure(m, targets, 1)


@maximal_sum.register
def _(m: SS, targets: Targets) -> float:
    return _pure(m, targets, min(count(targets), m.omega))


@maximal_sum.register
def _(m: UE | Hashed | ServerTHE, targets: Targets) -> float:
    return _pure(m, targets, count(targets))


@maximal_sum.register
def _(m: LH, targets: Targets) -> float:
    """A hash function can send all values to one bucket, unless it must be of a public family."""
    if m.hash != "family":
        return _pure(m, targets, count(targets))
    most = int(m.bucket_sizes().max()) if isinstance(targets, int) else int(m.bucket_sizes(targets).max())
    return _pure(m, targets, min(count(targets), most))


@maximal_sum.register
def _(m: NoisyHistogram, targets: Targets) -> float:
    return manipulation.histogram(m.grid.unit, m.grid.mean, count(targets), m.grid.highest)


@maximal_sum.register
def _(m: HR, targets: Targets) -> float:
    """The first column of a block supports all of its values; values of other blocks decode to nothing."""
    if isinstance(targets, int):
        return min(targets, -(-m.k // m.blocks)) / m._gap
    return float(np.bincount(m._place(targets)[0]).max() / m._gap)


@maximal_sum.register
def _(m: PGR, targets: Targets) -> float:
    """The first values fill a hyperplane, so some message favours as many as there are messages that favour a value."""
    if isinstance(targets, int):
        return _pure(m, targets, min(targets, m.favoured))
    wanted = np.zeros(m.k, np.int32)
    wanted[targets] = 1
    return _pure(m, targets, int(m.favoured_sums(wanted).max()))


@maximal_sum.register
def _(m: MSS, targets: Targets) -> float:
    return _modular.largest(m, targets)


@singledispatch
def random_sum(m: FrequencyOracle, targets: Targets) -> float:
    """The mean over uniform reports of the sum over the targets that they decode to.

    Args:
        m: The mechanism; one without a closed form is enumerated.
        targets: Values, or how many: then of the set of that size for which it is largest.
    """
    return _largest(_means(m, *outputs(m)), targets)


@random_sum.register
def _(m: GRR, targets: Targets) -> float:
    return _pure(m, targets, count(targets) / m.k)


@random_sum.register
def _(m: SS, targets: Targets) -> float:
    return _pure(m, targets, count(targets) * m.omega / m.k)


@random_sum.register
def _(m: UE, targets: Targets) -> float:
    return _pure(m, targets, count(targets) / 2)


@random_sum.register
def _(m: LH, targets: Targets) -> float:
    return _pure(m, targets, count(targets) / m.g)


@random_sum.register
def _(m: Wheel, targets: Targets) -> float:
    return _pure(m, targets, count(targets) * m.arc / RING)


@random_sum.register
def _(m: NoisyHistogram, targets: Targets) -> float:
    return manipulation.histogram(m.grid.unit, m.grid.mean, count(targets), m.grid.unit / 2)


@random_sum.register
def _(m: ServerTHE, targets: Targets) -> float:
    above = (m.grid.highest - m._limit) / (m.grid.highest - m.grid.lowest + 1)
    return _pure(m, targets, count(targets) * above)


@random_sum.register
def _(m: PGR, targets: Targets) -> float:
    return _pure(m, targets, count(targets) * m.favoured / m.size)


@random_sum.register
def _(m: MSS, targets: Targets) -> float:
    return _modular.mean(m, targets)


@random_sum.register
def _(m: HR, targets: Targets) -> float:
    """Every row but the first has as many -1 as +1."""
    return 0.0


def _pure(m: PureOracle, targets: Targets, supported: float) -> float:
    return manipulation.pure(m.p_star, m.q_star, count(targets), supported)


# Enumeration.


@lru_cache(maxsize=8)
def outputs(m: FrequencyOracle) -> tuple[Reports, Floats]:
    """One report of each kind, for each public randomness that the mechanism lists, and its share of all reports."""
    reports, shares = [], []
    publics = m.publics()
    for public in publics:
        found = m.outputs(public)
        if len(publics) * len(found) > rules.MAX_OUTPUTS:
            rule = f"must leave at most {rules.MAX_OUTPUTS} outputs to enumerate"
            remedy = "register maximal_sum, random_sum, maximal_reports and random_reports for its class"
            raise ParameterError(message("k", rule, m.k, remedy))
        copies = np.array([float(m.copies(y)) for y in found])
        reports.append(found)
        shares.append(copies / (copies.sum() * len(publics)))
    return np.concatenate(reports), np.concatenate(shares)


@lru_cache(maxsize=32)
def best(m: FrequencyOracle, targets: tuple[int, ...]) -> Reports:
    """The reports with the largest sum over the targets."""
    reports = outputs(m)[0]
    sums = _sums(m, reports, np.array(targets))
    return reports[np.isclose(sums, sums.max(), rtol=1e-9, atol=1e-12)]


def _sums(m: FrequencyOracle, reports: Reports, targets: Targets) -> Floats:
    """What each report decodes to over the targets."""
    if isinstance(m, PureOracle):
        among = range(m.k) if isinstance(targets, int) else targets
        supported = np.zeros(reports.size)
        for v in among:
            supported += m.supports(reports, np.full(reports.size, v))
        return manipulation.pure(m.p_star, m.q_star, count(targets), np.minimum(supported, count(targets)))
    return np.array([_largest(_decoded(m, y), targets) for y in reports])


def _means(m: FrequencyOracle, reports: Reports, shares: Floats) -> Floats:
    """What reports decode to on average, for each value."""
    if isinstance(m, PureOracle):
        chances = np.array([shares @ m.supports(reports, np.full(reports.size, v)) for v in range(m.k)])
        return manipulation.pure(m.p_star, m.q_star, 1, chances)
    total = np.zeros(m.k)
    for y, share in zip(reports, shares, strict=True):
        total += share * _decoded(m, y)
    return total


def _decoded(m: FrequencyOracle, report: npt.ArrayLike) -> Floats:
    return m.decode(m.tally(np.asarray(report, m.report_dtype)[None]), 1)


def _largest(decoded: Floats, targets: Targets) -> float:
    """The sum over the targets, or over so many values with the largest."""
    return float(np.sort(decoded)[-targets:].sum() if isinstance(targets, int) else decoded[targets].sum())
