"""How often someone may ask: a bucket for each, in memory that does not grow.

A bucket is one number: the moment at which it would be full again (the generic cell rate algorithm). One that is full
is as good as none, so the longest unused go first when there are too many.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import threading
from collections.abc import Hashable

from hush.collect.refusals import Refused
from hush.errors import Unsaid, message

MOST_BUCKETS = 1 << 16
"""Buckets that one kind of limit holds."""


class Rates:
    """A limit on how often each of many may do something.

    Args:
        rate: How often in a second, in the long run; 0 for no limit.
        burst: How often at once.
        most: Buckets that are held.
    """

    def __init__(self, *, rate: float, burst: float, most: int = MOST_BUCKETS) -> None:
        self._each = 1 / rate if rate > 0 else 0.0
        self._slack = burst * self._each
        self._most = most
        self._full_at: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full_at)

    def wait(self, who: Hashable, now: float) -> float:
        """Take one from a bucket: 0, or where it is empty, after how many seconds it is not."""
        if not self._each:
            return 0.0
        with self._lock:
            return self._wait(who, now)

    def _wait(self, who: Hashable, now: float) -> float:
        full_at = max(self._full_at.pop(who, now), now) + self._each
        late = full_at - now - self._slack
        if late > 1e-9:  # what is refused costs nothing
            self._full_at[who] = full_at - self._each
            return late
        self._full_at[who] = full_at
        if len(self._full_at) > self._most:
            del self._full_at[next(iter(self._full_at))]
        return 0.0

    def take(self, who: Hashable, now: float, *, parameter: str) -> None:
        """Take one from a bucket, or refuse."""
        late = self.wait(who, now)
        if late:
            rule, remedy = f"must come at most {1 / self._each:g} times a second", "wait, and send the same again"
            error = Refused("rate", message(parameter, rule, Unsaid("more"), remedy))
            error.retry = max(1, int(late + 0.999))
            raise error


class Addresses:
    """What stands for an address while the process runs: a hash under a secret that nothing stores."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def hashed(self, address: str) -> bytes:
        """The hash of an address; one for all of a household's, where they are IPv6."""
        if ":" in address:
            try:
                whole = ipaddress.IPv6Address(address.partition("%")[0])
                mapped = whole.ipv4_mapped
                address = str(mapped) if mapped else whole.packed[:8].hex()
            except ValueError:
                pass
        return hashlib.blake2b(address.encode(), key=self._secret, digest_size=8).digest()
