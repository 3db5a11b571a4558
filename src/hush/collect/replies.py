"""What an answer to a batch means, to a device and to a relay alike.

Nothing that answers is believed to be the collector: only an answer that names the very batch accepts it, and only a
refusal in the collector's own words drops one. Everything else, a hotel's login page, say, leaves the batch waiting.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from dataclasses import dataclass
from typing import Any

from hush import strict_json
from hush.collect.envelope import Envelope

WAITING, ACCEPTED, DROPPED = "waiting", "accepted", "dropped"
FINAL = frozenset({"malformed", "conflict", "spec", "status", "period-past", "parameter", "record"})
"""Refusals after which the same bytes will never be taken: the batch is dropped. After any other it waits."""
TOO_LARGE = "too-large"
"""After which the same records go in smaller batches. What stands before a collector may say so, too, with 413 and in
words of its own."""
_UNTAKEN = frozenset({"busy", "rate", "token", TOO_LARGE})
"""Reasons of a collector by which it is certain that it did not take a batch."""
_ALL = frozenset({"token", "forbidden", "unknown", "rate", "busy", "store"})  # refusals that every batch would get
_FOR_ALL = frozenset({429, 502, 503, 504})  # and what others say in such a case
LONGEST_WAIT = 86_400.0
"""Seconds that a server may ask to wait for."""


@dataclass(frozen=True)
class Reply:
    """What became of sending a batch.

    Args:
        state: "accepted", "dropped", or "waiting" where it must be sent again.
        reason: The server's reason, or what went wrong on the way.
        retry_after: Seconds that the server asks to wait for.
        alone: Whether it is a matter of this batch, and others may be taken all the same.
        untaken: Whether it is certain that the server has not taken it, this time.
        taken: Records that it has taken.
        refused: Records that it never will.
    """

    state: str
    reason: str = ""
    retry_after: float | None = None
    alone: bool = False
    untaken: bool = False
    taken: int = 0
    refused: int = 0


def reply_to(sent: Envelope, status: int, headers: Any, data: bytes, *, partial: bool = False) -> Reply:
    """What an answer means to the batch that was sent.

    Args:
        sent: The batch.
        status: Of the answer.
        headers: Of the answer.
        data: Its body.
        partial: Whether single records may be refused and the others taken.
    """
    if status == 200:
        refused = _acknowledged(data, sent)
        if refused is None or (refused and not partial):
            return Reply(WAITING, "not-a-collector")
        return Reply(ACCEPTED, taken=sent.number - refused, refused=refused)
    reason = reason_of(status, headers, data)
    if reason in FINAL:
        return Reply(DROPPED, reason, refused=sent.number)
    if status == 413:
        reason = TOO_LARGE
    alone = reason not in _ALL and status >= 400 and status not in _FOR_ALL
    return Reply(WAITING, reason or f"status-{status}", asked_to_wait(headers), alone, reason in _UNTAKEN)


def plain_of(data: bytes) -> Any:
    """What JSON says; None where it is none."""
    try:
        return strict_json.loads(data)
    except (ValueError, RecursionError):
        return None


def _acknowledged(data: bytes, sent: Envelope) -> int | None:
    """How many records are refused, where an answer says that the others of this very batch are kept; else None."""
    match plain_of(data):
        case {"batch": sent.batch, "period": sent.period, "accepted": int(taken), **more}:
            refused = more.get("refused", [])
            if isinstance(refused, list) and taken >= 0 and taken + len(refused) == sent.number:
                return len(refused)
    return None


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
