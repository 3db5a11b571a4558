"""Exact error of modular subset selection.

Arcolezi, "Private frequency estimation via residue number systems" (2025), section 4.3, corrected: the
covariance of a block is that of subset selection (it is not multinomial unless subsets have one member), its rows sum
to zero, blocks are independent for people drawn independently, and equation 3 needs G = A_w⁺ W^{1/2}.

For a fixed population of n, blocks are samples without replacement from it. With G A = I the covariance of the estimate
is then that for independent people less (diag f - f f')/n, to a relative 1/n. Blocks are taken to have n/l reports each
unless their numbers are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hush.analysis.modular_system import System
from hush.kernels import chunks

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_EXACT = 4_096
"""Values up to which the mean error is exact."""
_LOOKED_AT = 256
"""Values up to which all pairs are looked at for the worst error."""


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
        found = self._dense(system, f, shares) if system.small else self._structured(system, f, shares)
        return np.asarray((found - (f - f * f if fixed else 0.0)) / n)

    def _scales(self, system: System, shares: Floats) -> Floats:
        """What a block's covariance is multiplied by, between two inverses of N."""
        return np.asarray(system.weights**2 / np.where(shares > 0, shares, 1.0))

    def _dense(self, system: System, f: Floats, shares: Floats) -> Floats:
        from scipy.linalg import lstsq

        design = system.dense()
        gain = lstsq(design, np.eye(design.shape[0]), lapack_driver="gelsy")[0]
        found, at = np.zeros(self.k), 0
        for j, (part, m) in enumerate(zip(system.folded(f), self.moduli, strict=True)):
            block = gain[:, at : at + m] * np.sqrt(system.weights[j])
            if shares[j] > 0:
                found += ((block @ self.covariance(j, part)) * block).sum(axis=1) / shares[j]
            at += m
        return found

    def _structured(self, system: System, f: Floats, shares: Floats) -> Floats:
        from hush.kernels.modular import row_squares

        a, b, c, d = self.moments
        scales = self._scales(system, shares)
        found = system.sandwich_diagonal(scales * a)
        level = system.solve(np.ones(self.k))
        folded = system.folded(f)
        system.first  # noqa: B018  made before threads ask for it

        def part(j: int, _: int) -> Floats:
            spread = np.zeros(self.k)
            unweighted = folded[j][np.arange(self.k) % self.moduli[j]]
            seen = system.solve(unweighted)
            row_squares(system.first, self.moduli[j], folded[j], scales[j] * (d[j] + 1), spread)
            return np.asarray(spread + scales[j] * (b[j] * level**2 + 2 * c[j] * level * seen - seen**2))

        return np.asarray(found + sum(chunks.each(len(self.moduli), 1, part)))

    def flat_variances(self, n: float = 1.0) -> Floats:
        """Of every value's estimate, for people drawn independently whose residues are equally frequent in each block.

        Three solutions, O(k l) each: what moduli are compared by. Where all values are equally frequent, residues are
        so but for the remainder of k, and this is the variance to a relative 1/k.
        """
        a, b, c, d = self.moments
        scales = self.weights**2 * self.m.size
        level = self.system.solve(np.ones(self.k))
        found = self.system.sandwich_diagonal(scales * (a + (d + 1) / self.m))
        constant = float((scales * (b + 2 * c / self.m - 1 / self.m**2)).sum())
        return np.asarray((found + constant * level**2) / n)

    def even_variance(self, n: float = 1.0) -> float:
        """The mean over the values, in a fixed population with equal frequencies.

        Exact up to 4,096 values; beyond, residues are taken to be equally frequent too, which is right to 0.1 % up to
        epsilon 4.
        """
        even = 1 / self.k
        if self.k <= _EXACT:
            return float(self.variances(np.full(self.k, even), n).mean())
        return float(self.flat_variances().mean() - even + even**2) / n

    def worst_variance(self, n: float = 1.0) -> float:
        """The largest variance of a value's estimate in any population: where all hold one value.

        Exact up to 256 values. Beyond, only the value that all hold is looked at, and values that share no residue
        with it, whose part in its estimate is taken to be none.
        """
        a, b, c, d = self.moments
        scales = self.weights**2 * self.m.size
        level = self.system.solve(np.ones(self.k))
        base = self.system.sandwich_diagonal(scales * a) + float(scales @ b) * level**2
        if self.k > _LOOKED_AT:
            found = base.copy()
            for j, m in enumerate(self.moduli):
                entries = self._own(m)
                found += scales[j] * (2 * c[j] * level * entries + d[j] * entries**2)
            return float(max(found.max(), base.max())) / n
        inverse = np.linalg.inv(self.system.normal())
        found = np.tile(base[:, None], self.k)
        for j, m in enumerate(self.moduli):
            residue = np.arange(self.k) % m
            seen = np.array([np.bincount(residue, row, m) for row in inverse])[:, residue]
            found += scales[j] * (2 * c[j] * level[:, None] * seen + d[j] * seen**2)
        return float(found.max()) / n

    def _own(self, m: int) -> Floats:
        """Every value's own entry of the inverse of N, folded by a modulus."""
        from hush.kernels.modular import own_entries

        entries = np.empty(self.k)
        own_entries(self.system.first, m, entries)
        return entries

    @cached_property
    def _local(self) -> tuple[list[Floats], list[Floats]]:
        """For each block, every value's own entry of the folded inverse, squared, and the sum of squares of its row."""
        own, rows = [], []
        for j, m in enumerate(self.moduli):
            own.append(self._own(m) ** 2)
            rows.append(self.system.sandwich_diagonal(np.eye(self.m.size)[j]))
        return own, rows

    def near_variances(self, frequencies: Floats, n: float = 1.0) -> Floats:
        """As `variances` for a fixed population, with other residues of a block taken to be equally frequent.

        What error bars are made of where there are many values: O(k l) once the rows are known. Every value's own
        residues have their true frequencies; the others', averaged over some thousands, matter little.
        """
        f = np.asarray(frequencies, np.float64)
        a, b, c, d = self.moments
        own, rows = self._local
        found = np.zeros(self.k)
        level = self.system.solve(np.ones(self.k))
        for j, g in enumerate(self.system.folded(f)):
            m = self.moduli[j]
            mine = g[np.arange(self.k) % m]
            spread = a[j] * rows[j] + (d[j] + 1) * (mine * own[j] + (1 - mine) * (rows[j] - own[j]) / (m - 1))
            seen = self.system.solve(mine)
            found += self.weights[j] ** 2 * self.m.size * (spread + b[j] * level**2 + 2 * c[j] * level * seen - seen**2)
        return np.asarray(np.maximum(found - f + f * f, 0.0) / n)
