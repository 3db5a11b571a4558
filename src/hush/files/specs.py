"""Specs in files: JSON, or in the metadata of report files; entry by entry, so that what is wrong is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from hush import strict_json
from hush.errors import NOTHING, HushError, ParameterError, SpecError, Unsaid, cause, message
from hush.files.domains import from_entries
from hush.mechanisms.collected import Collected
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes, tells, told
from hush.mechanisms.spec import Spec

Mechanism = TypeVar("Mechanism", bound=Collected)

OPTIONS = {
    **{name: f"--{name}" for name in ("k", "epsilon", "delta", "low", "high")},
    "sizes": "--attributes",
    "epsilon_permanent": "--epsilon-permanent",
    "epsilon_report": "--epsilon-report",
}
"""Parameters of mechanisms that have an option of their own."""

_ESTIMATED = {
    "frequency": "frequencies",
    "numeric": "a mean",
    "multidim": "frequencies of several attributes",
    "longitudinal": "frequencies over time",
}
"""What mechanisms of each kind are for."""


def spec_from(text: bytes, where: str) -> Spec:
    """The spec in some JSON; a mechanism of the user's own must have been allowed before."""
    try:
        plain = strict_json.loads(text)
    except ValueError:
        rule = f"must be JSON in {where}"
        raise SpecError(
            message("spec", rule, Unsaid("something else"), "write it with --spec-out or Spec.to_json")
        ) from None
    match plain:
        case {"mechanism": {"mechanism": str(name)}} if ":" in name and name not in registry():
            rule = f"must be named on the command line before {where} may use it, since hush runs no code a file names"
            raise SpecError(message("mechanism", rule, name, f"if you trust it, add --mechanism {name}"))
    try:
        return _checked(plain)
    except HushError as error:
        raise SpecError(f"the spec in {where} cannot be used: {error}") from None
    except (TypeError, ValueError, AttributeError, KeyError):  # data of the wrong shape
        remedy = "write it with --spec-out or Spec.to_json"
        raise SpecError(message("spec", f"must be well formed in {where}", type(plain), remedy)) from None


def of_kind(spec: Spec, kinds: Sequence[str], where: str) -> Spec:
    """The spec, refused if its mechanism is of another kind than these."""
    m = spec.mechanism
    if m.kind not in kinds:
        rule = f"must be one of {' or '.join(_ESTIMATED[kind] for kind in kinds)} for this command in {where}"
        got = Unsaid(f"{m.name()}, which estimates {_ESTIMATED[m.kind]}")
        remedy = "`hush privatize`, `estimate` and `simulate` take it"
        raise SpecError(message("spec", rule, got, remedy))
    return spec


def _checked(plain: Any) -> Spec:
    """Read a spec entry by entry where a mechanism has few, so that what is wrong is named."""
    match plain:
        case {"mechanism": {"mechanism": str(name)}} if name in registry() and "protocol" not in plain:
            _made(registry()[name], plain["mechanism"])
            domain = from_entries(plain["domain"], None, "the spec")  # once: there may be millions of labels
            return Spec(Spec.from_dict({**plain, "domain": {"size": domain.size}}).mechanism, domain)
        case {"mechanism": str(name)} if name in registry("numeric"):
            return Spec(_made(registry("numeric")[name], plain))
        case {"mechanism": str(name)} if name in registry():
            rule = f"must have a domain, or a mechanism that needs none ({', '.join(registry('numeric'))})"
            raise SpecError(message("spec", rule, Unsaid("another one"), "write it with --spec-out or Spec.to_json"))
    return Spec.from_dict(plain)


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


def construct(
    cls: type[Mechanism], parameters: Mapping[str, Any], known: Callable[[type[Any]], dict[str, bool]] = takes
) -> Mechanism:
    """The mechanism with these parameters; what it lacks or does not take is named."""
    wanted, name = known(cls), cls.name()
    for given in parameters:
        if given not in wanted:
            rule = f"is no parameter of {name}, which takes {', '.join(wanted)}"
            raise ParameterError(message(given, rule, parameters[given], "leave it out or choose another mechanism"))
    for needed in (each for each, required in wanted.items() if required and each not in parameters):
        how = OPTIONS.get(needed, f"--set {needed}=…")
        raise ParameterError(message(needed, f"must be given for {name}", NOTHING, f"add {how}"))
    try:
        made = cls(**parameters)
    except HushError:
        raise
    except Exception as error:  # a mechanism of the user's own
        rule, remedy = f"must accept its parameters, but {name} did not", f"it failed with {cause(error)}"
        raise ParameterError(message("--mechanism", rule, dict(parameters), remedy)) from error
    if not isinstance(made.report_dtype, np.dtype):
        rule, remedy = f"of {name} must be a numpy dtype", 'write e.g. np.dtype("u1")'
        raise ParameterError(message("report_dtype", rule, made.report_dtype, remedy))
    return made
