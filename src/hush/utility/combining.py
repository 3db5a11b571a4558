"""One estimate from reports of several specs over the same values.

Each part of the people reports by a spec of its own: the first few and the rest of a collaboration, or public classes
that find different values sensitive. Every part's estimate is unbiased for its own people, so their mean, weighed by
the number of people, is unbiased for all of them, whoever is in which part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.estimation.bounds import Summed
from hush.estimation.laws import EstimateLaw
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain
from hush.simulation import tallies
from hush.types import Bools, Floats
from hush.utility.oracle import UtilityOracle

if TYPE_CHECKING:
    from hush.utility.named import NamedOracle

Part = tuple[FrequencyOracle | Spec, Aggregate]
"""What some people reported by, and the aggregate of their reports."""


@dataclass(frozen=True, eq=False)
class _AsTold(EstimateLaw):
    """Frequencies of people who told their value as it is."""

    frequencies: Floats

    def normal(self, tail: float) -> Bools:
        """As good as any: there is nothing to miss."""
        return np.ones(self.frequencies.size, np.bool_)

    def ends(self, tail: float, wanted: Bools) -> tuple[Floats, Floats]:
        """They are known."""
        return self.frequencies[wanted], self.frequencies[wanted]


def combined(parts: Sequence[Part], *, alike: bool = True, told: npt.ArrayLike | None = None) -> Estimate:
    """One estimate from reports of different mechanisms over the same values, each weighed by its number of reports.

    The weights do not depend on what was reported, so the estimate is unbiased, and exact for the people who reported.

    Args:
        parts: Mechanisms or specs, with the aggregates of their reports.
        alike: Whether people are in one part or another by chance, so that errors of all parts go by the frequencies of
            all; else each part's errors go by its own estimate.
        told: How many people told each value as it is, beside those who reported.

    >>> import hush
    >>> from hush.utility import uSS
    >>> one, two = uSS(k=4, epsilon=1.0, sensitive=[0]), uSS(k=4, epsilon=1.0, sensitive=[0, 1])
    >>> made = [(u, u.simulate([500] * 4, rng=hush.seeded(7))) for u in (one, two)]
    >>> combined(made, alike=False, told=[0, 0, 0, 1000]).n
    5000
    """
    if not isinstance(parts, Sequence) or not all(isinstance(part, tuple) and len(part) == 2 for part in parts):
        remedy = "pass [(first, a), (second, b)]"
        raise ParameterError(message("parts", "must be pairs of a mechanism or spec and an aggregate", parts, remedy))
    domain = same_values([owner for owner, _ in parts])
    _aggregates("parts", [aggregate for _, aggregate in parts])
    open_ = np.zeros(domain.size, np.int64) if told is None else tallies.people(told, domain.size)
    n = sum(aggregate.n for _, aggregate in parts) + int(open_.sum())
    found = [(aggregate.n, owner.estimate(aggregate)) for owner, aggregate in parts]
    raw = np.sum([each.frequencies * (size / n) for size, each in found], axis=0) + open_ / n
    spread = np.zeros(domain.size)
    for (owner, _), (size, each) in zip(parts, found, strict=True):
        m = owner.mechanism if isinstance(owner, Spec) else owner
        own = m.variances(m.likely(raw, n), size) if alike and isinstance(m, UtilityOracle) else each.stderr**2
        spread += own * (size / n) ** 2
    known: list[tuple[int, EstimateLaw]] = [(size, each.known) for size, each in found if each.known is not None]
    if open_.any():
        known.append((int(open_.sum()), _AsTold(open_ / open_.sum())))
    law = Summed(known) if len(known) == len(found) + bool(open_.any()) else None
    return Estimate(raw, n, domain, np.sqrt(spread), law=law)


def same_values(owners: Sequence[Any]) -> Domain:
    """The values that all are over."""
    remedy = "pass [(first, a), (second, b)]"
    kinds = (FrequencyOracle, Spec)
    if not owners or not all(isinstance(each, kinds) for each in owners):
        raise ParameterError(message("parts", "must be mechanisms or specs, with aggregates", len(owners), remedy))
    for each in owners:
        if isinstance(each, Spec) and each.mechanism.kind != "frequency":
            raise ParameterError(message("parts", "must be of frequencies", each.mechanism.kind, remedy))
    domains = [each.domain if isinstance(each, Spec) else Domain(size=each.k) for each in owners]
    plain = [replace(each, sensitive=None) for each in domains]
    for at, each in enumerate(plain, 1):
        if each != plain[0]:
            rule = "must be over the same values, called the same, in the same order"
            got = Unsaid(f"those of spec {at}, {_differ(each, plain[0])} than those of spec 1")
            raise ParameterError(message("parts", rule, got, "use one domain; what is sensitive may differ"))
    return plain[0]


def _differ(one: Domain, other: Domain) -> str:
    """In what two domains are not the same."""
    if one.size != other.size:
        return f"{abs(one.size - other.size):,} {'more' if one.size > other.size else 'fewer'}"
    if (one.labels, one.other) == (other.labels, other.other):
        return "which amount to other numbers"
    return "in another order" if set(one.labels or ()) == set(other.labels or ()) else "called otherwise"


def _aggregates(what: str, given: Sequence[Any]) -> None:
    for each in given:
        if not isinstance(each, Aggregate):
            raise ParameterError(
                message(what, "must have an aggregate of reports", each, "use spec.aggregate(reports)")
            )


def followed(spec: Spec, aggregate: Aggregate) -> tuple[float, Spec]:
    """Theta as the first people told it, and the spec for everybody else: the same mechanism, made for that theta.

    Args:
        spec: What the first people reported by: uSS, uUE, uLH, uWheel, uHR, uRR or uRAP.
        aggregate: That of their reports.
    """
    from hush.utility.collaborative import told_theta
    from hush.utility.named import NamedOracle

    if not isinstance(spec, Spec):
        remedy = "pass hush.Spec(mechanism, domain)"
        raise ParameterError(message("spec", "must be that of the first people", type(spec), remedy))
    m = spec.mechanism
    if not isinstance(m, NamedOracle) or m.s == m.k:
        rule, remedy = "must be of uSS, uUE, uLH or their like, with some values that are not sensitive", "use e.g. uSS"
        raise ParameterError(message("spec", rule, m.name(), remedy))
    _aggregates("aggregate", [aggregate])
    theta = told_theta(m, Aggregate(aggregate.n, spec.check(aggregate).tally, m.spec_hash, m.check_tally))
    return theta, Spec(_made_for(m, theta), spec.domain)


def _made_for(m: NamedOracle, theta: float) -> NamedOracle:
    """The same, with the parameter that is best for another theta."""
    own = {name: getattr(m, name) for name in ("k", "epsilon", "sensitive", "z", "reveal")}
    return type(m)(**own, theta=theta, **({"hash": m.hash} if hasattr(m, "hash") else {}))
