"""A value collected over time: kept answers, two rounds of noise, plain repetition, and a ledger of what was spent."""

from __future__ import annotations

from hush.longitudinal import printed
from hush.longitudinal._client import Client
from hush.longitudinal._clients import Clients
from hush.longitudinal._first import FirstLGRR, FirstLOLOHA
from hush.longitudinal._first_asked import FirstBitFlip
from hush.longitudinal._first_bits import FirstLOSUE, FirstLOUE, FirstLSOUE, FirstLSUE
from hush.longitudinal.base import Longitudinal
from hush.longitudinal.bitflip import dBitFlipPM
from hush.longitudinal.direct import LGRR
from hush.longitudinal.filter import PrivacyFilter
from hush.longitudinal.hashing import LOLOHA, OLOLOHA, BiLOLOHA
from hush.longitudinal.ledger import Ledger
from hush.longitudinal.memoized import Memoized
from hush.longitudinal.repeated import Repeated
from hush.longitudinal.unary import LOSUE, LOUE, LSOUE, LSUE
from hush.longitudinal.windows import WindowLedger, divided, stream_cost
from hush.mechanisms import registry as _registry
from hush.mechanisms.renamed import moved

for _each in (LGRR, LSUE, LOSUE, LOUE, LSOUE, LOLOHA, BiLOLOHA, OLOLOHA, dBitFlipPM, Memoized):
    _registry.register(_each)

__all__ = [
    "LGRR",
    "LOLOHA",
    "LOSUE",
    "LOUE",
    "LSOUE",
    "LSUE",
    "OLOLOHA",
    "BiLOLOHA",
    "Client",
    "Clients",
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
    "PrivacyFilter",
    "Repeated",
    "WindowLedger",
    "dBitFlipPM",
    "divided",
    "printed",
    "stream_cost",
]

__getattr__ = moved(
    __name__,
    {
        "PROTOCOLS": ("hush.registry(kind='longitudinal')", lambda: _registry.registry("longitudinal")),
        "from_dict": ("hush.from_dict", lambda: _registry.from_dict),
    },
)
