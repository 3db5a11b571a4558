"""From options to a mechanism by name, a user's own included, and to a spec, which may be in a file."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hush import rules
from hush.cli.asked.reading import merged, parsed, sensitive_in
from hush.cli.process import faults
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.saved import read_spec
from hush.files.specs import OPTIONS, construct, of_kind
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.names import full_name, meant
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import register, registry
from hush.mechanisms.settings import takes
from hush.mechanisms.spec import Spec
from hush.people import Domain
from hush.utility import IDUE

if TYPE_CHECKING:
    from hush.multidim import Attributes

    Priors = Callable[[Path, Attributes], list[list[float]]]


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
    permanent: float | None = None
    report: float | None = None

    @property
    def _numbers(self) -> dict[str, Any]:
        """What was said of the numbers that most mechanisms take."""
        given = {"k": self.k, "epsilon": self.epsilon, "delta": self.delta, "low": self.low, "high": self.high}
        return {name: value for name, value in given.items() if value is not None}

    @cached_property
    def _read(self) -> Any:
        """The spec in the file, read once: it may have millions of labels."""
        allow(self.mechanism)
        return None if self.spec is None else read_spec(self.spec)

    @property
    def tells_tuples(self) -> bool:
        """Whether the file, or else the mechanism's name, says that people hold tuples."""
        if self.spec is not None:
            return hasattr(self._read.domain, "domains")
        return is_of_tuples(self.mechanism)

    @property
    def _over_time(self) -> dict[str, Any]:
        """What was said of the budgets of a protocol over time."""
        given = {"epsilon_report": self.report, "epsilon_permanent": self.permanent}
        return {name: value for name, value in given.items() if value is not None}

    def _budgets(self, kind: str) -> dict[str, Any]:
        """The budget of a mechanism of one kind, or the two of one over time; refuses those of the other."""
        over_time = kind == "longitudinal"
        wrong = (
            {"--epsilon": self.epsilon}
            if over_time
            else {"--epsilon-permanent": self.permanent, "--epsilon-report": self.report}
        )
        for option, value in wrong.items():
            if value is not None:
                remedy = "use --epsilon-permanent and --epsilon-report" if over_time else "use --epsilon"
                whose = "protocols over time" if over_time else "one report alone"
                raise ParameterError(message(option, f"must be left out for {whose}", value, remedy))
        return self._over_time if over_time else {} if self.epsilon is None else {"epsilon": self.epsilon}

    def build_any(self, domain: Domain | None = None) -> Spec:
        """The spec that the options describe, of frequencies over a domain, once or over time, or of a mean."""
        return self.of_mean(domain) or self.of_values(domain)

    def of_values(self, domain: Domain | None = None) -> Spec:
        """The spec of frequencies, once or over time."""
        return self.over_time(domain) or self.build(domain)

    def over_time(self, domain: Domain | None = None) -> Spec | None:
        """The spec of values over time, where the options or the file describe one."""
        if self.spec is not None:
            found = self._from_file(self.spec, domain)
            return found if found.mechanism.kind == "longitudinal" else None
        cls = protocol_class(self.mechanism)
        if cls is None:
            return None
        for option, value in {"--delta": self.delta, "--sensitive": self.sensitive}.items():
            if value is not None:
                rule = f"must be left out for {cls.name()}, which protects all values alike"
                raise ParameterError(message(option, rule, str(value), "leave it out"))
        k = self.k if domain is None or self.k is not None else domain.size
        size = {} if k is None else {"k": k}
        if "mechanism" in takes(cls):
            return Spec(self._repeating(cls, size), domain)
        return Spec(construct(cls, merged({**size, **self._budgets(cls.kind)}, parsed(self.settings))), domain)

    def _repeating(self, cls: type[Any], size: dict[str, Any]) -> Any:
        """A protocol that repeats the reports of a mechanism, which has all of the permanent budget."""
        settings = parsed(self.settings)
        if "mechanism" not in settings:
            rule, remedy = f"must say whose reports {cls.name()} repeats", "add e.g. --set mechanism=OUE"
            raise ParameterError(message("--set", rule, NOTHING, remedy))
        if self.report is not None:
            rule = f"must be left out for {cls.name()}, whose every report has the permanent budget"
            raise ParameterError(message("--epsilon-report", rule, self.report, "leave it out"))
        budget = self._budgets(cls.kind).get("epsilon_permanent")
        if budget is None:
            remedy = "add --epsilon-permanent"
            raise ParameterError(message("epsilon_permanent", f"must be given for {cls.name()}", NOTHING, remedy))
        inner = mechanism_class(str(settings.pop("mechanism")))
        return construct(cls, {"mechanism": construct(inner, merged({**size, "epsilon": budget}, settings))})

    def of_mean(self, domain: Domain | None = None) -> Spec | None:
        """The spec of a mean, where the options or the file describe one."""
        if self.spec is not None:
            found = self._from_file(self.spec, domain)
            of_kind(found, ["frequency", "numeric", "longitudinal"], str(self.spec))
            return found if found.mechanism.kind == "numeric" else None
        numeric = numeric_class(self.mechanism)
        return None if numeric is None else Spec(self._numeric(numeric, domain))

    def _numeric(self, cls: type[Numeric], domain: Domain | None) -> Numeric:
        for option, value in (("--domain", domain), ("--sensitive", self.sensitive)):
            if value is not None:
                rule = f"must be left out for {cls.name()}, which takes all numbers from --low to --high"
                raise ParameterError(message(option, rule, Unsaid("both"), "leave it out, or use e.g. OUE"))
        return construct(cls, merged(self._numbers, parsed(self.settings)))

    def of_tuples(self, domains: Attributes | None = None, priors: Priors | None = None) -> Spec:
        """The spec of tuples that the options describe, over a domain for each attribute, or that is in the file.

        Args:
            domains: Of the attributes; None where the file has them.
            priors: Reads the distributions that fakes are drawn from, where a file's name is set.
        """
        if self.spec is not None:
            return of_kind(self._from_file(self.spec, None), ["multidim", "longitudinal"], str(self.spec))
        for option, value in {"--sensitive": self.sensitive, "--low": self.low, "--high": self.high}.items():
            if value is not None:
                rule = "must be left out where people hold tuples, of which every value is protected"
                raise ParameterError(message(option, rule, str(value), "leave it out, or collect that column alone"))
        if domains is None:
            raise ParameterError(message("--domain", "must be given for each attribute", NOTHING, "name the labels"))
        cls = tuple_class(self.mechanism)
        given = self._budgets(cls.kind)
        pairs = merged({} if self.delta is None else {"delta": self.delta}, parsed(self.settings))
        if priors is not None and isinstance(pairs.get("priors"), str):
            pairs["priors"] = priors(Path(pairs["priors"]), domains)
        own = {name: value for name, value in pairs.items() if name in takes(cls)}
        others = {name: value for name, value in pairs.items() if name not in own}
        if others and "options" in takes(cls):
            own, others = {**own, "options": others}, {}
        sizes = tuple(domain.size for domain in domains.domains)
        return Spec(construct(cls, {"sizes": sizes, **merged(given, {**own, **others})}), domains)

    def build(self, domain: Domain | None = None) -> Spec:
        """The spec that the options describe, of frequencies, over a domain where one is given."""
        if self.spec is not None:
            return of_kind(self._from_file(self.spec, domain), ["frequency"], str(self.spec))
        if self.mechanism is None:
            raise ParameterError(
                message("--mechanism", "must be given", NOTHING, "use e.g. OUE, or --spec with a spec's file")
            )
        k = self.k if domain is None or self.k is not None else domain.size
        cls = mechanism_class(self.mechanism)
        self._budgets(cls.kind)
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
            how = "has a budget for every value" if name == IDUE.name() else "protects all values alike"
            rule = f"must be left out for {name}, which {how}"
            raise ParameterError(message("--sensitive", rule, ",".join(self.sensitive), "use e.g. uSS, or `hush uldp`"))
        if domain is None and k is None:
            return None
        return sensitive_in(self.sensitive, Domain(size=rules.domain_size(k)) if domain is None else domain)

    def _from_file(self, path: Path, domain: Domain | None) -> Spec:
        if domain is not None:
            rule = "must not stand beside --spec"
            raise ParameterError(message("--domain", rule, Unsaid("both"), "the spec has its own domain"))
        if self.sensitive is not None:
            rule = "must not stand beside --spec"
            raise ParameterError(message("--sensitive", rule, Unsaid("both"), "the spec has its own"))
        spec = of_kind(self._read, ["frequency", "numeric", "multidim", "longitudinal"], str(path))
        agree(self.mechanism, spec, str(path))
        own = spec.mechanism.parameters
        said = {f"--{name}": (name, value) for name, value in self._numbers.items()}
        said |= {OPTIONS[name]: (name, value) for name, value in self._over_time.items()}
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
    if mechanism is not None:
        _any_class(mechanism)


def agree(mechanism: str | None, spec: Spec, where: str) -> None:
    """Refuse a mechanism on the command line that is not the spec's."""
    found = spec.mechanism.name()
    if mechanism is not None and _any_class(mechanism).name() != found:
        rule = f"must be {found}, the mechanism of {where}"
        raise ParameterError(message("--mechanism", rule, mechanism, "leave it out, or name another file"))


def _any_class(name: str) -> type[Any]:
    """The mechanism of that name, of any kind."""
    if name.lower() in _names(registry()) or ":" in name:
        return mechanism_class(name)
    others = numeric_class(name) or _names(registry("multidim")).get(name.lower())
    return others or _names(registry("longitudinal")).get(name.lower()) or mechanism_class(name)


def _names(known: Mapping[str, type[Any]]) -> dict[str, type[Any]]:
    return {each.lower(): cls for each, cls in known.items()}


def is_of_tuples(name: str | None) -> bool:
    """Whether a mechanism of that name, in any case, collects tuples, once or over time."""
    return name is not None and name.lower() not in _names(registry()) and name.lower() in _names(_of_tuples())


def _of_tuples() -> dict[str, type[Any]]:
    """Mechanisms of tuples, which are told by the sizes that they take."""
    several = {name: cls for name, cls in registry("longitudinal").items() if "sizes" in takes(cls)}
    return {**registry("multidim"), **several}


def protocol_class(name: str | None) -> type[Any] | None:
    """The protocol for one value over time of that name, in any case; None if it is none."""
    if name is None or ":" in name or name.lower() in _names(registry()):
        return None
    found = _names(registry("longitudinal")).get(name.lower())
    return None if found is None or "sizes" in takes(found) else found


def tuple_class(name: str | None) -> type[Any]:
    """The mechanism for tuples of that name, in any case."""
    known = _of_tuples()
    if name is None:
        remedy = f"use one of {', '.join(known)}, or --spec with a spec's file"
        raise ParameterError(message("--mechanism", "must be given", NOTHING, remedy))
    if name.lower() in _names(known):
        return _names(known)[name.lower()]
    remedy = f"for every column to have it, write --mechanism SMP --set mechanism={name}"
    rule = f"must be one for several columns: {', '.join(known)}"
    raise ParameterError(message("--mechanism", rule, name, remedy))


def numeric_class(name: str | None) -> type[Numeric] | None:
    """The mechanism for means of that name, in any case; None if it is none."""
    return _names(registry("numeric")).get((name or "").lower())


def mechanism_class(name: str) -> type[FrequencyOracle]:
    """The mechanism of that name; for module:Class, imported with the current directory on the path."""
    known = registry()
    if name in known:
        return known[name]
    if ":" in name:
        return _imported(name)
    by_lower = {each.lower(): each for each in known}
    if name.lower() in by_lower:
        return known[by_lower[name.lower()]]
    if name.lower() == "idue":  # not listed, since k and epsilon do not say it all: `--set budgets=…` does
        return IDUE
    if numeric_class(name) is not None:
        remedy = "`hush capacity`, `privatize` and `simulate` take it; here use e.g. OUE"
        raise ParameterError(message("--mechanism", "must estimate frequencies, and not a mean", name, remedy))
    if is_of_tuples(name):
        remedy = "`hush privatize` and `simulate` take it, with several columns; here use e.g. OUE"
        raise ParameterError(message("--mechanism", "must collect one value, and not a tuple", name, remedy))
    if protocol_class(name) is not None:
        remedy = "`hush privatize` and `simulate` take it; here use e.g. OUE"
        raise ParameterError(message("--mechanism", "must be of one report, and not of values over time", name, remedy))
    near = meant(name, known)
    if near:
        full = f", {full_name(known[near[0]])}" if len(near) == 1 and ":" not in near[0] else ""
        remedy = f"did you mean {' or '.join(near)}{full}? `hush mechanisms` lists them all"
    else:
        remedy = f"use one of {', '.join(known)}, or module:Class for one of your own"
    raise ParameterError(message("--mechanism", "must be a known name", name, remedy))


def _imported(name: str) -> type[FrequencyOracle]:
    module, _, path = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *path.split("."))):
        rule = "must look like module:Class"
        raise ParameterError(message("--mechanism", rule, name, "name a module, a colon and a class in it"))
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's module raises at import, SystemExit included
        remedy = f"it failed with {faults.cause(error)}; run hush where {module.split('.')[0]} can be imported"
        raise ParameterError(message("--mechanism", "must be importable as module:Class", name, remedy)) from error
    for part in path.split("."):
        if not hasattr(found, part):
            rule, remedy = f"must name a class that {module} has", "check the name after the colon"
            raise ParameterError(message("--mechanism", rule, name, remedy))
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, FrequencyOracle)):
        rule = "must be a mechanism class"
        raise ParameterError(message("--mechanism", rule, name, "derive it from hush.FrequencyOracle"))
    if inspect.isabstract(found):
        lacks = Unsaid(f"{name!r}, which lacks {', '.join(sorted(found.__abstractmethods__))}")
        raise ParameterError(message("--mechanism", "must be a complete mechanism class", lacks, "write what it lacks"))
    return register(found)


def with_budget(mechanism: str | None, settings: list[str] | None) -> type[FrequencyOracle]:
    """A mechanism by name that takes a budget, none being set."""
    if mechanism is None:
        raise ParameterError(message("--mechanism", "must be given", NOTHING, "use e.g. OUE"))
    cls = mechanism_class(mechanism)
    if "epsilon" not in takes(cls):
        rule = "must have a budget, epsilon, that can be chosen"
        raise ParameterError(message("--mechanism", rule, mechanism, "use e.g. OUE"))
    for name in ("epsilon", "k"):
        if name in parsed(settings):
            rule = "must be left out, since the budget is looked for and the people have their values"
            raise ParameterError(message(f"--set {name}", rule, parsed(settings)[name], "leave it out"))
    return cls


def refuse_for_mean(given: dict[str, Any], spec: Spec) -> None:
    """Options that say nothing about a mean."""
    for option, value in given.items():
        if value is not None and value is not False:
            rule = f"must be left out for {spec.mechanism.name()}, which estimates a mean and no frequencies"
            raise ParameterError(message(option, rule, str(value), "leave it out"))
