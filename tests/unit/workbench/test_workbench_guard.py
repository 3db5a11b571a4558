"""Who may ask the workbench: names, origins, sessions, and the gate before everything."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

pytest.importorskip("starlette")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hush.workbench.guard.gate import WorkbenchGate
from hush.workbench.guard.hosts import Hosts
from hush.workbench.guard.sessions import COOKIE, MOST, Sessions

LOCAL = Hosts("127.0.0.1")


class Clock:
    """Tells the time that it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("host", ["127.0.0.1:8480", "localhost:8480", "LOCALHOST", "[::1]:8480", "127.0.0.1"])
def test_the_names_of_this_machine_are_known(host: str) -> None:
    assert LOCAL.known(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "attacker.example",
        "attacker.example:8480",
        "127.0.0.1.attacker.example",
        "127.0.0.1@attacker.example",
        "localhost:port",
        "localhost/path",
        "192.168.1.5:8480",
        "[::1",
    ],
)
def test_other_names_are_not(host: str | None) -> None:
    assert not LOCAL.known(host)


def test_a_wildcard_knows_addresses_but_no_names_that_nobody_gave() -> None:
    hosts = Hosts("0.0.0.0", frozenset({"bench.example.org"}))
    assert hosts.known("192.168.1.5:8480")
    assert hosts.known("[2001:db8::1]:8480")
    assert hosts.known("bench.example.org")
    assert hosts.known("bench.example.org:8480")
    assert not hosts.known("attacker.example:8480")


@pytest.mark.parametrize(
    ("origin", "same"),
    [
        ("http://127.0.0.1:8480", True),
        ("http://127.0.0.1:8481", False),
        ("https://127.0.0.1:8480", False),
        ("http://localhost:8480", False),
        ("http://evil.example", False),
        ("null", False),
        ("", False),
        (None, False),
        ("http://127.0.0.1:8480.evil.example", False),
    ],
)
def test_an_origin_is_that_of_the_host(origin: str | None, same: bool) -> None:
    assert LOCAL.same(origin, "127.0.0.1:8480", "http") is same


def test_behind_a_proxy_a_name_may_speak_tls() -> None:
    hosts = Hosts("127.0.0.1", frozenset({"bench.example.org"}))
    assert hosts.same("https://bench.example.org", "bench.example.org", "http")
    assert not hosts.same("https://bench.example.org:444", "bench.example.org", "http")
    assert not hosts.same("https://127.0.0.1:8480", "127.0.0.1:8480", "http")


def test_sessions_are_forgotten_when_idle_and_renewed_with_what_they_hold() -> None:
    clock = Clock()
    sessions = Sessions(100.0, clock)
    first = sessions.new()
    first.role, first.token = "reader", "secret"
    clock.now = 90.0
    assert sessions.of(first.id) is first
    clock.now = 180.0
    again = sessions.renewed(first)
    assert again.id != first.id
    assert (again.role, again.token, again.reads, again.creates) == ("reader", "secret", True, False)
    assert sessions.of(first.id) is None
    clock.now = 281.0
    assert sessions.of(again.id) is None
    assert len(sessions) == 0
    assert "secret" not in repr(again)


def test_a_page_left_open_holds_nothing_once_its_session_is_over() -> None:
    clock = Clock()
    sessions = Sessions(100.0, clock)
    in_a_tab = sessions.new()
    in_a_tab.role, in_a_tab.token, in_a_tab.entered = "admin", "secret", True
    signed_in = sessions.renewed(in_a_tab)
    assert (in_a_tab.role, in_a_tab.token, in_a_tab.entered) == ("nobody", "", False)
    assert (signed_in.creates, signed_in.token, signed_in.entered) == (True, "secret", True)
    clock.now = 101.0
    assert sessions.of(signed_in.id) is None
    assert (signed_in.role, signed_in.token, signed_in.entered) == ("nobody", "", False)


def test_jobs_follow_who_signs_in_and_not_who_signs_out() -> None:
    sessions = Sessions(100.0, Clock())
    before, other = sessions.new(), sessions.new()
    began = before.owner
    before.role, before.token = "reader", "secret"
    signed_in = sessions.renewed(before)
    did = signed_in.owner
    assert signed_in.owner.finds(began)
    assert before.owner.finds(began), "a page that was opened before"
    assert not before.owner.finds(did), "it holds no rights, and so nothing that was done with them"
    assert "secret" not in repr(did)
    signed_in.forget()
    signed_out = sessions.renewed(signed_in)
    assert signed_out.owner.finds(began)
    for each in (signed_out, signed_in, other):
        assert not each.owner.finds(did)
    assert not other.owner.finds(began)
    for token, found in (("secret", True), ("another", False)):
        signed_out.token = token
        assert signed_out.owner.finds(did) is found
    other.token = "secret"
    assert not other.owner.finds(did), "the same token in another browser"


def test_sessions_are_bounded_and_those_that_were_let_in_stay() -> None:
    clock = Clock()
    sessions = Sessions(1e9, clock)
    admin = sessions.new()
    admin.role = "admin"
    for i in range(MOST + 50):
        clock.now = float(i)
        sessions.new()
    assert len(sessions) == MOST
    assert sessions.of(admin.id) is admin


def test_the_key_of_the_link_is_compared_whole() -> None:
    sessions = Sessions(100.0)
    assert sessions.holds(sessions.key)
    assert not sessions.holds("")
    assert not sessions.holds(sessions.key[:-1])
    assert not sessions.holds("ü" * len(sessions.key))


async def told(request: Request) -> Response:
    session = request.scope["state"]["session"]
    body = await request.body()
    return JSONResponse({"session": session.id if session else None, "bytes": len(body), **dict(request.headers)})


def gate(**more: Any) -> tuple[WorkbenchGate, Sessions]:
    sessions = Sessions(1000.0)
    app = Starlette(routes=[Route("/{path:path}", told, methods=["GET", "POST", "PUT"])])
    return WorkbenchGate(app, LOCAL, sessions, most_upload=more.get("most_upload", 10_000_000)), sessions


def asked(made: WorkbenchGate, method: str, path: str = "/", **more: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(made)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8480") as client:
            return await client.request(method, path, **more)

    return asyncio.run(send())


OWN = {"Origin": "http://127.0.0.1:8480"}


def test_what_comes_from_the_page_itself_is_answered() -> None:
    made, sessions = gate()
    answer = asked(made, "GET")
    assert answer.status_code == 200
    assert asked(made, "POST", headers=OWN).status_code == 200
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Secure" not in cookie
    assert sessions.of(answer.json()["session"]) is not None
    assert answer.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "connect-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "same-origin"


def test_a_known_cookie_is_kept_and_an_unknown_one_replaced() -> None:
    made, sessions = gate()
    known = sessions.new()
    answer = asked(made, "GET", headers={"Cookie": f"{COOKIE}={known.id}"})
    assert answer.json()["session"] == known.id
    assert "set-cookie" not in answer.headers
    answer = asked(made, "GET", headers={"Cookie": f"{COOKIE}=chosen-by-somebody"})
    assert answer.json()["session"] != "chosen-by-somebody"
    assert "set-cookie" in answer.headers


def test_files_of_the_page_need_no_session() -> None:
    made, sessions = gate()
    assert "set-cookie" not in asked(made, "GET", "/_nicegui/x/static/y.js").headers
    assert len(sessions) == 0


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"Host": "attacker.example:8480"}, 403),
        ("GET", {"Origin": "http://attacker.example"}, 403),
        ("GET", {"Origin": "null"}, 403),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ("POST", {}, 403),
        ("POST", {"Origin": "http://attacker.example"}, 403),
        ("POST", {**OWN, "Content-Length": "99999999"}, 413),
        ("POST", {**OWN, "Content-Length": "many"}, 413),
        ("PUT", OWN, 405),
    ],
)
def test_what_comes_from_elsewhere_is_refused(method: str, headers: dict[str, str], status: int) -> None:
    made, _ = gate()
    answer = asked(made, method, headers=headers)
    assert answer.status_code == status
    assert status == 200 or answer.text.startswith("Refused: ")


def test_what_a_stranger_could_say_of_a_proxy_is_not_heard() -> None:
    made, _ = gate()
    answer = asked(made, "GET", headers={"X-Forwarded-Prefix": "/evil", "X-Forwarded-Host": "evil", "X-Other": "kept"})
    assert "x-forwarded-prefix" not in answer.json()
    assert "x-forwarded-host" not in answer.json()
    assert answer.json()["x-other"] == "kept"


def test_a_body_that_hides_its_length_is_cut() -> None:
    made, _ = gate(most_upload=5000)

    async def endless() -> Any:
        for _ in range(2000):
            yield b"x" * 1000

    async def send(path: str) -> int:
        transport = httpx.ASGITransport(made, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8480") as client:
            return (await client.post(path, content=endless(), headers=OWN)).status_code

    assert asyncio.run(send("/upload/x")) >= 400
    assert asyncio.run(send("/sign-in")) >= 400


def socket(made: WorkbenchGate, headers: dict[str, str]) -> list[dict[str, Any]]:
    """What a socket is told at its handshake."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def accepting(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    made.app = accepting
    scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": "/_nicegui_ws/socket.io/",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(made(scope, receive, send))
    return sent


def test_a_socket_is_taken_from_the_page_alone() -> None:
    pytest.importorskip("nicegui")
    host = {"Host": "127.0.0.1:8480"}
    assert socket(gate()[0], {**host, **OWN})[0]["type"] == "websocket.accept"
    for headers in (
        host,
        {**host, "Origin": "http://attacker.example"},
        {**host, "Origin": "null"},
        {"Host": "attacker.example:8480", "Origin": "http://attacker.example:8480"},
    ):
        (told,) = socket(gate()[0], headers)
        assert told["type"] == "websocket.close"
