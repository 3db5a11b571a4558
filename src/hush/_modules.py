"""The modules of a package as its attributes, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """What a package takes as its `__getattr__`."""

    def found(name: str) -> ModuleType:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return found
