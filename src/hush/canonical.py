"""Canonical JSON (RFC 8785), of which every language makes the same bytes."""

from __future__ import annotations

import json
from typing import Any

_EXACT = 2**53
"""Integers below this are doubles, and written as they are."""


def canonical(plain: Any) -> str:
    """The one text of plain data.

    Lists of texts, and of integers, may have millions of entries: the standard library writes them alike, and fast.

    >>> canonical({"size": 2, "labels": ["one", 1.0]})
    '{"labels":["one",1],"size":2}'
    """
    import rfc8785

    if isinstance(plain, dict) and all(isinstance(name, str) and name.isascii() for name in plain):
        return "{" + ",".join(f"{json.dumps(name)}:{canonical(plain[name])}" for name in sorted(plain)) + "}"
    if isinstance(plain, (list, tuple)) and _alike(plain):
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return rfc8785.dumps(plain).decode()


def _alike(many: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all are texts, or integers that doubles can hold."""
    if all(type(each) is str for each in many):
        return True
    return all(type(each) is int and -_EXACT < each < _EXACT for each in many)
