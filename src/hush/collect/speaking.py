"""How anyone here speaks to a collector over HTTP: devices, relays, and those who run it.

No cookie is taken, no redirect followed, nothing unpacked, and no answer read beyond its bounds, in bytes or in time.
What has no TLS passes no proxy: it would see keys and tokens.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

from hush.collect.addresses import parts_of
from hush.collect.envelope import Envelope
from hush.collect.replies import WAITING, Reply, reply_to
from hush.errors import missing

if TYPE_CHECKING:
    import httpx

_ANSWER_BYTES, _PARTIAL_BYTES = 1 << 20, 1 << 22  # of an answer to a batch, which may name single records
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ANSWER_TIMEOUTS = 10  # timeouts that a whole answer may take; tests make it fewer
_IDLE = 2.0  # seconds after which a connection is not used again: a server may be about to end it
_AGENT = "hush"


def unseen(url: str) -> bool:
    """Whether nobody on the way sees what goes to an address: there is TLS, or it is this machine's."""
    parts = parts_of(url)
    return parts is not None and (parts.scheme == "https" or parts.hostname in _LOOPBACK)


def connected(
    base: str,
    *,
    timeout: float,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    transport: httpx.BaseTransport | None = None,
    what: str = "a Collector",
) -> httpx.Client:
    """What carries requests to an address.

    Args:
        base: The address.
        timeout: Seconds to wait for a connection, and for each part of an answer.
        headers: What each request says of itself.
        tls: Which certificates to believe; left out, those that the system does.
        transport: What requests go through, of httpx; left out, the network.
        what: What cannot be had without httpx.
    """
    try:
        import httpx
    except ImportError:
        raise missing("httpx", "collect", what) from None
    return httpx.Client(
        base_url=base,
        timeout=timeout,
        verify=tls or True,
        transport=transport,
        follow_redirects=False,
        trust_env=base.startswith("https:"),
        limits=httpx.Limits(keepalive_expiry=_IDLE),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"User-Agent": _AGENT, "Accept-Encoding": "identity", **(headers or {})},
    )


class Failed(Exception):
    """No answer; why, in a word, and whether nothing was sent at all."""

    def __init__(self, word: str, *, unsent: bool = False) -> None:
        super().__init__(word)
        self.word, self.unsent = word, unsent


class Line:
    """A line to one address, whose answers are within bounds.

    Args:
        base: The address that all paths follow.
        timeout: Seconds to wait for a connection, and for each part of an answer; all of it has ten times as many.
        more: What else `connected` takes.
    """

    def __init__(self, base: str, *, timeout: float, **more: Any) -> None:
        self._base, self._timeout, self._more = base, timeout, more
        self._made: tuple[int, httpx.Client] | None = None
        self.alone()

    def alone(self) -> None:
        """Begin with no other thread, and no connection of theirs: after a fork."""
        self._lock, self._sockets = threading.Lock(), list[socket.socket]()

    def send(self, path: str, content: bytes, sent: Envelope, *, partial: bool = False) -> Reply:
        """Send a batch.

        Args:
            path: Where to.
            content: Its bytes, with the key.
            sent: The batch.
            partial: Whether single records may be refused.
        """
        try:
            answer = self.asked("POST", path, content, _PARTIAL_BYTES if partial else _ANSWER_BYTES)
        except Failed as error:
            return Reply(WAITING, error.word, untaken=error.unsent)
        return reply_to(sent, *answer, partial=partial)

    def asked(
        self, method: str, path: str, content: bytes | None, most: int, *, token: str = ""
    ) -> tuple[int, Any, bytes]:
        """The status, headers and body of an answer of so many bytes at most.

        Args:
            method: Of the request.
            path: Where to.
            content: Its body; None for none.
            most: Bytes of the answer.
            token: What lets in, where that does not stand in the body.
        """
        client = self._client()
        import httpx

        unconnected = httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout
        headers = {} if content is None else {"Content-Type": "application/octet-stream"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        data, longest = bytearray(), _ANSWER_TIMEOUTS * self._timeout
        end, watch = time.monotonic() + longest, threading.Timer(longest, self._cut)
        watch.daemon = True
        watch.start()
        try:
            more = {"trace": self._connecting}
            with client.stream(method, path, content=content, headers=headers, extensions=more) as answer:
                if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
                    raise Failed("answer-encoded")  # which was not asked for, and may unpack to anything
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > most:
                        raise Failed("answer-too-long")
                return answer.status_code, answer.headers, bytes(data)
        except httpx.TimeoutException as error:
            raise Failed("timeout", unsent=isinstance(error, unconnected)) from None
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:  # an odd Location; a client that was closed
            if time.monotonic() >= end:
                raise Failed("answer-too-slow") from None
            word = "tls" if "CERTIFICATE" in str(error).upper() else "unreachable"
            raise Failed(word, unsent=isinstance(error, unconnected)) from None
        finally:
            watch.cancel()

    def close(self) -> None:
        """Let go of connections."""
        with self._lock:
            if self._made is not None and self._made[0] == os.getpid():
                self._made[1].close()
            self._made = None

    def _client(self) -> httpx.Client:
        """The client of this process: a fork must not share connections with its parent."""
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                self._made = os.getpid(), connected(self._base, timeout=self._timeout, **self._more)
            return self._made[1]

    def _connecting(self, event: str, info: dict[str, Any]) -> None:
        """Note sockets as they come up, to end them when time is over."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._sockets = [each for each in self._sockets if each.fileno() >= 0]
                self._sockets.append(info["return_value"].get_extra_info("socket"))

    def _cut(self) -> None:
        """End all connections: an answer, its head included, takes too long. Whatever else is sent is sent again."""
        with self._lock:
            for each in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(each, socket.SHUT_RDWR)  # and not as TLS ends, which waits for the other
