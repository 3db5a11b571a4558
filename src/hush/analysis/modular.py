"""Exact error of modular subset selection.

Arcolezi, "Private frequency estimation via residue number systems" (2025), section 4.3, corrected: the
covariance of a block is that of subset selection (it is not multinomial unless subsets have one member), its rows sum
to zero, blocks are independent for people drawn independently, and equation 3 needs G = A_w⁺ W^{1/2}.

For a fixed population of n, blocks are samples without replacement from it. With G A = I the covariance of the estimate
is then that for independent people less (diag f - f f')/n, to a relative 1/n. Blocks are taken to have n/l reports each
unless their numbers are given: that is too small by about l/n of itself, which shows where reports are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import modular_even, modular_worst
from hush.analysis.modular_system import System, rank
from hush.analysis.modular_worst import Worst
from hush.kernels import chunks
from hush.types import Floats, Ints

EXACT_TERMS = 5e9
"""Values times residues up to which error bars are exact: about two seconds of work."""
_HEAVY, _FEW = 0.01, 64
"""Residues this frequent, and about so many of all blocks, are looked at one by one in error bars beyond that."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """What the error depends on.

    Args:
        k: Number of values.
        moduli: One for each block.
        omegas: Subset sizes.
        p: Probabilities that a subset holds its own residue.
    """

    k: int
    moduli: tuple[int, ...]
    omegas: Ints
    p: Floats

    @cached_property
    def m(self) -> Floats:
        """The moduli, as numbers to calculate with."""
        return np.array(self.moduli, np.float64)

    @cached_property
    def q(self) -> Floats:
        """Probabilities that a subset holds a given other residue."""
        return np.asarray((self.omegas - self.p) / (self.m - 1))

    @cached_property
    def weights(self) -> Floats:
        """What one report of each block is worth: one over the variance of a residue's estimate, at the mean frequency.

        >>> e = 2.718281828459045
        >>> float(Blocks(12, (12,), np.array([3]), np.array([3 * e / (3 * e + 9)])).weights[0].round(12))
        0.322371068789
        """
        level = self.omegas / self.m
        return np.asarray((self.p - self.q) ** 2 / (level * (1 - level)))

    @cached_property
    def system(self) -> System:
        """Least squares when all blocks have as many reports."""
        return System(self.k, self.moduli, self.weights)

    @cached_property
    def moments(self) -> tuple[Floats, Floats, Floats, Floats]:
        """(a, b, c, d): a debiased report of residue r has covariance a I + b 11' + c (e_r 1' + 1 e_r') + d e_r e_r'"""
        p, q, m, w = self.p, self.q, self.m, self.omegas.astype(np.float64)
        mixed = p * (w - 1) / (m - 1) - p * q
        pairs = (m - 1) * np.maximum(m - 2, 1)  # with two residues there is no pair of others, and any number will do
        both = np.where(m > 2, (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / pairs - q * q, 0.0)
        alone = q * (1 - q) - both
        extra = p * (1 - p) - alone - both - 2 * (mixed - both)
        gap = (p - q) ** 2
        return alone / gap, both / gap, (mixed - both) / gap, extra / gap

    def covariance(self, j: int, residues: Floats) -> Floats:
        """Of one report's debiased residues in block j, for a person drawn from these frequencies."""
        a, b, c, d = (part[j] for part in self.moments)
        g = np.asarray(residues, np.float64)
        return np.asarray(
            a * np.eye(g.size) + b + c * (g + g[:, None]) + (d + 1) * np.diag(g) - np.outer(g, g), np.float64
        )

    def variances(
        self, frequencies: Floats, n: float = 1.0, *, people: Floats | None = None, fixed: bool = True
    ) -> Floats:
        """Of every value's estimate, exactly: no matrix, O(k · sum of moduli) time.

        Args:
            frequencies: How frequent each value is.
            n: Number of reports.
            people: How many of them each block has; n/l if left out.
            fixed: For a fixed population; else for people drawn independently.
        """
        f = np.asarray(frequencies, np.float64)
        shares = np.full(self.m.size, 1.0 / self.m.size) if people is None else people / n
        system = self.system if people is None else System(self.k, self.moduli, self.weights * shares)
        noise, spread = self._parts(system, system.folded(f), shares)
        if fixed:
            spread = np.maximum(spread - f + f * f, 0.0)  # a sum of squares, but for rounding
        return np.asarray((noise + spread) / n)

    def variances_beside(self, frequencies: Floats, share: float, others: Sequence[Floats], n: float) -> Floats:
        """As `variances` of a fixed population, of whom only a share, drawn at random, sends reports of their own.

        Args:
            frequencies: How frequent each value is.
            share: How many send reports of their own.
            others: What the residues that the others send are drawn from, by block.
            n: Number of reports, those of the others included.
        """
        f, system = np.asarray(frequencies, np.float64), self.system
        mixed = [share * own + (1 - share) * other for own, other in zip(system.folded(f), others, strict=True)]
        noise, spread = self._parts(system, mixed, np.full(self.m.size, 1.0 / self.m.size))
        return np.asarray(np.maximum((noise + spread) / share**2 - f + f * f, 0.0) / n)

    def _parts(self, system: System, folded: list[Floats], shares: Floats) -> tuple[Floats, Floats]:
        """The two parts of the variances, for residues of these frequencies."""
        return (self._dense if system.small else self._structured)(system, folded, shares)

    @property
    def terms(self) -> int:
        """What `variances` costs: values times residues."""
        return self.k * sum(self.moduli)

    @cached_property
    def scales(self) -> Floats:
        """What a block's covariance is multiplied by, between two inverses of N, if all have as many reports."""
        return self._scales(self.system, np.full(self.m.size, 1.0 / self.m.size))

    def _scales(self, system: System, shares: Floats) -> Floats:
        return np.asarray(system.weights**2 / np.where(shares > 0, shares, 1.0))

    def _dense(self, system: System, folded: list[Floats], shares: Floats) -> tuple[Floats, Floats]:
        """The two parts of the variances: noise of the subsets, and who is in which block."""
        noise, spread, at = np.zeros(self.k), np.zeros(self.k), 0
        for j, (g, m) in enumerate(zip(folded, self.moduli, strict=True)):
            a, b, c, d = (part[j] for part in self.moments)
            block = system.gain[:, at : at + m] * np.sqrt(system.weights[j] / (shares[j] or 1.0))
            level, seen, squares = block.sum(axis=1), block @ g, block**2 @ g
            noise += a * (block**2).sum(axis=1) + b * level**2 + 2 * c * level * seen + d * squares
            spread += squares - seen**2
            at += m
        return noise, spread

    def _structured(self, system: System, folded: list[Floats], shares: Floats) -> tuple[Floats, Floats]:
        """As `_dense`, without a matrix."""
        from hush.kernels.modular import row_squares

        a, b, c, d = self.moments
        scales = self._scales(system, shares)
        level = system.solve(np.ones(self.k))
        system.first  # noqa: B018  made before threads ask for it

        def part(j: int, _: int) -> tuple[Floats, Floats]:
            squares = np.zeros(self.k)
            seen = system.solve(folded[j][np.arange(self.k) % self.moduli[j]])
            row_squares(system.first, self.moduli[j], folded[j], 1.0, squares)
            noise = b[j] * level**2 + 2 * c[j] * level * seen + d[j] * squares
            return scales[j] * noise, scales[j] * (squares - seen**2)

        parts = chunks.each(len(self.moduli), 1, part)
        noise = system.sandwich_diagonal(scales * a) + sum(noise for noise, _ in parts)
        return np.asarray(noise), np.asarray(sum(spread for _, spread in parts))

    def flat_variances(self, n: float = 1.0) -> Floats:
        """Of every value's estimate, for people drawn independently whose residues are equally frequent in each block.

        Three solutions, O(k l) each: what moduli are compared by. Where all values are equally frequent, residues are
        so but for the remainder of k, and this is the variance to a relative 1/k.
        """
        a, b, c, d = self.moments
        level = self.system.solve(np.ones(self.k))
        found = self.system.sandwich_diagonal(self.scales * (a + (d + 1) / self.m))
        constant = float((self.scales * (b + 2 * c / self.m - 1 / self.m**2)).sum())
        return np.asarray((found + constant * level**2) / n)

    def even_variance(self, n: float = 1.0) -> float:
        """The mean over the values, in a fixed population with equal frequencies: exact, and quick for any k."""
        return self._even_variance_of_one / n

    @cached_property
    def _even_variance_of_one(self) -> float:
        return self.variance(1 / self.k)

    def variance(self, frequency: float, n: float = 1.0) -> float:
        """The mean over the values of their variance in a fixed population where each, in its turn, has this frequency.

        The others share the rest equally. Exact, and quick for any k.
        """
        of = modular_even.dense_mean_variance if self.system.small else modular_even.mean_variance
        return of(self, frequency) / n

    @cached_property
    def worst(self) -> Worst:
        """The largest variance of a value's estimate in any population, for one report: a bound, and one reached."""
        return modular_worst.worst(self)

    def worst_variance(self, n: float = 1.0) -> float:
        """A bound of the variance of any value's estimate in any population (see `hush.analysis.modular_worst`).

        Some population comes within half a per cent of it for k up to about 5,000, and with the usual moduli up to
        epsilon 8 for any k. Elsewhere it was at most 1.6 times what is reached, in all that was tried.
        """
        return self.worst.bound / n

    def own_and_rest(self, j: int) -> tuple[Floats, Floats]:
        """Every value's own entry of the inverse of N, folded by modulus j, and the sum of squares of its others."""
        own = self.system.own_entries(self.moduli[j])
        rows = self.system.sandwich_diagonal(np.eye(1, self.m.size, j)[0])
        return own, np.maximum(rows - own**2, 0.0)

    def estimated_variances(self, frequencies: Floats, n: float, people: Floats) -> Floats:
        """What error bars are made of: exact for blocks of so many people, or nearly so where that takes too long.

        Where the blocks that have reports do not determine all values, all are taken to have as many.
        """
        if self.terms > EXACT_TERMS:
            return self.near_variances(frequencies, n)
        return self.variances(frequencies, n, people=people if self.determined(people) else None)

    def determined(self, people: npt.NDArray[Any]) -> bool:
        """Whether the blocks that have reports, with so many people each, determine all values."""
        used = [m for m, size in zip(self.moduli, people, strict=True) if size > 0]
        return bool(used) and rank(self.k, used) == self.k

    def near_variances(self, frequencies: Floats, n: float = 1.0) -> Floats:
        """As `variances` for a fixed population, with most residues of a block taken to be equally frequent.

        What error bars are made of where there are very many values. A value's own residues and the most frequent
        ones have their true frequencies. The noise of the subsets is that of such frequencies, and so is above zero.
        """
        f = np.asarray(frequencies, np.float64)
        a, b, c, d = self.moments
        noise, spread = np.zeros(self.k), f * f - f
        level = self.system.solve(np.ones(self.k))
        for j, g in enumerate(self.system.folded(f)):
            squares, seen, rows = self._mostly_even(j, g, level)
            exact = self.system.solve(g[np.arange(self.k) % self.moduli[j]])
            noise += self.scales[j] * (a[j] * rows + b[j] * level**2 + 2 * c[j] * level * seen + d[j] * squares)
            spread += self.scales[j] * (squares - exact**2)
        return np.asarray((noise + np.maximum(spread, 0.0)) / n)

    def _mostly_even(self, j: int, g: Floats, level: Floats) -> tuple[Floats, Floats, Floats]:
        """The means of the squares and of the entries of every value's row of block j, and the sum of squares."""
        m, residue = self.moduli[j], np.arange(self.k) % self.moduli[j]
        own, rest = self.own_and_rest(j)
        rows = rest + own**2
        left, others, many = 1 - g[residue], level - own, np.full(self.k, m - 1.0)
        squares, seen = g[residue] * own**2, g[residue] * own
        for r in np.argsort(-g, kind="stable")[: min(max(2, _FEW // len(self.moduli)), m - 2)]:
            if g[r] < _HEAVY:
                break
            here = residue != r
            column = np.where(here, self.system.solve((residue == r).astype(np.float64)), 0.0)
            squares += g[r] * column**2
            seen += g[r] * column
            rest, others, left, many = rest - column**2, others - column, left - g[r] * here, many - here
        share = left / many
        return squares + share * np.maximum(rest, 0.0), seen + share * others, rows
