"""Numbers as people write them: thousands may be parted, and nobody's decimal comma is taken for that."""

from __future__ import annotations

import re

_GAPS = re.compile(r"[\s_'\u2019]")
_PARTED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?")  # 1,000,000, and 10,00,000 as in India
DECIMAL_COMMA = "must have a point for its decimals, as in 0.5: a comma only parts thousands"


class DecimalCommaError(ValueError):
    """A comma that parts no thousands: without it the number would be another one."""

    def __init__(self) -> None:
        super().__init__(DECIMAL_COMMA)


def number(text: str) -> float:
    """The number of a text.

    Raises:
        DecimalCommaError: If it has a comma that parts no thousands.
        ValueError: If it is no number.

    >>> number("20,000"), number("1 000.5")
    (20000.0, 1000.5)
    """
    found = _GAPS.sub("", text)
    if "," in found:
        if not _PARTED.fullmatch(found):
            float(found.replace(",", ""))  # no number at all: that is what is wrong with it then
            raise DecimalCommaError
        found = found.replace(",", "")
    return float(found)
