"""What a form offers for a new collection: kinds of questions, mechanisms for each, and what each of these needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hush.mechanisms.names import full_name
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes

VALUES, NUMBERS, OVER_TIME, TUPLES = "frequency", "numeric", "longitudinal", "multidim"
KINDS = {
    VALUES: "One of several answers",
    NUMBERS: "A number, for its mean",
    OVER_TIME: "The same question again and again",
    TUPLES: "Several questions at once",
}
"""What people may be asked."""
USUAL = {VALUES: "OUE", NUMBERS: "Piecewise", OVER_TIME: "LOSUE", TUPLES: "SMP"}
"""What a form begins with."""
_FIELDS = {"k": "answers", "sizes": "attributes"}
_OWN = frozenset({"epsilon", "epsilon_permanent", "epsilon_report", "delta", "low", "high", "sensitive"})
_BEYOND = frozenset({"mechanism", "priors"})
"""What a line of text cannot say: such a mechanism comes as a spec."""


@dataclass(frozen=True)
class Wanted:
    """What a mechanism takes.

    Args:
        fields: The fields of the form that speak of it, in their order.
        needed: Those without which it cannot be.
        settings: Names of further parameters, which are written as name=value.
        needed_settings: Those of them without which it cannot be.
    """

    fields: tuple[str, ...]
    needed: frozenset[str]
    settings: tuple[str, ...]
    needed_settings: frozenset[str]


def offered(kind: str) -> dict[str, str]:
    """The mechanisms of a kind that a form can describe, and what their short names stand for."""
    found = {}
    for name, cls in registry(kind).items():
        if not {each for each, needed in takes(cls).items() if needed} & _BEYOND:
            full = full_name(cls)
            found[name] = name if full == name else f"{name} – {full}"
    return found


def mechanism_class(kind: str, name: str) -> type[Any] | None:
    """The mechanism of that name; None where a form cannot describe it."""
    return registry(kind).get(name) if name in offered(kind) else None


def wanted(kind: str, name: str) -> Wanted:
    """What a mechanism takes.

    >>> wanted("frequency", "OUE").fields, wanted("frequency", "LH").needed_settings
    (('answers', 'epsilon'), frozenset({'g'}))
    """
    taken = takes(registry(kind)[name])
    fields = {_FIELDS.get(each, each): needed for each, needed in taken.items() if each in _OWN or each in _FIELDS}
    others = {each: needed for each, needed in taken.items() if each not in _OWN and each not in _FIELDS}
    return Wanted(
        tuple(fields),
        frozenset(each for each, needed in fields.items() if needed),
        tuple(each for each in others if each != "options"),
        frozenset(each for each, needed in others.items() if needed),
    )
