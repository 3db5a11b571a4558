"""How often a person in disguise reveals the value all the same: z(y), as integers out of 2^64.

A sensitive value gives a protected report y with probability p_i(y). Another value gives it, in disguise and not
revealed, with probability N(y) = (1 - z(y)) f M(y), where M is the law of a disguise: the mean of the p_i. Definition
3 asks for p_i(y) <= E N(y) and N(y) <= E p_i(y). The second always holds; the first bounds z(y):

    z(y) = 1 - max_i p_i(y) / (E f M(y)),

which is output-dependent, exactly epsilon for every report, and the largest there is. All arithmetic is rational, with
thresholds rounded so that the loss never exceeds epsilon.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from hush import exact, rules
from hush.errors import ParameterError
from hush.exact.enumeration import enumerated
from hush.exact.loss import protected_ratio
from hush.exact.thresholds import SCALE, log_ratio
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hashing.family import MEMBERS, HashFamily
from hush.mechanisms.hashing.forms import HashedForms
from hush.mechanisms.shape import NoiseShape, Shape, bit_sizes
from hush.mechanisms.unary import UE
from hush.types import Floats, Ints, Reports
from hush.utility import _slack

CHOICES = ("exact", "constant", "balanced", "paper", "none")
"""By name, how z is chosen."""

Thresholds = npt.NDArray[np.uint64]


def checked_choice(z: object) -> str:
    """One of the names."""
    return rules.named("z", z, CHOICES, "use 'exact'")


def hiding(base: FrequencyOracle, pure: bool) -> int:
    """Out of 2^64, how often a value that is not sensitive is disguised: equation 9 (pure) or 10, rounded up.

    Equation 10 is the least that is safe with z = 0 whatever the mechanism, so equation 9 is never below it. With a
    delta, that is what disguises must cover.
    """
    s, e, shape = base.k, exact.exp_below(base.epsilon), base.forms.shape
    least = Fraction(s) / (e + s - 1)
    if base._delta and shape is not None:
        least = _slack.least_hiding(shape, e, _slack.covered(shape, Fraction(base._delta)))
    if pure:
        p, q = (Fraction(chance) for chance in (base.p_star, base.q_star))  # type: ignore[attr-defined]
        least = max(least, s * q / (p + (s - 1) * q))
    return min(-int(-least * SCALE // 1), SCALE)


def paper(base: FrequencyOracle) -> int | None:
    """What the document prints where it is not safe: it takes other values' probabilities at their mean, q*."""
    if not isinstance(base.forms, HashedForms):
        return None
    p, q = (Fraction(chance) for chance in (base.forms.m.p_star, base.forms.m.q_star))
    return max(0, int((1 - p / (q * exact.exp_below(base.epsilon))) * SCALE))


_LEAST = 1 << 20
"""A threshold below this is the rounding of zero."""


class Revelation(ABC):
    """How often the reports of one mechanism reveal a disguised value: their thresholds."""

    constant: int | None
    """The threshold that all reports share, if they do."""

    def __init__(self, base: FrequencyOracle, hide: int, choice: str) -> None:
        self.base, self.hide = base, hide
        self.e = exact.exp_below(base.epsilon)
        self._last: tuple[bytes | None, int, int] = (None, 0, 0)
        self.constant = 0 if choice == "none" else paper(base) if choice == "paper" else None
        if self.constant is None and choice != "exact":
            self.constant = self.safest()

    def _largest(self, most: int | Fraction, mass: int) -> int:
        """The largest threshold that is safe for a report, from its largest weight and the sum of its weights."""
        s, e = self.base.k, self.e
        found = SCALE - -(-(SCALE**2 * s * most * e.denominator) // (e.numerator * self.hide * mass))
        return found if found >= _LEAST else 0

    @abstractmethod
    def safest(self) -> int:
        """The largest threshold that is safe for every report, looking at all of them."""

    def thresholds(self, reports: Reports, places: Ints | None = None) -> Thresholds:
        """Of some base reports, or of all; one number if all share it."""
        if self.constant is not None:
            return np.array([self.constant], np.uint64)
        return self._thresholds(reports, np.arange(reports.size) if places is None else places)

    @abstractmethod
    def _thresholds(self, reports: Reports, places: Ints) -> Thresholds:
        """Where they differ."""

    def expect(self, people: int) -> None:  # noqa: B027
        """Prepare for so many reports together, if that saves time."""

    @abstractmethod
    def threshold(self, report: Reports) -> int:
        """Of one base report."""

    @abstractmethod
    def mass(self, report: Reports) -> int:
        """Its weights, summed over all sensitive values."""

    def threshold_and_mass(self, report: Reports) -> tuple[int, int]:
        """Compute both for one base report, and remember the last: callers ask for each value in turn."""
        record, known = report.tobytes(), self._last
        if known[0] != record:
            # One assignment of all three, since threads share it.
            known = self._last = (record, self.threshold(report), self.mass(report))
        return known[1], known[2]

    def log_mixture(self, scores: Floats) -> Floats:
        """Logarithm of M(y), up to the same constant as the scores of all sensitive values."""
        top = scores.max(axis=1)
        return np.asarray(top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - np.log(scores.shape[1]))

    def log_disguise(self, reports: Reports) -> Floats:
        """Logarithm of M(y), the chance of a base report in disguise."""
        first = self.base._log_prob(reports, np.zeros(reports.size, np.int64))
        scores = self.base.scores(reports)
        return first - scores[:, 0] + self.log_mixture(scores)

    @property
    @abstractmethod
    def mean(self) -> float:
        """How often a person in disguise reveals the value, on average."""

    @abstractmethod
    def loss(self) -> float:
        """The true loss among protected reports, whatever the public randomness."""

    @property
    def words(self) -> int | str:
        """The thresholds, for the spec: a number if all reports share it, else their hash."""
        return "by weight" if self.constant is None else self.constant


class Leveled(Revelation):
    """Thresholds by the number of values that a report supports."""

    def __init__(self, base: FrequencyOracle, shape: Shape, hide: int, choice: str) -> None:
        self.shape = shape
        self.slack = Fraction(base._delta)
        self._covered = _slack.covered(shape, self.slack) if self.slack and hide < SCALE else None
        super().__init__(base, hide, choice)
        if self.constant is None and len(shape.possible) == 1:
            self.constant = self._of(shape.possible[0])

    def _of(self, size: int) -> int:
        if self.constant is not None:
            return self.constant
        most = self.shape.most(size)
        return self._largest(most if self._covered is None else most * self._covered[size], self.shape.mass(size))

    def safest(self) -> int:
        """That of no support, or of the least there is: beyond, a report weighs more, and no single weight does.

        With a delta, of which those of the least support have most, that of any size.
        """
        return min(self._of(size) for size in self.shape.possible[: None if self.slack else 2])

    def _thresholds(self, reports: Reports, places: Ints) -> Thresholds:
        family = self._family
        if family is None or "sizes" not in vars(family):
            return self.by_size[self.shape.sizes(reports, places)]
        cells = reports["member"][places].astype(np.int64) * family.g + reports["bucket"][places]
        return self.by_size[family.sizes.ravel()[cells]]

    @property
    def _family(self) -> HashFamily | None:
        """The public family that hash functions come from, if they do and thresholds go by bucket size."""
        return getattr(self.base, "_family", None) if self.constant is None else None

    def expect(self, people: int) -> None:
        """For many people, one table of the bucket sizes of a public family takes less than s hashes for each."""
        if self._family is not None and people >= MEMBERS:
            _ = self._family.sizes

    @cached_property
    def table(self) -> list[int]:
        """The threshold of each size 0..s."""
        return [self._of(size) for size in range(self.shape.s + 1)]

    @cached_property
    def by_size(self) -> Thresholds:
        """The same, for kernels."""
        return np.array(self.table, np.uint64)

    def threshold(self, report: Reports) -> int:
        return self._of(self._size(report)) if self.constant is None else self.constant

    def _size(self, report: Reports) -> int:
        return int(self.shape.sizes(np.asarray(report, self.base.report_dtype)[None], np.zeros(1, np.int64))[0])

    def mass(self, report: Reports) -> int:
        if self.shape.exact:
            return self.shape.mass(self._size(report))
        row = np.asarray(report, self.base.report_dtype)[None]
        supported = self.base.support_matrix(row)[0]  # type: ignore[attr-defined]
        held = ((mask, int(mask.sum())) for mask in (supported, ~supported))
        return sum(number * self.base.weight(row[0], int(mask.argmax())) for mask, number in held if number)

    @property
    def chances(self) -> npt.NDArray[np.float64]:
        """z of each size."""
        if self.constant is not None:
            return np.full(self.shape.s + 1, self.constant / SCALE)
        return np.array([threshold / SCALE for threshold in self.table])

    @property
    def mean(self) -> float:
        return float(self.shape.law @ self.chances)

    def loss(self) -> float:
        if self.slack:
            return _slack.loss(self.shape, self.hide, self.table, self.slack)
        worst = (1, 1)
        shape, unit = self.shape, self.base.k * SCALE**2
        for size in shape.possible:
            high, low = shape.most(size) * unit, shape.least(size) * unit
            other = self.hide * (SCALE - self._of(size)) * shape.mass(size)
            above, below = max(high, other), min(low, other)
            if above * worst[1] > worst[0] * below:
                worst = (above, below)
        return log_ratio(*worst)

    @property
    def words(self) -> int | str:
        if self.constant is not None:
            return self.constant
        return hashlib.sha256(",".join(map(str, self.table)).encode()).hexdigest()


class Silent(Leveled):
    """A disguise that holds no value at all: unary bits that are all noise, as uRAP has it.

    Every other value is disguised (f = 1), and a constant z loses nothing but at the report without a one.
    """

    def __init__(self, base: UE) -> None:
        self.unary = base
        known = base.forms.shape
        assert known is not None
        q = base._ones[1]
        law = partial(bit_sizes, base.k, base.q_star, base.q_star)
        noise = NoiseShape(base.k, known.high, known.low, law, known.occur, known.sizes, each=q * (SCALE - q))
        super().__init__(base, noise, SCALE, "constant")

    def mass(self, report: Reports) -> int:
        """s times the weight of the noise."""
        q, s, size = self.unary._ones[1], self.base.k, self._size(report)
        return int(s * q**size * (SCALE - q) ** (s - size))

    def log_mixture(self, scores: Floats) -> Floats:
        """Scores are zero where a bit is, which is likelier in noise than for the true value."""
        p, q = self.unary._ones
        return np.full(scores.shape[0], log_ratio(SCALE - q, SCALE - p))


class Weighed(Revelation):
    """Thresholds from the exact weights of each report: for any mechanism, one report at a time."""

    def _weights(self, report: Reports) -> list[int]:
        return [self.base.weight(report, value) for value in range(self.base.k)]

    def safest(self) -> int:
        rows = (row for listing in enumerated(self.base) for row in listing.weights)
        return min(self._largest(max(row), sum(row)) for row in rows if any(row))

    def _thresholds(self, reports: Reports, places: Ints) -> Thresholds:
        return np.array([self.threshold(report) for report in reports[places]], np.uint64)

    def threshold(self, report: Reports) -> int:
        if self.constant is not None:
            return self.constant
        weights = self._weights(report)
        return self._largest(max(weights), sum(weights)) if any(weights) else 0

    def mass(self, report: Reports) -> int:
        return sum(self._weights(report))

    @property
    def mean(self) -> float:
        """By the theorem: f (1 - z) sums to s·ASR/E over all protected reports."""
        if self.constant is not None:
            return self.constant / SCALE
        return 1 - self.base.k * self.base.asr() / float(self.e) * SCALE / self.hide

    def loss(self) -> float:
        """By enumeration; for the exact z where the outputs are too many, epsilon, which no report exceeds."""
        try:
            return self._enumerated()
        except ParameterError:
            if self.constant is None:
                return self.base.epsilon
            raise

    def _enumerated(self) -> float:
        s, worst = self.base.k, 0.0
        for listing in enumerated(self.base):
            law = []
            for y, weights in zip(listing.reports, listing.weights, strict=True):
                other = self.hide * (SCALE - self.threshold(y)) * sum(weights)
                law.append([w * s * SCALE**2 for w in weights] + [other])
            worst = max(worst, protected_ratio(law, range(s)))
        return worst
