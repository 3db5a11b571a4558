"""What a collector can be asked by those who run it: of a server over HTTP, or of a store that no server has open."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

Plain = dict[str, Any]
Plains = list[dict[str, Any]]


class Manager(Protocol):
    """The deeds of `hush.collect.service.Service`, which `hush.collect.remote.Remote` does at a distance.

    `who` is written down beside a deed. A server goes by the label of the token that it was given instead.
    """

    def create(self, *, spec: Plain, name: str, who: str, **wishes: Any) -> Plain:
        """A new collection, a draft."""

    def open(self, id: str, *, force: bool = False, began: int | None = None, who: str) -> Plain:
        """Let people report, if they can give what was asked for; period 0 began then, or now."""

    def close(self, id: str, *, who: str) -> Plain:
        """Let nobody report any more."""

    def delete(self, id: str, *, who: str) -> None:
        """Let a draft go."""

    def succeed(self, id: str, *, spec: Plain, who: str, **wishes: Any) -> Plain:
        """A new draft that follows a collection, with its settings but for those that are given."""

    def list(self) -> Plains:
        """All collections."""

    def show(self, id: str, *, whole: bool) -> Plain:
        """One collection; what anyone may see of it, or all."""

    def exclude(self, id: str, build: str, *, undo: bool = False, who: str) -> Plain:
        """Leave out what one release of a client sent, or let it count again."""

    def verify(self, id: str, *, repair: bool = False, who: str) -> Plain:
        """Whether the aggregates are those of the records that are kept; where not, they can be made so."""

    def estimate(self, id: str, *, period: int | None = None, level: float = 0.95) -> Plain:
        """What is estimated now."""

    def aggregate(self, id: str, *, period: int | None = None) -> bytes:
        """What the reports add up to, of one period or of all."""

    def periods(self, id: str) -> Plains:
        """The periods that there are reports of: how many count, and whether more may come."""

    def export(self, id: str, folder: Path, *, period: int | None = None) -> Plain:
        """Write the reports, of one period or of all, to a file in a folder."""

    def issue_token(
        self, role: str, *, label: str, collection: str | None = None, seconds: int | None = None, who: str
    ) -> str:
        """A new token, seen this once."""

    def tokens(self) -> Plains:
        """What is known of all tokens."""

    def revoke(self, token_id: str, *, who: str, after: int = 0) -> Any:
        """Let a token hold no more, at once or after so many seconds."""

    def deeds(self, limit: int = 100) -> Plains:
        """What administrators did, the latest first."""

    def backup(self, path: Path) -> Any:
        """A copy of the store as it is at one moment."""
