"""A value collected over time: kept answers, two rounds of noise, plain repetition, and a ledger of what was spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hush.errors import SpecError, message
from hush.longitudinal import printed
from hush.longitudinal._client import Client
from hush.longitudinal._first import FirstLGRR, FirstLOLOHA
from hush.longitudinal._first_asked import FirstBitFlip
from hush.longitudinal._first_bits import FirstLOSUE, FirstLOUE, FirstLSOUE, FirstLSUE
from hush.longitudinal.base import Longitudinal
from hush.longitudinal.bitflip import dBitFlipPM
from hush.longitudinal.direct import LGRR
from hush.longitudinal.hashing import LOLOHA, OLOLOHA, BiLOLOHA
from hush.longitudinal.ledger import Ledger
from hush.longitudinal.memoized import Memoized
from hush.longitudinal.repeated import Repeated
from hush.longitudinal.unary import LOSUE, LOUE, LSOUE, LSUE
from hush.mechanisms import chosen
from hush.mechanisms.registry import from_dict as mechanism_from_dict

PROTOCOLS: dict[str, type[Longitudinal]] = {
    cls.__name__: cls for cls in (LGRR, LSUE, LOSUE, LOUE, LSOUE, LOLOHA, BiLOLOHA, OLOLOHA, dBitFlipPM, Memoized)
}
"""Every protocol by name."""


def from_dict(plain: Mapping[str, Any]) -> Longitudinal:
    """The protocol that `to_dict` wrote.

    >>> from_dict(LGRR(k=4, eps_perm=2.0, eps_1=1.0).to_dict())
    LGRR(k=4, eps_perm=2.0, eps_1=1.0)
    """
    entries = dict(plain) if isinstance(plain, Mapping) else {}
    name, thresholds = entries.pop("protocol", None), entries.pop("thresholds", None)
    if not isinstance(name, str) or name not in PROTOCOLS:
        rule = f"must be one of {', '.join(PROTOCOLS)}"
        raise SpecError(message("protocol", rule, name, "pass what to_dict gave"))
    if "mechanism" in entries:
        entries["mechanism"] = mechanism_from_dict(entries["mechanism"])
    made: Longitudinal = chosen.rebuilt(PROTOCOLS[name], name, "protocol", entries, thresholds)
    return made


__all__ = [
    "LGRR",
    "LOLOHA",
    "LOSUE",
    "LOUE",
    "LSOUE",
    "LSUE",
    "OLOLOHA",
    "PROTOCOLS",
    "BiLOLOHA",
    "Client",
    "FirstBitFlip",
    "FirstLGRR",
    "FirstLOLOHA",
    "FirstLOSUE",
    "FirstLOUE",
    "FirstLSOUE",
    "FirstLSUE",
    "Ledger",
    "Longitudinal",
    "Memoized",
    "Repeated",
    "dBitFlipPM",
    "from_dict",
    "printed",
]
