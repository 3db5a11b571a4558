"""What a device says to a collector over HTTP, and what it makes of the answers.

Nothing that answers is believed to be the collector: only an answer that names the very batch accepts it, and only a
refusal in the collector's own words drops one. Everything else, a hotel's login page, say, leaves the batch waiting.
No cookie is taken, no redirect followed, and no answer read beyond its bounds.
"""

from __future__ import annotations

import email.utils
import json
import os
import re
import ssl
import threading
import time
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

FINAL = frozenset({"malformed", "conflict", "spec", "status", "period-past", "too-large", "parameter", "record"})
"""Refusals after which the same bytes will never be taken: the batch is dropped. After any other it waits."""
LONGEST_WAIT = 86_400.0
"""Seconds that a server may ask to wait for."""
_PATH = re.compile(r"(.*)/v1/collections/([0-9a-f]{32})/?")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_VIEW_BYTES = 1 << 26  # a spec may have millions of labels
_ANSWER_BYTES = 1 << 20
_IDLE = 2.0  # seconds after which a connection is not used again: a server may be about to end it


class Unreachable(HushError, ConnectionError):
    """The collector cannot be reached, or something else answers in its place."""


@dataclass(frozen=True)
class SendOutcome:
    """What became of sending a batch.

    Args:
        state: "accepted", "dropped", or "waiting" where it must be sent again.
        reason: The server's reason, or what went wrong on the way.
        retry_after: Seconds that the server asks to wait for.
    """

    state: str
    reason: str = ""
    retry_after: float | None = None


class Wire:
    """The connection to one collection.

    Args:
        url: The collection's address, https://…/v1/collections/ID.
        timeout: Seconds to wait for a connection, and for each part of an answer.
        tls: Which certificates to believe; left out, those that the system does.
        transport: What requests go through, of httpx; left out, the network.
        plaintext: Whether to speak without TLS to other machines.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        tls: ssl.SSLContext | None,
        transport: httpx.BaseTransport | None,
        plaintext: bool,
    ) -> None:
        self.url, self.origin, self.collection = _address(url, plaintext)
        if tls is not None and (tls.verify_mode != ssl.CERT_REQUIRED or not tls.check_hostname):
            rule, got = "must check certificates and names", Unsaid("one that does not")
            raise ParameterError(message("tls", rule, got, "begin with ssl.create_default_context()"))
        self._timeout, self._tls, self._transport = timeout, tls, transport
        self._lock = threading.Lock()
        self._made: tuple[int, httpx.Client] | None = None

    def view(self) -> dict[str, Any]:
        """What the server tells of the collection."""
        try:
            status, headers, data = self._request("GET", self.url, None, _VIEW_BYTES)
        except _Failed as error:
            raise self._unreachable(error.args[0]) from None
        if status != 200:
            raise self._unreachable(reason_of(status, headers, data) or f"status {status}")
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
            return SendOutcome(WAITING, error.args[0])
        if status == 200:
            return SendOutcome(ACCEPTED) if _accepts(data, sent) else SendOutcome(WAITING, "not-a-collector")
        reason = reason_of(status, headers, data)
        if reason in FINAL:
            return SendOutcome(DROPPED, reason)
        return SendOutcome(WAITING, reason or f"status-{status}", asked_to_wait(headers))

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
                        limits=httpx.Limits(keepalive_expiry=_IDLE),
                        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                        headers={"User-Agent": "hush", "Accept-Encoding": "identity"},
                    ),
                )
            return self._made[1]

    def _request(self, method: str, url: str, content: bytes | None, most: int) -> tuple[int, Any, bytes]:
        client = self._client()
        import httpx

        end = time.monotonic() + 10 * self._timeout
        headers = {} if content is None else {"Content-Type": "application/octet-stream"}
        data = bytearray()
        try:
            with client.stream(method, url, content=content, headers=headers) as answer:
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > most:
                        raise _Failed("answer-too-long")
                    if time.monotonic() > end:
                        raise _Failed("answer-too-slow")
                return answer.status_code, answer.headers, bytes(data)
        except httpx.TimeoutException:
            raise _Failed("timeout") from None
        except httpx.HTTPError as error:
            raise _Failed("tls" if "CERTIFICATE" in str(error).upper() else "unreachable") from None

    def _unreachable(self, got: str) -> Unreachable:
        remedy = "try again later, or look at the address and the certificate"
        return Unreachable(message("url", "must be that of a collection that can be reached", Unsaid(got), remedy))


class _Failed(Exception):
    """No answer; why, in a word."""


def _address(url: str, plaintext: bool) -> tuple[str, str, str]:
    """The address without its last slash, where its server is, and the collection's id."""
    parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
    found = _PATH.fullmatch(parts.path)
    more = parts.query or parts.fragment or parts.username
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
