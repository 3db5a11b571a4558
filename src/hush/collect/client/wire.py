"""What a device says to a collector over HTTP, and what it makes of the answers.

Nothing that answers is believed to be the collector: only an answer that names the very batch accepts it, and only a
refusal in the collector's own words drops one. Everything else, a hotel's login page, say, leaves the batch waiting.
No cookie is taken, no redirect followed, nothing unpacked, and no answer read beyond its bounds, in bytes or in time.
"""

from __future__ import annotations

import email.utils
import json
import os
import re
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hush import strict_json
from hush.collect.client.receipts import ACCEPTED, DROPPED, WAITING
from hush.collect.envelope import Envelope, body
from hush.errors import HushError, ParameterError, Unsaid, message, missing

if TYPE_CHECKING:
    import httpx

FINAL = frozenset({"malformed", "conflict", "spec", "status", "period-past", "parameter", "record"})
"""Refusals after which the same bytes will never be taken: the batch is dropped. After any other it waits."""
TOO_LARGE = "too-large"
_UNTAKEN = frozenset({"busy", "rate", "token", TOO_LARGE})
"""Reasons of a collector by which it is certain that it did not take a batch."""
"""After which the same records go in smaller batches."""
_ALL = frozenset({"token", "forbidden", "unknown", "rate", "busy", "store"})  # refusals that every batch would get
LONGEST_WAIT = 86_400.0
"""Seconds that a server may ask to wait for."""
_PATH = re.compile(r"(.*)/v1/collections/([0-9a-f]{32})/?")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
VIEW_BYTES = 1 << 22
"""How long what a server tells of a collection may be: a spec has all labels."""
_ANSWER_BYTES = 1 << 20
_IDLE = 2.0  # seconds after which a connection is not used again: a server may be about to end it


class Unreachable(HushError, ConnectionError):
    """The collector cannot be reached, or something else answers in its place."""

    retry_after: float | None = None
    """Seconds that it asks to wait for."""


@dataclass(frozen=True)
class SendOutcome:
    """What became of sending a batch.

    Args:
        state: "accepted", "dropped", or "waiting" where it must be sent again.
        reason: The server's reason, or what went wrong on the way.
        retry_after: Seconds that the server asks to wait for.
        alone: Whether it is a matter of this batch, and others may be taken all the same.
        untaken: Whether it is certain that the server has not taken it, this time.
    """

    state: str
    reason: str = ""
    retry_after: float | None = None
    alone: bool = False
    untaken: bool = False


class Wire:
    """The connection to one collection.

    Args:
        url: The collection's address, https://…/v1/collections/ID.
        timeout: Seconds to wait for a connection, and for each part of an answer.
        tls: Which certificates to believe; left out, those that the system does.
        transport: What requests go through, of httpx; left out, the network.
        plaintext: Whether to speak without TLS to other machines.
        most_view: Bytes that the server may tell of the collection.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        tls: ssl.SSLContext | None,
        transport: httpx.BaseTransport | None,
        plaintext: bool,
        most_view: int = VIEW_BYTES,
    ) -> None:
        self.url, self.origin, self.collection = _address(url, plaintext)
        if tls is not None and (tls.verify_mode != ssl.CERT_REQUIRED or not tls.check_hostname):
            rule, got = "must check certificates and names", Unsaid("one that does not")
            raise ParameterError(message("tls", rule, got, "begin with ssl.create_default_context()"))
        self._timeout, self._tls, self._transport, self._most_view = timeout, tls, transport, most_view
        self._made: tuple[int, httpx.Client] | None = None
        self.alone()

    def alone(self) -> None:
        """Begin with no other thread, and no connection of theirs: after a fork."""
        self._lock, self._sockets = threading.Lock(), list[socket.socket]()

    def view(self) -> dict[str, Any]:
        """What the server tells of the collection."""
        try:
            status, headers, data = self._request("GET", self.url, None, self._most_view)
        except _Failed as error:
            raise self._unreachable(error.args[0]) from None
        if status != 200:
            told = reason_of(status, headers, data) or f"status {status}"
            raise self._unreachable(told, asked_to_wait(headers))
        try:
            plain = strict_json.loads(data)
        except ValueError:
            plain = None
        if not isinstance(plain, dict):
            raise self._unreachable("something that is no collector")
        return plain

    def send(self, key: str, envelope: bytes, sent: Envelope) -> SendOutcome:
        """Send a batch."""
        try:
            status, headers, data = self._request("POST", f"{self.url}/batches", body(key, envelope), _ANSWER_BYTES)
        except _Failed as error:
            return SendOutcome(WAITING, error.args[0], untaken=error.unsent)
        if status == 200:
            return SendOutcome(ACCEPTED) if _accepts(data, sent) else SendOutcome(WAITING, "not-a-collector")
        reason = reason_of(status, headers, data)
        if reason in FINAL:
            return SendOutcome(DROPPED, reason)
        alone = reason not in _ALL and status >= 400 and status not in (429, 502, 503, 504)
        return SendOutcome(WAITING, reason or f"status-{status}", asked_to_wait(headers), alone, reason in _UNTAKEN)

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
                try:
                    import httpx
                except ImportError:
                    raise missing("httpx", "collect", "a Collector") from None
                self._made = (
                    os.getpid(),
                    httpx.Client(
                        timeout=self._timeout,
                        verify=self._tls or True,
                        transport=self._transport,
                        follow_redirects=False,
                        trust_env=self.url.startswith("https:"),  # no proxy sees what has no TLS
                        limits=httpx.Limits(keepalive_expiry=_IDLE),
                        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                        headers={"User-Agent": "hush", "Accept-Encoding": "identity"},
                    ),
                )
            return self._made[1]

    def _request(self, method: str, url: str, content: bytes | None, most: int) -> tuple[int, Any, bytes]:
        client = self._client()
        import httpx

        unconnected = httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout
        headers = {} if content is None else {"Content-Type": "application/octet-stream"}
        data, longest = bytearray(), 10 * self._timeout
        end, watch = time.monotonic() + longest, threading.Timer(longest, self._cut)
        watch.daemon = True
        watch.start()
        try:
            more = {"trace": self._connecting}
            with client.stream(method, url, content=content, headers=headers, extensions=more) as answer:
                if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
                    raise _Failed("answer-encoded")  # which was not asked for, and may unpack to anything
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > most:
                        raise _Failed("answer-too-long")
                return answer.status_code, answer.headers, bytes(data)
        except httpx.TimeoutException as error:
            raise _Failed("timeout", unsent=isinstance(error, unconnected)) from None
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:  # an odd Location; a client that was closed
            if time.monotonic() >= end:
                raise _Failed("answer-too-slow") from None
            word = "tls" if "CERTIFICATE" in str(error).upper() else "unreachable"
            raise _Failed(word, unsent=isinstance(error, unconnected)) from None
        finally:
            watch.cancel()

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

    def _unreachable(self, got: str, retry_after: float | None = None) -> Unreachable:
        remedy = "try again later, or look at the address and the certificate"
        made = Unreachable(message("url", "must be that of a collection that can be reached", Unsaid(got), remedy))
        made.retry_after = retry_after
        return made


class _Failed(Exception):
    """No answer; why, in a word, and whether nothing was sent at all."""

    def __init__(self, word: str, *, unsent: bool = False) -> None:
        super().__init__(word)
        self.unsent = unsent


def _address(url: str, plaintext: bool) -> tuple[str, str, str]:
    """The address without its last slash, where its server is, and the collection's id."""
    parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
    found = _PATH.fullmatch(parts.path)
    more = parts.query or parts.fragment or "@" in parts.netloc
    known = parts.scheme in ("https", "http") and parts.hostname and not more
    if not known or found is None:
        rule, got = "must be a collection's address", Unsaid("something else")
        raise ParameterError(message("url", rule, got, "use https://HOST/v1/collections/ID, ID of 32 digits"))
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not plaintext:
        rule, got = "must begin with https:// where it is another machine's", Unsaid("http://")
        raise ParameterError(message("url", rule, got, "use https, or pass plaintext=True within a network you trust"))
    return url.rstrip("/"), f"{parts.scheme}://{parts.netloc.lower()}{found[1]}", found[2]


def _accepts(data: bytes, sent: Envelope) -> bool:
    """Whether an answer says that this very batch is kept."""
    try:
        plain = strict_json.loads(data)
    except ValueError:
        return False
    match plain:
        case {"batch": sent.batch, "period": sent.period, "accepted": sent.number}:
            return True
    return False


def reason_of(status: int, headers: Any, data: bytes) -> str:
    """The collector's own reason for a refusal; "" where it is somebody else's."""
    if not headers.get("content-type", "").startswith("application/problem+json"):
        return ""
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    match plain:
        case {"reason": str(code), "status": int(told)} if told == status and re.fullmatch(r"[a-z-]{1,40}", code):
            return code
    return ""


def asked_to_wait(headers: Any) -> float | None:
    """Seconds, of a header that has seconds or a date."""
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return min(float(text), LONGEST_WAIT)
    try:
        then = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(then - time.time(), 0.0), LONGEST_WAIT)
