"""What tuples over time write, and stores of devices, is still made and read the same."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush
from hush.files.clients import ClientStore, rows_of
from hush.files.clients.schema import APPLICATION, VERSION
from tests.golden.write_tuples import FILE, VALUES, specs

STORED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", STORED["specs"])
def test_tuples_over_time(name: str) -> None:
    stored: dict[str, Any] = STORED["specs"][name]
    spec = hush.Spec.from_json(stored["spec"])
    assert (spec.to_json(), spec.hash, spec.one_round.hash) == (stored["spec"], stored["hash"], stored["one_round"])
    assert specs()[name] == spec  # so what it chooses here, it chose there
    client = spec.client(rng=hush.seeded(7))
    first = [client.report({"sex": "f", "age": age}).tobytes().hex() for age in ("b", None, "b")]
    assert (first, json.dumps(client.state)) == (stored["first"], stored["state"])
    assert json.dumps(spec.client(state=json.loads(stored["state"])).state) == stored["state"]
    reports = spec.mechanism.collect(VALUES, rng=hush.seeded(9))
    assert reports.tobytes().hex() == stored["reports"]
    read = [hush.Aggregate.from_bytes(bytes.fromhex(each)) for each in stored["aggregates"]]
    assert spec.aggregate(reports) == read == spec.check(read)


@pytest.mark.parametrize("version", [1])
def test_a_store_goes_on(version: int, tmp_path: Path) -> None:
    stored = STORED[f"store {version}"]
    connection = sqlite3.connect(tmp_path / "store")
    connection.executescript("\n".join(stored["dump"]))
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute(f"PRAGMA user_version={stored['version']}")
    connection.close()
    kept, fresh = (hush.Spec.from_json(stored[which]) for which in ("kept", "fresh"))
    with ClientStore(tmp_path / "store") as store:
        assert (store.people, store.collections()) == (2, [kept, fresh])
        assert [store.account(each, "ann").reports for each in (kept, fresh)] == [2, 1]
        made = store.collect(
            kept, [rows_of(kept, ["ann", "bob"], ["x", "y"], "3")], tmp_path / "3.parquet", shuffled=False
        )
        assert (made.reports, made.passed_over) == (2, 0)
        with pytest.raises(hush.HushError, match="nowhere"):
            store.collect(fresh, [], tmp_path / "other.parquet")
    assert hush.read(tmp_path / "3.parquet").reports().tobytes().hex() == stored["reports"][0] == stored["reports"][1]


def test_this_version_is_kept() -> None:
    assert f"store {VERSION}" in STORED
    assert np.array_equal(sorted(STORED["specs"]), sorted(specs()))
