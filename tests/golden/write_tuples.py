"""Write what later versions must read of tuples over time, and of stores: run once for a new protocol or schema.

    python -m tests.golden.write_tuples

What is there already is kept as it is.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import hush
from hush.files.clients import ClientStore, rows_of
from hush.files.clients.schema import VERSION
from hush.multidim import LSMP, LSPL

FILE = Path(__file__).with_name("tuples.json")
DOMAINS = {"sex": hush.Domain(labels=["f", "m"]), "age": hush.Domain(labels=["α", "b", "c", "?"], other="?")}
VALUES = [[[0, 1], [0, 2]], [[1, 3], [1, 3]], [[0, 0], [1, 0]]]


def specs() -> dict[str, hush.Spec]:
    """Examples of all protocols."""
    budgets: dict[str, Any] = {"sizes": (2, 4), "epsilon_permanent": 2.0, "epsilon_report": 1.0}
    made = {
        "LSMP": LSMP(**budgets),
        "LSPL": LSPL(**budgets),
        "LSMP OLOLOHA": LSMP(**budgets, protocol=("OLOLOHA", "LOSUE")),
        "LSPL LOLOHA": LSPL(**budgets, protocol="LOLOHA", options={"g": 3}),
    }
    return {name: hush.Spec(m, DOMAINS) for name, m in made.items()}


def vector(spec: hush.Spec) -> dict[str, Any]:
    """Everything of one protocol that travels."""
    client = spec.client(rng=hush.seeded(7))
    first = [client.report({"sex": "f", "age": age}).tobytes().hex() for age in ("b", None, "b")]
    reports = spec.mechanism.collect(VALUES, rng=hush.seeded(9))
    return {
        "spec": spec.to_json(),
        "hash": spec.hash,
        "one_round": spec.one_round.hash,
        "first": first,
        "state": json.dumps(client.state),
        "reports": reports.tobytes().hex(),
        "aggregates": [each.to_bytes().hex() for each in spec.aggregate(reports)],
    }


def store(folder: Path) -> dict[str, Any]:
    """A store of two collections, of which one report waits to be written."""
    kept, fresh = (hush.Spec(m, hush.Domain(labels=["x", "y"])) for m in mechanisms())
    path = folder / "store"

    class Waiting(ClientStore):
        def _deliver(self, *given: Any) -> None:
            """Cut short."""

    with ClientStore(path) as opened:
        for month in ("1", "2"):
            rows = rows_of(kept, ["ann", "bob"], ["x", "y"], month)
            opened.collect(kept, [rows], folder / f"{month}.parquet", shuffled=False)
    with Waiting(path) as opened:
        opened.collect(fresh, [rows_of(fresh, ["ann"], ["x"], "1")], Path("/nowhere/r.parquet"))
    connection = sqlite3.connect(path)
    dump = list(connection.iterdump())
    connection.close()
    reports = [hush.read(folder / f"{month}.parquet").reports().tobytes().hex() for month in ("1", "2")]
    return {"version": VERSION, "dump": dump, "kept": kept.to_json(), "fresh": fresh.to_json(), "reports": reports}


def mechanisms() -> tuple[Any, Any]:
    """What the store has reports of."""
    return hush.longitudinal.Memoized(mechanism=hush.OUE(k=2, epsilon=0.5)), hush.GRR(k=2, epsilon=0.5)


def main() -> None:
    """Add what is missing."""
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    stored.setdefault("specs", {})
    for name, spec in specs().items():
        if name not in stored["specs"]:
            stored["specs"][name] = vector(spec)
    with tempfile.TemporaryDirectory() as folder:
        stored.setdefault(f"store {VERSION}", store(Path(folder)))
    FILE.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
