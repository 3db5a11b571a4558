"""Write replays.json: reports that other languages must make from the same words, and specs that they must refuse.

    python -m tests.golden.write_replays

Byte vectors that are there already are kept as they are, and only missing ones are added: run it for a new mechanism.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hush
from hush import longitudinal
from hush.collect.loss import loss
from tests.golden.hostile import hostile
from tests.golden.mutated import losses
from tests.golden.replayed import Case, cases, named
from tests.golden.replays import mixed, reports

FILE = Path(__file__).with_name("replays.json")
_ENOUGH = 20_000  # words for any case


def replay(case: Case) -> dict[str, Any]:
    """A spec, values, the words that their reports take, these, and what one of them loses."""
    told = (part for t in case.m.thresholds.values() for part in str(t).split())
    words = [*case.first, *mixed(case.name, [int(t) for t in told if t.isdigit() and int(t) <= 1 << 64], _ENOUGH)]
    made, taken = reports(case.m, case.values, words)
    assert taken <= _ENOUGH
    return {
        "spec": case.m.to_dict(),
        "values": case.values,
        "words": struct.pack(f"<{taken}Q", *words[:taken]).hex(),
        "reports": made,
        "loss": lost(case.m),
    }


def lost(m: Any) -> dict[str, Any]:
    """What the Python client says of the spec; None where a loss is infinite, or is not there."""
    found = loss(hush.Spec(m))
    plain: dict[str, Any] = {name: getattr(found, name) for name in ("epsilon", "declared", "delta", "unprotected")}
    if m.kind == "longitudinal":
        plain |= {"lasting": found.lasting, "fresh": m.epsilon_fresh if math.isfinite(m.epsilon_fresh) else None}
    return plain


def laws() -> Iterator[dict[str, Any]]:
    """The exact probabilities of all reports of one value, for samplers to be held against."""
    some: dict[str, Any] = {"k": 6, "epsilon": 1.0, "sensitive": [1, 2, 4]}
    amounts: dict[str, Any] = {"low": 0.0, "high": 3.0, "epsilon": 1.0, "steps": 3}
    mechanisms: tuple[Any, ...] = (
        hush.GRR(k=4, epsilon=1.0),
        hush.SS(k=6, epsilon=1.0, omega=2),
        hush.SS(k=6, epsilon=1.0, omega=4, code="enumerative"),
        hush.OUE(k=5, epsilon=1.0),
        hush.HR(k=5, epsilon=1.0, blocks=2),
        hush.PGR(k=7, epsilon=1.0, q=2),
        hush.PGR(k=10, epsilon=1.0, q=9),
        hush.MSS(k=7, epsilon=0.5, moduli=(3, 5, 2)),
        *(make(**some, reveal=way) for make, way in ((hush.uRR, "pair"), (hush.uUE, "pair"), (hush.uHR, "alone"))),
        hush.uUE(**some),
        *(make(**amounts) for make in (hush.Duchi, hush.Hybrid)),
    )
    for m in mechanisms:
        yield {"spec": m.to_dict(), "value": 2, "law": law(m, 2)}
    for protocol in (longitudinal.LGRR, longitudinal.LOSUE):
        m = protocol(k=4, epsilon_permanent=2.0, epsilon_report=1.0)
        yield {"spec": m.to_dict(), "value": 2, "law": law(m.first_report, 2)}


def law(m: Any, value: int) -> dict[str, float]:
    """Probabilities of reports, in hex; a numeric mechanism's value is one of its ticks."""
    publics = m.publics() if m.kind == "frequency" else (None,)
    found = {}
    for public in publics:
        for report in m.outputs(public) if m.kind == "frequency" else m.outputs():
            found[report.tobytes().hex()] = m.weight(report, value) / m.denominator / len(publics)
    assert math.isclose(sum(found.values()), 1.0, rel_tol=1e-12), named(m)
    return found


def main() -> None:
    """Add what is missing."""
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    kept = stored.get("replays", {})
    parts: dict[str, Any] = {
        "replays": {case.name: kept.get(case.name) or replay(case) for case in cases()},
        "hostile": {each.name: {"spec": each.spec, "reason": each.reason, "later": each.later} for each in hostile()},
        "losses": losses(),
        "laws": {named(hush.from_dict(each["spec"])): each for each in laws()},
    }
    texts = []
    for part, entries in parts.items():
        lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        texts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n}")
    FILE.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
