"""The places that a server is given: where it listens, and where backups go. What is wrong is said at the start."""

from __future__ import annotations

import errno
import os
import socket
from typing import Protocol

from hush.collect.settings import ServerSettings
from hush.errors import ParameterError, Unsaid, message

BACKLOG = 2048
_OF_THE_PORT = {errno.EADDRINUSE: "must be free", errno.EACCES: "must be one that this user may listen at"}


class Placed(Protocol):
    """Settings of whatever listens."""

    @property
    def host(self) -> str:
        """The address."""

    @property
    def port(self) -> int:
        """The port."""


def bound(settings: Placed) -> socket.socket:
    """A socket that listens at the host and port of some settings."""
    remedy = "use 127.0.0.1 for this machine alone, or 0.0.0.0 for all of its addresses"
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        made = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None)
        if number in _OF_THE_PORT:
            got = Unsaid(f"{settings.port} ({os.strerror(number)})")
            remedy = "take another port; 0 takes a free one"
            raise ParameterError(message("port", _OF_THE_PORT[number], got, remedy)) from None
        raise ParameterError(message("host", "must be an address of this machine", settings.host, remedy)) from None
    made.setblocking(False)
    return made


def check_backups(settings: ServerSettings) -> None:
    """Refuse a folder for backups that nothing can be written to, before one is needed."""
    folder = settings.backups
    if folder is not None and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        rule, remedy = "must be a folder that is there and can be written to", "make it, or name another one"
        raise ParameterError(message("backups", rule, str(folder), remedy))
