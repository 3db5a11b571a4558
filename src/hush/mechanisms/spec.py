"""A spec: a mechanism and a domain, as they travel.

The canonical JSON follows RFC 8785, so that every language gets the same bytes; its SHA-256 is what reports and
aggregates carry. Thresholds are in it, computed once here and never by clients.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import strict_json
from hush.canonical import canonical, pieces
from hush.errors import SpecError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.guarantee import ULDP
from hush.mechanisms.base import FrequencyOracle
from hush.people.columns import column
from hush.people.domain import Domain
from hush.types import Reports

VERSION = 1


@dataclass(frozen=True, init=False)
class Spec:
    """A mechanism and the domain that it randomizes.

    Args:
        mechanism: Any mechanism with k equal to the domain's size.
        domain: Labels and more; left out, the values are 0..k-1.
    """

    mechanism: FrequencyOracle
    domain: Domain

    def __init__(self, mechanism: FrequencyOracle, domain: Domain | None = None) -> None:
        if not isinstance(mechanism, FrequencyOracle):
            raise SpecError(
                message("mechanism", "must be a mechanism", mechanism, "pass e.g. hush.OUE(k=4, epsilon=1.0)")
            )
        whole = Domain(size=mechanism.k) if domain is None else domain
        if whole.size != mechanism.k:
            raise SpecError(
                message("domain", f"must have k={mechanism.k} values", whole.size, "match k and the domain")
            )
        own = None if whole.sensitive is None else _sensitive(mechanism)
        if own is not None and set(own) != set(whole.sensitive or ()):
            rule = "must have the mechanism's sensitive values"
            remedy = "give the mechanism sensitive=domain.sensitive"
            raise SpecError(message("domain", rule, whole.sensitive, remedy))
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "domain", whole)

    def privatize(self, values: object, *, rng: np.random.Generator | None = None) -> Any:
        """Randomize labels: a list, an array, a Series, an iterator, or a single one. Report i is that of label i."""
        given, single = column(values)
        reports = self.mechanism.privatize(self.domain.encode(given), rng=rng)
        return reports[0] if single else reports

    def aggregate(self, reports: Reports | Iterable[Reports]) -> Aggregate:
        """Tally reports of this spec."""
        return self.mechanism._aggregate(reports, self.hash)

    def check(self, aggregate: Aggregate) -> Aggregate:
        """The aggregate itself; refused if it is of another spec, or if no reports of this one give it."""
        return self.mechanism._belonging(aggregate, self.hash)

    def estimate(self, aggregate: Aggregate) -> Estimate:
        """Raw unbiased frequencies, with labels and standard errors."""
        return self.mechanism._estimate(aggregate, self.domain, self.hash)

    def simulate(self, counts: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Aggregate:
        """The aggregate of a whole population, drawn from its exact law."""
        drawn = self.mechanism.simulate(counts, rng=rng)
        return Aggregate(drawn.n, drawn.tally, self.hash, drawn.rule)

    def maximum_likelihood(
        self, reports: Reports | Aggregate, *, tolerance: float = 1e-8, steps: int = 30_000
    ) -> Estimate:
        """The distribution under which the reports are most likely, with labels."""
        return self.mechanism._maximum_likelihood(reports, self.domain, self.hash, tolerance, steps)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"hush": VERSION, "mechanism": self.mechanism.to_dict(), "domain": self.domain.to_dict()}

    def to_json(self) -> str:
        """Canonical JSON (RFC 8785)."""
        return canonical(self.to_dict())

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hex."""
        found = hashlib.sha256()
        for piece in pieces(self.to_dict()):
            found.update(piece.encode())
        return found.hexdigest()

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Spec:
        """The spec that `to_dict` wrote."""
        from hush.mechanisms.registry import from_dict

        if not isinstance(plain, Mapping) or set(plain) != {"hush", "mechanism", "domain"}:
            others = Unsaid("other entries" if isinstance(plain, Mapping) else f"a {type(plain).__name__}")
            raise SpecError(message("spec", "must have hush, mechanism and domain", others, "write it with to_json"))
        if plain["hush"] != VERSION:
            raise SpecError(message("spec version", f"must be {VERSION}", plain["hush"], "upgrade hush"))
        return cls(from_dict(plain["mechanism"]), Domain.from_dict(plain["domain"]))

    @classmethod
    def from_json(cls, text: str) -> Spec:
        """The spec that `to_json` wrote."""
        try:
            plain = strict_json.loads(text)
        except ValueError as error:
            raise SpecError(message("spec", "must be JSON", Unsaid("something else"), str(error))) from None
        return cls.from_dict(plain)


def _sensitive(mechanism: FrequencyOracle) -> tuple[int, ...] | None:
    """The values that a mechanism is made for, or promises to protect, where those are not all."""
    own = getattr(mechanism, "sensitive", None)
    if own is None and isinstance(mechanism.guarantee, ULDP):
        own = mechanism.guarantee.sensitive
    return None if own is None else tuple(own)
