"""What all utility-optimized mechanisms share: the General LDP-to-ULDP Transformation Framework (GLUTF).

"Sensitivity distinction in local differential privacy" (document 002), algorithm 1. A sensitive value goes through a
base mechanism over the s sensitive values. Another is sent as it is with probability 1 - f; else it is disguised: a
uniform sensitive value goes through the base mechanism in its place, and with probability z(y) the value itself is
revealed all the same.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.estimation import Aggregate, Estimate
from hush.estimation.consistency import simplex
from hush.estimation.laws import EstimateLaw
from hush.exact.enumeration import check_few
from hush.exact.thresholds import SCALE
from hush.guarantee import ULDP, Guarantee
from hush.kernels import chunks
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.histogram.forms import NoisyVectorForms
from hush.mechanisms.inference import shares
from hush.mechanisms.pure import PureOracle
from hush.people.columns import column
from hush.people.domain import Domain, integers
from hush.randomness import CHUNK, chunk_generator, chunk_keys
from hush.types import Floats, Ints, Reports, Values
from hush.utility import _attack, _law, _moments, _records, _revelation, simulating
from hush.utility._choice import checked_sensitive
from hush.utility._noisy import Noisy
from hush.utility._records import ALONE, PAIR, PROTECTED
from hush.utility._revelation import Leveled, Revelation, Weighed
from hush.utility.forms import UtilityForms

REVEALS = ("pair", "alone")


@dataclass(frozen=True, kw_only=True)
class UtilityOracle(FrequencyOracle):
    """A mechanism that protects the sensitive values and reveals others as far as that allows.

    Args:
        k: Domain size, sensitive or not.
        epsilon: Privacy loss of one report of a sensitive value, in nats.
        sensitive: The values that need protection; all when left out.
        z: How often a disguised value is revealed all the same: "exact", "constant", "balanced", "paper" or "none".
        reveal: "alone" sends a disguised value that is revealed by itself; "pair" sends it with the base report, as the
            document has it, which is longer and never has less variance. Left out, it is "alone" wherever the law of a
            value alone can be stated, else "pair". A spec always tells it.
    """

    sensitive: tuple[int, ...] | None = None
    z: str = "exact"
    reveal: str = field(default=None, metadata={"chosen": False})  # type: ignore[assignment]

    companion: ClassVar[type[Forms]] = UtilityForms
    family: ClassVar[str] = "utility"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(sensitive=checked_sensitive(self.sensitive, self.k), z=_revelation.checked_choice(self.z))
        if self.reveal is None:
            self._set(reveal=self._best_reveal())
        self._set(reveal=rules.named("reveal", self.reveal, REVEALS, "use 'alone'"))

    def _best_reveal(self) -> str:
        """How a value is revealed if that was left out: alone, since the disguise beside it would only be noise.

        Given its value and its kind, a report alone stands for the mean of all pairs with them. So the estimate from
        reports alone is the conditional mean of that from pairs, which never has more variance (Rao and Blackwell).
        """
        return "alone"

    def _ready(self) -> None:
        """Look at once at what may be refused."""
        if self.base.k != self.s:
            rule = f"must have as many values as are sensitive, {self.s}"
            raise ParameterError(message("base", rule, self.base.k, f"give it k={self.s}"))
        if self.reveal == "alone" and self.s < self.k:
            if self._revelation.constant is None and len(self.base.publics()) > 1 and not self._open:
                rule = "must be 'pair' where z goes by public randomness that is none of (a, b)"
                raise ParameterError(message("reveal", rule, "alone", "use 'pair', or hash='affine'"))
            _ = self._moments_sent

    # What it is made of.

    @property
    @abstractmethod
    def base(self) -> FrequencyOracle:
        """The mechanism over the sensitive values."""

    @property
    def s(self) -> int:
        """How many values are sensitive."""
        return self.k if self.sensitive is None else len(self.sensitive)

    @cached_property
    def _sensitive(self) -> Ints:
        return np.arange(self.k) if self.sensitive is None else np.array(self.sensitive, np.int64)

    @cached_property
    def _others(self) -> Ints:
        """The values that are not sensitive."""
        return np.setdiff1d(np.arange(self.k), self._sensitive)

    @cached_property
    def _inner(self) -> Ints:
        """Each value's number among the sensitive ones; -1 for others."""
        inner = np.full(self.k, -1)
        inner[self._sensitive] = np.arange(self.s)
        return inner

    @property
    def _pure(self) -> bool:
        """Whether f is that of equation 9."""
        return isinstance(self.base, PureOracle)

    @cached_property
    def _revelation(self) -> Revelation:
        hide, shape = _revelation.hiding(self.base, self._pure), self.base.forms.shape
        choice = self.z if self.s < self.k else "none"
        if shape is not None:
            made = Leveled(self.base, shape, hide, choice)
            varies = made.constant is None and self.reveal == "alone" and _records.affine(self.base)
            return Leveled(self.base, shape, SCALE, choice) if varies else made
        if isinstance(self.base.forms, NoisyVectorForms):
            return Noisy(self.base.forms.m, hide, choice)
        return Weighed(self.base, hide, choice)

    @property
    def f(self) -> float:
        """Probability that a value that is not sensitive is disguised."""
        return self._revelation.hide / SCALE

    @cached_property
    def z_mean(self) -> float:
        """Probability that a disguised value is revealed all the same, on average."""
        return self._revelation.mean

    @cached_property
    def z_star(self) -> float:
        """Probability that a value that is not sensitive is revealed: 1 - f + f z."""
        return 1 - self.f + self.f * self.z_mean

    @cached_property
    def _open(self) -> int:
        """How many bytes of the base record a value that is sent alone keeps: its hash function, where z goes by that.

        How often a value is revealed depends on the hash function then, so the law of a report is stated given it.
        Everybody draws one: f is 1, and z tells all.
        """
        varies = self.reveal == "alone" and self.s < self.k and self._revelation.constant is None
        return _records.affine(self.base) if varies else 0

    @property
    def _alone(self) -> float:
        """Probability that a value that is not sensitive is sent alone."""
        return 1 - self.f if self.reveal == "pair" else self.z_star

    @property
    def guarantee(self) -> Guarantee:
        """ULDP at epsilon, or at the true loss where the printed z spends more; with the base mechanism's delta."""
        if self.s == self.k:
            return self.base.guarantee
        epsilon = self.epsilon if self.z != "paper" else max(self.epsilon, self.exact_epsilon())
        return ULDP(epsilon, tuple(self._sensitive.tolist()), self._delta)

    @property
    def _delta(self) -> float:
        return self.base._delta

    @property
    def tight(self) -> bool:  # type: ignore[override]
        """Exact z spends the whole budget, whatever the base mechanism."""
        return self.base.tight or (self.z == "exact" and self.s < self.k)

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {**self.base.thresholds, "disguise": self._revelation.hide, "reveal": self._revelation.words}

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "sensitive": None if self.sensitive is None else list(self.sensitive)}

    # Reports.

    @cached_property
    def report_dtype(self) -> np.dtype[Any]:
        """u1 kind (0 protected, 1 value alone, 2 both), the base record, and the value; zeros where there is none."""
        return np.dtype([("kind", "u1"), ("base", self.base.report_dtype), ("value", unsigned(self.k - 1))])

    @property
    def bits(self) -> int:
        base, others = self.base.forms.number_of_outputs, self._others.size
        pairs = base * others if self._may_pair else 0
        return (base + (others << 8 * self._open) + pairs - 1).bit_length()

    @property
    def _may_pair(self) -> bool:
        return self.reveal == "pair" and self._revelation.constant != 0

    def protected(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which reports are among those that a sensitive value can give."""
        return np.asarray(self._reports(reports)["kind"] == PROTECTED)

    def _based(self, reports: Reports, places: Ints) -> Reports:
        """The base records at some places."""
        return _records.based_at(self, reports, places)

    def privatize(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Any:
        """As every mechanism does, but records are written where they stay."""
        given, single = column(values)
        checked = integers(given, self.k)
        reports = np.empty(checked.size, self.report_dtype)
        keys, rows = chunk_keys(rng, -(-checked.size // CHUNK)), _records.block_rows(self.report_dtype)
        self._revelation.expect(checked.size)

        def work(start: int, stop: int) -> None:
            drawing = chunk_generator(keys[start // CHUNK])
            for at in range(start, stop, rows):
                block = slice(at, min(at + rows, stop))
                _records.write(self, checked[block], drawing, reports[block])

        chunks.each(checked.size, CHUNK, work)
        return reports[0] if single else reports

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        out = np.empty(values.size, self.report_dtype)
        _records.write(self, values, rng, out)
        return out

    def _base_reports(self, inner: Ints, hidden: Ints, rng: np.random.Generator) -> Reports:
        """Base reports of numbers among the sensitive values; `hidden` says where the disguises are."""
        return self.base.sample(inner, rng)

    def validate(self, reports: Reports) -> None:
        """Raise ReportError if a record is malformed."""
        self.base.validate(_records.apart(self, reports)[0])

    def tally(self, reports: Reports) -> Ints:
        """The base tally, then how often each value that is not sensitive was revealed, then how often alone."""
        rows = _records.block_rows(self.report_dtype)
        blocks = (reports[at : at + rows] for at in range(0, max(reports.size, 1), rows))
        return np.asarray(np.sum([self._told(*_records.tally(self, block)) for block in blocks], axis=0), np.int64)

    def _told(self, base: Ints, revealed: Ints, alone: int) -> Ints:
        return np.concatenate([base.ravel(), revealed[self._others], [alone]]).astype(np.int64)

    def _aggregate(self, reports: Reports | Iterable[Reports], spec_hash: str) -> Aggregate:
        """Where a base mechanism tallies best all at once, as over a public hash family, it gets all at once."""
        if getattr(self.base, "_family", None) is None or not isinstance(reports, (np.ndarray, np.generic, Iterable)):
            return super()._aggregate(reports, spec_hash)
        revealed, n = np.zeros(self.k, np.int64), 0

        def parts() -> Iterator[Reports]:
            nonlocal n
            for part in [reports] if isinstance(reports, (np.ndarray, np.generic)) else reports:
                based, shown = _records.apart(self, checked := self._reports(part))
                np.add(revealed, shown, out=revealed)
                n += checked.size
                yield based

        base = self.base._aggregate(parts(), "")
        return Aggregate(n, self._told(base.tally, revealed, n - base.n), spec_hash, self.check_tally)

    def check_tally(self, tally: Ints, n: int) -> None:
        _records.check_tally(self, tally, n)

    # Estimates.

    @cached_property
    def _moments_sent(self) -> _moments.Moments:
        """Of the base reports that people send whose values are not sensitive."""
        return (_moments.sent if self.reveal == "pair" else _moments.protected)(self._revelation)

    @cached_property
    def _offset(self) -> Floats:
        """What a value sent alone takes off each sensitive estimate, so that disguises cancel on average."""
        mean = self._moments_sent.mean
        return np.zeros(self.s) if not mean.any() else np.asarray(mean / self._alone)

    def decode(self, tally: Ints, n: int) -> Floats:
        """Every base report counts, whoever sent it; revealed values are counted, alone or not."""
        return self._decoded(tally, n, self.base.decode)

    def _decoded(self, tally: Ints, n: int, decode: Callable[[Ints, int], Floats]) -> Floats:
        base, revealed, alone = _records.split(self, tally)
        out = np.zeros(self.k)
        if n > alone:
            out[self._sensitive] = decode(base, n - alone) * ((n - alone) / n)
        if revealed.size:
            out[self._sensitive] -= self._offset * (alone / n)
            out[self._others] = revealed / (n * self.z_star)
        return out

    def _estimate(self, aggregate: Aggregate, domain: Domain, spec_hash: str) -> Estimate:
        """As every mechanism's, but with error bars that reckon with two more people of each value that is shown.

        The variance of a value that is not sensitive is a multiple of its frequency: without this, one that nobody
        revealed would have an error of zero.
        """
        found = super()._estimate(aggregate, domain, spec_hash)
        likely = self.likely(found.frequencies, aggregate.n)
        return replace(found, errors=np.sqrt(self.variances(likely, aggregate.n)))

    def likely(self, raw: Floats, n: int) -> Floats:
        """The frequencies that error bars of a raw estimate reckon with."""
        nearest = simplex(raw)
        nearest[self._others] += 2 / (n * self.z_star)
        return nearest

    def law(self, tally: Ints, n: int) -> EstimateLaw | None:
        return _law.law(self, tally, n)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Exact, for a fixed population: the sum of what everybody's report adds, covariances included."""
        held, others = np.asarray(frequencies)[self._sensitive], np.asarray(frequencies)[self._others]
        out = np.empty(self.k)
        out[self._sensitive] = self.sensitive_variances(held, float(others.sum()))
        if others.size:
            out[self._others] = others * (1 - self.z_star) / self.z_star
        return np.asarray(out / n, np.float64)

    def sensitive_variances(self, held: Floats, others: float) -> Floats:
        """Of one report, for each sensitive value, from their frequencies and the share of people with others."""
        total = held.sum()
        out = self.base.variances(held / total, 1) * total if total > 0 else np.zeros(self.s)
        shown = 0.0 if self.s == self.k else self._moments_sent.square + self._alone * self._offset**2
        return np.asarray(out + others * shown)

    @property
    def _examples(self) -> Sequence[int]:
        """Sensitive values: of others, one that nobody holds has no error."""
        return tuple(self._sensitive[list(self.base._examples)].tolist())

    # The exact law.

    @cached_property
    def denominator(self) -> int:
        """The base mechanism's, times s and a word for each of f and z."""
        return self.base.denominator * self.s * SCALE**2

    def _record(self, kind: int, base: Any, value: int) -> Reports:
        out = np.zeros(1, self.report_dtype)
        out["kind"], out["value"] = kind, value
        out["base"] = out["base"] if base is None else base
        return out

    def publics(self) -> list[Any]:
        """Those of the base mechanism, and one where few values share an output, which is where a loss shows."""
        return list(self.base.forms.telling_publics)

    def public(self, report: Any) -> Any:
        """The base report's; None where there is no base report, and nothing of one."""
        return None if report["kind"] == ALONE and not self._open else self.base.public(report["base"])

    def outputs(self, public: Any = None) -> Reports:
        based = self.base.outputs(public)
        check_few(len(based) * (1 + self._others.size * self._may_pair) + self._others.size, self.k)
        records = [self._record(PROTECTED, y, 0) for y in based]
        named = _records.only_open(based[:1], self._open)[0] if self._open else None
        records += [self._record(ALONE, named, x) for x in self._others]
        if self._may_pair:
            records += [self._record(PAIR, y, x) for y in based for x in self._others]
        return np.concatenate(records)

    def copies(self, report: Any) -> int:
        return 1 if report["kind"] == ALONE else self.base.copies(report["base"])

    def weight(self, report: Any, value: int) -> int:
        kind, inner, revelation = int(report["kind"]), int(self._inner[value]), self._revelation
        if inner >= 0:
            return self.base.weight(report["base"], inner) * self.s * SCALE**2 if kind == PROTECTED else 0
        if kind != PROTECTED and int(report["value"]) != value:
            return 0
        if kind == ALONE:
            return _alone_given(self, self.base.public(report["base"])) if self._open else self._alone_weight
        shown, mass = revelation.threshold_and_mass(report["base"])
        return revelation.hide * (SCALE - shown if kind == PROTECTED else shown) * mass

    @cached_property
    def _alone_weight(self) -> int:
        """Of a value sent alone: what is not disguised, and what is revealed in disguise where that shows it alone."""
        plain = (SCALE - self._revelation.hide) * SCALE * self.s * self.base.denominator
        if self.reveal == "pair":
            return plain
        revelation = self._revelation
        if revelation.constant is not None:
            return plain + revelation.hide * revelation.constant * self.s * self.base.denominator
        return plain + _alone_given(self, None)

    @property
    def _log_alone(self) -> float:
        return math.log(self._alone) if self._alone > 0 else -math.inf

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        return _attack.log_prob(self, reports, values)

    def scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every value, shape (n, k), up to a constant for each report."""
        return _attack.scores(self, reports)

    def exact_epsilon(self) -> float:
        """The true loss in the sense of ULDP, whatever the public randomness; for hashing, whatever the hash."""
        return (
            self.base.exact_epsilon() if self.s == self.k else max(self.base.exact_epsilon(), self._revelation.loss())
        )

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """A revealed value is known; a protected report is guessed as the base mechanism's."""
        return _attack.success(self, shares(prior, self.k))

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        revelation = self._revelation
        if self._others.size and not simulating.fast(revelation):
            return super()._simulate(counts, rng)
        base = self.base._simulate(counts[self._sensitive], rng).ravel()
        alone, pairs, kept = simulating.revealing(revelation, counts[self._others], rng)
        together = int(pairs.sum()) if self.reveal == "pair" else 0
        if kept.sum() + together:
            base = base + simulating.disguised(revelation, int(kept.sum()), together, rng).ravel()
        by_itself = alone.sum() + (0 if self.reveal == "pair" else pairs.sum())
        return np.concatenate([base, alone + pairs, [by_itself]]).astype(np.int64)


@lru_cache(maxsize=1 << 12)
def _alone_given(u: UtilityOracle, public: Any) -> int:
    """The weight of a value that is disguised, and revealed alone, given the public randomness of the disguise."""
    known, base = u._revelation, u.base
    return sum(known.hide * known.threshold(y) * known.mass(y) * base.copies(y) for y in base.outputs(public))
