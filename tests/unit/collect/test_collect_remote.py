"""A collector at a distance says what the collector itself says, and what is none is told from one."""

from __future__ import annotations

import inspect
import socket
from pathlib import Path

import httpx
import pytest

from hush.collect.envelope import Envelope
from hush.collect.manager import Manager
from hush.collect.refusals import Refused
from hush.collect.relay.upstream import Upstream
from hush.collect.remote import NoCollector, Remote
from hush.collect.service import Service
from hush.errors import ParameterError, message
from tests.unit.collect.scripted import answering


def _answering(answer: httpx.Response | Exception) -> Remote:
    def handle(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Remote("https://collector.test", "hush-admin-0-0", transport=httpx.MockTransport(handle))


def test_both_do_what_a_manager_does() -> None:
    asked = [name for name, each in vars(Manager).items() if inspect.isfunction(each) and not name.startswith("_")]
    assert len(asked) > 12
    for name in asked:
        for cls in (Service, Remote):
            assert callable(getattr(cls, name)), f"{cls.__name__} lacks {name}"


def test_a_refusal_is_the_same_at_a_distance() -> None:
    said = message("target_n", "must be at least 5, for what, got or not, is asked", 3, "expect 5; or ask for less")
    here = Refused("plan", said)
    with pytest.raises(Refused) as there:
        _answering(httpx.Response(409, json=here.problem())).open("0" * 32)
    assert str(there.value) == str(here)
    assert there.value.reason is here.reason
    for part in ("parameter", "rule", "value", "remedy"):
        assert getattr(there.value, part) == getattr(here, part)


def test_a_reason_that_is_not_known_yet_keeps_its_words() -> None:
    problem = {"reason": "of a later version", "detail": "something else"}
    with pytest.raises(Refused, match="something else"):
        _answering(httpx.Response(418, json=problem)).list()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<html>Bad Gateway</html>"),
        httpx.Response(200, text="<html>Welcome</html>"),
        httpx.Response(404, json={"message": "no such page"}),
        httpx.Response(500, json=["oh"]),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout(""),
    ],
)
def test_what_is_no_collector_is_told(answer: httpx.Response | Exception) -> None:
    with pytest.raises(NoCollector) as told:
        _answering(answer).list()
    assert told.value.parameter == "server"
    assert "hush-admin" not in str(told.value)


def test_an_export_that_is_cut_short_leaves_no_file(tmp_path: Path) -> None:
    def pieces() -> object:
        yield b"PAR1"
        raise httpx.ReadError("gone")

    with pytest.raises(NoCollector):
        _answering(httpx.Response(200, content=pieces())).export("0" * 32, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "collector.test", "ftp://collector.test", "http://", "file:///etc/passwd"])
def test_an_address_must_be_one(url: str) -> None:
    with pytest.raises(ParameterError) as told:
        Remote(url)
    assert told.value.parameter == "server"


def test_a_token_that_cannot_stand_in_a_header_is_refused_and_not_repeated() -> None:
    with pytest.raises(ParameterError) as told:
        Remote("http://collector.test", "hush-admin\r\nX-Other: 1")
    assert "X-Other" not in str(told.value)


def test_a_backup_of_a_server_has_a_name_and_no_folder() -> None:
    for path in ("a/b.db", "/etc/b.db", "..", "../b.db", "."):
        with pytest.raises(ParameterError):
            _answering(httpx.Response(201, json={})).backup(Path(path))


def test_a_token_goes_to_another_machine_by_tls_alone() -> None:
    with pytest.raises(ParameterError, match=r"^server must begin with https:// where a token goes"):
        Remote("http://collector.test", "hush-admin-0-0")
    for url, token, plaintext in (
        ("http://collector.test", "", False),
        ("http://collector.test", "hush-admin-0-0", True),
        ("https://collector.test", "hush-admin-0-0", False),
        ("http://127.0.0.1:1", "hush-admin-0-0", False),
        ("http://[::1]:1", "hush-admin-0-0", False),
    ):
        Remote(url, token, plaintext=plaintext).close_connections()


def test_without_tls_no_proxy_sees_a_token_or_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the environment names would get keys and tokens in the clear."""
    seen = list[bytes]()

    def listen(connection: socket.socket) -> None:
        seen.append(b"asked")

    with answering(listen) as proxy, socket.create_server(("127.0.0.1", 0)) as closed:
        where = f"http://127.0.0.1:{closed.getsockname()[1]}"
        closed.close()  # nobody is there
        for name in ("http_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.partition("/v1/")[0])
            monkeypatch.setenv(name.upper(), proxy.partition("/v1/")[0])
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with pytest.raises(NoCollector):
            Remote(where, "hush-admin-0-0").list()
        batch = Envelope("0" * 32, "0" * 64, "1" * 32, 0, "b", 1, b"x")
        upstream = Upstream(where, "secret")
        reply = upstream.send(batch.to_bytes())
        upstream.close()
    assert (reply.reason, reply.untaken) == ("unreachable", True)
    assert not seen
