"""Under which names the workbench is reached, and which web origins are its own.

A page of a stranger can let a name of its own resolve to this machine, and is then of the same origin as the workbench,
for a browser; but the name stands in `Host`. So a name that is not known is refused. A literal address cannot be made
to resolve to anything else.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_ORDINARY = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Hosts:
    """The names.

    Args:
        host: The address that the workbench listens at.
        names: Further names, with or without a port.
    """

    def __init__(self, host: str, names: frozenset[str] = frozenset()) -> None:
        self._names = names
        loopback = host == "localhost" or (_address(host) is not None and _literal(host).is_loopback)
        everywhere = _address(host) is not None and _literal(host).is_unspecified
        self._any_literal = everywhere
        self._own = {host.lower()} | ({"localhost", "127.0.0.1", "::1"} if loopback or everywhere else set())

    def known(self, host: str | None) -> bool:
        """Whether a `Host` header names the workbench.

        >>> Hosts("127.0.0.1").known("127.0.0.1:8480"), Hosts("127.0.0.1").known("attacker.example:8480")
        (True, False)
        """
        name = _name(host)
        if name is None or host is None:
            return False
        if name in self._own or {name, host.lower()} & self._names:
            return True
        return self._any_literal and _address(name) is not None

    def same(self, origin: str | None, host: str | None, scheme: str) -> bool:
        """Whether an `Origin` is that of the very host which the request names.

        A proxy may speak TLS to the browser and none to the workbench: a further name may be of either scheme.

        >>> Hosts("127.0.0.1").same("http://127.0.0.1:8480", "127.0.0.1:8480", "http")
        True
        >>> Hosts("127.0.0.1").same("http://evil.example", "127.0.0.1:8480", "http")
        False
        """
        try:
            parts = urlsplit(origin or "")
            given = parts.hostname, parts.port or _ORDINARY.get(parts.scheme)
            asked = urlsplit(f"{scheme}://{host or ''}")
            named = (host or "").lower() in self._names or asked.hostname in self._names
            allowed = {scheme, "https"} if named else {scheme}
            wanted = asked.hostname, asked.port or _ORDINARY.get(parts.scheme)
        except ValueError:
            return False
        return parts.scheme in allowed and parts.hostname is not None and given == wanted


def _name(host: str | None) -> str | None:
    try:
        parts = urlsplit(f"//{host or ''}")
        parts.port  # noqa: B018  # which is looked at only now
    except ValueError:
        return None
    return parts.hostname if not (parts.path or parts.username or parts.password) else None


def _address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(host)
