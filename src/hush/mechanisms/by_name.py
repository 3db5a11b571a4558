"""Classes whose parameters are given by name: a call that does not fit says how to write it."""

from __future__ import annotations

import difflib
import inspect
from abc import ABCMeta
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hush.errors import CallError, Unsaid, message
from hush.mechanisms.renamed import deprecated

_KNOWN_AS = {"eps": "epsilon", "domain_size": "k", "d": "k"}
"""What other libraries call our parameters."""


class ByName(ABCMeta):
    """Of such classes."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """What help shows, which would else be that of any call."""
        whole = inspect.signature(cls.__init__)  # type: ignore[misc]
        return inspect.Signature(list(whole.parameters.values())[1:])

    if not TYPE_CHECKING:  # a checker goes by the class itself

        def __call__(cls, *given: Any, **named: Any) -> Any:
            """An instance."""
            for old, new in getattr(cls, "renamed", {}).items():
                if old in named and new not in named:
                    deprecated(f"{old} of {cls.__name__}", new)
                    named[new] = named.pop(old)
            try:
                return super().__call__(*given, **named)
            except TypeError:
                misfit = _misfit(cls, given, named)
                if misfit is None:
                    raise
                raise misfit from None


def _misfit(cls: ByName, given: Sequence[Any], named: Mapping[str, Any]) -> CallError | None:
    """What is wrong with a call; None if it fits, so that the error came from inside."""
    signature = cls.__signature__
    try:
        signature.bind(*given, **named)
    except TypeError:
        pass
    else:
        return None
    takes = signature.parameters
    if given:
        shown = ", ".join(f"{name}=…" for name in list(takes)[: len(given)])
        got = Unsaid(f"{len(given)} without a name")
        return CallError(message("parameters", "must be given by name", got, f"write {cls.__name__}({shown})"))
    for name in named:
        if name not in takes:
            near = _KNOWN_AS.get(name) if _KNOWN_AS.get(name) in takes else None
            near = near or next(iter(difflib.get_close_matches(name, takes, n=1)), None)
            rule = f"must be among the parameters of {cls.__name__}: {', '.join(takes)}"
            got, remedy = Unsaid(f"{name}=…"), "leave it out" if near is None else f"did you mean {near}?"
            return CallError(message(name, rule, got, remedy))
    absent = next(p for p in takes.values() if p.default is p.empty and p.name not in named)
    return CallError(
        message(absent.name, "must be given", Unsaid("nothing"), f"write {cls.__name__}({absent.name}=…, …)")
    )
