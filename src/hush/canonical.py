"""Canonical JSON (RFC 8785), of which every language makes the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_EXACT = 2**53
"""Integers below this are doubles, and written as they are."""

_TOGETHER = 1 << 16
"""Entries of a list that make a piece."""


def canonical(plain: Any) -> str:
    """The one text of plain data.

    >>> canonical({"size": 2, "labels": ["one", 1.0]})
    '{"labels":["one",1],"size":2}'
    """
    return "".join(pieces(plain))


def pieces(plain: Any) -> Iterator[str]:
    """The same text, piece by piece.

    Lists of texts, and of integers, may have millions of entries: the standard library writes them alike, and fast.
    """
    import rfc8785

    if isinstance(plain, dict) and all(isinstance(name, str) and name.isascii() for name in plain):
        yield "{"
        for i, name in enumerate(sorted(plain)):
            yield f"{',' if i else ''}{json.dumps(name)}:"
            yield from pieces(plain[name])
        yield "}"
    elif isinstance(plain, (list, tuple)) and _alike(plain):
        yield "["
        for start in range(0, len(plain), _TOGETHER):
            some = json.dumps(plain[start : start + _TOGETHER], ensure_ascii=False, separators=(",", ":"))
            yield f"{',' if start else ''}{some[1:-1]}"
        yield "]"
    else:
        yield rfc8785.dumps(plain).decode()


def _alike(many: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all are texts, or integers that doubles can hold."""
    if all(type(each) is str for each in many):
        return True
    return all(type(each) is int and -_EXACT < each < _EXACT for each in many)
