"""What the client for web pages is timed with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hush
from hush.longitudinal import Memoized

K = 10_000
REFUSED = ("SHE", "ServerTHE", "GM", "AGM", "LHO", "dBitFlipPM", "LSMP", "LSPL")
"""What the client does not draw; tests/system/test_javascript.py says why."""
SLACK = ("AGRR", "ASUE", "ABLH", "AOLH")
MORE: dict[str, dict[str, Any]] = {"UE": {"p": 0.7}, "LH": {"g": 16}, "RAPPOR": {"k": 2048}, "LOLOHA": {"g": 4}}


def many() -> Iterator[tuple[str, Any]]:
    """Whose reports are counted by the second."""
    for name, k in (("OUE", 128), ("OLH", 128), ("SS", 128), ("SS", 1024), ("MSS", 1024), ("PGR", 128), ("PGR", 1024)):
        yield f"{name} ({k}, 1)", hush.registry()[name](k=k, epsilon=1.0)


def large() -> Iterator[tuple[str, Any]]:
    """Every mechanism that the client knows, with every code, at 10,000 values, or as many as it takes."""
    budget: dict[str, Any] = {"k": K, "epsilon": 1.0}
    half: dict[str, Any] = {"sensitive": range(0, K, 2)}
    for name, cls in _known("frequency"):
        slack = {"delta": 1e-6} if name in SLACK else {}
        some = half if name.startswith("u") else {}
        yield name, cls(**{**budget, **slack, **some, **MORE.get(name, {})})
    yield "SS, dense", hush.SS(**budget, code="enumerative")
    yield "MSS, dense", hush.MSS(**budget, code="enumerative")
    yield "LH, family", hush.LH(**budget, g=16, hash="family")
    yield "uLH, family", hush.uLH(**budget, **half, g=4, hash="family")
    for name, cls in _known("numeric"):
        yield name, cls(low=0.0, high=float(K), epsilon=1.0, steps=K)
    budgets: dict[str, Any] = {"k": K, "epsilon_permanent": 2.0, "epsilon_report": 1.0}
    for name, cls in _known("longitudinal"):
        yield name, Memoized(mechanism=hush.OUE(**budget)) if cls is Memoized else cls(**budgets, **MORE.get(name, {}))


def _known(kind: str) -> Iterator[tuple[str, Any]]:
    """The registered mechanisms of a kind that the client draws."""
    yield from ((name, cls) for name, cls in hush.registry(kind).items() if name not in REFUSED)
