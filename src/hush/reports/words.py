"""Texts made to fit."""

from __future__ import annotations

from hush.mechanisms.spec import Spec

ELLIPSIS = "…"


def many(count: int, one: str, several: str) -> str:
    """A number of things.

    >>> many(1, "person", "people"), many(12_000, "person", "people")
    ('1 person', '12,000 people')
    """
    return f"{count:,} {one if count == 1 else several}"


def described(spec: Spec) -> str:
    """The mechanism, what it is over, and what it promises, in a few words.

    >>> from hush import OUE
    >>> described(Spec(OUE(k=4, epsilon=1.0)))
    'OUE, k=4, 1-LDP'
    """
    m = spec.mechanism
    over = f"{m.low:,.12g} to {m.high:,.12g}" if m.kind == "numeric" else f"k={m.k:,}"
    return f"{m.name()}, {over}, {'no guarantee' if m.guarantee is None else m.guarantee}"


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
