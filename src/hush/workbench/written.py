"""Numbers as people write them: thousands may stand apart, decimals follow a point.

A comma before decimals is refused and never skipped: who writes ε as 0,5 must not be given 5.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
_GROUPED = re.compile(  # by three, or by two before the last three
    r"[+-]?[1-9]\d{0,2}(?P<gap>[,_ '\u00a0\u2009\u202f\u2019])(\d{2,3}(?P=gap))*\d{3}(\.\d*)?", re.ASCII
)
_GAPS = re.compile(r"[,_ '\u00a0\u2009\u202f\u2019]")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)


def written_number(text: str) -> float:
    """The number that a text says; it may be infinite where it is too large.

    Args:
        text: What somebody wrote.

    Raises:
        ValueError: What it must be instead, in words.

    >>> written_number(" 20,000 "), written_number("1 000 000.5"), written_number("2e3")
    (20000.0, 1000000.5, 2000.0)
    >>> written_number("0,5")
    Traceback (most recent call last):
    ValueError: must have a point before its decimals, as in 0.5
    """
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return float(text)
    if _GROUPED.fullmatch(text):
        return float(_GAPS.sub("", text))
    if _DECIMAL_COMMA.fullmatch(text):
        raise ValueError("must have a point before its decimals, as in 0.5")
    raise ValueError("must be a number")
