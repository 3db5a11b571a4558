"""`hush relay` as a person runs it, between devices and a collector in processes of their own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import sqlalchemy as sa

import hush
from hush.collect import Collector
from hush.collect.envelope import Envelope, body, new_id
from hush.collect.store import tables
from hush.collect.store.database import Database
from tests.system.collect.serving import Running, serving
from tests.system.support import refused, run
from tests.waiting import held_port, wait_until

SPEC = hush.Spec(hush.OLH(k=4, epsilon=2.0))
SIZE = SPEC.mechanism.report_dtype.itemsize
LEAST = 50


@dataclass
class Site:
    """A collector that runs, with an open collection and a relay's key."""

    folder: Path
    server: Running
    id: str
    key: Path

    @property
    def admin(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.server.token}"}

    def view(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.server.url}/v1/collections/{self.id}", headers=self.admin).json()
        return found

    def options(self, **more: object) -> list[object]:
        told = {"collector": self.server.url, "collections": self.id, "key-file": self.key, "least": LEAST, **more}
        return [word for name, value in told.items() for word in (f"--{name}", value)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with serving(folder) as server:
        admin = {"Authorization": f"Bearer {server.token}"}
        asked = {"spec": SPEC.to_dict(), "name": "visits", "target_n": 100_000, "relayed_only": True}
        id = httpx.post(f"{server.url}/v1/collections", headers=admin, json=asked).json()["id"]
        httpx.post(f"{server.url}/v1/collections/{id}/open", headers=admin, json={"force": True}).raise_for_status()
        made = httpx.post(f"{server.url}/v1/tokens", headers=admin, json={"role": "relay", "label": "the relay"})
        key = folder / "key"
        key.write_text(f"{made.json()['token']}\n")
        yield Site(folder, server, id, key)


def sent(url: str, id: str, key: str, size: int, *, build: str = "telling-build/7") -> bytes:
    """Send one batch; its records."""
    reports = SPEC.privatize(np.zeros(size, np.int64))
    made = Envelope(id, SPEC.hash, new_id(), 0, build, SIZE, reports.tobytes())
    answer = httpx.post(f"{url}/v1/collections/{id}/batches", content=body(key, made.to_bytes()))
    assert (answer.status_code, answer.json()["accepted"]) == (200, size)
    return made.records


def test_reports_pass_and_nothing_else_does(site: Site, tmp_path: Path) -> None:
    before = site.view()["n"]
    with serving(tmp_path, *site.options(), command="relay") as relay:
        key = relay.told["device_key"]
        assert relay.told == {"url": relay.url, "collector": site.server.url, "least": LEAST, "device_key": key}
        records = b"".join(sent(relay.url, site.id, key, size) for size in (20, 1, 9, 25))
        with Collector(f"{relay.url}/v1/collections/{site.id}", home=tmp_path / "home", key=key) as device:
            assert device.person("ann").answer(1).state == "accepted"
        sent(relay.url, site.id, key, LEAST)  # as many as stay behind
        wait_until(lambda: site.view()["n"] == before + 56)
        assert relay.stop() == 0
    log = relay.log.read_text()
    assert f"Stopped: 56 reports passed on, {LEAST} wait in the store, none dropped." in log
    for secret in (key, key.split("-", 3)[3], site.key.read_text().strip(), site.id, "127.0.0.1", "telling-build"):
        assert secret not in log, "the log tells too much"
    assert list(site.view()["builds"]) == [f"hush-relay/{hush.__version__}"]
    exported = _batches(site)
    mine = [each for each in exported if records[:SIZE] in _split(each)]
    assert len(mine) == 1
    arrived, given = _split(mine[0]), _split(records)
    assert sorted(each for each in arrived if each in set(given)) == sorted(given)
    assert [each for each in arrived if each in set(given)] != given  # the same by chance once in 55! times

    with serving(tmp_path, *site.options(), command="relay") as again:
        assert again.told["device_key"] is None
        sent(again.url, site.id, key, LEAST)
        wait_until(lambda: site.view()["n"] == before + 56 + LEAST)
    assert site.view()["shuffled"]["batch"] >= LEAST
    shown = run("collection", "show", site.id, "--server", site.server.url, "--token", site.server.token)
    assert "Towards the collector a report is (" in " ".join(shown.stdout.split())
    asked = {"spec": SPEC.to_dict(), "name": "direct", "target_n": 100_000}
    direct = httpx.post(f"{site.server.url}/v1/collections", headers=site.admin, json=asked).json()["id"]
    shown = run("collection", "show", direct, "--server", site.server.url, "--token", site.server.token)
    assert "2-LDP" in shown.stdout
    assert "shuffled" not in shown.stdout


def _split(records: bytes) -> list[bytes]:
    return [records[i : i + SIZE] for i in range(0, len(records), SIZE)]


def _batches(site: Site) -> list[bytes]:
    """The records of the collector's batches, read beside it."""
    engine = sa.create_engine(f"sqlite:///file:{site.folder / 'hush-collector.db'}?mode=ro&uri=true")
    with engine.connect() as connection:
        rows = connection.execute(sa.select(tables.batch.c.records)).all()
    engine.dispose()
    return [bytes(row.records) for row in rows]


def test_one_more_key_is_issued_when_asked_for(site: Site, tmp_path: Path) -> None:
    with serving(tmp_path, *site.options(), command="relay") as relay:
        first = relay.told["device_key"]
    told = ["--collector", site.server.url, "--collections", site.id, "--new-key", "the second app"]
    with serving(tmp_path, *told, command="relay", HUSH_KEY=site.key.read_text().strip()) as relay:
        second = relay.told["device_key"]
        assert second is not None
        assert second != first
        for key in (first, second):
            sent(relay.url, site.id, key, 1)
        assert relay.stop(signal.SIGINT) == 0
    assert "0 reports passed on, 2 wait in the store" in relay.log.read_text()
    database = Database(str(tmp_path / "relay.db"))
    with database.reading() as connection:
        labels = sorted(row.label for row in connection.execute(sa.select(tables.token)))
    database.close()
    assert labels == ["devices", "the second app"]


def test_a_collector_that_is_away_gets_everything_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    folder.mkdir()
    with held_port() as port, serving(folder, "--port", port) as server:
        admin = {"Authorization": f"Bearer {server.token}"}
        asked = {"spec": SPEC.to_dict(), "name": "visits", "target_n": 100_000, "relayed_only": True}
        id = httpx.post(f"{server.url}/v1/collections", headers=admin, json=asked).json()["id"]
        httpx.post(f"{server.url}/v1/collections/{id}/open", headers=admin, json={"force": True}).raise_for_status()
        made = httpx.post(f"{server.url}/v1/tokens", headers=admin, json={"role": "relay", "label": "the relay"})
        key = tmp_path / "key"
        key.write_text(made.json()["token"])
        options = ["--collector", server.url, "--collections", id, "--key-file", key, "--least", LEAST, "--anyone"]
        with serving(tmp_path, *options, command="relay") as relay:
            assert server.stop() == 0
            for _ in range(3):
                sent(relay.url, id, "", LEAST)
            assert httpx.get(f"{relay.url}/readyz").status_code == 200
            with serving(folder, "--port", port) as server:
                view = f"{server.url}/v1/collections/{id}"
                wait_until(lambda: httpx.get(view, headers=admin).json()["n"] == 2 * LEAST)
                assert server.stop() == 0
    assert "a batch was not acknowledged" in relay.log.read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"least": "0"}, "--least"),
        ({"least": "many"}, "--least"),
        ({"least": "60000"}, "--least"),
        ({"few": "keep"}, "--few"),
        ({"collections": "visits"}, "--collections"),
        ({"collections": "0" * 32}, "--collections"),
        ({"collector": "http://collect.example"}, "--collector"),
        ({"collector": "http://[::1"}, "--collector"),
        ({"collector": "https://collect.example:99999"}, "--collector"),
        ({"collector": "https://collect.example/v1"}, "--collector"),
        ({"key-file": "nowhere"}, "--key-file"),
        ({"port": "70000"}, "--port"),
    ],
)
def test_what_makes_no_relay_is_refused(site: Site, tmp_path: Path, change: dict[str, str], said: str) -> None:
    given = site.options(**{"store": tmp_path / "relay.db", "port": 0, **change})
    error = refused("relay", *given)
    assert error.startswith(f"Error: {said} must "), error


def test_a_collector_that_does_not_answer_is_refused(site: Site, tmp_path: Path) -> None:
    with held_port() as port:
        given = site.options(store=tmp_path / "relay.db", port=0, collector=f"http://127.0.0.1:{port}")
        assert refused("relay", *given).startswith("Error: --collector must ")


@pytest.mark.parametrize("text", ["hush-relay-foo", f"hush-relay-00000000-{'A' * 22}"])
def test_a_wrong_key_is_found_before_it_starts(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """One that is none, and one that the collector does not know."""
    (tmp_path / "key").write_text(text)
    given = site.options(**{"store": tmp_path / "relay.db", "port": 0, "key-file": tmp_path / "key"})
    error = refused("relay", *given)
    assert error.startswith("Error: --key-file must be "), error
    assert text not in error
    monkeypatch.setenv("HUSH_KEY", text)
    at = given.index("--key-file")
    assert refused("relay", *given[:at], *given[at + 2 :]).startswith("Error: HUSH_KEY must be ")


def test_without_a_key_it_says_where_to_get_one(site: Site, tmp_path: Path) -> None:
    told = ["--collector", site.server.url, "--collections", site.id, "--store", tmp_path / "relay.db"]
    assert "ask whoever runs the collector for one" in refused("relay", *told)
