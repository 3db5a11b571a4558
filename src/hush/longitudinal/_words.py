"""What version 0.1 called the losses of reports over time: those names are still understood, and warn.

In specs and in the states of clients the first two stay as they are: by another name, a stored state would be that of
another protocol, and its answers would be drawn, and paid for, once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from hush.mechanisms.renamed import deprecated

WRITTEN = {"eps_perm": "epsilon_permanent", "eps_1": "epsilon_report"}
_FORMER = WRITTEN | {f"eps_{word}": f"epsilon_{word}" for word in ("worst", "states", "fresh")}


class FormerWords:
    """Understands the names of version 0.1."""

    renamed: ClassVar[Mapping[str, str]] = WRITTEN

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            new = _FORMER.get(name)
            if new is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            deprecated(name, new)
            return getattr(self, new)
