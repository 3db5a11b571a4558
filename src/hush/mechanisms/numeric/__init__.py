"""Numbers in a range, whose mean is estimated."""

from importlib import import_module
from typing import Any

from hush.mechanisms.numeric.mechanism import Duchi, Hybrid, Piecewise
from hush.mechanisms.renamed import moved

__all__ = ["Duchi", "Hybrid", "Piecewise"]


def _registry() -> Any:
    return import_module("hush.mechanisms.registry")


__getattr__ = moved(
    __name__,
    {
        "NUMERIC": ("hush.registry(kind='numeric')", lambda: _registry().registry("numeric")),
        "registry": ("hush.registry", lambda: lambda: _registry().registry("numeric")),
        "register": ("hush.register", lambda: _registry().register),
        "from_dict": ("hush.from_dict", lambda: _registry().from_dict),
    },
)
