"""What a device says to a collector: it asks what there is of a collection, and sends batches to it."""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING, Any

from hush.collect.addresses import parts_of
from hush.collect.envelope import Envelope, body
from hush.collect.replies import Reply, asked_to_wait, plain_of, reason_of
from hush.collect.speaking import Failed, Line, unseen
from hush.errors import HushError, ParameterError, Unsaid, message

if TYPE_CHECKING:
    import httpx

_PATH = re.compile(r"(.*)/v1/collections/([0-9a-f]{32})/?")
VIEW_BYTES = 1 << 22
"""How long what a server tells of a collection may be: a spec has all labels."""


class Unreachable(HushError, ConnectionError):
    """The collector cannot be reached, or something else answers in its place."""

    retry_after: float | None = None
    """Seconds that it asks to wait for."""


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
        self._most_view = most_view
        self._line = Line(self.url, timeout=timeout, tls=tls, transport=transport)

    def alone(self) -> None:
        """Begin with no other thread, and no connection of theirs: after a fork."""
        self._line.alone()

    def view(self) -> dict[str, Any]:
        """What the server tells of the collection."""
        try:
            status, headers, data = self._line.asked("GET", self.url, None, self._most_view)
        except Failed as error:
            raise self._unreachable(error.word) from None
        if status != 200:
            told = reason_of(status, headers, data) or f"status {status}"
            raise self._unreachable(told, asked_to_wait(headers))
        plain = plain_of(data)
        if not isinstance(plain, dict):
            raise self._unreachable("something that is no collector")
        return plain

    def send(self, key: str, envelope: bytes, sent: Envelope) -> Reply:
        """Send a batch."""
        return self._line.send(f"{self.url}/batches", body(key, envelope), sent)

    def close(self) -> None:
        """Let go of connections."""
        self._line.close()

    def _unreachable(self, got: str, retry_after: float | None = None) -> Unreachable:
        remedy = "try again later, or look at the address and the certificate"
        made = Unreachable(message("url", "must be that of a collection that can be reached", Unsaid(got), remedy))
        made.retry_after = retry_after
        return made


def _address(url: str, plaintext: bool) -> tuple[str, str, str]:
    """The address without its last slash, where its server is, and the collection's id."""
    parts = parts_of(url)
    found = None if parts is None else _PATH.fullmatch(parts.path)
    if parts is None or found is None or parts.query or parts.fragment or "@" in parts.netloc:
        rule, got = "must be a collection's address", Unsaid("something else")
        raise ParameterError(message("url", rule, got, "use https://HOST/v1/collections/ID, ID of 32 digits"))
    if not unseen(url) and not plaintext:
        rule, got = "must begin with https:// where it is another machine's", Unsaid("http://")
        raise ParameterError(message("url", rule, got, "use https, or pass plaintext=True within a network you trust"))
    return url.rstrip("/"), f"{parts.scheme}://{parts.netloc.lower()}{found[1]}", found[2]
