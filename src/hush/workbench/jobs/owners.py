"""Whose a job is."""

from __future__ import annotations

from typing import NamedTuple


class JobOwner(NamedTuple):
    """A visitor, and what he was signed in with when he started a job.

    Signing in takes nothing from him, and signing out what he did while he was signed in: that may have used rights, or
    show what only they let see. The same browser finds it again when it signs in with the same token.

    Args:
        visitor: One browser, from its first page to the end of its session.
        account: What it is signed in with; "" for nothing.
    """

    visitor: str
    account: str = ""

    def finds(self, owner: JobOwner) -> bool:
        """Whether this one, as it is now, may have the job of an owner.

        >>> before, signed_in = JobOwner("browser"), JobOwner("browser", "token")
        >>> signed_in.finds(before), before.finds(signed_in)
        (True, False)
        """
        return self.visitor == owner.visitor and owner.account in ("", self.account)
