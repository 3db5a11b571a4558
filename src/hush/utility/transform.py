"""Any mechanism over the sensitive values, turned into its utility-optimized counterpart over a whole domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hush.errors import ParameterError, message
from hush.guarantee import LDP, ApproxLDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hashing import LH
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.registry import from_dict
from hush.people.domain import Domain
from hush.utility.balanced import BalancedLH
from hush.utility.oracle import UtilityOracle

RULES = ("pure", "general")


@dataclass(frozen=True, kw_only=True)
class Transformed(UtilityOracle):
    """A mechanism over the sensitive values, and disguises for all others.

    Args:
        k: Domain size, sensitive or not.
        epsilon: That of the base mechanism.
        base: A mechanism over the sensitive values, in their order.
        sensitive: The values that need protection; all when left out.
        z: How often a disguised value is revealed all the same.
        reveal: Whether it is then sent "alone", or as a "pair" with the base report; left out, alone where that can be.
        disguise: "pure" takes f from equation 9, "general" from equation 10; left out, equation 9 for a pure oracle.
    """

    base: FrequencyOracle = None  # type: ignore[assignment]
    epsilon: float = None  # type: ignore[assignment]
    disguise: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.base, Mapping):
            self._set(base=from_dict(self.base))
        if not isinstance(self.base, FrequencyOracle) or isinstance(self.base, UtilityOracle):
            rule, remedy = "must be a mechanism over the sensitive values", "pass e.g. hush.OUE(k=10, epsilon=1.0)"
            raise ParameterError(message("base", rule, self.base, remedy))
        promise, shape = self.base.guarantee, self.base.forms.shape
        if not isinstance(promise, (LDP, ApproxLDP)):
            rule = "must promise epsilon-LDP of all its values"
            raise ParameterError(message("base", rule, str(promise), "use e.g. hush.OUE"))
        if isinstance(promise, ApproxLDP) and (shape is None or not shape.seen()):
            rule = "must have reports with two levels of probability where it has a delta"
            raise ParameterError(message("base", rule, self.base.name(), "use AGRR, ASUE, ABLH or AOLH, or no delta"))
        if isinstance(promise, ApproxLDP) and self.z in ("paper", "balanced"):
            rule = "must be another choice for a mechanism with a delta, which the paper does not have"
            raise ParameterError(message("z", rule, self.z, "use 'exact'"))
        if promise.epsilon > self.base.epsilon:
            rule = f"must promise its own epsilon, {self.base.epsilon:g}, which the disguises go by"
            raise ParameterError(message("base", rule, str(self.base.guarantee), "let its epsilon be what it promises"))
        if self.epsilon is None:
            self._set(epsilon=self.base.epsilon)
        left_out = self.reveal is None
        super().__post_init__()
        if self.epsilon != self.base.epsilon:
            rule = f"must be the base mechanism's, {self.base.epsilon}"
            raise ParameterError(message("epsilon", rule, self.epsilon, "leave it out"))
        self._set(base=_balanced(self.base) if self.z == "balanced" else self.base)
        pure = isinstance(self.base, PureOracle)
        chosen = ("pure" if pure else "general") if self.disguise is None else self.disguise
        if not isinstance(chosen, str) or chosen not in RULES or (chosen == "pure" and not pure):
            rule = "must be 'pure' or 'general'" if pure else "must be 'general' for a mechanism that is not pure"
            raise ParameterError(message("f", rule, chosen, "leave it out"))
        self._set(disguise=chosen)
        try:
            self._ready()
        except ParameterError:
            if not left_out:
                raise
            for name in self.__dict__.keys() - {f.name for f in fields(self)}:  # what goes by reveal
                del self.__dict__[name]
            self._set(reveal="pair")
            self._ready()

    @property
    def _pure(self) -> bool:
        return self.disguise == "pure"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes; the base mechanism as plain data."""
        return {**super().parameters, "base": self.base.to_dict()}


def _balanced(base: FrequencyOracle) -> FrequencyOracle:
    """The same mechanism over a balanced hash family."""
    if isinstance(base, BalancedLH):
        return base
    if not isinstance(base, LH):
        rule = "must be another choice for a mechanism without hash buckets"
        raise ParameterError(message("z", rule, "balanced", "use 'exact', or local hashing"))
    return BalancedLH(k=base.k, epsilon=base.epsilon, g=base.g)


def transform(
    base: FrequencyOracle, domain: Domain, z: str = "exact", f: str | None = None, *, reveal: str | None = None
) -> Transformed:
    """Turn a mechanism over the sensitive values of a domain into one over all of its values.

    Args:
        base: Any mechanism that promises epsilon-LDP, with as many values as the domain has sensitive ones.
        domain: Says which values are sensitive; all are when it does not.
        z: How often a value in disguise is revealed all the same. "exact" goes by the report and is the largest there
            is; "constant" is the largest safe one that is the same for all reports; "balanced" is that over a balanced
            hash family, for local hashing; "paper" is what the document prints, which spends more than epsilon for
            local hashing and the wheel (the guarantee then says how much); "none" is 0.
        f: How often others are disguised: "pure" (equation 9) or "general" (equation 10); left out, equation 9 for a
            pure oracle.
        reveal: Whether a value revealed from a disguise goes "alone", or as a "pair" with the base report, which never
            has less error; left out, "alone" where the law of a value alone can be stated, else "pair".

    >>> from hush import LH, Domain
    >>> u = transform(LH(k=10, epsilon=1.0, g=4), Domain(size=25, sensitive=range(10)))
    >>> round(u.z_star, 3), str(u.guarantee)
    (0.325, '1-ULDP for 10 sensitive values')
    >>> str(transform(LH(k=10, epsilon=1.0, g=4), Domain(size=25, sensitive=range(10)), z="paper").guarantee)
    '1.28512-ULDP for 10 sensitive values'
    """
    if not isinstance(domain, Domain):
        rule, remedy = "must be a Domain", "pass e.g. hush.Domain(size=25, sensitive=range(10))"
        raise ParameterError(message("domain", rule, type(domain), remedy))
    return Transformed(k=domain.size, base=base, sensitive=domain.sensitive, z=z, disguise=f, reveal=reveal)  # type: ignore[arg-type]
