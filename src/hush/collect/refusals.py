"""Why something is refused: one table of reasons, one error, and its shape on the wire (RFC 9457).

A reason is what operators count, so it names neither a collection nor a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from hush.errors import HushError, Message


@dataclass(frozen=True)
class Reason:
    """A kind of refusal.

    Args:
        code: What counters and documents call it.
        status: The status of the HTTP answer.
        title: In a few words.
        retry: Seconds after which the same may be sent again; None where that would not help.
    """

    code: str
    status: int
    title: str
    retry: int | None = None


REASONS = {
    reason.code: reason
    for reason in (
        Reason("malformed", 400, "This is not what the interface takes"),
        Reason("token", 401, "The token or key is missing, unknown or expired"),
        Reason("forbidden", 403, "This token may not do that"),
        Reason("unknown", 404, "There is no such thing here"),
        Reason("method", 405, "This address does not take that method"),
        Reason("slow", 408, "The body did not arrive in time", 1),
        Reason("conflict", 409, "A batch with this id and other content is there"),
        Reason("spec", 409, "The batch is of another spec than the collection"),
        Reason("status", 409, "The collection's status does not allow it"),
        Reason("plan", 409, "The collection would not give what was asked for"),
        Reason("period-past", 410, "The period is over, and its late time, too"),
        Reason("too-large", 413, "The body is too large"),
        Reason("period-ahead", 422, "The period has not begun"),
        Reason("parameter", 422, "A parameter breaks its rule"),
        Reason("record", 422, "A record is no report of this spec"),
        Reason("rate", 429, "Too many requests", 1),
        Reason("interrupted", 400, "The body ended before it was whole", 1),
        Reason("internal", 500, "Something is wrong with the server"),
        Reason("busy", 503, "More is waiting than the server takes", 1),
        Reason("store", 503, "The store cannot be written at the moment", 10),
    )
}
"""All there are."""


class Refused(HushError):
    """Something that the collector does not take.

    Args:
        code: Of its reason.
        said: The message, with its four parts.
        more: Further entries of the answer: `index`, the first record that is wrong, say.
    """

    def __init__(self, code: str, said: Message | str, **more: Any) -> None:
        super().__init__(said)
        self.reason, self.more = REASONS[code], more
        self.retry = self.reason.retry  # of one that is known to last longer, more

    def naming(self, parameter: str) -> Self:
        """The same refusal, of a parameter that has another name where it was said."""
        said = self._told
        if said is None:
            return self
        return type(self)(self.reason.code, Message(parameter, said.rule, said.value, said.remedy), **self.more)

    def problem(self) -> dict[str, Any]:
        """The answer, as `application/problem+json` has it."""
        return {
            "type": f"urn:hush:problem:{self.reason.code}",
            "title": self.reason.title,
            "status": self.reason.status,
            "detail": str(self),
            "reason": self.reason.code,
            **({} if self.parameter is None else {"parameter": self.parameter, "remedy": self.remedy}),
            **self.more,
        }
