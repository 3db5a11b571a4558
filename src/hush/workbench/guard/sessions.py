"""Sessions: what a browser's cookie stands for. The cookie is a number; tokens never leave this process."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from hush.workbench.jobs.owners import JobOwner

COOKIE = "hush-session"
Role = Literal["nobody", "reader", "admin"]
MOST = 2000
"""Sessions that are kept at once; the one that was idle longest goes first."""


@dataclass
class Session:
    """One browser.

    Args:
        id: What its cookie says.
        role: What the collector lets its token do.
        token: What lets in at the collector, or "".
        entered: Whether it came by the link that was printed when the workbench started.
        visitor: Who it is, however often the cookie changes: what was begun before signing in is found after it.
    """

    id: str
    role: Role = "nobody"
    token: str = field(default="", repr=False)
    entered: bool = False
    seen: float = 0.0
    visitor: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def reads(self) -> bool:
        """Whether it has a token that may read."""
        return self.role in ("reader", "admin")

    @property
    def creates(self) -> bool:
        """Whether it has a token that may create, open and close collections."""
        return self.role == "admin"

    @property
    def owner(self) -> JobOwner:
        """Whose the jobs are that it starts now, and which it finds; by its token, where it has one."""
        account = hashlib.sha256(self.token.encode()).hexdigest() if self.token else ""
        return JobOwner(self.visitor, account)

    def forget(self) -> None:
        """Sign out."""
        self.role, self.token = "nobody", ""

    def end(self) -> None:
        """Let in nobody any more: pages that are still open hold it."""
        self.forget()
        self.entered = False


class Sessions:
    """All of them, in memory.

    Args:
        seconds: After which an idle one is forgotten.
        clock: Tells the time.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._known: dict[str, Session] = {}
        self.key = secrets.token_urlsafe(24)
        """What the printed link has: who knows it was told so by whoever started the workbench."""

    def of(self, id: str | None) -> Session | None:
        """The session of a cookie, if it is known."""
        found = self._known.get(id or "")
        if found is None or self._clock() - found.seen > self._seconds:
            self._drop(id or "")
            return None
        found.seen = self._clock()
        return found

    def new(self) -> Session:
        """A session of a browser that has none."""
        now = self._clock()
        if len(self._known) >= MOST:
            for each in [each for each in self._known.values() if now - each.seen > self._seconds]:
                self._drop(each.id)
        if len(self._known) >= MOST:
            oldest = min(self._known.values(), key=lambda each: (each.reads or each.entered, each.seen))
            self._drop(oldest.id)
        made = Session(secrets.token_urlsafe(24), seen=now)
        self._known[made.id] = made
        return made

    def renewed(self, session: Session) -> Session:
        """The same under a new number, for someone who has just been let in; the one before lets in nobody."""
        self._known.pop(session.id, None)
        made = replace(session, id=secrets.token_urlsafe(24), seen=self._clock())
        session.end()
        self._known[made.id] = made
        return made

    def _drop(self, id: str) -> None:
        if (gone := self._known.pop(id, None)) is not None:
            gone.end()

    def holds(self, key: str) -> bool:
        """Whether a key is that of the printed link."""
        return secrets.compare_digest(key.encode(), self.key.encode())

    def __len__(self) -> int:
        return len(self._known)
