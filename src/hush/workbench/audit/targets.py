"""From a question to what is audited. Code that is named is imported here: only in a process that may run it."""

from __future__ import annotations

from typing import Any

from hush.audit import Claim, HistoryInputs, Inputs, NumberInputs, Target, TupleInputs
from hush.audit.foreign import from_name
from hush.audit.inputs import Values
from hush.audit.targets import as_target
from hush.errors import NOTHING, ParameterError, message
from hush.files.specs import construct, spec_from
from hush.mechanisms.collected import Collected
from hush.mechanisms.registry import registry
from hush.rules import domain_size
from hush.workbench.audit import choices
from hush.workbench.audit.question import AuditQuestion


def target_of(asked: AuditQuestion, *, code: bool) -> Target:
    """What a question asks about.

    Args:
        asked: The question.
        code: Whether code that it names may be imported.
    """
    if asked.allowed(code).way == "code":
        promised = Claim(_claimed(asked), asked.parameters.get("delta", 0.0))
        return from_name(asked.name, inputs=_inputs(asked), claim=promised)
    m = mechanism_of(asked)
    if m.kind == "longitudinal" and asked.rounds is None and not hasattr(m, "sizes"):
        rule, remedy = f"must be given for {m.name()}", "write how many reports one person sends, e.g. 12"
        raise ParameterError(message("rounds", rule, NOTHING, remedy))
    return as_target(m, rounds=asked.rounds)


def mechanism_of(asked: AuditQuestion) -> Collected:
    """The mechanism that a question names, or whose spec it has."""
    if asked.way == "spec":
        found: Collected = spec_from(asked.spec.encode(), "the text that was given").mechanism
        return found
    cls = registry(None)[asked.name] if asked.way == "mechanism" else choices.bug(asked.name)
    return construct(cls, _own(asked.parameters))


def _own(parameters: Any) -> dict[str, Any]:
    """Lists as tuples, which can be hashed."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


def _claimed(asked: AuditQuestion) -> float:
    if asked.claim is None:
        rule = "must be given for code, which says nothing of itself"
        raise ParameterError(message("claim", rule, NOTHING, "write the ε that it promises, e.g. 1.0"))
    return asked.claim


def _inputs(asked: AuditQuestion) -> Inputs:
    """What code is asked about: values, numbers, tuples, or a value over time; one of them."""
    given = asked.parameters
    ways = {"k": "k" in given, "low and high": "low" in given or "high" in given, "sizes": "sizes" in given}
    if sum(ways.values()) != 1:
        rule = "must be given, or else the smallest and the largest number, or the sizes of attributes, and only one"
        got = " and ".join(name for name, there in ways.items() if there) or NOTHING
        raise ParameterError(message("k", rule, got, "write how many values the code takes, e.g. 16"))
    if asked.rounds is not None and not ways["k"]:
        rule = "must be left out but for values 0..k-1"
        raise ParameterError(message("rounds", rule, asked.rounds, "leave it empty"))
    if ways["sizes"]:
        return TupleInputs(tuple(given["sizes"]))
    if ways["k"]:
        k = domain_size(given["k"])
        return Values(k) if asked.rounds is None else HistoryInputs.unchanging(k, asked.rounds)
    for name in ("low", "high"):
        if name not in given:
            raise ParameterError(message(name, "must be given beside the other end", NOTHING, "write both"))
    return NumberInputs(given["low"], given["high"])
