"""How many files the process may have open: each connection is one, and the store needs some, too.

Systems let a process have 1,024 by default, and more where it asks. Without room for as many connections as are let in,
whoever opens the last ones would keep everybody else out, the store's own files included.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TypeVar

from hush.collect.settings import ServerSettings
from hush.errors import ParameterError, Unsaid, message

try:
    import resource
except ImportError:  # not every system counts files
    resource = None  # type: ignore[assignment]

SPARE = 128
"""Files beside connections: the store's own, those of readers and exports, the log."""
_LOG = logging.getLogger("hush.collect")
S = TypeVar("S", bound=ServerSettings)


def within_files(settings: S) -> S:
    """Ask for as many files as the connections need; where so many cannot be had, settings with fewer connections."""
    if resource is None:
        return settings
    needed = settings.most_connections + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _fits(needed, soft):
        return settings
    limit = needed if _fits(needed, hard) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    except (OSError, ValueError):  # it may be less than what the system says
        limit = soft
    if _fits(needed, limit):
        return settings
    room = limit - SPARE
    if room < 1:
        rule, got = f"must be more than {SPARE} for a server", Unsaid(f"{limit}")
        raise ParameterError(message("open files", rule, got, "raise the limit of the process (ulimit -n)"))
    said = "at most %d files may be open: %d connections are let in instead of %d; raise the limit (ulimit -n)"
    _LOG.warning(said, limit, room, settings.most_connections)
    return replace(settings, most_connections=room)


def _fits(needed: int, limit: int) -> bool:
    return limit == resource.RLIM_INFINITY or needed <= limit
