"""Addresses of collectors, as people write them: whatever no request can go to is known before any does."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit


def parts_of(url: object) -> SplitResult | None:
    """The parts of an address over HTTP; None where no request could go there.

    >>> parts_of("https://collect.example.org:8470/hush").port
    8470
    >>> parts_of("http://[::1"), parts_of("http://host:99999"), parts_of("ftp://host")
    (None, None, None)
    """
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port  # which is looked at only now
        (parts.hostname or "").encode("idna")  # as whoever looks a name up does, which fails otherwise
    except ValueError:
        return None
    known = parts.scheme in ("http", "https") and parts.hostname and port != 0
    return parts if known and _sendable(url) else None


def beside(url: str) -> str | None:
    """The server's own address, where one names a part of its interface; None where it does not.

    >>> beside("http://127.0.0.1:8470/v1"), beside("http://127.0.0.1:8470/v1/collections")
    ('http://127.0.0.1:8470', 'http://127.0.0.1:8470')
    >>> beside("https://example.org/hush") is None
    True
    """
    parts = parts_of(url)
    found = None if parts is None else re.fullmatch(r"(.*?)/v1(/.*)?", parts.path)
    return None if parts is None or found is None else f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{found[1]}"


def _sendable(url: str) -> bool:
    """Whether what sends requests takes it, where that is installed: names of hosts have rules of their own."""
    try:
        import httpx
    except ImportError:
        return True
    try:
        httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return True
