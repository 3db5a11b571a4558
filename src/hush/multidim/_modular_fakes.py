"""Fakes of modular subset selection: any subset of any block, or the subset of a random value.

Both are reports of residues that are drawn, evenly in each block or as the values have them: a subset of an even
residue is an even subset. So a report, real or not, is one of a mixture of residues, and the mechanism's own decoder
and error serve.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.estimation.laws import EstimateLaw
from hush.exact.thresholds import SCALE
from hush.mechanisms.modular import MSS
from hush.multidim._fakes import Fake, ValueFake
from hush.multidim.chances import uniform
from hush.multidim.loss import Extremes
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True)
class ModularFake(Fake):
    """What fakes of modular subsets share: the residues that they are of."""

    real: MSS

    @property
    @abstractmethod
    def _weights(self) -> list[list[int]]:
        """How likely a fake is of each residue of each block, as integers."""

    @cached_property
    def residues(self) -> list[Floats]:
        """The same as shares."""
        return [np.array([weight / sum(part) for weight in part]) for part in self._weights]

    @cached_property
    def _levels(self) -> list[tuple[Fraction, Fraction]]:
        """For each block, times its number of subsets, how likely one is that does not hold the residue, or does."""
        found = []
        for m, omega, keep in zip(self.real.moduli, self.real.omegas, self.real.keeps, strict=True):
            own = Fraction(keep, SCALE)
            found.append(((1 - own) * m / (m - omega), own * m / omega))
        return found

    def extremes(self) -> Extremes:
        """A subset of the residues that fakes are of least looks most real; one of the others, least."""
        pairs, least = [], []
        for (low, high), omega, part in zip(self._levels, self.real.omegas, self._weights, strict=True):
            ordered, total = sorted(part), sum(part)
            for held in (ordered[:omega], ordered[-omega:]):
                mean = low + (high - low) * Fraction(sum(held), total)
                pairs.append((high / mean, low / mean))
            least.append(pairs[-1][1])
        return Extremes(tuple(dict.fromkeys(pairs)), min(least))

    def decode(self, tally: Ints, n: int, d: int) -> Floats:
        """The mechanism's own least squares, of residues without what fakes are due to add."""
        return self.real.decode_beside(tally, 1 / d, self.residues)

    def variances(self, frequencies: npt.ArrayLike, n: int, d: int) -> Floats:
        """Exact, for blocks of as many reports each, as those of the mechanism."""
        shares = np.broadcast_to(np.asarray(frequencies, np.float64), self.real.k)
        return self.real.blocks.variances_beside(shares, 1 / d, self.residues, n)

    def law(self, tally: Ints, n: int, d: int) -> EstimateLaw | None:
        """Unknown: intervals are those of the normal law."""
        return None

    def _counts(self) -> list[int]:
        """How many subsets each block has."""
        return [math.comb(m, omega) for m, omega in zip(self.real.moduli, self.real.omegas, strict=True)]

    def _block(self, report: Any) -> int:
        return int(self.real.opened(np.asarray(report, self.real.report_dtype)[None])[0][0])


@dataclass(frozen=True)
class SubsetFake(ModularFake):
    """Any subset of any block."""

    @cached_property
    def _weights(self) -> list[list[int]]:
        return [[1] * m for m in self.real.moduli]

    def draw(self, n: int, rng: np.random.Generator) -> Reports:
        """First the blocks, then their residues, one block after the other, then the subsets of those."""
        blocks, residues = uniform(n, len(self.real.moduli), rng), np.empty(n, np.int64)
        for j, m in enumerate(self.real.moduli):
            rows = np.flatnonzero(blocks == j)
            residues[rows] = uniform(rows.size, m, rng)
        return self.real.sample_residues(blocks, residues, rng)

    @cached_property
    def denominator(self) -> int:
        """A multiple of the numbers of subsets."""
        return math.lcm(*self._counts())

    def weight(self, report: Any) -> int:
        """Given the block, all subsets are as likely."""
        return self.denominator // self._counts()[self._block(report)]

    def log_prob(self, reports: Reports) -> Floats:
        """Given the block, all subsets are as likely."""
        return np.asarray(-_log_counts(self.real)[self.real.opened(reports)[0].astype(np.intp)])


@dataclass(frozen=True)
class ModularValueFake(ValueFake, ModularFake):
    """The report of a value that is drawn from the chances."""

    @cached_property
    def _weights(self) -> list[list[int]]:
        found = [[0] * m for m in self.real.moduli]
        for part, m in zip(found, self.real.moduli, strict=True):
            for value, weight in enumerate(self.chances.weights):
                part[value % m] += weight
        return found

    def log_prob(self, reports: Reports) -> Floats:
        """By how likely a fake is of one of the residues in the subset."""
        which, members = self.real.opened(reports)
        held, low, high = np.zeros(reports.size), np.zeros(reports.size), np.zeros(reports.size)
        for j, ((less, more), part) in enumerate(zip(self._levels, self.residues, strict=True)):
            rows = np.flatnonzero(which == j)
            held[rows] = part[members[rows, : self.real.omegas[j]].astype(np.intp)].sum(axis=1)
            low[rows], high[rows] = float(less), float(more)
        return np.asarray(np.log(low + (high - low) * held) - _log_counts(self.real)[which.astype(np.intp)])


def _log_counts(m: MSS) -> Floats:
    """Logarithms of the blocks' numbers of subsets."""
    several = zip(m.moduli, m.omegas, strict=True)
    return np.array([math.lgamma(a + 1) - math.lgamma(w + 1) - math.lgamma(a - w + 1) for a, w in several])
