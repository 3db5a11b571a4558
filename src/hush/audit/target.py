"""What can be audited: anything that turns a value into a report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.mechanisms._base import FrequencyOracle, Reports
from hush.mechanisms._keep import TwoLevel
from hush.mechanisms.histogram import NoisyHistogram
from hush.mechanisms.unary import UE

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """The promise under audit."""

    epsilon: float
    delta: float = 0.0

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-LDP" if self.delta else f"{self.epsilon:g}-LDP"


class Target(ABC):
    """Something that turns a value into a report."""

    name: str
    k: int
    claim: Claim | None
    threaded: bool = False
    """Whether draws may run on several threads at once."""

    @abstractmethod
    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """So many reports of one value; `rng` is for those that can be seeded."""

    def features(self, reports: Reports) -> Floats:
        """Numbers that a classifier can read, one row for each report."""
        raise NotImplementedError(f"{self.name} has no features")


@dataclass(frozen=True)
class MechanismTarget(Target):
    """A mechanism of Hush, or one that derives from its base class."""

    mechanism: FrequencyOracle
    threaded: bool = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The mechanism's name."""
        return self.mechanism.name()

    @property
    def k(self) -> int:  # type: ignore[override]
        """The number of values."""
        return self.mechanism.k

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What the mechanism promises."""
        promise = self.mechanism.guarantee
        return None if promise is None else Claim(promise.epsilon, getattr(promise, "delta", 0.0))

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Reports of one value."""
        reports: Reports = self.mechanism.privatize(np.full(size, value), rng=rng)
        return reports

    def features(self, reports: Reports) -> Floats:
        """Every number and bit of the records."""
        return unpacked(reports)


@singledispatch
def log_ratio(m: FrequencyOracle, reports: Reports, first: int, second: int) -> Floats:
    """How much likelier each report is under the first value than under the second, in logarithm."""
    ones, twos = (m._log_prob(reports, np.full(reports.size, value)) for value in (first, second))
    with np.errstate(invalid="ignore"):
        return np.where(ones == twos, 0.0, ones - twos)


@log_ratio.register
def _(m: TwoLevel, reports: Reports, first: int, second: int) -> Floats:
    return _supported(m, reports, first, second, m._log_favour)


@log_ratio.register
def _(m: UE, reports: Reports, first: int, second: int) -> Floats:
    return _supported(m, reports, first, second, m._pair_loss())


@log_ratio.register
def _(m: NoisyHistogram, reports: Reports, first: int, second: int) -> Floats:
    steps = reports["steps"]
    ratios = m._log_ratios
    ones, twos = (ratios[steps[:, value].astype(np.int64) - m.grid.lowest] for value in (first, second))
    with np.errstate(invalid="ignore"):
        return np.where(ones == twos, 0.0, ones - twos)


def _supported(m: Any, reports: Reports, first: int, second: int, favour: float) -> Floats:
    """Of two levels: one value is supported and the other is not, or neither tells them apart."""
    ones, twos = (m.supports(reports, np.full(reports.size, value)) for value in (first, second))
    return np.where(ones == twos, 0.0, np.where(ones, favour, -favour))


def unpacked(reports: Reports) -> Floats:
    """Every number in the records, and every bit of those that are bytes."""
    if reports.dtype.names is None:
        return reports.reshape(reports.size, -1).astype(np.float64)
    columns = []
    for name in reports.dtype.names:
        field = reports[name].reshape(reports.size, -1)
        columns.append(np.unpackbits(field, axis=1, bitorder="little") if field.dtype == np.uint8 else field)
    return np.concatenate([column.astype(np.float64) for column in columns], axis=1)
