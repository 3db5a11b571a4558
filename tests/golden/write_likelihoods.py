"""Write likelihoods.json: how likely reports are with each value, which other languages must find from specs alone.

python -m tests.golden.write_likelihoods
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hush
from tests.golden.replayed import cases

FILE = Path(__file__).with_name("likelihoods.json")
_LARGEST = 100
_SEED = 11


def entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """Small cases of all mechanisms that a browser can draw, each with a few reports."""
    for case in cases():
        if getattr(case.m, "k", 0) <= _LARGEST:
            yield case.name, entry(case.m, case.values)


def entry(m: Any, values: list[Any]) -> dict[str, Any]:
    """A spec, reports, and their log-likelihoods with every value, or with every tick of a number, less the largest."""
    if m.kind == "numeric":
        reports = m.privatize(values, rng=hush.seeded(_SEED))
        ticks = np.unique(np.linspace(0, m.steps, 5).astype(int)).tolist()
        logs = [[math.log(m.weight(report, tick)) for tick in ticks] for report in reports]
        at: Any = {"at": [m.low + m.width * tick / m.steps for tick in ticks]}
    else:
        law = m.first_report if m.kind == "longitudinal" else m
        reports = law.privatize(values[:: max(1, len(values) - 1)][:2], rng=hush.seeded(_SEED))
        logs = np.stack([law.log_prob(reports, value) for value in range(m.k)], axis=1).tolist()
        at = {}
    return {
        "spec": m.to_dict(),
        **at,
        "reports": [report.tobytes().hex() for report in reports],
        "logs": [[each - max(row) if each > -math.inf else None for each in row] for row in logs],
    }


def main() -> None:
    """Write all."""
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in entries())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
