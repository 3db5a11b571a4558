"""From options to a spec: what the shared options say, or a file that holds one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hush import rules, strict_json
from hush.cli._classes import construct, mechanism_class, merged, numeric_class, parsed
from hush.cli._domains import from_entries, sensitive_in
from hush.cli._numeric_spec import AnySpec, NumericSpec, of_frequencies
from hush.cli._paths import existing
from hush.cli._usage import NOTHING
from hush.domain import Domain
from hush.errors import HushError, ParameterError, SpecError, Unsaid, message
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes, tells, told
from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class Choice:
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
        spec = read_spec(path)
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


def read_spec(path: Path) -> AnySpec:
    """The spec in a JSON file, or in the metadata of a report file."""
    existing("--spec", path)
    if path.suffix.lower() == ".parquet":
        from hush.cli._reports import spec_in

        return spec_in(path)
    return spec_from(path.read_bytes(), str(path))


def spec_from(text: bytes, where: str) -> AnySpec:
    """The spec in some JSON; a mechanism of the user's own must have been allowed before."""
    try:
        plain = strict_json.loads(text)
    except ValueError:
        rule = f"must be JSON in {where}"
        raise SpecError(
            message("spec", rule, Unsaid("something else"), "write it with --spec-out or Spec.to_json")
        ) from None
    inner = plain.get("mechanism") if isinstance(plain, dict) else None
    name = inner.get("mechanism") if isinstance(inner, dict) else None
    if isinstance(name, str) and ":" in name and name not in registry():
        rule = f"must be named on the command line before {where} may use it, since hush runs no code a file names"
        raise SpecError(message("mechanism", rule, name, f"if you trust it, add --mechanism {name}"))
    try:
        return _of_mean(plain) if isinstance(inner, str) and inner in registry("numeric") else _checked(plain, name)
    except HushError as error:
        raise SpecError(f"the spec in {where} cannot be used: {error}") from None
    except (TypeError, ValueError, AttributeError, KeyError):  # data of the wrong shape
        remedy = "write it with --spec-out or Spec.to_json"
        raise SpecError(message("spec", f"must be well formed in {where}", type(plain), remedy)) from None


def _of_mean(plain: dict[str, Any]) -> NumericSpec:
    """Read a spec of a mean, entry by entry."""
    return NumericSpec(_made(registry("numeric")[plain["mechanism"]], plain))


def _checked(plain: Any, name: Any) -> Spec:
    """Read a spec entry by entry, so that what is wrong is named."""
    if name not in registry():
        return Spec.from_dict(plain)
    _made(registry()[name], plain["mechanism"])
    domain = from_entries(plain["domain"], None, "the spec")  # once: there may be millions of labels
    return Spec(Spec.from_dict({**plain, "domain": {"size": domain.size}}).mechanism, domain)


def _made(cls: Any, plain: dict[str, Any]) -> Any:
    """The mechanism that plain data describe; its thresholds must be those of its parameters."""
    inner = {entry: value for entry, value in plain.items() if entry != "mechanism"}
    written = inner.pop("thresholds", None)
    made = construct(cls, told(cls, inner, written), tells)
    if written is None:
        rule, remedy = "must be written out", "take the original, or make a new one with --spec-out"
        raise SpecError(message("thresholds", rule, NOTHING, remedy))
    if written != made.to_dict()["thresholds"]:
        rule = "must be those that its parameters give"
        got = Unsaid("others: the spec was changed after it was written")
        raise SpecError(message("thresholds", rule, got, "take the original, or make a new one with --spec-out"))
    return made
