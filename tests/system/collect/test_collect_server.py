"""Servers as they are run: processes, signals, logs, certificates, listeners, and several before one store."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from hush.collect.clock import Clock
from hush.collect.server.running import Server
from hush.collect.service import Service
from hush.collect.settings import ServerSettings
from hush.collect.store.database import Database
from hush.collect.store.lock import StoreHeld
from hush.errors import ParameterError
from tests.certificates import certified
from tests.collectors import Opened, Served, in_process, in_thread, opened, settings
from tests.postgres import postgres, postgres_url  # noqa: F401
from tests.waiting import wait_until

ACCESS = re.compile(r"hush\.collect\.access INFO [A-Z]+ (/[\w/{}.]*|unmatched) \d{3} \d+\.\d ms")


def test_a_process_logs_neither_secrets_nor_addresses_and_stops_when_told(tmp_path: Path) -> None:
    with in_process(tmp_path) as served:
        one = opened(served)
        reader = served.token("reader")
        assert served.send(one, one.body([0, 1])).status_code == 200
        served.settled(one, 2, token=reader)
        served.send(one, one.body([0], key="hush-ingest-00000000-wrongsecret"))
        served.ask("GET", f"/v1/{one.key}?key={one.key}", headers={"X-Forwarded-For": "203.0.113.77"})
        served.ask("POST", "/v1/tokens", json={"role": "nosuchrole", "label": "labelled"})
        assert served.process is not None
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(60) == 0
        log = served.log()
    lines = [line for line in log.splitlines() if line.startswith("hush.collect.access")]
    assert len(lines) > 8
    for line in lines:
        assert ACCESS.fullmatch(line), line
    assert "POST /v1/collections/{id}/batches 200" in log
    assert "POST /v1/collections/{id}/batches 401" in log
    assert "GET unmatched 404" in log
    secrets = [
        served.admin,
        reader,
        one.key,
        one.id,
        "wrongsecret",
        "203.0.113.77",
        "127.0.0.1",
        "nosuchrole",
        "labelled",
    ]
    for secret in secrets:
        assert secret not in log, secret
        assert secret.split("-", 3)[-1] not in log
    assert _kept(tmp_path, one) == 2


def test_what_is_under_way_is_settled_before_the_end(tmp_path: Path) -> None:
    with in_process(tmp_path) as served:
        one = opened(served)
        answers: list[int] = []

        def sender() -> None:
            with httpx.Client(timeout=60) as client:
                while True:
                    try:
                        answers.append(client.post(one.address, content=one.body([0])).status_code)
                    except httpx.HTTPError:
                        return

        threads = [threading.Thread(target=sender) for _ in range(4)]
        for each in threads:
            each.start()
        wait_until(lambda: len(answers) >= 20)
        assert served.process is not None
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(60) == 0
        for each in threads:
            each.join()
    assert set(answers) == {200}
    assert _kept(tmp_path, one) >= len(answers)


def _kept(folder: Path, one: Opened) -> int:
    """How many reports a store has, after its server has stopped."""
    database = Database(settings(folder)["store"])
    try:
        return int(Service(database, Clock()).show(one.id, whole=True)["n"])
    finally:
        database.close()


def test_a_store_or_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served:
        with pytest.raises(StoreHeld) as held:
            Server(ServerSettings(**settings(tmp_path)))
        assert served.url in str(held.value)
        port = int(served.url.rpartition(":")[2])
        with pytest.raises(ParameterError) as taken:
            Server(ServerSettings(**settings(tmp_path, store=str(tmp_path / "other.db"), port=port)))
        assert taken.value.parameter == "port"
        for host in ("nosuch.example.invalid", "198.51.100.1", "a..b"):  # no name, no address of this machine
            with pytest.raises(ParameterError) as nowhere:
                Server(ServerSettings(**settings(tmp_path, store=str(tmp_path / "other.db"), host=host)))
            assert nowhere.value.parameter == "host"
    with pytest.raises(ParameterError) as wrong:
        Server(ServerSettings(**settings(tmp_path, certificate=tmp_path / "no", certificate_key=tmp_path / "no")))
    assert wrong.value.parameter == "certificate"
    for folder in (tmp_path / "no", tmp_path / "file"):
        (tmp_path / "file").touch()
        with pytest.raises(ParameterError) as missing:
            Server(ServerSettings(**settings(tmp_path, backups=folder)))
        assert missing.value.parameter == "backups"
    with in_thread(tmp_path) as served:  # and nothing was left behind
        assert served.ask("GET", "/readyz").status_code == 200


# Listeners.


@contextmanager
def listening(served: Served, one: Opened, **more: Any) -> Iterator[Iterator[str]]:
    """The lines of the events of a collection."""
    with httpx.Client(timeout=60) as client:
        headers = {"Authorization": f"Bearer {more.get('token', served.admin)}"} if more.get("token") != "" else {}
        with client.stream("GET", f"{served.url}{one.path}/live", headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["cache-control"] == "no-store"
            yield answer.iter_lines()


def following(lines: Iterator[str]) -> dict[str, Any]:
    """The estimate of the next event."""
    for line in lines:
        if line.startswith("data: "):
            return dict(json.loads(line.removeprefix("data: ")))
    raise AssertionError("the events ended")


def test_listeners_hear_of_every_change(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served:
        one = opened(served)
        with listening(served, one) as first, listening(served, one, token=served.token("reader")) as second:
            assert following(first)["n"] == following(second)["n"] == 0
            served.send(one, one.body([0, 1, 2]))
            assert following(first)["n"] == following(second)["n"] == 3
            served.ask("POST", f"{one.path}/exclude", json={"build": "t/1"})
            assert following(first)["n"] == 0
        wait_until(lambda: "hush_listeners 0.0" in served.ask("GET", "/metrics").text)


def test_the_public_hears_of_nothing_below_the_floor(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served:
        one = opened(served, public=True, release_floor=3)
        served.send(one, one.body([0, 1]))
        served.settled(one, 2)
        with listening(served, one, token="") as public, listening(served, one) as admin:
            assert following(admin)["n"] == 2
            served.send(one, one.body([0, 1]))
            assert following(public)["n"] == 4


def test_a_listener_goes_with_its_token(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served:
        one = opened(served)
        token = served.token("reader")
        with listening(served, one, token=token) as lines:
            following(lines)
            served.ask("DELETE", f"/v1/tokens/{token.split('-')[2]}")
            served.send(one, one.body([0]))
            with pytest.raises(AssertionError, match="the events ended"):
                following(lines)


def test_there_are_no_more_listeners_than_allowed_and_all_go_at_the_end(tmp_path: Path) -> None:
    with in_process(tmp_path, most_listeners=1) as served:
        one = opened(served)
        with listening(served, one) as lines:
            following(lines)
            answer = served.ask("GET", f"{one.path}/live")
            assert (answer.status_code, answer.json()["reason"]) == (503, "busy")
            assert served.process is not None
            served.process.send_signal(signal.SIGTERM)
            assert [line for line in lines if line.startswith("data: ")] == []
        assert served.process.wait(60) == 0


# In front of it, and behind.


def test_tls(tmp_path: Path) -> None:
    certificate, key = certified(tmp_path)
    with in_thread(tmp_path, certificate=certificate, certificate_key=key) as served:
        assert served.url.startswith("https://")
        context = ssl.create_default_context(cafile=str(certificate))
        with httpx.Client(verify=context) as client:
            answer = client.get(f"{served.url}/healthz")
        assert answer.status_code == 200
        assert answer.headers["strict-transport-security"].startswith("max-age=")
        host, port = served.url.removeprefix("https://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            with suppress(ConnectionResetError):
                assert b"200" not in plain.recv(100)


@pytest.mark.parametrize(("trusted", "distinct"), [("127.0.0.1", True), ("", False), ("192.0.2.1", False)])
def test_addresses_behind_a_proxy_are_believed_where_it_is_trusted(
    tmp_path: Path, trusted: str, distinct: bool
) -> None:
    limits = {"trusted_proxies": trusted, "address_rate": 0.01, "address_burst": 1}
    with in_thread(tmp_path, **limits) as served:
        asked = [served.ask("GET", "/openapi.json", headers={"X-Forwarded-For": f"192.0.2.{i}"}) for i in (7, 8, 7)]
    assert [answer.status_code for answer in asked] == [200, 200 if distinct else 429, 429]


def test_several_collectors_stand_before_one_store(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    """What one does, the other knows a second later; a batch that comes to both counts once."""
    with in_thread(tmp_path, store=postgres_url) as first, in_thread(tmp_path, store=postgres_url) as second:
        one = opened(first)
        there = Opened(one.id, one.key, second.url)
        wait_until(lambda: second.ask("GET", f"{one.path}/key", token=one.key).status_code == 200)
        batch = "ab" * 16
        sent = one.body([0, 1, 2], batch=batch)
        texts = {served.send(one, sent).text for served in (first, second, first, second)}
        assert len(texts) == 1
        assert second.send(there, there.body([3, 3, 3], batch=batch, seed=2)).json()["reason"] == "conflict"
        assert second.send(there, there.body([0])).status_code == 200
        assert first.settled(one, 4)["n"] == second.settled(there, 4)["n"] == 4
        first.ask("POST", f"{one.path}/close")
        wait_until(lambda: second.send(there, there.body([0])).status_code == 409)
        assert second.send(there, there.body([0])).json()["reason"] == "status"
        assert second.send(there, sent).text in texts
        assert first.ask("GET", "/readyz").status_code == second.ask("GET", "/readyz").status_code == 200
