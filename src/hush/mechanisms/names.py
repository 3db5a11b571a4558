"""What the short names of mechanisms stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

FULL_NAMES = {
    "GRR": "generalized randomized response",
    "SS": "subset selection",
    "SUE": "symmetric unary encoding",
    "OUE": "optimized unary encoding",
    "UE": "unary encoding",
    "BLH": "binary local hashing",
    "OLH": "optimized local hashing",
    "LH": "local hashing",
    "SHE": "summation with histogram encoding",
    "THE": "thresholding with histogram encoding",
    "ServerTHE": "thresholding by the server",
    "HR": "Hadamard response",
    "PGR": "projective geometry response",
    "MSS": "modular subset selection",
    "Wheel": "wheel mechanism",
    "ASS": "adaptive subset selection",
    "AUE": "adaptive unary encoding",
    "ALH": "adaptive local hashing",
    "ATHE": "adaptive thresholding with histogram encoding",
    "AGRR": "approximate generalized randomized response",
    "ASUE": "approximate symmetric unary encoding",
    "ABLH": "approximate binary local hashing",
    "AOLH": "approximate optimized local hashing",
    "GM": "Gaussian mechanism",
    "AGM": "analytic Gaussian mechanism",
    "LHO": "local hashing only, without noise",
    "uRR": "utility-optimized randomized response",
    "uRAP": "utility-optimized RAPPOR",
    "uHR": "utility-optimized Hadamard response",
    "uSS": "utility-optimized subset selection",
    "uUE": "utility-optimized unary encoding",
    "uLH": "utility-optimized local hashing",
    "uWheel": "utility-optimized wheel mechanism",
}


def meant(given: str, known: Iterable[str]) -> list[str]:
    """The known mechanisms whose short or full name is close to what was given; a full name is spelled in any way.

    >>> meant("ModularSubsetSelection", FULL_NAMES), meant("OEU", FULL_NAMES)
    (['MSS'], ['OUE'])
    """
    names = list(known)
    full = {_letters(FULL_NAMES[name]): name for name in names if name in FULL_NAMES}
    asked = _letters(given)
    if asked in full:
        return [full[asked]]
    short = {name.lower(): name for name in names}
    near = [short[each] for each in difflib.get_close_matches(given.lower(), short, n=3, cutoff=0.5)]
    return near or [full[each] for each in difflib.get_close_matches(asked, full, n=3, cutoff=0.75)]


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
