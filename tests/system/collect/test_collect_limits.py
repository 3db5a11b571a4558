"""Clients that are slow, broken or hostile: they are told so, others are served, and memory does not grow."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import hush
from hush.collect.server.files import SPARE
from hush.collect.server.shares import Shares
from tests.certificates import certified
from tests.collectors import Opened, Served, in_process, in_thread, opened
from tests.waiting import wait_until

MEGABYTE = 1 << 20


class Raw:
    """A connection that sends just what it is told to."""

    def __init__(self, served: Served, *, source: str = "") -> None:
        parts = urlsplit(served.url)
        assert parts.hostname is not None
        self.socket = socket.create_connection((parts.hostname, parts.port or 80), 30, (source, 0))

    def send(self, *pieces: bytes) -> Raw:
        for piece in pieces:
            self.socket.sendall(piece)
        return self

    def head(self, one: Opened, *, length: int | None) -> Raw:
        """The head of a batch."""
        body = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        return self.send(f"POST {one.path}/batches HTTP/1.1\r\nHost: x\r\n{body}\r\n\r\n".encode())

    def answer(self) -> tuple[int, dict[str, str], Any]:
        """Status, headers and JSON of the next answer; 0 where the connection ended without one."""
        with self.socket.makefile("rb") as file:
            try:
                line = file.readline().split()
            except ConnectionResetError:
                line = []
            if not line:
                return 0, {}, None
            headers = {}
            while (text := file.readline().decode().strip()) != "":
                name, _, value = text.partition(":")
                headers[name.lower()] = value.strip()
            return int(line[1]), headers, json.loads(file.read(int(headers["content-length"])))

    def ended(self) -> bool:
        """Whether the other side has closed."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


@contextmanager
def connected(served: Served) -> Iterator[Raw]:
    raw = Raw(served)
    with raw.socket:
        yield raw


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with time for clients that a busy machine holds up."""
    limits = {"body_seconds": 60, "header_seconds": 60, "keep_alive_seconds": 60, "most_body": 4 * MEGABYTE}
    with in_thread(tmp_path_factory.mktemp("limits"), **limits) as made:
        yield made


@pytest.fixture(scope="module")
def one(served: Served) -> Opened:
    return opened(served)


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that soon gives up those who send no body, or nothing more."""
    limits = {"body_seconds": 0.2, "header_seconds": 60, "keep_alive_seconds": 0.2}
    with in_thread(tmp_path_factory.mktemp("impatient"), **limits) as made:
        yield made


def _protocol(served: Served) -> Any:
    """The class of HTTP on the connections of a server in this process."""
    assert served.server is not None
    return served.server._uvicorn.config.http_protocol_class


def _connections(served: Served) -> Any:
    assert served.server is not None
    return served.server._uvicorn.server_state.connections


def _wait_until_dropped(served: Served, requests: int) -> None:
    """Wait until so many requests have begun, and only the connection that asked first is left."""
    assert served.server is not None
    state = served.server._uvicorn.server_state
    wait_until(lambda: state.total_requests >= requests and len(state.connections) == 1)


def refused(raw: Raw, status: int, reason: str) -> dict[str, str]:
    got, headers, problem = raw.answer()
    assert (got, problem["reason"]) == (status, reason)
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert raw.ended()
    return headers


def test_a_body_that_does_not_come_in_time(impatient: Served) -> None:
    one = opened(impatient)
    with connected(impatient) as raw:
        raw.head(one, length=1000).send(b"some of it")
        assert refused(raw, 408, "slow")["retry-after"] == "1"
    with connected(impatient) as raw:
        raw.head(one, length=None).send(b"4\r\nsome\r\n")
        refused(raw, 408, "slow")


def test_a_body_that_trickles_has_no_more_time(impatient: Served) -> None:
    one = opened(impatient)
    with connected(impatient) as raw:
        raw.head(one, length=1_000_000)

        def cut_off() -> bool:
            try:
                raw.send(b"x")
            except OSError:
                return True
            return False

        wait_until(cut_off)  # with a byte every hundredth of a second meanwhile


def test_a_body_that_ends_half_way_is_counted(served: Served) -> None:
    one = opened(served)
    for length in (1000, None):
        with connected(served) as raw:
            raw.head(one, length=length).send(b"3e8\r\n" if length is None else b"", b"some of it")
            raw.socket.shutdown(socket.SHUT_WR)
            raw.answer()
    found = dict[str, int]()

    def counted() -> bool:
        found.update(served.ask("GET", f"{one.path}/refusals").json())
        return sum(found.values()) == 2

    wait_until(counted)
    assert set(found) <= {"interrupted", "slow"}
    assert served.ask("GET", one.path).json()["n"] == 0


def test_a_body_that_is_too_long_is_answered_although_it_is_still_being_sent(served: Served, one: Opened) -> None:
    with connected(served) as raw:
        raw.head(one, length=6 * MEGABYTE).send(b"x" * 6 * MEGABYTE)  # it was refused before the first byte
        refused(raw, 413, "too-large")
    with connected(served) as raw:
        raw.head(one, length=None)
        raw.send(*[b"80000\r\n" + b"x" * 0x80000 + b"\r\n"] * 12, b"0\r\n\r\n")
        refused(raw, 413, "too-large")


def test_a_head_that_does_not_come_in_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = _protocol(served)
    short = replace(protocol.settings, header_seconds=0.2)
    for begun in (b"", b"POST /v1", b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b", b"\r\n"):
        with monkeypatch.context() as patch:
            patch.setattr(protocol, "settings", short)
            with connected(served) as raw:
                raw.send(begun)
                refused(raw, 408, "slow")
    with connected(served) as raw:
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.answer()[0] == 200
        monkeypatch.setattr(protocol, "settings", short)
        raw.send(b"GET /healthz HTTP/1.1\r\nHos")  # the second one on a connection, too
        refused(raw, 408, "slow")


def test_a_connection_that_is_idle_is_closed(impatient: Served) -> None:
    with connected(impatient) as raw:
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.answer()[0] == 200
        assert raw.ended()


def test_a_head_without_end(served: Served, one: Opened) -> None:
    heads = (
        [b"GET /" + b"a" * 100_000],
        [b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 50_000, b"b" * 50_000],
        [b"GET / HTTP/1.1\r\nHost: x\r\n", *[b"A: b\r\n" * 1000] * 100],
    )
    for head in heads:
        with connected(served) as raw:
            try:
                raw.send(*head)
            except OSError:
                continue  # it has been cut off
            status, _, problem = raw.answer()
            assert (status, problem["reason"]) == (400, "malformed")


def test_trailers_without_end_and_chunks_of_nothing_are_cut_off(served: Served, one: Opened) -> None:
    """A piece that comes with the head is let through, whatever is in it: it is short."""
    endless = [b"0\r\nA: ", *[b"b" * 100_000] * 20], [b"0\r\n", *[b"A: b\r\n" * 10_000] * 20]
    for pieces in endless:
        with connected(served) as raw:
            raw.head(one, length=None)
            try:
                raw.send(*pieces)
            except OSError:
                continue
            assert raw.answer()[0] in (0, 400)
            assert raw.ended()


def test_what_is_no_http(served: Served) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"HELLO\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nBad Header\r\n\r\n",
    ):
        with connected(served) as raw:
            raw.send(data)
            refused(raw, 400, "malformed")


def test_requests_ahead_without_number_are_cut_off(served: Served) -> None:
    with connected(served) as raw:
        raw.send(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n" * 500)
        answers = 0
        while raw.answer()[0] == 200:
            answers += 1
        assert answers < 100


def test_some_requests_ahead_are_answered_in_their_order(served: Served, one: Opened) -> None:
    sent = one.body([0])
    with connected(served) as raw:
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        raw.head(one, length=len(sent)).send(sent)
        file = raw.socket.makefile("rb")
        statuses = []
        for _ in range(2):
            statuses.append(file.readline().split()[1])
            length = 0
            while (line := file.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            last = file.read(length)
        assert statuses == [b"200", b"200"]
        assert json.loads(last)["accepted"] == 1
        file.close()


def test_others_are_served_while_someone_is_slow(served: Served, one: Opened) -> None:
    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(connected(served)).head(one, length=1000).send(b"x")
        assert served.send(one, one.body([0])).status_code == 200


def test_answers_that_nobody_reads_are_dropped(tmp_path: Path) -> None:
    labels = [f"{i:060d}" for i in range(30_000)]
    spec = hush.Spec(hush.OLH(k=len(labels), epsilon=2.0), domain=hush.Domain(labels=labels))
    with in_thread(tmp_path, answer_seconds=0.3) as served:
        one = opened(served, spec=spec)
        assert len(served.ask("GET", one.path, token="").content) > 1_500_000
        begun = served.server._uvicorn.server_state.total_requests
        with connected(served) as raw:
            raw.send(f"GET {one.path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 8)
            _wait_until_dropped(served, begun + 1)
            read = 0
            with suppress(ConnectionResetError):
                while piece := raw.socket.recv(1 << 20):
                    read += len(piece)
        assert read < 8 * 1_500_000


def _unread(served: Served, one: Opened, stack: ExitStack) -> Raw:
    """A connection with a large answer that is not read."""
    raw = stack.enter_context(connected(served))
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return raw.send(f"GET {one.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())


def _large(served: Served) -> Opened:
    labels = [f"{i:060d}" for i in range(100_000)]
    return opened(served, spec=hush.Spec(hush.OLH(k=len(labels), epsilon=2.0), domain=hush.Domain(labels=labels)))


def _shares(served: Served) -> Shares:
    found: Shares = _protocol(served).shares
    return found


def test_a_connection_that_is_closed_does_not_wait_for_its_reader(tmp_path: Path) -> None:
    with in_thread(tmp_path, answer_seconds=0.3, most_request=16 * MEGABYTE) as served, ExitStack() as stack:
        one = _large(served)
        begun = served.server._uvicorn.server_state.total_requests
        _unread(served, one, stack)
        _wait_until_dropped(served, begun + 1)
        assert _shares(served).bytes_unread == 0


def test_unread_answers_are_bounded_together(tmp_path: Path) -> None:
    """Those who read are served all the same."""
    limits = {"most_unread": 10 * MEGABYTE, "most_request": 16 * MEGABYTE}
    with in_thread(tmp_path, **limits) as served, ExitStack() as stack:
        one = _large(served)
        for _ in range(6):
            _unread(served, one, stack)
            assert len(served.ask("GET", one.path, token="").content) > 6_000_000
        assert 0 < _shares(served).bytes_unread <= 10 * MEGABYTE


def test_one_address_has_half_of_the_connections(tmp_path: Path) -> None:
    with in_thread(tmp_path, most_connections=8, address_rate=1000.0) as served, ExitStack() as stack:
        assert served.ask("GET", "/healthz").status_code == 200
        for _ in range(3):
            stack.enter_context(connected(served))
        with connected(served) as raw:
            refused(raw, 503, "busy")
        with Raw(served, source="127.0.0.2").socket as other:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert other.recv(12) == b"HTTP/1.1 200"
        stack.close()
        assert served.ask("GET", "/healthz").status_code == 200


def test_a_body_that_nobody_waits_for_does_not_end_the_connection(
    served: Served, one: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is there before the body, which comes later, and then there is another request."""
    protocol, pieces = _protocol(served), list[bytes]()
    real = protocol.data_received
    monkeypatch.setattr(protocol, "data_received", lambda self, data: real(self, data) or pieces.append(data))
    with connected(served) as raw:
        raw.send(f"GET {one.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n".encode())
        assert raw.answer()[0] == 200
        raw.send(b"ab")
        wait_until(lambda: pieces[-1] == b"ab")
        raw.send(b"cd")
        wait_until(lambda: pieces[-1] == b"cd")
        for each in _connections(served):
            each.timeout_keep_alive = 0.2
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.answer()[0] == 200
        assert raw.ended()  # as any that is idle
    with connected(served) as raw:
        raw.send(f"GET {one.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n".encode())
        assert raw.answer()[0] == 200
        monkeypatch.setattr(protocol, "settings", replace(protocol.settings, header_seconds=0.2))
        raw.send(b"a")
        refused(raw, 408, "slow")  # the rest never comes


def test_no_more_requests_at_once_than_allowed(tmp_path: Path) -> None:
    with in_thread(tmp_path, most_requests=10, body_seconds=600) as served, ExitStack() as stack:
        one = opened(served)
        for _ in range(10):
            stack.enter_context(connected(served)).head(one, length=1000).send(b"x")
        _begun(served, 10)
        answer = _until(served, one, 503)
        assert answer.json()["reason"] == "busy"
        assert answer.headers["retry-after"] == "1"
        assert served.ask("GET", "/healthz").status_code == 200
        stack.close()
        assert _until(served, one, 200).status_code == 200


def test_one_address_has_half_of_the_places(tmp_path: Path) -> None:
    limits = {"most_requests": 10, "body_seconds": 600, "address_rate": 1000.0, "trusted_proxies": "127.0.0.1"}
    with in_thread(tmp_path, **limits) as served, ExitStack() as stack:
        one = opened(served)
        head = (
            f"POST {one.path}/batches HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 99\r\n\r\n"
        )
        for _ in range(5):
            stack.enter_context(connected(served)).send(head.encode(), b"x")
        _begun(served, 5)
        assert _until(served, one, 503, {"X-Forwarded-For": "192.0.2.1"}).json()["reason"] == "busy"
        assert served.send(one, one.body([0]), headers={"X-Forwarded-For": "192.0.2.2"}).status_code == 200


def test_whoever_is_refused_has_no_place(tmp_path: Path) -> None:
    """A refused body is awaited for a while, so that the answer is read; that keeps nobody else out."""
    limits = {"most_requests": 6, "body_seconds": 600, "address_rate": 1000.0, "trusted_proxies": "127.0.0.1"}
    with in_thread(tmp_path, **limits) as served, ExitStack() as stack:
        one = opened(served)
        head = (
            f"POST {one.path}/batches HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 99\r\n\r\n"
        )
        for _ in range(12):
            stack.enter_context(connected(served)).send(head.encode(), b"x")
        _begun(served, 12)
        assert served.send(one, one.body([0]), headers={"X-Forwarded-For": "192.0.2.2"}).status_code == 200


def _begun(served: Served, number: int) -> None:
    """Wait until so many requests are under way: one that comes meanwhile would take the place of one of them."""
    assert served.server is not None
    wait_until(lambda: len(served.server._uvicorn.server_state.tasks) >= number)


def _until(served: Served, one: Opened, status: int, headers: dict[str, str] | None = None) -> Any:
    """The answer once it has a status: what others sent, or that they have gone, is on its way."""
    answers = list[Any]()

    def answered() -> bool:
        answers.append(served.send(one, one.body([0]), headers=headers or {}))
        return bool(answers[-1].status_code == status)

    wait_until(answered)
    return answers[-1]


def test_no_more_connections_than_allowed(tmp_path: Path) -> None:
    with in_thread(tmp_path, most_connections=5) as served, ExitStack() as stack:
        assert served.ask("GET", "/healthz").status_code == 200
        for _ in range(4):
            stack.enter_context(connected(served))
        with connected(served) as raw:
            refused(raw, 503, "busy")
        assert served.ask("GET", "/healthz").status_code == 200


def test_many_slow_bodies_do_not_grow_memory(tmp_path: Path) -> None:
    """They would be 400 MB together; what is held of them is 24 MB at most, and a little for each connection."""
    most = 24 * MEGABYTE
    limits = {"most_in_flight": most, "body_seconds": 600.0, "most_body": 16 * MEGABYTE, "access_log": False}
    with in_process(tmp_path, **limits) as served, ExitStack() as stack:
        one = opened(served, spec=hush.Spec(hush.OUE(k=1024, epsilon=2.0)))  # whose batches may be so large
        assert served.send(one, one.body([0, 1, 2, 3] * 1000)).status_code == 200
        served.settled(one, 4000)
        assert served.process is not None
        before = _resident(served.process.pid)
        for _ in range(100):
            raw = stack.enter_context(connected(served))
            raw.head(one, length=16 * MEGABYTE).send(b"x" * (4 * MEGABYTE))
        wait_until(lambda: _measure(served, 'hush_refusals_total{reason="busy"}') > 90)  # or more than may be held is
        assert 0 < _measure(served, "hush_bytes_in_flight") <= most
        grown = _resident(served.process.pid) - before
        assert grown < 4 * most, f"{grown} bytes more"
        stack.close()
        assert _until(served, one, 200).json()["accepted"] == 1


def _resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def _measure(served: Served, name: str) -> float:
    shown = served.ask("GET", "/metrics").text
    return next((float(line.rpartition(" ")[2]) for line in shown.splitlines() if line.startswith(name)), 0.0)


@contextmanager
def with_tls(tmp_path: Path, **more: Any) -> Iterator[tuple[Served, Callable[[str], bytes]]]:
    """A server with TLS in a process of its own, and how an address is answered there."""
    certificate, key = certified(tmp_path)
    context = ssl.create_default_context(cafile=str(certificate))
    with in_process(tmp_path, certificate=str(certificate), certificate_key=str(key), **more) as served:

        def asked(source: str) -> bytes:
            with (
                Raw(served, source=source).socket as plain,
                context.wrap_socket(plain, server_hostname="127.0.0.1") as raw,
            ):
                raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                return raw.recv(12)

        yield served, asked


def test_connections_with_tls_have_a_place_before_hands_are_shaken(tmp_path: Path) -> None:
    """Of whoever says nothing, half of all places are taken, the others end at once, and nobody has more files."""
    limits = {"most_connections": 10, "header_seconds": 600.0, "address_rate": 1000.0}
    with with_tls(tmp_path, **limits) as (served, asked), ExitStack() as stack:
        assert served.process is not None
        files = Path(f"/proc/{served.process.pid}/fd")
        before = len(list(files.iterdir()))
        silent = [Raw(served) for _ in range(100)]
        for each in silent:
            stack.enter_context(each.socket)
        assert all(each.ended() for each in silent[5:])
        assert len(list(files.iterdir())) <= before + 10
        assert asked("127.0.0.2") == b"HTTP/1.1 200"  # another address has its places meanwhile
        with pytest.raises((ConnectionError, ssl.SSLError)):
            asked("127.0.0.1")
        for each in silent[:5]:
            each.socket.close()
        wait_until(lambda: len(list(files.iterdir())) <= before + 2)
        assert asked("127.0.0.1") == b"HTTP/1.1 200"


def test_hands_are_shaken_within_the_time_of_a_head(tmp_path: Path) -> None:
    with with_tls(tmp_path, header_seconds=0.5) as (served, asked):
        silent, half = Raw(served), Raw(served).send(b"\x16\x03\x01")
        with silent.socket, half.socket:
            assert silent.ended()
            assert half.ended()

        def served_in_time() -> bool:  # hands are shaken within half a second, unless the machine is too busy
            with suppress(OSError):
                return asked("127.0.0.1") == b"HTTP/1.1 200"
            return False

        wait_until(served_in_time)


@pytest.mark.parametrize(("soft", "hard", "most"), [(200, 4096, 2500), (200, 500, 500 - SPARE)])
def test_as_many_connections_are_let_in_as_there_are_files_for(tmp_path: Path, soft: int, hard: int, most: int) -> None:
    """The process asks for the files that it may have; where they are too few, fewer connections are let in."""
    limited = ["sh", "-c", f'ulimit -S -n {soft} && ulimit -H -n {hard} && exec "$@"', "sh"]
    with in_process(tmp_path, under=limited, most_connections=2500, header_seconds=600.0) as served:
        assert ("connections are let in instead of 2500" in served.log()) == (most < 2500)
        with ExitStack() as stack:
            for _ in range(600):
                stack.enter_context(Raw(served).socket)
            got = Raw(served)
            stack.enter_context(got.socket)
            status, _, problem = got.send(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").answer()
            assert (status, problem.get("reason")) == ((200, None) if most > 600 else (503, "busy"))
        wait_until(lambda: served.ask("GET", "/readyz").status_code == 200)
        assert "Too many open files" not in served.log()


def test_without_files_there_is_no_server(tmp_path: Path) -> None:
    limited = ["sh", "-c", f'ulimit -n {SPARE - 20} && exec "$@"', "sh"]
    with (
        pytest.raises(AssertionError, match=r"open files must be more than 128 for a server, got 108; raise the limit"),
        in_process(tmp_path, under=limited),
    ):
        pass
