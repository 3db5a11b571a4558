"""Numbers and texts, as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hush.mechanisms.spec import Spec

ELLIPSIS = "…"
DASH = "–"


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
    if hasattr(m, "sizes"):
        over = f"{many(m.d, 'attribute', 'attributes')} of {_sizes(m.sizes)} values"
    else:
        over = f"{m.low:,.12g} to {m.high:,.12g}" if m.kind == "numeric" else f"k={m.k:,}"
    if m.kind == "longitudinal":
        return f"{m.name()}, {over}, {m.epsilon_report:g}-LDP a report, {m.epsilon_permanent:g}-LDP while a value stays"
    return f"{m.name()}, {over}, {'no guarantee' if m.guarantee is None else m.guarantee}"


def _sizes(sizes: Sequence[int]) -> str:
    """How many values attributes have; of many, the fewest and the most.

    >>> _sizes((7, 10, 12)), _sizes(range(2, 40))
    ('7, 10 and 12', '2 to 39')
    """
    if len(sizes) > 8:
        return f"{min(sizes):,} to {max(sizes):,}"
    *first, last = (f"{k:,}" for k in sizes)
    return f"{', '.join(first)} and {last}" if first else last


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


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits; a dash for none.

    >>> number(0.268941), number(None), number(float("inf")), number(1.0)
    ('0.2689', '–', '∞', '1.000')
    """
    if value is None:
        return DASH
    if math.isinf(value):
        return "∞"
    return f"{value:#.{digits}g}".rstrip(".")


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.9), percent(0.99999), percent(0.00012)
    ('90 %', '99.999 %', '0.012 %')
    """
    return f"{share * 100:.5g} %"


def rounded(value: float, digits: int = 2) -> float:
    """A number with so many significant digits.

    >>> rounded(0.123456), rounded(98.76, 3)
    (0.12, 98.8)
    """
    return float(f"{value:.{digits}g}")
