"""What all connections of a server have together, and what one of them, or one address, may have of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from hush.collect.server.rates import Addresses
from hush.collect.settings import ServerSettings


class Shares:
    """Connections by address, and bytes of answers that wait to be read.

    Args:
        settings: All limits.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._most = most = settings.most_connections
        by_address = settings.address_rate and not settings.trusted_proxies  # whose clients have one address
        self._most_of_address = max(1, most // 2) if by_address else most
        self._most_unread = settings.most_unread
        self._addresses = Addresses()
        self._of_address: dict[bytes, int] = {}
        self._number = 0
        self._unread: dict[Hashable, tuple[int, Callable[[], object]]] = {}
        self.bytes_unread = 0

    def enter(self, address: str) -> bytes:
        """Count a connection; returns what stands for its address."""
        who = self._addresses.hashed(address)
        self._of_address[who] = self._of_address.get(who, 0) + 1
        self._number += 1
        return who

    def leave(self, who: bytes) -> None:
        """Count one less."""
        self._number -= 1
        left = self._of_address[who] - 1
        if left:
            self._of_address[who] = left
        else:
            del self._of_address[who]

    def too_many(self, who: bytes) -> bool:
        """Whether there are too many connections, or an address has more than half of as many as there may be."""
        return self._number > self._most or self._of_address[who] > self._most_of_address

    def wait(self, connection: Hashable, size: int, abort: Callable[[], object]) -> None:
        """Count bytes that a connection has not read; where all together are too many, the longest waiting ends."""
        self.read(connection)
        self._unread[connection] = size, abort
        self.bytes_unread += size
        while self.bytes_unread > self._most_unread and self._unread:
            first = next(iter(self._unread))
            end = self._unread[first][1]
            self.read(first)
            end()

    def read(self, connection: Hashable) -> None:
        """Count them no more."""
        self.bytes_unread -= self._unread.pop(connection, (0, None))[0]
