"""Projective geometry response (PGR).

Feldman, Nelson, Nguyen and Talwar, "Private frequency estimation via projective geometry" (ICML 2022). Values and
messages are the points of a projective geometry over a finite field; a value favours the messages on its hyperplane.
Any two hyperplanes share equally many points, so the oracle is pure, with the error of subset selection and
the report of randomized response. For fewer values than points, the first k are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import projective
from hush.errors import ParameterError, message
from hush.exact.thresholds import SCALE
from hush.mechanisms.direct import counted, unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.projective.counts import over_hyperplanes, spread_over_hyperplanes
from hush.mechanisms.projective.field import Space, space
from hush.mechanisms.projective.forms import ProjectiveForms
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.two_level import TwoLevel
from hush.types import Floats, Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class PGR(TwoLevel, PureOracle):
    """Report a point of a projective geometry, likelier one on the value's hyperplane.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        q: Order of the field, a prime power; the one with the least error for its number of messages when left out
            (`hush.analysis.projective.best_order`), "closest" for the prime closest to e^epsilon + 1.

    >>> PGR(k=22_000, epsilon=4.5).bits, PGR(k=22_000, epsilon=4.5, q="closest").bits
    (15, 20)
    """

    q: int = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "projective geometry response"
    companion: ClassVar[type[Forms]] = ProjectiveForms
    family: ClassVar[str] = "projective"
    sufficient: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(q=_order(self.q, self.k, self.epsilon))

    @property
    def t(self) -> int:
        """Dimensions of the vector space: the least with a point for every value."""
        return projective.dimension(self.k, self.q)

    @property
    def size(self) -> int:
        """Number of messages, K: the points of the geometry."""
        return projective.points(self.q, self.t)

    @property
    def favoured(self) -> int:
        """Messages that favour a value, c_set: the points of a hyperplane."""
        return projective.points(self.q, self.t - 1)

    @property
    def shared(self) -> int:
        """Messages that favour both of two values, c_int."""
        return projective.points(self.q, self.t - 2)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds K-1."""
        return unsigned(self.size - 1)

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.favoured, self.size - self.favoured

    @cached_property
    def _space(self) -> Space:
        return space(self.q, self.t)

    @cached_property
    def q_star(self) -> float:
        """Of the favoured messages the share that two values have in common; of the others one in q."""
        return float(self._other)

    @cached_property
    def _other(self) -> Fraction:
        return (Fraction(self.keep * self.shared, self.favoured) + Fraction(SCALE - self.keep, self.q)) / SCALE

    @cached_property
    def _gap(self) -> float:
        """p* - q*, without cancellation."""
        return float(Fraction(self.keep, SCALE) - self._other)

    @property
    def bits(self) -> int:
        return (self.size - 1).bit_length()

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.projective import respond
        from hush.kernels.words import rejection

        inside, outside = self._sizes
        out = np.empty(values.size, self.report_dtype)
        respond(rng, values, self._space, np.uint64(self.keep), rejection(inside), rejection(outside), out)
        return out

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        from hush.kernels.projective import incident

        given, beside = np.broadcast_arrays(reports, values)
        out = np.empty(given.size, np.bool_)
        incident(given.ravel(), beside.ravel(), self._space, out)
        return out.reshape(given.shape)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        from hush.kernels.projective import incidences

        out = np.empty((reports.size, self.k), np.bool_)
        incidences(np.ascontiguousarray(reports), self._space, out)
        return out

    def tally(self, reports: Reports) -> Ints:
        """How often each message came."""
        return counted(reports, self.size)

    def support_counts(self, tally: Ints) -> Ints:
        """How many reports support each value, from the counts of messages."""
        narrow = np.int32 if int(tally.sum()) < 2**31 else np.int64
        return over_hyperplanes(tally.astype(narrow), self.k, self._space).astype(np.int64)

    def favoured_sums(self, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each message, the sum of what the values that it favours weigh."""
        padded = np.zeros(self.size, weights.dtype)
        padded[: self.k] = weights
        return over_hyperplanes(padded, self.size, self._space)

    def decode(self, tally: Ints, n: int) -> Floats:
        if n == 0:
            return np.zeros(self.k)
        return np.asarray((self.support_counts(tally) / n - self.q_star) / self._gap, dtype=np.float64)

    def outputs(self, public: Any = None) -> Reports:
        return np.arange(self.size, dtype=self.report_dtype)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Each message has one best guess: the likeliest value that it favours, or the likeliest of all.

        From three dimensions on, every hyperplane of messages meets the values, so each message favours some; in two
        a value has one message to itself.
        """
        inside, outside = self._sizes
        high, low = self.p_star / inside, (1 - self.p_star) / outside
        if prior is None:
            preferred = self.size if self.t > 2 else self.k
            return (preferred * high + (self.size - preferred) * low) / self.k
        belief = np.zeros(self.size)
        belief[: self.k] = shares(prior, self.k)
        best = over_hyperplanes(belief, self.size, self._space, largest=True)
        return float(np.maximum(best * high, belief.max() * low).sum())

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """Real reports while they are cheaper than the law of the counts, whose cost stops growing with the people."""
        few = int(counts.sum()) <= 2 * self.k * self.q * (self.t - 1)
        return super()._simulate(counts, rng) if few else self._spread(counts, rng)

    def _spread(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """A report is on its hyperplane for good, or any message at all."""
        anywhere = float(Fraction((SCALE - self.keep) * self.size, SCALE * self._sizes[1]))
        lost = rng.binomial(counts, anywhere)
        tally = spread_over_hyperplanes(counts - lost, self._space, rng)
        return tally + rng.multinomial(int(lost.sum()), np.full(self.size, 1.0 / self.size))


def _order(given: object, k: int, epsilon: float) -> int:
    """The order of the field: as given, by name, or the best."""
    if given is None:
        return projective.best_order(k, epsilon)
    if isinstance(given, str) and given != "closest":
        rule = 'must be a prime power or "closest"'
        raise ParameterError(message("q", rule, given, "leave it out for the order with the least error"))
    remedy = "leave it out for the order with the least error"
    q = projective.closest_order(epsilon) if isinstance(given, str) else given
    order = rules.integer("q", q, 2, projective.MAX_POINTS - 1, remedy)
    prime = projective.characteristic(order)
    if not prime:
        raise ParameterError(message("q", "must be a prime power", order, "use e.g. 7, 8 or 9, or leave it out"))
    if prime != order > projective.MAX_TABLE:
        rule = f"must be a prime, or a prime power of at most {projective.MAX_TABLE}"
        raise ParameterError(message("q", rule, order, "use a prime close to it"))
    messages = projective.points(order, projective.dimension(k, order))
    if messages > projective.MAX_POINTS:
        rule = f"must give at most {projective.MAX_POINTS} messages for k={k} (q={order} needs {messages})"
        raise ParameterError(message("q", rule, order, remedy))
    return order
