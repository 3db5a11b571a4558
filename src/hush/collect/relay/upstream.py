"""The collector, as a relay speaks to it: what it tells of a collection, and what it answers to a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hush.collect.addresses import beside, parts_of
from hush.collect.envelope import Envelope, body
from hush.collect.replies import Reply, plain_of, reason_of
from hush.collect.speaking import Failed, Line, unseen
from hush.errors import HushError, ParameterError, SpecError, Unsaid, message

if TYPE_CHECKING:
    import httpx

_SECONDS = 20.0
_VIEW_BYTES, _KEY_BYTES = 1 << 28, 1 << 16
NO_KEY = ("token", "forbidden")
"""Reasons by which a collector takes nothing with a key."""


class CollectorAway(HushError, RuntimeError):
    """The collector cannot be reached, or something else answers in its place."""


class Upstream:
    """The collector at an address.

    Args:
        url: Where it is; https, unless it is on this machine.
        key: The relay's own.
        transport: What carries requests, for tests.
    """

    def __init__(self, url: str, key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        parts = parts_of(url)
        if parts is None or not unseen(url) or parts.query or parts.fragment or parts.username:
            rule, got = "must be https://HOST, or http:// on this machine", Unsaid("another one")
            raise ParameterError(message("collector", rule, got, "ask whoever runs the collector for its address"))
        if (alone := beside(url)) is not None:
            rule, got = "must be the address of the collector alone", Unsaid("one with a path of its interface")
            raise ParameterError(message("collector", rule, got, f"use {alone}"))
        self._key, agent = key, {"User-Agent": "hush-relay"}
        self._line = Line(url.rstrip("/"), timeout=_SECONDS, headers=agent, transport=transport, what="a relay")

    def close(self) -> None:
        """Let go of connections."""
        self._line.close()

    def view(self, id: str) -> dict[str, Any]:
        """What it tells of a collection."""
        try:
            status, headers, data = self._line.asked("GET", f"/v1/collections/{id}", None, _VIEW_BYTES)
        except Failed as error:
            raise _away(error.word) from None
        if reason_of(status, headers, data) == "unknown":
            rule, got = "must be ones that the collector has", Unsaid("one that it does not know")
            raise SpecError(message("collections", rule, got, "see `hush collection list` of the collector"))
        plain = plain_of(data) if status == 200 else None
        if not isinstance(plain, dict):
            raise _away(f"status {status}")
        return plain

    def check_key(self, id: str) -> None:
        """Refuse the relay's key where the collector does not take batches of a collection with it."""
        try:
            status, headers, data = self._line.asked(
                "GET", f"/v1/collections/{id}/key", None, _KEY_BYTES, token=self._key
            )
        except Failed as error:
            raise _away(error.word) from None
        reason = reason_of(status, headers, data)
        if reason in NO_KEY:
            raise wrong_key(reason)
        if status != 200 or not isinstance(plain_of(data), dict):
            raise _away(f"status {status}")

    def send(self, envelope: bytes) -> Reply:
        """Send a batch, of which it may refuse single records."""
        made = Envelope.from_bytes(envelope)
        path = f"/v1/collections/{made.collection}/batches?partial"
        return self._line.send(path, body(self._key, envelope), made, partial=True)


def wrong_key(reason: str) -> ParameterError:
    """A key that the collector does not know, or not for this."""
    got = "one that it does not know, or no more" if reason == "token" else "one for something else"
    rule, remedy = "must be one that the collector takes for its collections", "ask whoever runs it for another one"
    return ParameterError(message("key", rule, Unsaid(got), remedy))


def _away(got: str) -> CollectorAway:
    rule, remedy = "must be a collector that answers", "see whether it runs, and what stands before it"
    return CollectorAway(message("collector", rule, Unsaid(got), remedy))
