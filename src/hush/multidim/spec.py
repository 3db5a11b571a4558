"""The names of all collections of tuples, and the way from plain data back to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hush import strict_json
from hush.errors import SpecError, Unsaid, message
from hush.mechanisms import chosen
from hush.multidim.base import VERSION, Multidim
from hush.multidim.fake_data import RSFD, RSRFD
from hush.multidim.sampled import SMP
from hush.multidim.split import SPL

_BUILT_IN: tuple[type[Multidim], ...] = (SPL, SMP, RSFD, RSRFD)


def registry() -> dict[str, type[Multidim]]:
    """Every collection of tuples by name.

    >>> list(registry())
    ['SPL', 'SMP', 'RSFD', 'RSRFD']
    """
    return {cls.name(): cls for cls in _BUILT_IN}


def from_dict(plain: Mapping[str, Any]) -> Multidim:
    """The collection that `to_dict` wrote.

    >>> from_dict(RSFD(sizes=(2, 3), epsilon=1.0, variant="GRR").to_dict())
    RSFD(sizes=(2, 3), epsilon=1.0, variant=('GRR', 'GRR'))
    """
    if not isinstance(plain, Mapping):
        raise SpecError(message("multidim", "must be a mapping", type(plain), "pass what to_dict gave"))
    entries = dict(plain)
    name, thresholds = entries.pop("protocol", None), entries.pop("thresholds", None)
    known = registry()
    if not isinstance(name, str) or name not in known:
        raise SpecError(message("protocol", f"must be one of {', '.join(known)}", name, "upgrade hush"))
    made: Multidim = chosen.rebuilt(known[name], name, "multidim", entries, thresholds)
    return made


def from_json(text: str) -> Multidim:
    """The collection that `to_json` wrote."""
    try:
        plain = strict_json.loads(text)
    except ValueError as error:
        raise SpecError(message("spec", "must be JSON", Unsaid("something else"), str(error))) from None
    if not isinstance(plain, Mapping) or set(plain) != {"hush", "multidim"}:
        raise SpecError(message("spec", "must have hush and multidim", type(plain), "write it with to_json"))
    if plain["hush"] != VERSION:
        raise SpecError(message("spec version", f"must be {VERSION}", plain["hush"], "upgrade hush"))
    return from_dict(plain["multidim"])
