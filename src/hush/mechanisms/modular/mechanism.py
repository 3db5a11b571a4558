"""Modular subset selection (MSS).

Arcolezi, "Private frequency estimation via residue number systems" (2025): a report is the number of a modulus, drawn
at random, and a subset of its residues that likely holds the value's. Frequencies are the weighted least squares
solution from all residues. Corrected where it is wrong: blocks are debiased by their number of reports, subsets have at
least one member, moduli determine all values if 1 + sum (m_j - 1) >= k, and no ridge is added, which would bias.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import exact, rules
from hush.analysis import success
from hush.analysis.modular import Blocks
from hush.analysis.modular_system import System
from hush.errors import ParameterError, ReportError, Unsaid, message
from hush.estimation import Aggregate, Estimate, possible
from hush.estimation.bounds import Terms
from hush.estimation.consistency import simplex
from hush.exact.enumeration import check_few
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.modular import moduli, weighing
from hush.mechanisms.modular.bounds import even_terms
from hush.mechanisms.modular.forms import ModularForms
from hush.mechanisms.subset import checked, known
from hush.mechanisms.subset.lengths import joint_bits, joint_bytes
from hush.mechanisms.sums import total_law
from hush.people.domain import Domain
from hush.simulation.subsets import subset_members
from hush.types import Floats, Ints, Reports, Values

_LONG = 64
"""From so many members of a subset on, reports are counted in a way that is faster for long ones."""


@dataclass(frozen=True, kw_only=True)
class MSS(FrequencyOracle):
    """Report a random subset of the residues modulo one of several numbers.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        moduli: Pairwise coprime integers from 2 to k, with a product and 1 + sum (m - 1) of at least k. Left out, they
            are chosen for a small error among those that are well conditioned; `hush.choose_moduli` weighs other
            things, too.
        code: How a subset is written: "sorted", after the number of its modulus, or "enumerative", one number for both,
            as for `hush.SS`.
        ell: How many moduli are chosen; the best number of them if left out. Once they are, it is their number.

    >>> MSS(k=20, epsilon=0.5, moduli=(7, 11, 5)).omegas
    (2, 4, 1)
    >>> MSS(k=1000, epsilon=2.0, ell=3).moduli
    (547, 631, 821)
    """

    moduli: tuple[int, ...] = None  # type: ignore[assignment]
    code: str = "sorted"
    ell: int = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    full_name: ClassVar[str] = "modular subset selection"
    companion: ClassVar[type[Forms]] = ModularForms
    family: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = None if self.ell is None else moduli.checked_number(self.ell)
        chosen = moduli.usual_moduli(self.k, self.epsilon, wanted) if self.moduli is None else self.moduli
        self._set(moduli=moduli.checked(self.k, chosen))
        if wanted not in (None, len(self.moduli)):
            rule = f"must be the number of moduli, {len(self.moduli)}, where they are given"
            raise ParameterError(message("ell", rule, wanted, "leave out one of both"))
        self._set(ell=len(self.moduli))
        self._set(code=checked(self.code, max(self.moduli)))

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes; the number of moduli is told by the moduli."""
        plain = {name: value for name, value in super().parameters.items() if name != "ell"}
        return known({**plain, "moduli": list(self.moduli)})

    @cached_property
    def omegas(self) -> tuple[int, ...]:
        """Subset sizes: the integer part of m/(e^epsilon + 1), at least 1."""
        return tuple(moduli.subset_sizes(self.moduli, self.epsilon))

    @cached_property
    def keeps(self) -> tuple[int, ...]:
        """Out of 2^64, the probability that a subset holds the value's own residue, for each modulus."""
        return tuple(exact.keep(self.epsilon, w, m - w) for m, w in zip(self.moduli, self.omegas, strict=True))

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"keep": " ".join(map(str, self.keeps)), "omega": " ".join(map(str, self.omegas))}

    @cached_property
    def blocks(self) -> Blocks:
        """Probabilities, weights and the exact error of every block."""
        return Blocks(self.k, self.moduli, np.array(self.omegas), np.array([keep / SCALE for keep in self.keeps]))

    # Reports.

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The block, then ascending residues, filled up with zeros; or one number for all of it, little-endian."""
        if self.code == "sorted":
            subset = "subset", unsigned(max(self.moduli) - 1), (max(self.omegas),)
            return np.dtype([("block", unsigned(len(self.moduli) - 1)), subset])
        return np.dtype([("number", "u1", (joint_bytes(self.moduli, self.omegas),))])

    @cached_property
    def _arrays(self) -> tuple[Ints, Ints, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        from hush.kernels.words import rejection

        reject = np.array([rejection(m - 1) for m in self.moduli], np.uint64)
        return np.array(self.moduli), np.array(self.omegas), np.array(self.keeps, np.uint64), reject

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Of each value a block, and a subset of its residues."""
        from hush.kernels.subsets import select

        if self.code == "sorted":
            out = np.zeros(values.size, self.report_dtype)
            select(rng, values, *self._arrays, out["block"], out["subset"])
            return out
        which, members = self._room(values.size)
        select(rng, values, *self._arrays, which, members)
        return self.packed(which, members)

    def sample_residues(self, blocks: Ints, residues: Values, rng: np.random.Generator) -> Reports:
        """Subsets of residues in blocks that are given: one block after the other, each for its rows."""
        from hush.kernels.subsets import select

        which, members = self._room(residues.size)
        for j in range(len(self.moduli)):
            rows = np.flatnonzero(blocks == j)
            subsets = np.zeros((rows.size, self.omegas[j]), members.dtype)
            select(rng, residues[rows], *(part[j : j + 1] for part in self._arrays), np.empty(0, np.uint8), subsets)
            which[rows], members[rows, : self.omegas[j]] = j, subsets
        return self.packed(which, members)

    def _room(self, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Where the blocks and the subsets of n reports can be written."""
        subsets = np.zeros((n, max(self.omegas)), unsigned(max(self.moduli) - 1))
        return np.zeros(n, unsigned(len(self.moduli) - 1)), subsets

    def packed(self, which: npt.NDArray[Any], members: npt.NDArray[Any]) -> Reports:
        """Reports of blocks and ascending subsets, whose rows end in zeros."""
        out = np.zeros(which.size, self.report_dtype)
        if self.code == "sorted":
            out["block"], out["subset"] = which, members
            return out
        from hush.kernels.combinadic import combinadic

        out["number"] = combinadic(self.moduli, self.omegas).encode(which, members, out.dtype.itemsize)
        return out

    def opened(self, reports: Reports) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The block and the subset of each report, ascending and then zeros; refuses a number that is of none."""
        if self.code == "sorted":
            return np.ascontiguousarray(reports["block"]), np.ascontiguousarray(reports["subset"])
        from hush.kernels.combinadic import combinadic

        which, members = self._room(reports.size)
        numbers = np.ascontiguousarray(reports["number"])
        if not combinadic(self.moduli, self.omegas).decode(numbers, which, members):
            rule = "must be numbers of subsets, below the sum of C(m, omega)"
            raise ReportError(message("reports", rule, "another", "check the spec they were made with"))
        return which, members

    def members(self, reports: Reports) -> npt.NDArray[Any]:
        """The subset of each report."""
        return self.opened(reports)[1]

    @property
    def bits(self) -> int:
        """Bits that tell all reports apart, whatever the block: an enumerative code has them, rounded up to bytes."""
        return joint_bits(self.moduli, self.omegas)

    @property
    def average_bits(self) -> float:
        """Equation 2: bits of a report on average, if its length may depend on the block; reports here are of one."""
        return weighing.average_bits(self.moduli, self.omegas)

    # The law.

    def publics(self) -> Sequence[Any]:
        """The block is drawn before anything private is looked at."""
        return range(len(self.moduli)) if len(self.moduli) > 1 else (None,)

    def public(self, report: Any) -> Any:
        return int(self.opened(np.asarray(report, self.report_dtype)[None])[0][0]) if len(self.moduli) > 1 else None

    def outputs(self, public: Any = None) -> Reports:
        block = public or 0
        m, omega = self.moduli[block], self.omegas[block]
        check_few(math.comb(m, omega), self.k)
        members = np.zeros((math.comb(m, omega), max(self.omegas)), np.int64)
        members[:, :omega] = list(itertools.combinations(range(m), omega))
        return self.packed(np.full(len(members), block), members)

    @cached_property
    def denominator(self) -> int:
        """Of every block: 2^64 (m-omega) times its number of subsets with a given member, made the same for all."""
        return math.lcm(*self._denominators)

    @cached_property
    def _denominators(self) -> tuple[int, ...]:
        return tuple(SCALE * (m - w) * math.comb(m - 1, w - 1) for m, w in zip(self.moduli, self.omegas, strict=True))

    def weight(self, report: Any, value: int) -> int:
        row = np.asarray(report, self.report_dtype)
        which, subsets = self.opened(row[None])
        j, subset = int(which[0]), subsets[0]
        inside = value % self.moduli[j] in subset[: self.omegas[j]].tolist()
        own = self.keeps[j] * (self.moduli[j] - self.omegas[j])
        return (own if inside else (SCALE - self.keeps[j]) * self.omegas[j]) * (
            self.denominator // self._denominators[j]
        )

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        several = zip(self.moduli, self.omegas, self.keeps, strict=True)
        levels = np.array([_log_levels(m, w, keep) for m, w, keep in several])
        which = self.opened(reports)[0].astype(np.intp)
        return np.asarray(levels[which, self.supports(reports, values).astype(np.intp)])

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        """Whether each report's subset holds the residue of the value beside it."""
        which, members = self.opened(reports)
        sizes, omegas = (part[which.astype(np.intp)] for part in self._arrays[:2])
        inside = np.arange(members.shape[1]) < omegas[:, None]
        return np.asarray(((members == (values % sizes)[:, None]) & inside).any(axis=1))

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which values each report supports, shape (n, k)."""
        out = np.empty((reports.size, self.k), np.bool_)
        which, members = self.opened(reports)
        for j, (m, omega) in enumerate(zip(self.moduli, self.omegas, strict=True)):
            here = np.flatnonzero(which == j)
            held = np.zeros((here.size, m), np.bool_)
            np.put_along_axis(held, members[here, :omega].astype(np.intp), True, axis=1)
            out[here] = held[:, np.arange(self.k) % m]
        return out

    def scores(self, reports: Reports) -> Floats:
        favours = np.array([high - low for low, high in map(_log_levels, self.moduli, self.omegas, self.keeps)])
        which = self.opened(reports)[0].astype(np.intp)
        return np.asarray(self.support_matrix(reports) * favours[which, None])

    def exact_epsilon(self) -> float:
        """The true worst-case loss, of the block that loses most."""
        several = zip(self.moduli, self.omegas, self.keeps, strict=True)
        return max(exact.log_ratio(keep * (m - w), (SCALE - keep) * w) for m, w, keep in several)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """The best guess is the likeliest value with a reported residue, or the likeliest of all; exact."""
        p = self.blocks.p.tolist()
        if prior is None:
            return weighing.reconstruction(self.k, self.moduli, self.omegas, p)
        belief, total = shares(prior, self.k), 0.0
        for m, omega, chance in zip(self.moduli, self.omegas, p, strict=True):
            best = np.zeros(m)
            np.maximum.at(best, np.arange(self.k) % m, belief)
            total += success.first_supported(best, *success.first_member(m, omega, chance))
        return total / len(self.moduli)

    # The server.

    @cached_property
    def _starts(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.moduli)])

    def tally(self, reports: Reports) -> Ints:
        """How often each residue of each modulus is a member, then how many reports each modulus has."""
        from hush.kernels.modular import count_long, count_residues

        plain = self.code == "sorted"
        which, members = (np.ascontiguousarray(reports["block"]), reports["subset"]) if plain else self.opened(reports)
        if which.size and int(which.max()) >= len(self.moduli):
            rule, at = f"must have a block below {len(self.moduli)}", int(which.argmax())
            got = Unsaid(f"{which[at]} at position {at}")
            raise ReportError(message("reports", rule, got, "check the spec they were made with"))
        counts, people = np.zeros(self._starts[-1], np.int64), np.zeros(len(self.moduli), np.int64)
        known = *self._arrays[:2], self._starts, counts, people
        if plain and max(self.omegas) >= _LONG:
            records = np.ascontiguousarray(reports).view(np.uint8).reshape(reports.size, reports.dtype.itemsize)
            row = np.empty(max(self.omegas), self.report_dtype["subset"].base)
            good = count_long(which, records, row, *known)
        else:
            good = count_residues(which, members, *known)
        if not good:
            rule = "must be ascending residues, followed by zeros"
            raise ReportError(message("reports", rule, "another", "check their spec"))
        return np.concatenate([counts, people])

    def check_tally(self, tally: Ints, n: int) -> None:
        """Every report has one modulus, and so many residues of it."""
        people = tally[self._starts[-1] :]
        possible.counts(people, n, "reports of the moduli")
        for j, (start, stop) in enumerate(itertools.pairwise(self._starts.tolist())):
            possible.within(tally[start:stop], 0, int(people[j]), f"residues modulo {self.moduli[j]}")
            due = int(people[j]) * self.omegas[j]
            possible.summing(tally[start:stop], due, what=f"residues modulo {self.moduli[j]}")

    def _residues(self, tally: Ints) -> tuple[list[Floats], Ints]:
        """Debiased frequencies of residues, which sum to one in each block, and the blocks' numbers of reports."""
        people = tally[self._starts[-1] :]
        law, parts = self.blocks, []
        for j, (start, stop) in enumerate(itertools.pairwise(self._starts.tolist())):
            seen = tally[start:stop] / max(int(people[j]), 1)
            parts.append((seen - law.q[j]) / (law.p[j] - law.q[j]))
        return parts, people

    def decode(self, tally: Ints, n: int) -> Floats:
        """Weighted least squares: unbiased, given how many reports each block has, if it is `determined`."""
        law, people = self.blocks, tally[self._starts[-1] :]
        system = System(self.k, self.moduli, law.weights * people)
        if system.small:
            return system.fit(self._residues(tally)[0])
        # Counts are debiased in the sum over the blocks: there are several times as many residues as values.
        scales = law.weights / (law.p - law.q)
        return system.fitted(system.gathered(tally[: self._starts[-1]], scales) - float((scales * law.q) @ people))

    def decode_beside(self, tally: Ints, share: float, others: Sequence[Floats]) -> Floats:
        """Frequencies of the people of whom only a share, drawn at random, sends reports of their own.

        Args:
            tally: Of all reports.
            share: How many send reports of their own.
            others: What the residues that the others send are drawn from, by block.
        """
        parts, people = self._residues(tally)
        own = [(part - (1 - share) * other) / share for part, other in zip(parts, others, strict=True)]
        return System(self.k, self.moduli, self.blocks.weights * people).fit(own)

    def determined(self, aggregate: Aggregate) -> bool:
        """Whether the blocks that have reports determine all values, as they do if none is empty.

        If they do not, many frequencies explain the reports alike. The estimate is then the smallest of them, which is
        biased towards zero, and its error bars are those of blocks that have as many reports each.
        """
        self._belonging(aggregate, getattr(aggregate, "spec_hash", ""))
        return self.blocks.determined(aggregate.tally[self._starts[-1] :])

    def influence(self, targets: Values) -> list[Floats]:
        """n times what one member of each residue adds to the targets' estimates, by block, if each has n/l reports."""
        wanted = np.zeros(self.k)
        wanted[targets] = 1.0
        law = self.blocks
        parts = law.system.folded(law.system.solve(wanted))
        scales = law.weights * len(self.moduli) / (law.p - law.q)
        return [scale * part for scale, part in zip(scales, parts, strict=True)]

    def ridge(self, aggregate: Aggregate, penalty: float | None = None) -> Estimate:
        """Least squares with a penalty on the sum of squares: less variance, and a bias towards zero; no error bars.

        Args:
            aggregate: Of this spec.
            penalty: Added to the normal equations, whose weights grow with n; the paper's 1/epsilon² if left out.
        """
        size = 1 / self.epsilon**2 if penalty is None else rules.number("penalty", penalty, 0, math.inf, "use e.g. 1")
        self._belonging(aggregate, self.spec_hash, least=1)
        parts, people = self._residues(aggregate.tally)
        found = System(self.k, self.moduli, self.blocks.weights * people, size).fit(parts)
        return Estimate(found, aggregate.n, Domain(size=self.k), None, "ridge")

    def _estimate(self, aggregate: Aggregate, domain: Domain, spec_hash: str) -> Estimate:
        """As for others, with the true numbers of reports of the blocks; error bars wait until they are asked for."""
        aggregate = self._belonging(aggregate, spec_hash, least=1)
        raw = self.decode(aggregate.tally, aggregate.n)
        bars = partial(self._bars, raw, aggregate.n, aggregate.tally[self._starts[-1] :])
        law = partial(self.law, aggregate.tally, aggregate.n)
        return Estimate(raw, aggregate.n, domain, bars, law=law, sums=partial(total_law, self, raw, aggregate.n, law))

    @cached_property
    def _even_terms(self) -> Terms | None:
        return even_terms(self.blocks)

    def terms(self) -> Terms | None:
        return self._even_terms

    def decode_evenly(self, tally: Ints, n: int) -> Floats:
        """With even weights, whatever the blocks' numbers of reports."""
        law, starts = self.blocks, self._starts.tolist()
        people = tally[starts[-1] :]
        shares = len(self.moduli) / (n * (law.p - law.q))
        counts = (tally[start:stop] for start, stop in itertools.pairwise(starts))
        return law.system.fit(
            [scale * (seen - q * size) for seen, scale, q, size in zip(counts, shares, law.q, people, strict=True)]
        )

    def _bars(self, raw: Floats, n: int, people: Ints) -> Floats:
        return np.asarray(np.sqrt(self.blocks.estimated_variances(simplex(raw), n, people.astype(np.float64))))

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Variance of a value's estimate in a fixed population of n, where the value has this frequency.

        The mean over the values, which are not alike; the others share the rest equally. For blocks of n/l reports
        each, as `variances`.
        """
        rules.population(n, frequency)
        return self.blocks.variance(frequency, n)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Exact, for blocks of n/l reports each, which is a little too small for few: see `hush.analysis.modular`."""
        return self.blocks.variances(frequencies, n)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """Everybody draws a block; then subset selection's own simulation in each, where it is faster than reports."""
        blocks = len(self.moduli)
        split = rng.multinomial(counts, np.full(blocks, 1 / blocks)).astype(np.int64)
        total = self._empty()
        for j, (m, omega) in enumerate(zip(self.moduli, self.omegas, strict=True)):
            here = np.bincount(np.arange(self.k) % m, split[:, j], m).astype(np.int64)
            people = int(here.sum())
            start, stop = self._starts[j : j + 2]
            if people * omega < m * (omega + 1_000) * 4:
                total[start:stop] = self._drawn(j, np.repeat(np.arange(m), here), rng)
            else:
                total[start:stop] = subset_members(here, omega, float(self.blocks.p[j]), rng)
            total[self._starts[-1] + j] = people
        return total

    def _drawn(self, j: int, residues: Values, rng: np.random.Generator) -> Ints:
        """Members of real subsets in one block."""
        from hush.kernels.subsets import count_members, select

        size, omega, keep, reject = (part[j : j + 1] for part in self._arrays)
        members, rows = np.zeros(self.moduli[j], np.int64), max(1, (1 << 20) // self.omegas[j])
        for start in range(0, residues.size, rows):
            part = residues[start : start + rows]
            subsets = np.empty((part.size, self.omegas[j]), np.uint32)
            select(rng, part, size, omega, keep, reject, np.empty(0, np.uint8), subsets)
            count_members(subsets, self.moduli[j], members)
        return members


def _log_levels(m: int, omega: int, keep: int) -> tuple[float, float]:
    """Logarithms of the probability of a subset that does not hold the residue, and of one that does."""
    with_own = math.lgamma(m) - math.lgamma(omega) - math.lgamma(m - omega + 1)
    without = math.lgamma(m) - math.lgamma(omega + 1) - math.lgamma(m - omega)
    return math.log((SCALE - keep) / SCALE) - without, math.log(keep / SCALE) - with_own
