"""Proxies and web origins as an operator names them: a name that would have no effect is refused at the start."""

from __future__ import annotations

import ipaddress
import re

from hush.errors import ParameterError, message

_ORIGIN = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/@?#:\s\[\]]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?"
)
_USUAL = {"http": "80", "https": "443"}
_WORDS = ("*", "null")  # all of them; pages that have none, of files, say


def check_proxies(name: str, text: str) -> None:
    """Refuse what is neither an address nor a network: a connection never comes from a name.

    Args:
        name: Of the setting.
        text: Addresses and networks by commas, or * alone for whoever connects.
    """
    for part in _listed(text) if text.strip() != "*" else []:
        try:
            ipaddress.ip_network(part) if "/" in part else ipaddress.ip_address(part)
        except ValueError:
            rule, remedy = "must be addresses or networks, by commas", "use e.g. 127.0.0.1,10.0.0.0/8"
            raise ParameterError(message(name, rule, part, remedy)) from None


def check_origins(name: str, text: str) -> None:
    """Refuse what no browser sends as an origin.

    Args:
        name: Of the setting.
        text: Origins by commas.
    """
    for part in _listed(text):
        if part not in _WORDS and _found(part) is None:
            rule, remedy = "must be origins, by commas, or *", "use e.g. https://example.org, without a path"
            raise ParameterError(message(name, rule, part, remedy))


def origins_in(text: str) -> frozenset[str] | None:
    """The origins of a list, as browsers write them: small letters, no port that the scheme has anyway; None for all.

    >>> origins_in("https://Shop.example:443/")
    frozenset({'https://shop.example'})
    """
    named = frozenset(map(_written, _listed(text)))
    return None if "*" in named else named


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _found(origin: str) -> re.Match[str] | None:
    return _ORIGIN.fullmatch(origin.removesuffix("/").lower())


def _written(origin: str) -> str:
    found = _found(origin)
    if found is None:
        return origin
    usual = found["port"] in (None, _USUAL.get(found["scheme"]))
    return f"{found['scheme']}://{found['host']}" + ("" if usual else f":{found['port']}")
