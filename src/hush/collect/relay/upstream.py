"""The collector, as a relay speaks to it: what it tells of a collection, and what it answers to a batch.

No answer is believed to be the collector's unless it has its shape: an acknowledgement names the very batch, and only a
refusal in the collector's own words ends one. After anything else the same bytes are sent again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from hush import strict_json
from hush.collect.client.wire import asked_to_wait, reason_of
from hush.collect.envelope import Envelope, body
from hush.collect.relay.outbox import FORWARDED, REFUSED
from hush.errors import HushError, ParameterError, SpecError, Unsaid, message

FINAL = frozenset({"malformed", "conflict", "spec", "status", "period-past", "parameter", "record"})
"""Refusals after which the same bytes will never be taken."""
LONGEST_WAIT = 3600.0
"""Seconds that a collector may ask to wait for."""
_SECONDS = httpx.Timeout(20.0, connect=10.0)
_VIEW_BYTES, _ANSWER_BYTES = 1 << 28, 1 << 22
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class CollectorAway(HushError, RuntimeError):
    """The collector cannot be reached, or something else answers in its place."""

    untaken = False
    """Whether what was sent certainly did not reach it."""


@dataclass(frozen=True)
class Answer:
    """What became of a batch that was sent.

    Args:
        fates: How many records were forwarded, and refused; None where the same must be sent again.
        reason: Why it was refused, or what went wrong.
        wait: Seconds that the collector asks to wait for.
        untaken: Whether the collector certainly did not take it.
        too_large: Whether it, or what stands before it, takes no batch of this size.
    """

    fates: dict[str, int] | None
    reason: str = ""
    wait: float = 0.0
    untaken: bool = False
    too_large: bool = False


class Upstream:
    """The collector at an address.

    Args:
        url: Where it is; https, unless it is on this machine.
        key: The relay's own.
        transport: What carries requests, for tests.
    """

    def __init__(self, url: str, key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        parts = urlsplit(url)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if not safe or not parts.hostname or parts.query or parts.fragment or parts.username:
            rule, got = "must be https://HOST, or http:// on this machine", Unsaid("another one")
            raise ParameterError(message("collector", rule, got, "ask whoever runs the collector for its address"))
        self._key = key
        self._http = httpx.Client(
            base_url=url.rstrip("/"),
            timeout=_SECONDS,
            transport=transport,
            follow_redirects=False,
            headers={"User-Agent": "hush-relay", "Accept-Encoding": "identity"},
        )

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()

    def view(self, id: str) -> dict[str, Any]:
        """What it tells of a collection."""
        status, headers, data = self._asked("GET", f"/v1/collections/{id}", None, _VIEW_BYTES)
        if reason_of(status, headers, data) == "unknown":
            rule, got = "must be ones that the collector has", Unsaid("one that it does not know")
            raise SpecError(message("collections", rule, got, "see `hush collection list` of the collector"))
        plain = _plain(data) if status == 200 else None
        if not isinstance(plain, dict):
            raise _away(f"status {status}")
        return plain

    def send(self, envelope: bytes) -> Answer:
        """Send a batch, of which it may refuse single records."""
        made = Envelope.from_bytes(envelope)
        path = f"/v1/collections/{made.collection}/batches?partial"
        try:
            status, headers, data = self._asked("POST", path, body(self._key, envelope), _ANSWER_BYTES)
        except CollectorAway as error:
            return Answer(None, str(error), untaken=error.untaken)
        if status == 200:
            fates = _acknowledged(_plain(data), made)
            return Answer(fates, "" if fates else "an answer that is no collector's")
        reason = reason_of(status, headers, data)
        if reason in FINAL:
            return Answer({REFUSED: made.number}, reason)
        wait, large = min(asked_to_wait(headers) or 0.0, LONGEST_WAIT), status == 413
        return Answer(None, reason or f"status {status}", wait, untaken=large, too_large=large)

    def _asked(self, method: str, path: str, content: bytes | None, most: int) -> tuple[int, httpx.Headers, bytes]:
        data = bytearray()
        try:
            with self._http.stream(method, path, content=content) as answer:
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > most:
                        raise _away("an answer that is too long")
        except httpx.HTTPError as error:
            raise _away(type(error).__name__, untaken=isinstance(error, _NOT_SENT)) from None
        return answer.status_code, answer.headers, bytes(data)


def _acknowledged(plain: Any, sent: Envelope) -> dict[str, int] | None:
    """How many records were taken, where an answer is about this very batch."""
    match plain:
        case {"batch": sent.batch, "period": sent.period, "accepted": int(taken), **more}:
            refused = more.get("refused", [])
            if isinstance(refused, list) and taken >= 0 and taken + len(refused) == sent.number:
                return {FORWARDED: taken, REFUSED: len(refused)}
    return None


def _plain(data: bytes) -> Any:
    """JSON; None where it is none."""
    try:
        return strict_json.loads(data.decode())
    except (ValueError, RecursionError):
        return None


def _away(got: str, *, untaken: bool = False) -> CollectorAway:
    rule, remedy = "must be a collector that answers", "see whether it runs, and what stands before it"
    made = CollectorAway(message("collector", rule, Unsaid(got), remedy))
    made.untaken = untaken
    return made
