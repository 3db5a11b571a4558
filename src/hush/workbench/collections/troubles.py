"""What went wrong between the workbench and its collector, in words, and whether waiting helps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hush.collect.refusals import Refused
from hush.collect.remote import NoCollector, SlowCollector
from hush.errors import HushError

LATER = 5.0
"""Seconds after which a collector that is gone is looked for again."""
SELDOM = 15.0
"""Seconds between two looks where only somebody else can help: with another token, say."""


class TroubleKind(StrEnum):
    """What sort of trouble it is, for whoever lays it out."""

    GONE = "gone"
    SLOW = "slow"
    TOKEN = "token"
    BUSY = "busy"
    REFUSED = "refused"


@dataclass(frozen=True)
class Trouble:
    """Something that went wrong.

    Args:
        kind: Its sort.
        title: In a few words.
        words: What it means, and what to do.
        again: Seconds after which the same may be asked again by itself; None where that would not help.
        parameter: What breaks a rule, where it is something that was filled in.
    """

    kind: TroubleKind
    title: str
    words: str
    again: float | None = None
    parameter: str | None = None


def trouble(error: HushError, url: str = "") -> Trouble:
    """What an error of asking a collector means to whoever looks at the page.

    Args:
        error: What was raised.
        url: Where the collector should be.
    """
    where = f" at {url}" if url else ""
    if isinstance(error, SlowCollector):
        words = f"The collector{where} took too long to answer. The page asks again by itself."
        return Trouble(TroubleKind.SLOW, "The collector is slow", words, LATER)
    if isinstance(error, NoCollector):
        words = (
            f"Nothing answers as a collector does{where}. Start it with hush serve; the page goes on by itself when "
            "it is back. No report is lost meanwhile: devices keep theirs and send them later."
        )
        return Trouble(TroubleKind.GONE, "The collector cannot be reached", words, LATER)
    if not isinstance(error, Refused):
        return Trouble(TroubleKind.REFUSED, "This cannot be done", sentence(error), None, error.parameter)
    return _refused(error)


def _refused(error: Refused) -> Trouble:
    reason = error.reason
    match reason.code:
        case "token":
            words = "The collector does not know the token, or it has expired. Sign in with another one."
            return Trouble(TroubleKind.TOKEN, "The token does not hold", words, SELDOM)
        case "forbidden":
            words = f"{sentence(error)} Sign in with a token that may."
            return Trouble(TroubleKind.TOKEN, reason.title, words, SELDOM)
        case "rate":
            words = "The collector takes no more requests from this address at the moment. The page asks again."
            return Trouble(TroubleKind.BUSY, reason.title, words, max(LATER, float(error.retry or 0)))
        case "busy" | "store" | "slow" | "interrupted":
            words = f"{reason.title}. The page asks again by itself."
            return Trouble(TroubleKind.BUSY, "The collector is busy", words, max(LATER, float(error.retry or 0)))
        case "unknown":
            words = "The collector has no such collection: it was deleted, or the address is another's."
            return Trouble(TroubleKind.REFUSED, "There is no such collection", words, SELDOM)
    return Trouble(TroubleKind.REFUSED, reason.title, sentence(error), None, error.parameter)


def sentence(error: HushError, name: str | None = None) -> str:
    """What an error says, as a sentence that begins with what people know the parameter by.

    >>> from hush.errors import ParameterError, message
    >>> sentence(ParameterError(message("k", "must be at least 2", 1, "count the values")), "Number of answers")
    'Number of answers must be at least 2, got 1; count the values.'
    """
    said = str(error) if error.rule is None else f"{name or error.parameter} {error.rule}, got {error.value}"
    said = said if error.rule is None or not error.remedy else f"{said}; {error.remedy}"
    first = said[:1].upper() if said[:1].isascii() else said[:1]  # ε is no other letter at the beginning
    return f"{first}{said[1:].rstrip('.')}."
