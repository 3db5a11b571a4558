"""What people write into fields, read as numbers; errors say what to write."""

from __future__ import annotations

import math
import re
from typing import Any

from hush.errors import NOTHING, ParameterError, message
from hush.workbench.written import written_number

_SAMPLES = {"whole": "16", "real": "1.0", "list": "0, 1, 2", "text": "a word"}


def read(name: str, said: object, kind: str, *, example: str = "") -> Any:
    """A field's value; None where it was left empty.

    Args:
        name: Of the parameter, for errors.
        said: What the field holds: text, or a number as controls give it.
        kind: "whole", "real", "list" or "text".
        example: What to write, for errors.

    >>> read("k", " 1,000 ", "whole"), read("epsilon", "0.5", "real"), read("moduli", "7, 11", "list")
    (1000, 0.5, [7, 11])
    """
    text = "" if said is None else str(said).strip()
    if not text:
        return None
    if kind == "text":
        return text
    if kind == "list":
        parts = [part for part in re.split(r"[\s,;]+", text.strip("[]()")) if part]
        return [_whole(name, part, text, example or _SAMPLES[kind]) for part in parts]
    if kind == "whole":
        return _whole(name, re.sub(r"(?<=\d)[,_ \u202f](?=\d{3}(?!\d))", "", text), text, example or _SAMPLES[kind])
    return _real(name, text, example or _SAMPLES[kind])


def needed(name: str, said: object, kind: str, *, example: str = "") -> Any:
    """A field's value, which must be there."""
    found = read(name, said, kind, example=example)
    if found is None or found == []:
        remedy = f"write e.g. {example or _SAMPLES[kind]}"
        raise ParameterError(message(name, "must be given", NOTHING, remedy))
    return found


def _whole(name: str, text: str, said: str, example: str) -> int:
    digits = re.fullmatch(r"([+-]?\d{1,40})(?:\.0*)?", text)  # controls for numbers give 16.0
    if digits is None:
        raise ParameterError(message(name, "must be a whole number", said, f"write e.g. {example}"))
    return int(digits[1])


def _real(name: str, text: str, example: str) -> float:
    try:
        found = written_number(text)
    except ValueError as error:
        raise ParameterError(message(name, str(error), text, f"write e.g. {example}")) from None
    if not math.isfinite(found):
        raise ParameterError(message(name, "must be a finite number", text, f"write e.g. {example}"))
    return found
