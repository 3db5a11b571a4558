"""A spec: a mechanism of any kind and its labels, as they travel.

The canonical JSON follows RFC 8785, so that every language gets the same bytes; its SHA-256 is what reports and
aggregates carry. Thresholds are in it, computed once here and never by clients.

What was written before is read, and written again byte for byte. Version 1 is a frequency oracle with its domain, a
collection of tuples without labels, or the mechanism alone, of means and of values over time. Labels of tuples and of
values over time came later: such a spec has version 2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hush import strict_json
from hush.canonical import canonical, pieces
from hush.errors import SpecError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.mechanisms.collected import Collected
from hush.people.frames import report_arrays
from hush.types import Reports

VERSIONS = (1, 2)


@dataclass(frozen=True, init=False)
class Spec:
    """A mechanism of any kind and what its values are called.

    Args:
        mechanism: Any mechanism: of frequencies, of means, of tuples, or of values over time.
        domain: Labels and more. One `Domain` of k values, for a mechanism of frequencies and for one over time; left
            out, the values are 0..k-1. For tuples one for each attribute: a mapping of names to domains, as a table
            has columns, or a list. None for numbers, which are their own labels.

    >>> from hush import Domain, OUE
    >>> Spec(OUE(k=2, epsilon=1.0), Domain(labels=["yes", "no"])).domain.labels
    ('yes', 'no')
    """

    mechanism: Any
    domain: Any

    def __init__(self, mechanism: Collected, domain: Any = None) -> None:
        if not isinstance(mechanism, Collected):
            rule, remedy = "must be a mechanism", "pass e.g. hush.OUE(k=4, epsilon=1.0)"
            raise SpecError(message("mechanism", rule, mechanism, remedy))
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "domain", mechanism._labels(domain))

    def privatize(self, values: object, *, rng: np.random.Generator | None = None) -> Any:
        """Randomize labels: a list, an array, a Series, an iterator, or a single one. Report i is that of label i.

        Tuples are columns by name, or rows. Over time a row is a person, who keeps answers for all of its columns: for
        one person at a time, and for more reports later, use `client`.
        """
        given, single = self.mechanism._encoded(values, self.domain)
        reports = self.mechanism._reported(given, rng)
        return reports[0] if single else reports

    def client(self, *, rng: np.random.Generator | None = None, state: Mapping[str, Any] | None = None) -> Any:
        """One person's device over time, which takes labels and keeps its permanent answers: `Longitudinal.client`."""
        return self._of("longitudinal", "client")._client(self, rng, state)

    def clients(self, *, rng: np.random.Generator | None = None) -> Any:
        """Many people's devices over time, which take labels and keep permanent answers: `Longitudinal.clients`."""
        return self._of("longitudinal", "clients")._clients(self, rng)

    def aggregate(self, reports: Any) -> Any:
        """Tally reports of this spec; over time, one aggregate for each round.

        Args:
            reports: What privatize gave: an array, or several one after the other, in bounded memory. Or a frame of
                pandas, Polars, Arrow or DuckDB with a column `report`, or that column: binaries, as report files have.
        """
        arrays = reports if self._round else report_arrays(reports, self.mechanism.report_dtype)
        return self.mechanism._aggregate(arrays, self.one_round.hash)

    def check(self, aggregate: Any) -> Any:
        """The aggregate itself, or those of all rounds; refused if it is of another spec, or if no reports give it."""
        return self.mechanism._belonging(aggregate, self.one_round.hash)

    def estimate(self, aggregate: Any) -> Any:
        """Raw unbiased frequencies, with labels and standard errors; of numbers, the mean.

        Tuples have an Estimate for each attribute, by name where they have names; over time there is one a round.
        """
        return self.mechanism._estimate(aggregate, self.domain, self.one_round.hash)

    def simulate(self, people: Any, *, rng: np.random.Generator | None = None) -> Any:
        """The aggregate of a whole population, drawn from its exact law, without holding its reports.

        Args:
            people: How many people hold each value. Of numbers, of tuples and over time, what everybody holds, as
                `privatize` takes it.
            rng: `hush.seeded(7)` to repeat a simulation.
        """
        return self.mechanism._simulated(people, self.domain, self.one_round.hash, rng)

    def maximum_likelihood(
        self, reports: Reports | Aggregate, *, tolerance: float = 1e-8, steps: int = 30_000
    ) -> Estimate:
        """The distribution under which the reports are most likely, with labels."""
        m = self._of("frequency", "maximum_likelihood")
        found: Estimate = m._maximum_likelihood(reports, self.domain, self.hash, tolerance, steps)
        return found

    def _of(self, kind: str, what: str) -> Any:
        """The mechanism, of the one kind that can do something."""
        if self.mechanism.kind != kind:
            rule, got = f"must be of the kind {kind} for {what}", f"{self.mechanism.name()}, {self.mechanism.kind}"
            raise SpecError(message("mechanism", rule, Unsaid(got), f"see hush.registry(kind={kind!r})"))
        return self.mechanism

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain: dict[str, Any] = self.mechanism._spec(self.domain)
        return plain

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

    @property
    def one_round(self) -> Spec:
        """The spec of reports that are tallied together, whose hash aggregates carry.

        It is this spec; over time, that of the reports of any one round.
        """
        return self._round or self

    @cached_property
    def _round(self) -> Spec | None:
        """The spec of one round, where that is another one."""
        found: Spec | None = self.mechanism._one_round(self.domain)
        return found

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Spec:
        """The spec that `to_dict` wrote, of any kind, now or in an earlier version."""
        from hush.mechanisms.registry import from_dict

        if not isinstance(plain, Mapping):
            raise _misshapen(f"a {type(plain).__name__}")
        if "hush" in plain and plain["hush"] not in VERSIONS:
            raise SpecError(message("spec version", "must be 1 or 2", plain["hush"], "upgrade hush"))
        match sorted(plain.keys() - {"hush"}) if "hush" in plain else []:
            case ["domain" | "attributes" as labels, "mechanism"]:
                mechanism = from_dict(plain["mechanism"])
                made = cls(mechanism, mechanism._told_labels(labels, plain[labels]))
            case ["multidim"]:
                made = cls(from_dict(plain["multidim"]))
            case [] if plain.keys() & {"mechanism", "protocol"} and "hush" not in plain:
                made = cls(from_dict(plain))
            case _:
                raise _misshapen("other entries")
        due = made.to_dict()
        if due.keys() != plain.keys() or due.get("hush") != plain.get("hush"):
            raise _misshapen(f"another shape than that of {made.mechanism.name()}")
        return made

    @classmethod
    def from_json(cls, text: str) -> Spec:
        """The spec that `to_json` wrote."""
        try:
            plain = strict_json.loads(text)
        except ValueError as error:
            raise SpecError(message("spec", "must be JSON", Unsaid("something else"), str(error))) from None
        return cls.from_dict(plain)


def _misshapen(got: str) -> SpecError:
    rule = "must have hush, mechanism and domain, as to_json writes them"
    return SpecError(message("spec", rule, Unsaid(got), "write it with to_json"))
