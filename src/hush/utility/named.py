"""Utility-optimized mechanisms by name: uRR, uRAP, uHR, uSS, uUE, uLH and uWheel.

uRR and uRAP: Murakami and Kawamoto (USENIX Security 2019). uHR: Acharya et al., "Context-aware local differential
privacy" (ICML 2020), the high-low model. uSS, uUE, uLH and uWheel: document 002, sections 5.1 to 5.3 and appendix B.
Each is the transformation of a base mechanism over the sensitive values, with the parameter that minimizes the exact
error for the share of people whose value is not sensitive.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np

from hush import rules
from hush.analysis.choice import first
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import LH
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import SUE, UE
from hush.mechanisms.wheel import Wheel
from hush.types import Ints, Reports
from hush.utility import optimal
from hush.utility._revelation import Leveled, Revelation, Silent, hiding
from hush.utility.balanced import BalancedLH
from hush.utility.error import total_error
from hush.utility.oracle import UtilityOracle
from hush.utility.single import Single
from hush.utility.transform import Transformed

_SOME = 1 << 10
"""Values of a mechanism that only checks parameters."""


@dataclass(frozen=True, kw_only=True)
class NamedOracle(UtilityOracle):
    """A transformation whose base mechanism follows from its parameters: those of `UtilityOracle`, and one more.

    Args:
        theta: Share of people whose value is not sensitive, for the choice of the parameter; when left out, as if all
            values were equally frequent.
    """

    theta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theta is not None:
            self._set(theta=rules.share("theta", self.theta))
        if self.z == "balanced" and not isinstance(self, uLH):
            rule = "must be another choice for a mechanism without hash buckets"
            raise ParameterError(message("z", rule, "balanced", "use 'exact', or uLH"))
        self._choose()
        own = {f.name for f in fields(self)} - {f.name for f in fields(NamedOracle)}
        given = {name for name in own if getattr(self, name) is not None}
        if given:  # a base mechanism checks them, and has plain numbers; a single value needs none, so another one does
            base = self.base if self.s > 1 else self._make(min(self.k, _SOME))
            self._set(**{name: getattr(base, name) for name in given if hasattr(base, name)})
        self._ready()

    @property
    def _theta(self) -> float:
        return 1 - self.s / self.k if self.theta is None else self.theta

    def _choose(self) -> None:
        """Set the parameter that was left out."""

    @abstractmethod
    def _make(self, s: int) -> FrequencyOracle:
        """The base mechanism over so many sensitive values, two or more."""

    @cached_property
    def base(self) -> FrequencyOracle:
        """The mechanism over the sensitive values."""
        return Single(epsilon=self.epsilon) if self.s == 1 else self._make(self.s)


@dataclass(frozen=True, kw_only=True)
class uRR(NamedOracle):
    """Utility-optimized randomized response: no value is ever revealed beside a report, so all z agree.

    >>> round(uRR(k=25, epsilon=1.0, sensitive=range(10)).z_star, 6)
    0.146633
    """

    full_name: ClassVar[str] = "utility-optimized randomized response"

    def _make(self, s: int) -> FrequencyOracle:
        return GRR(k=s, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True)
class uRAP(NamedOracle):
    """Utility-optimized RAPPOR, over symmetric unary encoding.

    "paper" is the mechanism as published: the disguise of another value is noise in every bit, and the value is
    revealed beside it with probability 1 - e^(-epsilon/2). "exact" disguises as the other mechanisms here do, and
    reveals more.

    >>> round(uRAP(k=25, epsilon=1.0, sensitive=range(10), z="paper").z_star, 6)
    0.393469
    """

    full_name: ClassVar[str] = "utility-optimized RAPPOR"

    def _make(self, s: int) -> FrequencyOracle:
        return SUE(k=s, epsilon=self.epsilon)

    @cached_property
    def _revelation(self) -> Revelation:
        if self.z == "paper" and isinstance(self.base, UE) and self.s < self.k:
            return Silent(self.base)
        return super()._revelation

    def _base_reports(self, inner: Ints, hidden: Ints, rng: np.random.Generator) -> Reports:
        revelation = self._revelation
        if not isinstance(revelation, Silent):
            return super()._base_reports(inner, hidden, rng)
        from hush.kernels.unary import encode

        out = np.empty(inner.size, self.base.report_dtype)
        own = np.ones(inner.size, np.bool_)
        own[hidden] = False
        out[own] = self.base.sample(inner[own], rng)
        bits, noise = np.empty(hidden.size, self.base.report_dtype), np.uint64(revelation.unary._ones[1])
        encode(rng, inner[hidden], self.s, noise, noise, bits["bits"])
        out[hidden] = bits
        return out


@dataclass(frozen=True, kw_only=True)
class uSS(NamedOracle):
    """Utility-optimized subset selection.

    Args:
        omega: Subset size, 1..s-1; the one with the least error when left out.

    >>> u = uSS(k=1000, epsilon=0.5, sensitive=range(230), theta=0.77)
    >>> u.reveal, u.omega, round(u.z_star, 6)
    ('alone', 97, 0.214819)
    """

    full_name: ClassVar[str] = "utility-optimized subset selection"

    omega: int | None = None

    def _choose(self) -> None:
        if self.omega is None and self.s > 1:
            self._set(omega=optimal.subset_size(self.s, self.epsilon, self._theta, self.z, self.reveal))

    def _make(self, s: int) -> FrequencyOracle:
        return SS(k=s, epsilon=self.epsilon, omega=self.omega)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class uUE(NamedOracle):
    """Utility-optimized unary encoding.

    Args:
        p: Probability of a one in the true value's bit; the one with the least error, to six digits, when left out.

    >>> u = uUE(k=25, epsilon=1.0, sensitive=range(10), theta=0.77, z="constant")
    >>> round(u.p, 6), round(u.z_star, 6)
    (0.527953, 0.146633)
    """

    full_name: ClassVar[str] = "utility-optimized unary encoding"

    p: float | None = None

    def _choose(self) -> None:
        if self.p is None and self.s > 1:
            self._set(p=optimal.unary_probability(self.s, self.epsilon, self._theta, self.z, self.reveal))

    def _make(self, s: int) -> FrequencyOracle:
        return UE(k=s, epsilon=self.epsilon, p=self.p)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class uLH(NamedOracle):
    """Utility-optimized local hashing.

    With the printed z it spends more than epsilon, whatever the hash function: the guarantee then says how much.

    Args:
        g: Number of buckets; the one with the least error when left out.
        hash: "affine" or "family", as in `hush.LH`: with a public family, bucket sizes come from a table.

    >>> u = uLH(k=25, epsilon=1.0, sensitive=range(10), g=4)
    >>> round(u.z_star, 3), u.exact_epsilon() <= 1.0
    (0.325, True)
    >>> round(uLH(k=25, epsilon=1.0, sensitive=range(10), g=4, z="paper").exact_epsilon(), 4)
    1.2851
    """

    full_name: ClassVar[str] = "utility-optimized local hashing"

    g: int | None = None
    hash: str = "affine"

    def _best_reveal(self) -> str:
        """In pairs over a public family with z(y), where a value alone would not name the function that z goes by."""
        table = isinstance(self.hash, str) and self.hash == "family"
        return "pair" if table and self.z == "exact" and 1 < self.s < self.k else super()._best_reveal()

    def _choose(self) -> None:
        if self.g is None and self.s > 1:
            table = isinstance(self.hash, str) and self.hash == "family"
            self._set(g=optimal.hash_range(self.s, self.epsilon, self._theta, self.z, self.reveal, powers=table))

    def _make(self, s: int) -> FrequencyOracle:
        buckets = 2 if self.g is None else self.g
        if self.z == "balanced":
            if not isinstance(self.hash, str) or self.hash != "affine":
                rule = "must be 'affine' for a balanced family"
                raise ParameterError(message("hash", rule, self.hash, "leave it out"))
            return BalancedLH(k=s, epsilon=self.epsilon, g=buckets)
        return LH(k=s, epsilon=self.epsilon, g=buckets, hash=self.hash)


@dataclass(frozen=True, kw_only=True)
class uWheel(NamedOracle):
    """Utility-optimized wheel. With the printed z it spends more than epsilon, as uLH does.

    Args:
        coverage: Share of the ring that an arc covers; the one with the least error, to six digits, when left out.

    >>> round(uWheel(k=25, epsilon=1.0, sensitive=range(10), coverage=0.25, z="paper").exact_epsilon(), 4)
    1.2851
    """

    full_name: ClassVar[str] = "utility-optimized wheel mechanism"

    coverage: float | None = None

    def _choose(self) -> None:
        if self.coverage is None and self.s > 1:
            self._set(coverage=optimal.coverage(self.s, self.epsilon, self._theta, self.z, self.reveal))

    def _make(self, s: int) -> FrequencyOracle:
        return Wheel(k=s, epsilon=self.epsilon, coverage=self.coverage)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class uHR(NamedOracle):
    """Utility-optimized Hadamard response. Revealed values go alone, as in the high-low model.

    Args:
        blocks: Number of blocks, a power of two; the one with the least error when left out, or one with z="paper",
            which is the mechanism as published for three sensitive values or more.

    >>> u = uHR(k=25, epsilon=1.0, sensitive=range(10), blocks=1)
    >>> round(u.z_star, 6)
    0.462117
    """

    full_name: ClassVar[str] = "utility-optimized Hadamard response"

    reveal: str = "alone"
    blocks: int | None = None

    def _choose(self) -> None:
        if self.blocks is None and self.s > 1 and self.z == "paper":
            self._set(blocks=1)
        if self.blocks is None and self.s > 1:
            options = [2**i for i in range((2 * self.s).bit_length())]
            self._set(blocks=options[first([self._error(blocks) for blocks in options])])

    def _error(self, blocks: int) -> float:
        """The sum of all variances, where the sensitive values are equally frequent, and so are the others."""
        base = HR(k=self.s, epsilon=self.epsilon, blocks=blocks)
        if self.s == self.k:
            return self.k * base.forms.even_variance(1)
        made = Transformed(k=self.k, base=base, sensitive=self.sensitive, z=self.z, reveal=self.reveal)
        return total_error(made, self._theta)

    @cached_property
    def _revelation(self) -> Revelation:
        if self.z == "paper" and self.s < self.k and (shape := self.base.forms.shape) is not None:
            return Leveled(self.base, shape, hiding(self.base, pure=False), "exact")
        return super()._revelation

    def _make(self, s: int) -> FrequencyOracle:
        return HR(k=s, epsilon=self.epsilon, blocks=self.blocks)  # type: ignore[arg-type]
