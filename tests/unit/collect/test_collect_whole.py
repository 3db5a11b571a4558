"""An acknowledgement that is written in one go says what one that goes through the framework says."""

from __future__ import annotations

import asyncio
import http.client
import inspect
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tests.collectors import Opened, Served, in_thread, opened

ORIGIN = "https://shop.example"
ENDS = pytest.mark.skipif(
    "should_keep_alive" not in inspect.getsource(HttpToolsProtocol.on_headers_complete),
    reason="this uvicorn lets connections wait that were asked to end",
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with in_thread(tmp_path, origins=ORIGIN) as made:
        yield made


@pytest.fixture
def one(server: Served) -> Opened:
    return opened(server)


def raw(server: Served, request: bytes) -> bytes:
    """All that a connection is answered until it ends."""
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=30) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def request(one: Opened, data: bytes, *more: str, version: str = "1.1") -> bytes:
    head = [f"POST {one.path}/batches HTTP/{version}", "Host: x", f"Content-Length: {len(data)}", *more]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


def parsed(answer: bytes) -> tuple[bytes, dict[str, str], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    headers = dict(each.decode().split(": ", 1) for each in fields)
    assert len(headers) == len(fields)  # none twice
    return line, headers, body


@ENDS
@pytest.mark.parametrize("origin", [(), (f"Origin: {ORIGIN}",), ("Origin: https://else.example",)])
def test_both_ways_say_the_same(server: Served, one: Opened, origin: tuple[str, ...]) -> None:
    data = one.body([0, 1, 2])
    line, headers, body = parsed(raw(server, request(one, data, *origin, "Connection: close")))
    assert (line, headers.pop("connection", "close")) == (b"HTTP/1.1 200 OK", "close")
    assert headers.pop("date").endswith("GMT")
    assert server.server is not None
    transport = httpx.ASGITransport(server.server.gate)  # which knows nothing of answers that are whole

    async def usual() -> httpx.Response:
        given = dict(each.split(": ", 1) for each in origin)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.post(f"{one.path}/batches", content=data, headers=given)

    other = asyncio.run(usual())
    assert (other.status_code, other.content) == (200, body)
    assert dict(other.headers) == headers


@ENDS
def test_a_connection_ends_where_that_was_asked_for_and_else_goes_on(server: Served, one: Opened) -> None:
    for version, more in (("1.0", ()), ("1.1", ("Connection: close",))):
        answer = raw(server, request(one, one.body([0]), *more, version=version))
        assert answer.count(b"HTTP/1.1 200 OK") == 1  # early versions of uvicorn end it without saying so
    both = request(one, one.body([0])) + request(one, one.body([1]), "Connection: close")  # sent ahead
    answer = raw(server, both)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.count(b"connection: close\r\n") <= 1
    assert answer.count(b'"accepted": 1}') == 2


def test_one_connection_takes_many(server: Served, one: Opened) -> None:
    where = urlsplit(server.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=30)
    for n in range(1, 20):
        connection.request("POST", f"{one.path}/batches", one.body([0] * n))
        answer = connection.getresponse()
        assert answer.status == 200
        assert f'"accepted": {n}}}'.encode() in answer.read()
    connection.close()


def test_whoever_waits_to_be_told_to_send_is(server: Served, one: Opened) -> None:
    where, data = urlsplit(server.url), one.body([0, 1])
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=30) as connection:
        head = request(one, data, "Expect: 100-continue", "Connection: close")[: -len(data)]
        connection.sendall(head)
        assert connection.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(data)
        answer = connection.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
