"""From options to a spec: what the shared options say, or a file that holds one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hush import rules
from hush.cli._classes import mechanism_class, merged, numeric_class, parsed
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.numeric_spec import AnySpec, NumericSpec, of_frequencies, of_one_value
from hush.files.reading import read_spec
from hush.files.specs import construct
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.settings import takes
from hush.mechanisms.spec import Spec
from hush.people import Domain


@dataclass(frozen=True)
class MechanismOptions:
    """What the shared options said."""

    mechanism: str | None = None
    k: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    settings: list[str] | None = None
    spec: Path | None = None
    sensitive: list[str] | None = None
    low: float | None = None
    high: float | None = None

    @property
    def _numbers(self) -> dict[str, Any]:
        """What was said of the numbers that most mechanisms take."""
        given = {"k": self.k, "epsilon": self.epsilon, "delta": self.delta, "low": self.low, "high": self.high}
        return {name: value for name, value in given.items() if value is not None}

    def build_any(self, domain: Domain | None = None) -> AnySpec:
        """The spec that the options describe, of frequencies over a domain, or of a mean over a range."""
        return self.of_mean(domain) or self.build(domain)

    def of_mean(self, domain: Domain | None = None) -> NumericSpec | None:
        """The spec of a mean, where the options or the file describe one."""
        if self.spec is not None:
            found = self._from_file(self.spec, domain)
            return found if isinstance(found, NumericSpec) else None
        numeric = numeric_class(self.mechanism)
        return None if numeric is None else NumericSpec(self._numeric(numeric, domain))

    def _numeric(self, cls: type[Numeric], domain: Domain | None) -> Numeric:
        for option, value in (("--domain", domain), ("--sensitive", self.sensitive)):
            if value is not None:
                rule = f"must be left out for {cls.name()}, which takes all numbers from --low to --high"
                raise ParameterError(message(option, rule, Unsaid("both"), "leave it out, or use e.g. OUE"))
        return construct(cls, merged(self._numbers, parsed(self.settings)))

    def build(self, domain: Domain | None = None) -> Spec:
        """The spec that the options describe, of frequencies, over a domain where one is given."""
        if self.spec is not None:
            return of_frequencies(self._from_file(self.spec, domain), str(self.spec))
        if self.mechanism is None:
            raise ParameterError(
                message("--mechanism", "must be given", NOTHING, "use e.g. OUE, or --spec with a spec's file")
            )
        k = self.k if domain is None or self.k is not None else domain.size
        cls = mechanism_class(self.mechanism)
        given = self._numbers if k is None else {**self._numbers, "k": k}
        parameters = merged(given, parsed(self.settings))
        domain = self._with_sensitive(cls.name(), "sensitive" in takes(cls), k, domain)
        if "sensitive" in takes(cls) and domain is not None:
            parameters = {**parameters, "sensitive": domain.sensitive}
        return Spec(construct(cls, parameters), domain)

    def _with_sensitive(self, name: str, taken: bool, k: int | None, domain: Domain | None) -> Domain | None:
        """The domain with the values that are named as sensitive."""
        if self.sensitive is None:
            return domain
        if not taken:
            rule = f"must be left out for {name}, which protects all values alike"
            raise ParameterError(message("--sensitive", rule, ",".join(self.sensitive), "use e.g. uSS, or `hush uldp`"))
        if domain is None and k is None:
            return None
        return sensitive_in(self.sensitive, Domain(size=rules.domain_size(k)) if domain is None else domain)

    def _from_file(self, path: Path, domain: Domain | None) -> AnySpec:
        if domain is not None:
            rule = "must not stand beside --spec"
            raise ParameterError(message("--domain", rule, Unsaid("both"), "the spec has its own domain"))
        if self.sensitive is not None:
            rule = "must not stand beside --spec"
            raise ParameterError(message("--sensitive", rule, Unsaid("both"), "the spec has its own"))
        allow(self.mechanism)
        spec = of_one_value(read_spec(path), str(path))
        agree(self.mechanism, spec, str(path))
        own = spec.mechanism.parameters
        said = {f"--{name}": (name, value) for name, value in self._numbers.items()}
        said |= {f"--set {name}": (name, value) for name, value in parsed(self.settings).items()}
        for option, (name, value) in said.items():
            if name not in own:
                rule = f"must be a parameter of {spec.mechanism.name()}, the mechanism of {path}"
                raise ParameterError(message(option, rule, value, "leave it out"))
            if value != own[name]:
                rule = f"must be {own[name]!r}, as in {path}"
                raise ParameterError(message(option, rule, value, "leave it out, or leave --spec out"))
        return spec


def allow(mechanism: str | None) -> None:
    """Import a mechanism of the user's own, so that a spec may name it."""
    if mechanism is not None and numeric_class(mechanism) is None:
        mechanism_class(mechanism)


def agree(mechanism: str | None, spec: AnySpec, where: str) -> None:
    """Refuse a mechanism on the command line that is not the spec's."""
    found = spec.mechanism.name()
    if mechanism is not None and (numeric_class(mechanism) or mechanism_class(mechanism)).name() != found:
        rule = f"must be {found}, the mechanism of {where}"
        raise ParameterError(message("--mechanism", rule, mechanism, "leave it out, or name another file"))


def sensitive_in(texts: list[str], domain: Domain) -> Domain:
    """The domain with the values that --sensitive names: labels, or numbers and ranges such as 0-24."""
    if domain.sensitive is not None:
        rule = "must be left out beside a domain that names its own sensitive values"
        raise ParameterError(message("--sensitive", rule, ",".join(texts), "leave it out, or change the file"))
    found: set[int] = set()
    for text in texts:
        for each in [text] if text in map(str, domain.labels or ()) else text.split(","):
            found |= _named(each.strip(), domain)
    return Domain.from_dict({**domain.to_dict(), "sensitive": sorted(found)})


def _named(name: str, domain: Domain) -> set[int]:
    """The indices that a label, a number or a range means."""
    if domain.labels is not None:
        for index, label in enumerate(domain.labels):
            if name == str(label):
                return {index}
        rule = f"must be among the domain's {domain.size} labels"
        raise ParameterError(message("--sensitive", rule, name, "check its spelling; write commas between labels"))
    first, dash, last = name.partition("-")
    ends = [first, last] if dash else [first, first]
    if not all(end.isascii() and end.isdecimal() and len(end) < 20 for end in ends):
        rule = "must be values or ranges of values"
        raise ParameterError(message("--sensitive", rule, name, "write e.g. --sensitive 0-24,30"))
    low, high = int(ends[0]), int(ends[1])
    if not low <= high < domain.size:
        rule = f"must be values in 0..{domain.size - 1}, the lower one first in a range"
        raise ParameterError(message("--sensitive", rule, name, "check --k"))
    return set(range(low, high + 1))
