"""What can be chosen to audit, and what each choice must be told: read off the classes themselves."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hush.mechanisms.names import full_name
from hush.mechanisms.registry import KINDS, registry
from hush.mechanisms.settings import takes

_KINDS = {
    "frequency": "How often each value occurs",
    "numeric": "The mean of numbers",
    "multidim": "Several attributes at once",
    "longitudinal": "A value over time",
}
"""What mechanisms of each kind estimate."""

_LABELS = {
    "k": "Number of values, k",
    "epsilon": "Promised privacy loss of one report, ε",
    "delta": "Slack, δ",
    "low": "Smallest number",
    "high": "Largest number",
    "sizes": "Number of values of each attribute",
    "epsilon_permanent": "Promised loss of all reports of one value, ε",
    "epsilon_report": "Promised loss of the first report, ε",
    "sensitive": "Sensitive values",
    "rounds": "Reports of one person",
}
_FIRST = {
    "k": "16",
    "epsilon": "1",
    "delta": "0.00001",
    "low": "0",
    "high": "10",
    "sizes": "2, 5",
    "epsilon_permanent": "2",
    "epsilon_report": "1",
    "rounds": "12",
    "d": "4",
    "g": "4",
}
"""What fields hold at first."""

_READ = {"int": "whole", "float": "real", "str": "text"}
_ROUNDS = "How many reports about a value that does not change; all of them together are audited."


@dataclass(frozen=True)
class AskedField:
    """Something that a choice must be told.

    Args:
        name: Of the parameter; errors name it so.
        label: What people read.
        kind: "whole", "real", "list" (of whole numbers) or "text".
        needed: Whether it must be said; else the mechanism chooses.
        first: What the field holds at first.
        help: What it means.
    """

    name: str
    label: str
    kind: str
    needed: bool
    first: str = ""
    help: str = ""


@dataclass(frozen=True)
class AuditChoice:
    """A mechanism that can be audited.

    Args:
        name: As the command line and errors call it.
        label: What people read.
        group: What it estimates, or where it comes from.
        about: What it is, in a sentence.
        fields: What it must be told.
    """

    name: str
    label: str
    group: str
    about: str
    fields: tuple[AskedField, ...]

    @property
    def first(self) -> dict[str, str]:
        """What its fields hold at first."""
        return {field.name: field.first for field in self.fields if field.first}


@cache
def mechanisms() -> Mapping[str, AuditChoice]:
    """Every registered mechanism that can be made from numbers and words, by name."""
    found: dict[str, AuditChoice] = {}
    for kind in KINDS:
        for name, cls in registry(kind).items():
            if _offered(cls):
                found[name] = _choice(name, _label(name, cls), _KINDS[kind], cls)
    return found


@cache
def bugs() -> Mapping[str, AuditChoice]:
    """Samplers that lose more than they promise, most of them from published code, by name."""
    found = {}
    for cls in _exhibits():
        choice = _choice(cls.__name__, _spaced(cls.__name__), "Bugs", cls)
        made = cls(**{each.name: _plain(each) for each in choice.fields if each.needed})
        if made.true_epsilon() > made.epsilon * (1 + 1e-6):
            found[choice.name] = choice
    return found


def bug(name: str) -> type[Any]:
    """The class of a bug that is offered."""
    return next(cls for cls in _exhibits() if cls.__name__ == name)


def module_of(name: str) -> str:
    """What the command line calls a bug."""
    cls = bug(name)
    return f"{cls.__module__}:{cls.__name__}"


def _exhibits() -> list[type[Any]]:
    from hush.testing import museum

    known = [each for each in vars(museum).values() if isinstance(each, type) and issubclass(each, museum.Exhibit)]
    return [cls for cls in known if cls not in (museum.Exhibit, museum.Telling)]


def _offered(cls: type[Any]) -> bool:
    """Whether all that it needs can be written in a field, and audits take its kind."""
    kinds = _kinds(cls)
    several_over_time = cls.kind == "longitudinal" and "sizes" in kinds
    return not several_over_time and all(kinds[name] for name, needed in takes(cls).items() if needed)


def _choice(name: str, label: str, group: str, cls: type[Any]) -> AuditChoice:
    kinds = _kinds(cls)
    usual = getattr(cls, "shown_with", {})
    fields = [
        AskedField(
            each,
            _LABELS.get(each, each),
            kinds[each],
            needed,
            str(usual.get(each, _FIRST.get(each, ""))) if needed else "",
            _described(cls, each),
        )
        for each, needed in takes(cls).items()
        if kinds[each]
    ]
    if cls.kind == "longitudinal":
        fields.append(AskedField("rounds", _LABELS["rounds"], "whole", True, _FIRST["rounds"], _ROUNDS))
    return AuditChoice(name, label, group, _summary(cls), tuple(fields))


def _kinds(cls: type[Any]) -> dict[str, str]:
    """How each of its parameters is read; "" for what no field can hold."""
    found = {}
    for field in dataclasses.fields(cls):
        said = str(field.type).removesuffix(" | None")
        listed = said in ("Sequence[int]", "tuple[int, ...]")
        found[field.name] = "list" if listed else _READ.get(said.partition(" | Sequence[str]")[0], "")
    return found


def _plain(field: AskedField) -> Any:
    return {"whole": int, "real": float}.get(field.kind, str)(field.first)


def _label(name: str, cls: type[Any]) -> str:
    full = full_name(cls)
    return name if full == name else f"{name}, {full}"


def _spaced(name: str) -> str:
    """A class's name as words.

    >>> _spaced("LastBitUnprotected"), _spaced("MissingResetOUE")
    ('Last bit unprotected', 'Missing reset OUE')
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", name)
    return " ".join([words[0], *(word if word.isupper() else word.lower() for word in words[1:])])


def _summary(cls: type[Any]) -> str:
    """The first paragraph of what its author says of it."""
    return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split()).replace("``", "")


def _described(cls: type[Any], name: str) -> str:
    """What the docstring of the class, or of one that it derives from, says of a parameter."""
    for each in cls.__mro__:
        said = inspect.cleandoc(vars(each).get("__doc__") or "")
        found = re.search(rf"^    {name}: (.+(?:\n {{8}}.+)*)", said.partition("Args:\n")[2], re.MULTILINE)
        if found:
            return " ".join(found[1].split()).replace("``", "").replace("`", "")
    return ""
