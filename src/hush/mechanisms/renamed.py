"""Names that are other ones now: the old ones still work for one version, and warn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any


def deprecated(old: str, new: str, *, above: int = 1) -> None:
    """Warn whoever called the function that calls this.

    Args:
        old: The name that goes.
        new: What to write in its place.
        above: How many calls there are between that function and this.
    """
    words = f"{old} is now {new}; the old name goes in version 0.3"
    warnings.warn(words, DeprecationWarning, stacklevel=above + 2)


def moved(module: str, names: Mapping[str, tuple[str, Callable[[], Any]]]) -> Callable[[str], Any]:
    """The `__getattr__` of a module some of whose names are elsewhere.

    Args:
        module: Its name.
        names: For each of them, what to write in its place, and what gives it.
    """

    def found(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new, get = names[name]
        deprecated(f"{module}.{name}", new)
        return get()

    return found
