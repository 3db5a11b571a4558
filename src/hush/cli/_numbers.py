"""Numbers on the command line, read by hand so that a wrong one gets the same kind of message as everything else."""

from __future__ import annotations

import re
from collections.abc import Callable

from hush.errors import HushError, message

MOST = 2**53
"""Counts are exact in doubles and in JSON up to here."""


class OptionError(HushError):
    """An option's text cannot be read; not a ValueError, which the option parser would put into words of its own."""


def whole(option: str, least: int | None = None, example: str = "100") -> Callable[[str | int], int]:
    """A reader of whole numbers.

    >>> whole("--n", 1)("250")
    250
    """
    bound = "" if least is None else f" of at least {least}"

    def read(text: str | int) -> int:
        digits = re.fullmatch(r"\s*([+-]?[0-9]{1,40})\s*", str(text))
        number = None if digits is None else int(digits[1])
        if number is None or (least is not None and number < least):
            raise OptionError(message(option, f"must be a whole number{bound}", _plain(text, number), _write(option)))
        if number > MOST and least is not None:
            raise OptionError(message(option, f"must be at most {MOST}", number, _write(option)))
        return number

    def _write(option: str) -> str:
        return f"write e.g. {option} {example}"

    return read


def real(option: str, example: str) -> Callable[[str | float], float]:
    """A reader of numbers.

    >>> real("--epsilon", "1.0")("0.5")
    0.5
    """

    def read(text: str | float) -> float:
        try:
            return float(text)
        except ValueError:
            problem = message(option, "must be a number", text, f"write e.g. {option} {example}")
        raise OptionError(problem)

    return read


def share(option: str, example: str) -> Callable[[str | float], float]:
    """A reader of shares: 0.01, or 1% or 1pp.

    >>> share("--error", "0.01")("1.5pp")
    0.015
    """
    plain = real(option, example)

    def read(text: str | float) -> float:
        said = str(text).strip()
        for ending in ("%", "pp"):
            if said.endswith(ending):
                return plain(said.removesuffix(ending)) / 100
        return plain(text)

    return read


def _plain(text: str | int, number: int | None) -> str | int:
    return text if number is None else number
