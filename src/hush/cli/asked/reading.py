"""Words after an option: numbers, NAME=VALUE and sensitive values.

They are read by hand, so that a wrong one gets the same kind of message as everything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hush.errors import HushError, ParameterError, message
from hush.people import Domain

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


def small_share(option: str, example: str) -> Callable[[str | float], float]:
    """Return a reader of shares below one half, which larger ones must have a unit to exceed: 1 may mean 1 %.

    >>> small_share("--error", "0.01")("60%")
    0.6
    """
    share_of = share(option, example)

    def read(text: str | float) -> float:
        found, said = share_of(text), str(text).strip()
        if found >= 0.5 and not said.endswith(("%", "pp")):
            rule = f"must have a unit from 0.5 on, since without one it means {100 * found:g} percentage points"
            raise OptionError(message(option, rule, text, f"write {option} {said}pp for ±{said} points"))
        return found

    return read


def _plain(text: str | int, number: int | None) -> str | int:
    return text if number is None else number


def parsed(settings: Iterable[str] | None) -> dict[str, Any]:
    """The name=value pairs, numbers as numbers; commas, or brackets, make a list.

    >>> parsed(["g=8", "theta=0.7", "moduli=7,11,13"])
    {'g': 8, 'theta': 0.7, 'moduli': [7, 11, 13]}
    """
    pairs: dict[str, Any] = {}
    for setting in settings or ():
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise ParameterError(message("--set", "must look like name=value", setting, "write e.g. --set g=8"))
        pairs = merged(pairs, {name: _moduli(value) if name == "moduli" else _value(value)})
    return pairs


def said(value: object) -> str:
    """A setting's value as it is written on the command line.

    >>> said([7, 11, 13]), said(0.5)
    ('7,11,13', '0.5')
    """
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _value(text: str) -> int | float | str | list[Any]:
    ends = text[0] + text[-1]
    inner = text[1:-1] if len(text) > 1 and ends in {"[]", "()"} else text
    if inner != text or "," in text:
        return [_value(part.strip()) for part in inner.split(",") if part.strip()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _moduli(text: str) -> list[Any]:
    """A list, also where there is only one."""
    given = _value(text)
    listed = given if isinstance(given, list) else [given]
    if not listed or not all(isinstance(each, int) for each in listed):
        rule = "must be whole numbers with commas between them"
        raise ParameterError(message("--set moduli", rule, text, "write e.g. --set moduli=7,11,13"))
    return listed


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, if no name stands in both."""
    for name in second:
        if name in first:
            raise ParameterError(message(name, "must be given once", [first[name], second[name]], "leave one out"))
    return {**first, **second}


def sensitive_in(texts: list[str], domain: Domain) -> Domain:
    """The domain with the values that --sensitive names: labels, or numbers and ranges such as 0-24."""
    if domain.sensitive is not None:
        rule = "must be left out beside a domain that names its own sensitive values"
        raise ParameterError(message("--sensitive", rule, ",".join(texts), "leave it out, or change the file"))
    found: set[int] = set()
    for text in texts:
        for each in [text] if text in map(str, domain.labels or ()) else text.split(","):
            found |= _meant(each.strip(), domain)
    return Domain.from_dict({**domain.to_dict(), "sensitive": sorted(found)})


def _meant(name: str, domain: Domain) -> set[int]:
    """The indices that a label, a number or a range means."""
    if domain.labels is not None:
        for index, label in enumerate(domain.labels):
            if name == str(label):
                return {index}
        rule = f"must be among the domain's {domain.size} labels"
        raise ParameterError(message("--sensitive", rule, name, "check its spelling; write commas between labels"))
    first, dash, last = name.partition("-")
    ends = [first, last] if dash else [first, first]
    if not all(end.isascii() and end.isdecimal() and len(end) < 20 for end in ends):
        rule = "must be values or ranges of values"
        raise ParameterError(message("--sensitive", rule, name, "write e.g. --sensitive 0-24,30"))
    low, high = int(ends[0]), int(ends[1])
    if not low <= high < domain.size:
        rule = f"must be values in 0..{domain.size - 1}, the lower one first in a range"
        raise ParameterError(message("--sensitive", rule, name, "check --k"))
    return set(range(low, high + 1))
