"""Closed forms: variance, attack success, bits, optimal parameters. Functions of probabilities, counts and arrays."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """A module of this folder, imported when it is first asked for."""
    if name.startswith("_") or find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
