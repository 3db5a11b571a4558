"""JSON that strangers wrote."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """What the JSON says; where it cannot be read, a ValueError that says why, whatever the reason.

    >>> loads("[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    if not isinstance(text, (str, bytes)):
        raise ValueError(f"it is no text, but {type(text).__name__}")
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose names stands twice: readers differ in which of the two they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in an object of it")
    return found
