"""The specs that `speed.js` is timed with, as JSON.

python clients/javascript/bench/specs.py | node clients/javascript/bench/speed.js
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import hush
from hush import longitudinal

K = 10_000


def many() -> Iterator[tuple[str, Any]]:
    """Whose reports are counted by the second."""
    yield "OUE k=128", hush.OUE(k=128, epsilon=1.0)
    yield "OLH k=128", hush.OLH(k=128, epsilon=1.0)
    yield "SS k=128", hush.SS(k=128, epsilon=1.0)
    yield "MSS k=1024", hush.MSS(k=1024, epsilon=1.0)
    yield "PGR k=128", hush.PGR(k=128, epsilon=1.0)


def large() -> Iterator[tuple[str, Any]]:
    """Every mechanism at 10,000 values, or as many as it takes."""
    budget: dict[str, Any] = {"k": K, "epsilon": 1.0}
    more: dict[str, dict[str, Any]] = {"UE": {"p": 0.7}, "LH": {"g": 16}, "RAPPOR": {"k": 2048}}
    for name, cls in hush.registry().items():
        if name in ("SHE", "ServerTHE", "GM", "AGM", "LHO"):
            continue
        slack = {"delta": 1e-6} if name in ("AGRR", "ASUE", "ABLH", "AOLH") else {}
        some = {"sensitive": range(0, K, 2)} if name.startswith("u") else {}
        yield name, cls(**{**budget, **slack, **some, **more.get(name, {})})
    yield "SS enumerative", hush.SS(**budget, code="enumerative")
    yield "MSS enumerative", hush.MSS(**budget, code="enumerative")
    yield "LH family", hush.LH(**budget, g=16, hash="family")
    yield "uLH family", hush.uLH(**budget, g=4, hash="family", sensitive=range(0, K, 2))
    for name, cls in hush.registry(kind="numeric").items():
        yield name, cls(low=0.0, high=float(K), epsilon=1.0, steps=K)
    budgets: dict[str, Any] = {"k": K, "epsilon_permanent": 2.0, "epsilon_report": 1.0}
    for protocol in (longitudinal.LGRR, longitudinal.LSUE, longitudinal.LOSUE, longitudinal.OLOLOHA):
        yield protocol.__name__, protocol(**budgets)


if __name__ == "__main__":
    parts = {"many": many(), "large": large()}
    print(json.dumps({part: {name: m.to_dict() for name, m in found} for part, found in parts.items()}))
