"""Generic code asks a mechanism's forms, never which class it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hush
from hush.longitudinal import Longitudinal
from hush.mechanisms.collected import from_outside
from hush.mechanisms.numeric.base import Numeric
from hush.multidim import Multidim

ROOT = Path(hush.__file__).parent

GENERIC = ["analysis", "simulation", "attacks", "audit", "planning", "files", "reports"]
"""Folders and files that name no mechanism."""

FOREIGN = {"audit/adapters.py", "analysis/manipulation.py"}
"""Strings in these are what other libraries, or papers, call theirs."""

KINDS = {"FrequencyOracle", "PureOracle", "Longitudinal", "Multidim", "Numeric"}
"""What may be asked for, to refuse bad input."""


def below(cls: type) -> Iterator[type]:
    """All classes of Hush that derive from one."""
    for each in cls.__subclasses__():
        yield from below(each)
        if not from_outside(each):
            yield each


MECHANISMS = {
    each.__name__ for kind in (hush.FrequencyOracle, Longitudinal, Multidim, Numeric) for each in below(kind)
} - KINDS
FILES = sorted(path for part in GENERIC for path in [ROOT / part, *(ROOT / part).rglob("*.py")] if path.is_file())


def named(source: str, *, strings: bool = True) -> set[str]:
    """Identifiers, and strings that are one name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name.rsplit(".", 1)[-1])
        elif strings and isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def test_no_mechanism_is_named() -> None:
    assert len(FILES) > 100
    naming = []
    for path in FILES:
        inside = path.relative_to(ROOT).as_posix()
        found = named(path.read_text(encoding="utf-8"), strings=inside not in FOREIGN) & MECHANISMS
        if found:
            naming.append(f"{inside} names {sorted(found)}")
    assert not naming, "\n".join(["ask m.forms, or a method of the protocol:", *naming])


def test_names_are_seen_wherever_they_stand() -> None:
    """Were it otherwise, the test above could not fail."""
    assert {"GRR", "HR", "MSS", "uRR", "LGRR", "FirstLUE", "SMP", "FakeData", "Duchi", "TwoLevel"} <= MECHANISMS
    source = 'from hush import GRR\nimport hush.OUE\nx = hush.HR\n{"MSS": SS}\n"not OLH itself"'
    assert named(source) & MECHANISMS == {"GRR", "OUE", "HR", "MSS", "SS"}
    assert named(source, strings=False) & MECHANISMS == {"GRR", "OUE", "HR", "SS"}
