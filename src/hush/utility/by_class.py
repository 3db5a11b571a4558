"""Sensitivity that differs by person: public classes of people, each with sensitive values of its own.

Document 002 points to Murakami and Kawamoto (USENIX Security 2019) for it: what is sensitive need not be the same for
all. Here a class is public, as a ward or an age group is: it says which values its people find sensitive,
and so which mechanism they report by. A report promises what that mechanism promises; nothing hides the class itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.guarantee import Guarantee
from hush.mechanisms.spec import Spec
from hush.people.columns import column
from hush.people.domain import Domain, integers
from hush.simulation import tallies
from hush.types import Ints, Reports
from hush.utility.combining import Part, combined, same_values
from hush.utility.named import NamedOracle

_T = TypeVar("_T")


@dataclass(frozen=True)
class Classes:
    """A collection from people of several public classes.

    Args:
        specs: What each class reports by, by its name; None for one that finds no value sensitive, whose people tell
            their value as it is, without any promise.
    """

    specs: Mapping[str, Spec | None]

    def __post_init__(self) -> None:
        known = [spec for spec in self.specs.values() if spec is not None] if isinstance(self.specs, Mapping) else []
        if not known or not all(isinstance(spec, Spec) for spec in known):
            rule, remedy = (
                "must be a spec for each class that finds a value sensitive, and one at least",
                "use hush.utility.classes(...)",
            )
            raise ParameterError(message("specs", rule, Unsaid("something else" if known else "none"), remedy))
        if not all(isinstance(name, str) for name in self.specs):
            rule, remedy = "must be named by strings", "write e.g. '2' where a class is a number"
            raise ParameterError(message("specs", rule, list(self.specs), remedy))
        object.__setattr__(self, "specs", dict(self.specs))
        same_values(known)

    @property
    def domain(self) -> Domain:
        """The values of all classes."""
        first = next(spec for spec in self.specs.values() if spec is not None)
        return replace(first.domain, sensitive=None)

    @property
    def guarantees(self) -> dict[str, Guarantee]:
        """What a report of each class promises."""
        return {name: None if spec is None else spec.mechanism.guarantee for name, spec in self.specs.items()}

    def exact_epsilons(self) -> dict[str, float]:
        """The true loss of each class's sampler; infinite where values are told as they are."""
        return {
            name: float("inf") if spec is None else spec.mechanism.exact_epsilon() for name, spec in self.specs.items()
        }

    def privatize(
        self, values: object, classes: Sequence[str], *, rng: np.random.Generator | None = None
    ) -> dict[str, Reports]:
        """Reports of each class; where nothing is sensitive, the numbers of the values themselves.

        Args:
            values: What people hold, by label, or by number where there are no labels.
            classes: The class of each.
            rng: `hush.seeded(7)` for simulations and tests.
        """
        held, names = self.domain.encode(values), np.asarray(column(classes)[0])
        if held.shape != names.shape:
            rule = f"must name the class of each of {held.size} people"
            raise ParameterError(message("classes", rule, Unsaid(f"{names.size}"), "pass two columns of one length"))
        if not np.isin(names, list(self.specs)).all():
            rule = f"must be among {', '.join(self.specs)}"
            raise ParameterError(message("classes", rule, Unsaid("another"), "check the spelling"))
        own = {name: held[names == name] for name in self.specs}
        return {
            name: own[name] if spec is None else spec.mechanism.privatize(own[name], rng=rng)
            for name, spec in self.specs.items()
        }

    def aggregate(self, reports: Mapping[str, Reports]) -> dict[str, Aggregate | Ints]:
        """The aggregate of each class's reports, or how many told each value."""
        found: dict[str, Aggregate | Ints] = {}
        for name, part in _each(reports, "reports").items():
            spec, k = self._of(name), self.domain.size
            found[name] = np.bincount(integers(part, k), minlength=k) if spec is None else spec.aggregate(part)
        return found

    def simulate(
        self, counts: Mapping[str, npt.ArrayLike], *, rng: np.random.Generator | None = None
    ) -> dict[str, Aggregate | Ints]:
        """Aggregates of whole classes, drawn from their exact law, with so many people of each value."""
        found: dict[str, Aggregate | Ints] = {}
        for name, people in _each(counts, "counts").items():
            spec = self._of(name)
            found[name] = self._told(people) if spec is None else spec.simulate(people, rng=rng)
        return found

    def estimate(self, aggregates: Mapping[str, Aggregate | npt.ArrayLike]) -> Estimate:
        """Unbiased frequencies among the people of all classes, with error bars."""
        parts: list[Part] = []
        told = np.zeros(self.domain.size, np.int64)
        for name, part in _each(aggregates, "aggregates").items():
            spec = self._of(name)
            if spec is None:
                told += self._told(part)
            elif not isinstance(part, Aggregate):
                rule = f"must be the aggregate of the reports of class {name}"
                raise ParameterError(message("aggregates", rule, type(part), "use aggregate() or simulate()"))
            elif part.n:
                parts.append((spec, part))
        if not parts:
            rule, remedy = "must have reports of a class that finds values sensitive", "count what others told yourself"
            raise ParameterError(message("aggregates", rule, list(aggregates), remedy))
        return combined(parts, alike=False, told=told)

    def attack(self, reports: Mapping[str, Reports], *, rng: np.random.Generator | None = None) -> dict[str, Ints]:
        """The best guess of the value behind each report of each class."""
        found = {}
        for name, part in _each(reports, "reports").items():
            spec = self._of(name)
            found[name] = integers(part, self.domain.size) if spec is None else spec.mechanism.attack(part, rng=rng)
        return found

    def asr(self) -> dict[str, float]:
        """How often that guess is right, all values being equally likely."""
        return {name: 1.0 if spec is None else spec.mechanism.asr() for name, spec in self.specs.items()}

    def _told(self, counts: Aggregate | npt.ArrayLike) -> Ints:
        """How many people of a class without sensitive values told each value."""
        return tallies.people(counts, self.domain.size)  # type: ignore[arg-type]

    def _of(self, name: str) -> Spec | None:
        if name not in self.specs:
            rule = f"must be one of {', '.join(self.specs)}"
            raise ParameterError(message("class", rule, name, "check the spelling"))
        return self.specs[name]


def classes(
    mechanism: type[NamedOracle],
    domain: Domain,
    epsilon: float,
    sensitive: Mapping[str, Sequence[Any]],
    **more: Any,
) -> Classes:
    """One mechanism for each class.

    Args:
        mechanism: uSS, uUE, uLH, uWheel, uHR, uRR or uRAP.
        domain: The values of all classes.
        epsilon: Privacy loss of a report of a sensitive value.
        sensitive: For each class, the values that its people find sensitive, by label or number; none for a class
            without.
        more: Further parameters of the mechanism, e.g. reveal.

    >>> from hush.utility import uSS
    >>> both = classes(uSS, Domain(size=20), 1.0, {"A": range(10), "B": range(2), "C": ()})
    >>> [str(each) for each in both.guarantees.values()]
    ['1-ULDP for 10 sensitive values', '1-ULDP for 2 sensitive values', 'None']
    """
    if not isinstance(domain, Domain):
        raise ParameterError(message("domain", "must be a Domain", type(domain), "use e.g. hush.Domain(size=20)"))
    if not (isinstance(mechanism, type) and issubclass(mechanism, NamedOracle)):
        raise ParameterError(message("mechanism", "must be uSS, uUE, uLH or their like", mechanism, "use e.g. uSS"))
    specs: dict[str, Spec | None] = {}
    for name, own in _each(sensitive, "sensitive").items():
        if isinstance(own, str) or not isinstance(own, Iterable):
            rule = f"must be several values for class {name}, or none: ()"
            raise ParameterError(message("sensitive", rule, own, "put them in a list"))
        values = tuple(own)
        if not values:
            specs[name] = None
            continue
        labels = replace(domain, sensitive=values)
        specs[name] = Spec(mechanism(k=domain.size, epsilon=epsilon, sensitive=labels.sensitive, **more), labels)
    return Classes(specs)


def _each(given: Mapping[str, _T], what: str) -> Mapping[str, _T]:
    """What is given for each class, by its name."""
    if not isinstance(given, Mapping):
        remedy = "pass a dictionary by class"
        raise ParameterError(message(what, "must be given for each class by its name", type(given), remedy))
    return given
