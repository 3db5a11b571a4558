"""RAPPOR: randomized Bloom filters, of cohorts.

Erlingsson, Pihur and Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response" (CCS 2014), its
one-time version: a device is of a cohort, sets the bits of its value by the cohort's hash functions, and sends all bits
with noise. The loss is that of the bits in which two values differ: of h functions at most 2h, here counted over all
pairs and cohorts. The paper decodes with lasso, which picks values and biases them; here frequencies are the least
squares solution over the bits of all cohorts, which is unbiased, and whose error is a formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import exact, rules
from hush.errors import ParameterError, ReportError, message
from hush.estimation import possible
from hush.estimation.bounds import Term, Terms
from hush.exact import SCALE
from hush.exact.enumeration import MOST_WEIGHTS, check_few
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.shape import bit_counts
from hush.mechanisms.sketch.bloom_forms import BloomForms
from hush.mechanisms.sketch.bloom_guesses import ideal_success
from hush.mechanisms.sketch.cohorts import Cohorts, cohorts_of
from hush.mechanisms.sketch.hashed import checked_width, width_for
from hush.types import Bools, Floats, Ints, Reports, Values

MOST_VALUES = 2048
"""More make the normal equations, which are as wide as the domain, slow to solve."""
MOST_COHORTS = 1024
MOST_HASHES = 8


@dataclass(frozen=True, kw_only=True)
class RAPPOR(FrequencyOracle):
    """Set the value's bits in the Bloom filter of a random cohort, then randomize every bit.

    Args:
        k: Domain size, from 2 to 2,048.
        epsilon: Privacy loss of one report, in nats.
        width: Bits of a filter, a power of two from 4 to 256. Left out, the least that is no less than k, up to 256.
        hashes: Functions of a cohort, from 1 to 8: how many bits a value sets, unless two functions agree.
        cohorts: Number of cohorts, up to 1,024; they must tell all values apart. Left out, so many that they have
            four bits a value or more.

    >>> m = RAPPOR(k=100, epsilon=2.0)
    >>> m.width, m.hashes, m.cohorts, m.differing
    (128, 2, 4, 4)
    """

    width: int = None  # type: ignore[assignment]
    hashes: int = 2
    cohorts: int = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "randomized Bloom filters of cohorts"
    companion: ClassVar[type[Forms]] = BloomForms
    family: ClassVar[str] = "sketch"

    def __post_init__(self) -> None:
        super().__post_init__()
        rules.integer("k", self.k, 2, MOST_VALUES, "use CMS or OLH for more values")
        width = checked_width(width_for(self.k, 4) if self.width is None else self.width, 4)
        hashes = rules.integer("hashes", self.hashes, 1, MOST_HASHES, "use e.g. 2")
        usual = max(4, -(-4 * self.k // width)) if self.cohorts is None else self.cohorts
        cohorts = rules.integer("cohorts", usual, 1, MOST_COHORTS, "use e.g. 16, or leave it out")
        self._set(width=width, hashes=hashes, cohorts=cohorts)
        if cohorts * width < self.k or self.filters.factor is None:
            rule = f"must tell all {self.k} values apart, with {width} bits and hashes={hashes}"
            raise ParameterError(message("cohorts", rule, cohorts, "use more of them, or more bits"))

    @property
    def filters(self) -> Cohorts:
        """Which bits each cohort sets for each value, and least squares over them."""
        return cohorts_of(self.k, self.width, self.hashes, self.cohorts)

    @property
    def differing(self) -> int:
        """In how many bits the filters of two values differ at most, over all pairs and cohorts."""
        return self.filters.most_apart

    @cached_property
    def bit_thresholds(self) -> tuple[int, int]:
        """Out of 2^64, the probabilities of a one in a bit that the value sets, and in another."""
        other = exact.shared_bit(self.epsilon, self.differing)
        return SCALE - other, other

    @property
    def bit_chances(self) -> tuple[float, float]:
        """The same, out of one."""
        own, other = self.bit_thresholds
        return own / SCALE, other / SCALE

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"p": self.bit_thresholds[0], "q": self.bit_thresholds[1]}

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """u2 cohort, then ceil(width/8) bytes; bit b is byte b>>3, bit b&7; unused bits are zero."""
        return np.dtype([("cohort", "<u2"), ("bits", "u1", (-(-self.width // 8),))])

    @property
    def bits(self) -> int:
        return (self.cohorts - 1).bit_length() + self.width

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.words import rejection
        from hush.mechanisms.sketch.kernels import filtered

        out = np.empty(values.size, self.report_dtype)
        p, q = (np.uint64(threshold) for threshold in self.bit_thresholds)
        law = self.filters.homes, self.width, p, q, rejection(self.cohorts)
        filtered(rng, values, *law, out["cohort"], out["bits"])
        return out

    def packed(self, cohort: npt.NDArray[Any], ones: Bools) -> Reports:
        """Reports from cohorts and rows of bits."""
        out = np.empty(cohort.size, self.report_dtype)
        out["cohort"], out["bits"] = cohort, np.packbits(ones, axis=1, bitorder="little")
        return out

    def _parts(self, reports: Reports) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
        """Cohorts and rows of bytes, if they are well formed."""
        cohort, rows = (np.ascontiguousarray(reports[name]) for name in ("cohort", "bits"))
        if cohort.size and (worst := int(cohort.max())) >= self.cohorts:
            raise ReportError(message("reports", f"must have cohorts below {self.cohorts}", worst, "check their spec"))
        if self.width < 8 and rows.size and int(rows.max()) >> self.width:
            rule = f"must have zeros after bit {self.width - 1}"
            raise ReportError(message("reports", rule, "ones", "check their spec"))
        return cohort, rows

    def validate(self, reports: Reports) -> None:
        """Cheaper than a tally."""
        self._parts(reports)

    # What is counted, and what it says.

    def tally(self, reports: Reports) -> Ints:
        """Ones of every bit of every cohort, then the reports of each."""
        from hush.mechanisms.sketch.kernels import count_bits

        counts, people = np.zeros((self.cohorts, self.width), np.int64), np.zeros(self.cohorts, np.int64)
        count_bits(*self._parts(reports), self.width, counts, people)
        return np.concatenate([counts.ravel(), people])

    def check_tally(self, tally: Ints, n: int) -> None:
        """Every report is of one cohort, and has a bit or does not."""
        people = tally[self.cohorts * self.width :]
        possible.counts(people, n, "reports of cohorts")
        least = np.repeat(people, self.width) - tally[: people.size * self.width]
        possible.within(tally[: people.size * self.width], 0, n, "bits")
        possible.within(least, 0, n, "bits that are zero")

    def decode(self, tally: Ints, n: int) -> Floats:
        """Least squares over shares of bits, as far as they are not noise; many tallies at once, if they are rows.

        Every cohort counts as one in so many of all reports, whatever its number: so a report adds a term of its own.
        """
        p, q = self.bit_chances
        split = self.cohorts * self.width
        ones = tally[..., :split].reshape(*tally.shape[:-1], self.cohorts, self.width)
        people = tally[..., split:, None]
        return self.filters.fit((ones - q * people) * (self.cohorts / (n * (p - q))))

    @cached_property
    def _moments(self) -> Floats:
        """The noise of all bits, alike for all reports; and that cohorts tell values apart unlike each other."""
        p, q = self.bit_chances
        noise = self.cohorts * np.diag(self.filters.inverse) * p * q / (p - q) ** 2
        return np.asarray(noise + self.filters.says(q).squares - np.eye(self.k), np.float64)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Variance of a value's estimate, in the mean over the values, which are not alike."""
        rules.population(n, frequency)
        own, all_ = float(np.trace(self._moments)), float(self._moments.sum())
        return (frequency * own + (1 - frequency) * (all_ - own) / (self.k - 1)) / (n * self.k)

    def terms(self) -> Terms:
        (p, q), others = self.bit_chances, ~np.eye(self.k, dtype=np.bool_)
        says, elsewhere = self.filters.says(q), self._moments[others]
        up, down = says.up / (p - q), says.down / (p - q)
        own = Term(float(np.diag(self._moments).max()), up - 1, down + 1)
        return Terms(own, Term(float(elsewhere.max()), up, down), float(elsewhere.min()), lattice=False)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return self.forms.tallies(counts[None], 1, rng)[0]

    # The law.

    @property
    def denominator(self) -> int:
        """2^64 for each bit, and as many outputs for each cohort."""
        return int(self.cohorts * SCALE**self.width)

    def outputs(self, public: Any = None) -> Reports:
        """All rows of bits of all cohorts."""
        check_few(self.cohorts << self.width, self.k)
        rows = np.arange(1 << self.width, dtype="<u8").view(np.uint8).reshape(-1, 8)
        ones = np.unpackbits(rows, axis=1, count=self.width, bitorder="little").view(np.bool_)
        return self.packed(np.repeat(np.arange(self.cohorts), len(rows)), np.tile(ones, (self.cohorts, 1)))

    def _seen(self, reports: Reports, values: Values) -> tuple[Ints, Ints, Ints]:
        """Of each report, its ones; of the value beside it, the bits that it sets, and how many of them are one."""
        cohort, rows = self._parts(reports)
        homes = self.filters.homes[cohort, values]
        ones = rows[np.arange(reports.size)[:, None], homes >> 3] >> (homes & 7) & 1
        fresh = np.ones(homes.shape, np.bool_)
        for j in range(1, self.hashes):
            fresh[:, j] = (homes[:, :j] != homes[:, j : j + 1]).all(axis=1)
        all_ = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
        return all_, fresh.sum(axis=1), (ones * fresh).sum(axis=1, dtype=np.int64)

    def weight(self, report: Any, value: int) -> int:
        p, q = self.bit_thresholds
        seen = self._seen(np.asarray(report, self.report_dtype)[None], np.array([value]))
        ones, size, inside = (int(part[0]) for part in seen)
        zeros = self.width - size - (ones - inside)
        return int(p**inside * (SCALE - p) ** (size - inside) * q ** (ones - inside) * (SCALE - q) ** zeros)

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        p, q = self.bit_thresholds
        high, low = math.log(p / SCALE), math.log(q / SCALE)  # of a bit that is as the value sets it, and of another
        ones, size, inside = self._seen(reports, values)
        same = inside + self.width - size - (ones - inside)
        return np.asarray(same * high + (self.width - same) * low - math.log(self.cohorts), np.float64)

    def scores(self, reports: Reports) -> Floats:
        """Each bit that a value sets speaks for it, or against it."""
        cohort, rows = self._parts(reports)
        out = np.empty((reports.size, self.k))
        for c in np.unique(cohort):
            here = np.flatnonzero(cohort == c)
            ones = np.unpackbits(rows[here], axis=1, count=self.width, bitorder="little")
            out[here] = 2 * (self.filters.parts[c].T @ ones.T).T - self.filters.sizes[c]
        return np.asarray(out * (self.exact_epsilon() / self.differing), np.float64)

    def exact_epsilon(self) -> float:
        """Of a report that agrees with one value, and not with the other, in all bits in which they differ most."""
        p, q = self.bit_thresholds
        return exact.log_ratio(p**self.differing, q**self.differing)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Exact where the outputs are few; else for functions that set bits independently."""
        belief = shares(prior, self.k)
        if (self.cohorts << self.width) * self.k <= MOST_WEIGHTS:
            outputs = self.outputs()
            shift = self._log_prob(outputs, np.zeros(outputs.size, np.int64))[:, None]
            scores = self.scores(outputs)
            return float((np.exp(scores - scores[:, :1] + shift) * belief).max(axis=1).sum())
        p, q = self.bit_chances
        return ideal_success(belief, bit_counts(self.width, q), self.hashes, math.log(p / q))
