"""A visit: one page that is open in one browser, and all that it may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hush.workbench.collector import CollectorLink
from hush.workbench.guard.sessions import Session, Sessions
from hush.workbench.jobs import Jobs
from hush.workbench.settings import WorkbenchSettings
from hush.workbench.warming import Warming


@dataclass(frozen=True)
class Bench:
    """What all pages of a workbench share.

    Args:
        settings: All of them.
        sessions: Who is there.
        jobs: Long work.
        token: What lets in at the collector who comes by the printed link; "" for nothing.
        warming: Imports what pages need.
    """

    settings: WorkbenchSettings
    sessions: Sessions
    jobs: Jobs
    token: str = field(default="", repr=False)
    warming: Warming = field(default_factory=Warming)


@dataclass(frozen=True)
class Visit:
    """What a page is given.

    Args:
        bench: What all pages share.
        session: Whose browser it is: `session.reads`, `session.creates`, `session.entered`.
        path: Where the page is.
        query: What its address asks, after the question mark.
    """

    bench: Bench
    session: Session
    path: str
    query: Mapping[str, str]

    @property
    def settings(self) -> WorkbenchSettings:
        """All settings."""
        return self.bench.settings

    @property
    def jobs(self) -> Jobs:
        """Long work."""
        return self.bench.jobs

    @property
    def collector(self) -> CollectorLink | None:
        """The collector, asked with the session's token; None where the workbench was started without one."""
        url = self.settings.collector
        return CollectorLink(url, self.session.token, plaintext=self.settings.plaintext) if url else None

    @property
    def may_run_code(self) -> bool:
        """Whether Python code of the visitor may be run: it was allowed at the start, and he has the printed link."""
        return self.settings.allow_code and self.session.entered
