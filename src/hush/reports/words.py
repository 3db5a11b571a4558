"""Texts made to fit."""

from __future__ import annotations

ELLIPSIS = "…"


def many(count: int, one: str, several: str) -> str:
    """A number of things.

    >>> many(1, "person", "people"), many(12_000, "person", "people")
    ('1 person', '12,000 people')
    """
    return f"{count:,} {one if count == 1 else several}"


def shortened(text: object, most: int) -> str:
    r"""One printable line of at most so many characters, the middle left out: long labels often differ at the end.

    >>> shortened("a label\nthat is far too long", 16)
    'a label th… long'
    >>> len(shortened("x" * 90, 16))
    16
    """
    line = "".join(c if c.isprintable() else " " for c in str(text))
    if len(line) <= most:
        return line
    tail = most // 3
    return line[: most - tail - 1].rstrip() + ELLIPSIS + line[-tail:]
