"""Sampling (SMP): one attribute, drawn at random, is reported with the whole budget; the report says which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.errors import ReportError, message
from hush.estimation import Aggregate, possible
from hush.estimation.bounds import Bounded
from hush.estimation.laws import DrawnSupports, EstimateLaw, Supports, Unknown
from hush.exact.enumeration import check_few
from hush.guarantee import LDP, ApproxLDP, weakest
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import unsigned
from hush.mechanisms.pure import PureOracle
from hush.multidim import checks
from hush.multidim.base import Beliefs, Multidim
from hush.multidim.chances import uniform
from hush.multidim.choice import AnyMechanism
from hush.multidim.loss import enumerated
from hush.types import Floats, Ints, Reports

_NEVER = 1e-15


@dataclass(frozen=True, kw_only=True)
class Sampled(Multidim):
    """A collection whose report is about one attribute, drawn uniformly and named: that attribute's own report."""

    samples: ClassVar[bool] = True

    def exact_epsilon(self, changed: int | None = None) -> float:
        """The largest loss of an attribute's mechanism; at this guarantee's delta by enumeration."""
        most = checks.changed(changed, self.d)
        if self._delta:
            return enumerated(self, most, Fraction(self._delta))
        return max(component.exact_epsilon() for component in self.components)

    @cached_property
    def _width(self) -> int:
        return max(component.report_dtype.itemsize for component in self.components)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """Which attribute, as the smallest unsigned integer, and its record, with zeros up to the widest one."""
        return np.dtype([("attribute", unsigned(self.d - 1)), ("record", "u1", (self._width,))])

    @property
    def bits(self) -> int:
        """Those that name the attribute, and those of the longest report."""
        return (self.d - 1).bit_length() + max(component.bits for component in self.components)

    def sample(self, tuples: Ints, rng: np.random.Generator) -> Reports:
        """First the attributes of all rows; then attribute by attribute, each for its rows."""
        drawn = uniform(len(tuples), self.d, rng)
        rows = (np.nonzero(drawn == j)[0] for j in range(self.d))
        several = zip(self.components, rows, range(self.d), strict=True)
        return self.whole(len(tuples), ((those, c.sample(tuples[those, j], rng)) for c, those, j in several))

    def whole(self, n: int, parts: Iterable[tuple[Ints, Reports]]) -> Reports:
        """The n reports that have these parts: of each attribute, the rows that report it, and their records."""
        out = np.zeros(n, self.report_dtype)
        for j, (rows, records) in enumerate(parts):
            width = self.components[j].report_dtype.itemsize
            out["attribute"][rows] = j
            out["record"][rows, :width] = np.ascontiguousarray(records).view(np.uint8).reshape(rows.size, width)
        return out

    def _about(self, reports: Reports, attribute: int) -> tuple[Ints, Reports]:
        """The rows that report an attribute, and their records."""
        rows = np.nonzero(reports["attribute"] == attribute)[0]
        dtype = self.components[attribute].report_dtype
        bytes_ = np.ascontiguousarray(reports["record"][rows, : dtype.itemsize])
        return rows, bytes_.reshape(-1).view(dtype)

    def parts(self, reports: Reports) -> Iterator[tuple[Ints, Reports]]:
        """For each attribute, the rows that report it, and their records."""
        for j in range(self.d):
            yield self._about(reports, j)

    def _record(self, report: Any) -> tuple[int, Any]:
        """The attribute of one report, and its record."""
        j = int(report["attribute"])
        return j, self._about(np.asarray(report, self.report_dtype)[None], j)[1][0]

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(c.tally(np.zeros(0, c.report_dtype)).shape for c in self.components)

    def tally(self, reports: Reports) -> Ints:
        """How many report each attribute; then the attributes' own tallies, one after the other."""
        if reports.size and int(reports["attribute"].max()) >= self.d:
            found = int(reports["attribute"].max())
            raise ReportError(message("reports", f"must name attributes below {self.d}", found, "check their spec"))
        counts, tallies = np.zeros(self.d, np.int64), []
        for j, component in enumerate(self.components):
            rows, records = self._about(reports, j)
            if reports["record"][rows, component.report_dtype.itemsize :].any():
                raise ReportError(message("reports", "must have zeros after their record", "ones", "check their spec"))
            counts[j] = rows.size
            tallies.append(component.tally(records).ravel())
        return np.concatenate([counts, *tallies]).astype(np.int64, copy=False)

    def _tallies(self, tally: Ints) -> tuple[Ints, list[Ints]]:
        """How many report each attribute, and the tally of each."""
        ends = self.d + np.cumsum([0, *(math.prod(shape) for shape in self._shapes)])
        parts = np.split(tally, ends)[1:-1]
        return tally[: self.d], [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def check_tally(self, tally: Ints, n: int) -> None:
        """Every report has a record of one attribute."""
        counts, parts = self._tallies(tally)
        possible.counts(counts, n, "reports of the attributes")
        for component, part, count in zip(self.components, parts, counts, strict=True):
            component.check_tally(part, int(count))

    def decode(self, tally: Ints, n: int) -> tuple[Floats, ...]:
        """Each attribute's own estimate, from the people who report it: unbiased given how many they are."""
        counts, parts = self._tallies(tally)
        return tuple(
            component.decode(part, int(count)) if count else np.full(component.k, np.nan)
            for component, part, count in zip(self.components, parts, counts, strict=True)
        )

    def laws(self, tally: Ints, n: int) -> tuple[EstimateLaw | None, ...]:
        """Given how many reports are about each attribute, where it is known how many support a value."""
        counts, parts = self._tallies(tally)
        several = zip(self.components, parts, counts.tolist(), strict=True)
        return tuple(self._law(component, part, count, n) for component, part, count in several)

    def _law(self, component: FrequencyOracle, part: Ints, count: int, n: int) -> EstimateLaw | None:
        if not count:
            return Unknown(component.k)
        if isinstance(component, PureOracle):
            law = Supports if count == n else DrawnSupports
            return law(component.support_counts(part), count, component.p_star, component.q_star)
        terms = component.terms()
        if terms is None:
            return None
        raw = component.decode_evenly(part, count) * (self.d * count / n)
        return Bounded(raw, n, terms.drawn(self.d))

    def variances(self, frequencies: Sequence[npt.ArrayLike], n: int) -> tuple[Floats, ...]:
        """Variance before it is known who reports what, given that somebody reports the attribute."""
        return tuple(
            self._spread(j, np.asarray(shares, np.float64), n, checks.mean_inverse(n, 1 / self.d))
            for j, shares in enumerate(frequencies)
        )

    def _variances_seen(self, frequencies: Sequence[Floats], aggregate: Aggregate) -> tuple[Floats, ...]:
        """Variance given how many people report each attribute; infinite where nobody does."""
        counts = self._about_each(aggregate)
        return tuple(
            self._spread(j, shares, aggregate.n, 1 / count) if count else np.full(shares.size, np.inf)
            for j, (shares, count) in enumerate(zip(frequencies, counts, strict=True))
        )

    def _about_each(self, aggregate: Aggregate) -> tuple[int, ...]:
        counts, _ = self._tallies(aggregate.tally)
        return tuple(counts.tolist())

    def _spread(self, attribute: int, shares: Floats, n: int, inverse: float) -> Floats:
        """Noise, and who was drawn out of n without replacement; `inverse` is the (mean) inverse number of them."""
        noise = self.components[attribute].variances(shares, 1) * inverse
        drawn = (inverse - 1 / n) * n / (n - 1) if n > 1 else 0.0
        return np.asarray(noise + shares * (1 - shares) * drawn, dtype=np.float64)

    def outputs(self, public: Any = None) -> Reports:
        """The outputs of every attribute."""
        seeds = [None] * self.d if public is None else public
        parts = []
        for j, (component, seed) in enumerate(zip(self.components, seeds, strict=True)):
            records = np.ascontiguousarray(component.outputs(seed))
            part = np.zeros(records.size, self.report_dtype)
            part["attribute"] = j
            part["record"][:, : records.dtype.itemsize] = records.view(np.uint8).reshape(records.size, -1)
            parts.append(part)
        check_few(sum(part.size for part in parts), max(self.sizes))
        return np.concatenate(parts)

    def copies(self, report: Any) -> int:
        """How many outputs this one stands for."""
        j, record = self._record(report)
        return self.components[j].copies(record)

    @cached_property
    def _common(self) -> int:
        return math.lcm(*(component.denominator for component in self.components))

    @property
    def denominator(self) -> int:
        """d times a common multiple of the attributes' denominators."""
        return self.d * self._common

    def weight(self, report: Any, values: Sequence[int]) -> int:
        """One in d that the attribute is drawn, times its mechanism's weight."""
        j, record = self._record(report)
        component = self.components[j]
        return component.weight(record, int(values[j])) * (self._common // component.denominator)

    def _log_prob(self, reports: Reports, tuples: Ints) -> Floats:
        total = np.full(reports.size, -math.log(self.d))
        for j, component in enumerate(self.components):
            rows, records = self._about(reports, j)
            total[rows] += component._log_prob(records, tuples[rows, j])
        return total

    def _scores(self, reports: Reports, attribute: int, priors: tuple[Floats, ...]) -> Floats:
        total = np.zeros((reports.size, self.sizes[attribute]))
        rows, records = self._about(reports, attribute)
        total[rows] = self.components[attribute].scores(records)
        return total

    def best_guesses(self, tau: int) -> tuple[float | None, ...]:
        """Of tau reports, a binomial number is about the attribute; from none, a guess is blind."""
        from scipy.stats import binom

        often = binom.pmf(np.arange(tau + 1), tau, 1 / self.d)
        likely = np.nonzero(often > _NEVER)[0].tolist()
        found: list[float | None] = []
        for component in self.components:
            known = [component.forms.best_guess(times) for times in likely]
            rates = [rate for rate in known if rate is not None]
            found.append(float(often[likely] @ rates / often[likely].sum()) if len(rates) == len(known) else None)
        return tuple(found)

    def asr(self, attribute: int) -> float:
        """That of the attribute's mechanism if it was drawn, else a blind guess."""
        j = checks.attribute(attribute, self.d)
        return self.components[j].asr() / self.d + (1 - 1 / self.d) / self.sizes[j]

    def sampled(self, reports: Reports, priors: Beliefs = None) -> Floats:
        """How likely each attribute is to have been drawn, shape (n, d): the report says."""
        array = self._validated(reports)
        return np.asarray(array["attribute"][:, None] == np.arange(self.d), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class SMP(AnyMechanism, Sampled):
    """Report one attribute, drawn uniformly and named, by a mechanism with the whole budget.

    Args:
        sizes: Domain size of each attribute.
        epsilon: Privacy loss of one report, in nats.
        mechanism: A registered mechanism, or one for each attribute; "ADP" stands for GRR or OUE, whichever has less
            variance there.
        options: Other parameters of the mechanism, such as {"p": 0.7}.
        chosen: What the mechanism of each attribute chose for itself, as a spec has it; chosen when left out.

    >>> SMP(sizes=(2, 5, 100), epsilon=1.0).mechanism
    ('GRR', 'GRR', 'OUE')
    """

    def _combined(self, promises: Sequence[LDP | ApproxLDP]) -> LDP | ApproxLDP:
        """The weakest of them: which attribute is reported depends on nobody's values."""
        return weakest(promises)
