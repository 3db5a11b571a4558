"""What the short names of mechanisms stand for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from hush.mechanisms.collected import Collected


def full_name(cls: type[Collected]) -> str:
    """What the short name of a class stands for; the short one where the class says no more."""
    found: str = vars(cls).get("full_name") or cls.name()
    return found


def meant(given: str, known: Mapping[str, type[Collected]]) -> list[str]:
    """The known mechanisms whose short or full name is close to what was given; a full name is spelled in any way.

    >>> from hush import registry
    >>> meant("ModularSubsetSelection", registry()), meant("OEU", registry())
    (['MSS'], ['OUE'])
    """
    full = {_letters(full_name(cls)): name for name, cls in known.items() if full_name(cls) != name}
    asked = _letters(given)
    if asked in full:
        return [full[asked]]
    short = {name.lower(): name for name in known}
    near = [short[each] for each in difflib.get_close_matches(given.lower(), short, n=3, cutoff=0.5)]
    return near or [full[each] for each in difflib.get_close_matches(asked, full, n=3, cutoff=0.75)]


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
