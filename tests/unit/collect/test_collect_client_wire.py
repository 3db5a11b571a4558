"""What a device does with answers that are made to hurt it: none stops it, fills it, or makes it tell too much."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import hush
from hush.collect import Collector, speaking
from hush.collect.client import wire
from hush.collect.client.wire import Unreachable, Wire
from hush.collect.envelope import Envelope, EnvelopeError, body
from hush.collect.replies import Reply
from hush.errors import ParameterError
from tests.unit.collect.scripted import ID, URL, Scripted, answering, hung_up

SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0))
BATCH = Envelope(ID, "0" * 64, "1" * 32, 0, "b", 1, b"x")


def sent(url: str, timeout: float = 10.0) -> Reply:
    line = Wire(url, timeout=timeout, tls=None, transport=None, plaintext=False)
    try:
        return line.send("", BATCH.to_bytes(), BATCH)
    finally:
        line.close()


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "br", "x"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_is_unpacked(encoding: str, method: str, tmp_path: Path) -> None:
    server = Scripted(SPEC)
    packed = gzip.compress(bytes(1 << 20))

    class Packing(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method != method:
                return server.handle_request(request)
            head = {"content-encoding": encoding}
            return httpx.Response(200, headers=head, stream=httpx.ByteStream(packed))

    here = Collector(URL, home=tmp_path, transport=Packing())
    if method == "GET":
        with pytest.raises(Unreachable, match="answer-encoded"):
            here.person("ann").answer(1)
    else:
        told = here.person("ann").answer(1)
        assert (told.state, told.reason) == ("waiting", "answer-encoded")


def test_a_view_is_bounded(tmp_path: Path) -> None:
    server = Scripted(SPEC, name="x" * wire.VIEW_BYTES)
    with pytest.raises(Unreachable, match="answer-too-long"):
        Collector(URL, home=tmp_path, transport=server).person("ann").answer(1)


@pytest.mark.parametrize("where", ["mailto:desk@hotel", "http://[", "http://a:99999999/", "http://\x7f/"])
def test_an_odd_redirect_leaves_the_answer_waiting(where: str) -> None:
    raw = f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: {where}\r\n\r\n".encode()
    with answering(lambda connection: connection.sendall(raw)) as url:
        assert sent(url).state == "waiting"


def test_a_portal_does_not_stop_a_device(tmp_path: Path) -> None:
    """After an odd redirect the device knows when to try again, and goes on offline."""
    server, portal = Scripted(SPEC), {"location": "mailto:desk@hotel"}
    server.refuse = lambda envelope: httpx.Response(302, headers=portal)
    here = Collector(URL, home=tmp_path, transport=server)
    assert here.person("ann").answer(1).state == "waiting"
    assert here.flush().due > 0

    class Portal(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(302, headers=portal)

    offline = Collector(URL, home=tmp_path, transport=Portal())
    assert offline.person("bob").answer(1).state == "waiting"


def interim(connection: socket.socket) -> None:
    while not hung_up(connection):
        connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")


def dribbling(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-A: ")
    while not hung_up(connection):
        connection.sendall(b"a")


def trickling(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not hung_up(connection):
        connection.sendall(b"a")


@pytest.mark.parametrize("talk", [interim, dribbling, trickling])
def test_an_answer_ends_in_time(talk: Callable[[socket.socket], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an end to it, this test would have none."""
    monkeypatch.setattr(speaking, "_ANSWER_TIMEOUTS", 0.02)  # while each byte has fifty times as long
    with answering(talk) as url:
        told = sent(url)
    assert (told.state, told.reason) == ("waiting", "answer-too-slow")


def test_without_tls_there_is_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    seen = []
    with answering(seen.append) as proxy, answering(lambda connection: connection.sendall(raw)) as url:
        monkeypatch.setenv("HTTP_PROXY", proxy.partition("/v1")[0])
        monkeypatch.setenv("ALL_PROXY", proxy.partition("/v1")[0])
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert sent(url).reason == "status-503"
    assert seen == []


@pytest.mark.parametrize("who", ["user:word@", ":word@", "word@", "@"])
def test_an_address_has_no_password(who: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="url") as caught:
        Collector(f"https://{who}a.example/v1/collections/{ID}", home=tmp_path)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize("key", ["hush-ingest-…", "ü", "x" * 65])
def test_a_key_that_no_server_takes_is_not_sent(key: str) -> None:
    with pytest.raises(EnvelopeError, match="key"):
        body(key, BATCH.to_bytes())
