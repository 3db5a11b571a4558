"""Random sampling plus fake data (RS+FD), and with realistic fake data (RS+RFD).

RS+FD: Arcolezi, Couchot, Al Bouna and Xiao (CIKM 2021). RS+RFD: Arcolezi, Gambs, Couchot and Palamidessi (VLDB 2023).
One attribute, drawn at random, is randomized; the others get fakes, and nobody is told which is which. The randomizer
has budget epsilon' = ln(d(e^epsilon - 1) + 1), by an argument of amplification that fails: the loss between tuples
that differ in every attribute is epsilon' itself. That is the guarantee here; epsilon is what the papers claim.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.estimation.laws import EstimateLaw
from hush.guarantee import LDP, Guarantee
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.chosen import choices
from hush.mechanisms.direct import GRR
from hush.mechanisms.modular import MSS
from hush.mechanisms.unary import OUE, SUE
from hush.multidim import checks
from hush.multidim._beside import SideBySide
from hush.multidim._fakes import DirectFake, Fake, OneHotFake, ZeroFake
from hush.multidim._modular_fakes import ModularValueFake, SubsetFake
from hush.multidim.amplification import amplified, claim_for
from hush.multidim.base import Beliefs
from hush.multidim.chances import Chances, uniform
from hush.multidim.choice import ADAPTIVE, told_choices
from hush.multidim.loss import hidden
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True, kw_only=True)
class FakeData(SideBySide):
    """One attribute is randomized, the others are fakes, and the report does not say which is which."""

    variant: str | Sequence[str] = ADAPTIVE
    chosen: Sequence[Any] | None = field(default=None, repr=False)

    fewest: ClassVar[int] = 2
    samples: ClassVar[bool] = True
    hides: ClassVar[bool] = True
    variants: ClassVar[tuple[str, ...]] = ("GRR",)
    """The names that `variant` may take, beside "ADP": those of the papers."""
    others: ClassVar[tuple[str, ...]] = ()
    """Names that no paper has, and that no planner tries."""
    contest: ClassVar[tuple[str, str]] = ("GRR", "GRR")
    """The two that "ADP" chooses from."""

    def _settle(self) -> None:
        if self.amplified_epsilon > rules.MAX_EPSILON:
            rule = f"must leave ln(d(e^epsilon - 1) + 1) at most {rules.MAX_EPSILON:g}"
            raise ParameterError(message("epsilon", rule, self.epsilon, "choose a smaller budget, e.g. 1.0"))
        names = checks.names("variant", self.variant, self.d, (*self.variants, *self.others, ADAPTIVE))
        variant = tuple(self._best(j) if name == ADAPTIVE else name for j, name in enumerate(names))
        self._set(variant=variant, chosen=checks.chosen(self.chosen, self.d))
        due = tuple(checks.sorted_pairs(choices(component)) for component in self.components)
        if self.chosen is not None and self.chosen != due:
            rule = "must be what the mechanisms choose for themselves, all of it and nothing else"
            raise ParameterError(message("chosen", rule, told_choices(self.chosen), "leave it out"))
        self._set(chosen=due)

    @abstractmethod
    def _chances(self, attribute: int) -> Chances:
        """What fake values are drawn from."""

    @cached_property
    def amplified_epsilon(self) -> float:
        """epsilon' = ln(d(e^epsilon - 1) + 1): the budget of the sampled attribute, and the loss of a whole report."""
        return amplified(self.epsilon, self.d)

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Every variant, and the choice between two of them."""
        for each in super().offers(sizes):
            yield from ({**each, "variant": variant} for variant in (ADAPTIVE, *cls.variants))

    @classmethod
    def losing(cls, loss: float, sizes: Sequence[int], **more: Any) -> Self:
        """The one whose true loss is at most this: it claims less."""
        return cls(sizes=sizes, epsilon=claim_for(loss, len(sizes)), **more)

    @property
    def title(self) -> str:
        """Its name, and its attributes' variants."""
        return f"{self.name()} {'/'.join(dict.fromkeys(self.variant))}"

    @property
    def guarantee(self) -> Guarantee:
        """epsilon', not epsilon."""
        return LDP(self.amplified_epsilon)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes, as plain data; what mechanisms chose where they chose anything."""
        plain = {name: value for name, value in super().parameters.items() if name != "chosen"}
        told = told_choices(self.chosen or ())
        return plain | ({"chosen": told} if any(told) else {})

    def exact_epsilon(self, changed: int | None = None) -> float:
        """The true loss between tuples that differ in at most so many attributes, from the integer thresholds."""
        most = checks.changed(changed, self.d)
        return hidden([fake.extremes() for fake in self.fakes], most)

    def _fake(self, attribute: int, variant: str) -> Fake:
        k, budget = self.sizes[attribute], self.amplified_epsilon
        if variant == "GRR":
            return DirectFake(GRR(k=k, epsilon=budget), self._chances(attribute))
        if variant.startswith("MSS"):
            own = dict(self.chosen[attribute]) if self.chosen else {}
            modular = self._modular(k, budget, own)
            return ModularValueFake(modular, self._chances(attribute)) if variant.endswith("r") else SubsetFake(modular)
        real = (SUE if variant.startswith("SUE") else OUE)(k=k, epsilon=budget)
        return ZeroFake(real) if variant.endswith("z") else OneHotFake(real, self._chances(attribute))

    @staticmethod
    def _modular(k: int, budget: float, own: dict[str, Any]) -> MSS:
        """Modular subset selection, by what it chose, if that is told."""
        try:
            return MSS(k=k, epsilon=budget, **own)
        except TypeError:
            raise ParameterError(message("chosen", "must be moduli, for MSS", own, "leave it out")) from None

    def _best(self, attribute: int) -> str:
        """Of the two in the contest, the one with less variance on average over values that nobody holds."""
        fakes = {name: self._fake(attribute, name) for name in self.contest}
        return min(fakes, key=lambda name: float(fakes[name].variances(0.0, 1, self.d).mean()))

    @cached_property
    def fakes(self) -> tuple[Fake, ...]:
        """The fake of each attribute."""
        return tuple(self._fake(j, variant) for j, variant in enumerate(self.variant))

    @cached_property
    def components(self) -> tuple[FrequencyOracle, ...]:
        """What randomizes each attribute when it is the sampled one."""
        return tuple(fake.real for fake in self.fakes)

    def sample(self, tuples: Ints, rng: np.random.Generator) -> Reports:
        """First the attributes of all rows; then, attribute by attribute, its real reports and its fakes."""
        out = np.empty(len(tuples), self.report_dtype)
        drawn = uniform(len(tuples), self.d, rng)
        for j, (name, fake) in enumerate(zip(self._fields, self.fakes, strict=True)):
            own = drawn == j
            part = np.empty(len(tuples), fake.real.report_dtype)
            part[own] = fake.real.sample(tuples[own, j], rng)
            part[~own] = fake.draw(len(tuples) - int(own.sum()), rng)
            out[name] = part
        return out

    def decode(self, tally: Ints, n: int) -> tuple[Floats, ...]:
        """Of each attribute, what its reports say, less what fakes are due to add."""
        pairs = zip(self.fakes, self._tallies(tally), strict=True)
        return tuple(fake.decode(part, n, self.d) for fake, part in pairs)

    def laws(self, tally: Ints, n: int) -> tuple[EstimateLaw | None, ...]:
        """As fakes know it: they say the same of a value no matter who holds it."""
        pairs = zip(self.fakes, self._tallies(tally), strict=True)
        return tuple(fake.law(part, n, self.d) for fake, part in pairs)

    def variances(self, frequencies: Sequence[npt.ArrayLike], n: int) -> tuple[Floats, ...]:
        """Exact: reports are independent of each other."""
        pairs = zip(self.fakes, frequencies, strict=True)
        return tuple(fake.variances(shares, n, self.d) for fake, shares in pairs)

    @cached_property
    def denominator(self) -> int:
        """d times, for each attribute, the denominators of its mechanism and of its fake."""
        return self.d * math.prod(fake.real.denominator * fake.denominator for fake in self.fakes)

    def weight(self, report: Any, values: Sequence[int]) -> int:
        """The sum, over the attribute that may have been sampled, of the products of all parts' weights."""
        real, faked = [], []
        for name, fake, value in zip(self._fields, self.fakes, values, strict=True):
            real.append(fake.real.weight(report[name], int(value)) * fake.denominator)
            faked.append(fake.weight(report[name]) * fake.real.denominator)
        return sum(real[s] * math.prod(faked[:s] + faked[s + 1 :]) for s in range(self.d))

    def _parts(self, reports: Reports) -> list[Reports]:
        return [np.ascontiguousarray(reports[name]) for name in self._fields]

    def _faked(self, parts: list[Reports]) -> Floats:
        """For each attribute, the log-probability that the others' parts come from fakes, shape (d, n)."""
        each = np.stack([fake.log_prob(part) for fake, part in zip(self.fakes, parts, strict=True)])
        none = np.zeros((1, each.shape[1]))
        before = np.cumsum(np.concatenate([none, each[:-1]]), axis=0)
        after = np.cumsum(np.concatenate([none, each[:0:-1]]), axis=0)[::-1]
        return np.asarray(before + after, dtype=np.float64)

    def _log_prob(self, reports: Reports, tuples: Ints) -> Floats:
        parts = self._parts(reports)
        terms = self._faked(parts)
        for j, (component, part) in enumerate(zip(self.components, parts, strict=True)):
            terms[j] += component._log_prob(part, tuples[:, j])
        return np.asarray(np.logaddexp.reduce(terms, axis=0) - math.log(self.d), dtype=np.float64)

    def _likelihoods(self, attribute: int, part: Reports) -> Floats:
        """Log-probability of a part under every value, were it the sampled one, shape (n, k)."""
        component = self.components[attribute]
        scores = component.scores(part)
        level = component._log_prob(part, np.zeros(part.size, np.int64)) - scores[:, 0]
        return np.asarray(scores + level[:, None], dtype=np.float64)

    def likelihoods(self, reports: Reports) -> list[Floats]:
        """How likely a report is if an attribute was sampled, for each of its values; shape (n, k) for each attribute.

        Up to a factor for each report, which makes the largest one 1.
        """
        parts = self._parts(reports)
        pairs = enumerate(zip(parts, self._faked(parts), strict=True))
        logs = [self._likelihoods(j, part) + faked[:, None] for j, (part, faked) in pairs]
        most = np.max([each.max(axis=1) for each in logs], axis=0)
        return [np.exp(each - np.where(np.isfinite(most), most, 0.0)[:, None]) for each in logs]

    def _sampled(self, parts: list[Reports], faked: Floats, priors: tuple[Floats, ...]) -> Floats:
        """Log-probability of the report and that each attribute was sampled, times d; shape (d, n)."""
        terms = faked.copy()
        with np.errstate(divide="ignore"):
            beliefs = [np.log(prior) for prior in priors]
        for j, part in enumerate(parts):
            terms[j] += np.logaddexp.reduce(self._likelihoods(j, part) + beliefs[j], axis=1)
        return terms

    def _scores(self, reports: Reports, attribute: int, priors: tuple[Floats, ...]) -> Floats:
        parts = self._parts(reports)
        faked = self._faked(parts)
        others = np.delete(self._sampled(parts, faked, priors), attribute, axis=0)
        elsewhere = np.logaddexp.reduce(others, axis=0)
        own = self._likelihoods(attribute, parts[attribute]) + faked[attribute][:, None]
        return np.asarray(np.logaddexp(own, elsewhere[:, None]) - math.log(self.d), dtype=np.float64)

    def asr(self, attribute: int) -> float:
        """That of the attribute's mechanism if it was sampled, else a blind guess: fakes add the same to all values."""
        j = checks.attribute(attribute, self.d)
        return self.components[j].asr() / self.d + (1 - 1 / self.d) / self.sizes[j]

    def sampled(self, reports: Reports, priors: Beliefs = None) -> Floats:
        """How likely each attribute is to be the sampled one, given the whole report, shape (n, d).

        Args:
            reports: What the attacker saw.
            priors: How likely each value of each attribute is beforehand, independently; uniform where None.
        """
        parts = self._parts(self._validated(reports))
        terms = self._sampled(parts, self._faked(parts), checks.beliefs(priors, self.sizes))
        return np.exp(terms - np.logaddexp.reduce(terms, axis=0)).T


@dataclass(frozen=True, kw_only=True)
class RSFD(FakeData):
    """Random sampling plus fake data: fakes are uniform.

    Args:
        sizes: Domain size of each attribute, two attributes or more.
        epsilon: What the paper claims as the loss of one report, in nats; the true loss is `amplified_epsilon`.
        variant: GRR, SUE-z, SUE-r, OUE-z or OUE-r, or one for each attribute; "ADP" stands for GRR or OUE-z, whichever
            has less variance there. Beyond the papers, MSS, whose fakes are any subset of any block, and MSS-r, with
            fakes of a random value.
        chosen: The moduli of each attribute's MSS, as a spec has them; chosen when left out.

    >>> m = RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR")
    >>> round(m.exact_epsilon(), 3), round(m.exact_epsilon(changed=1), 3)
    (1.49, 1.138)
    """

    variants: ClassVar[tuple[str, ...]] = ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r")
    others: ClassVar[tuple[str, ...]] = ("MSS", "MSS-r")
    contest: ClassVar[tuple[str, str]] = ("GRR", "OUE-z")

    def _chances(self, attribute: int) -> Chances:
        return Chances(self.sizes[attribute])


@dataclass(frozen=True, kw_only=True)
class RSRFD(FakeData):
    """Random sampling plus realistic fake data: fakes are drawn from priors.

    Args:
        sizes: Domain size of each attribute, two attributes or more.
        epsilon: What the paper claims as the loss of one report, in nats; the true loss is `amplified_epsilon`.
        variant: GRR, SUE-r or OUE-r, or one for each attribute; "ADP" stands for GRR or OUE-r, whichever has less
            variance there. Beyond the papers, MSS-r.
        priors: A distribution for each attribute, such as last year's; it need not be right for estimates to be.
        chosen: The moduli of each attribute's MSS, as a spec has them; chosen when left out.

    >>> m = RSRFD(sizes=(2, 3), epsilon=1.0, variant="GRR", priors=[[0.8, 0.2], [0.5, 0.3, 0.2]])
    >>> m.exact_epsilon() <= m.guarantee.epsilon
    True
    """

    priors: Sequence[Sequence[float]]

    variants: ClassVar[tuple[str, ...]] = ("GRR", "SUE-r", "OUE-r")
    others: ClassVar[tuple[str, ...]] = ("MSS-r",)
    contest: ClassVar[tuple[str, str]] = ("GRR", "OUE-r")

    def _settle(self) -> None:
        self._set(priors=checks.priors(self.priors, self.sizes))
        super()._settle()

    @cached_property
    def _laws(self) -> tuple[Chances, ...]:
        return tuple(Chances(k, tuple(prior)) for k, prior in zip(self.sizes, self.priors, strict=True))

    def _chances(self, attribute: int) -> Chances:
        return self._laws[attribute]

    @property
    def thresholds(self) -> dict[str, int | str]:
        """Those of the mechanisms, and hashes of the integer weights that fakes are drawn from."""
        hashes = {f"{j}.prior": law.digest for j, law in enumerate(self._laws)}
        return super().thresholds | hashes
