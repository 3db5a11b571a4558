"""JSON: what strangers wrote, and what it can hold."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np


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


def plain(data: object) -> Any:
    """The same as JSON can hold it: an infinite number becomes the string "inf", what is no number null.

    >>> plain({"n": np.int64(3), "upper": np.array([1.5, np.inf, np.nan])})
    {'n': 3, 'upper': [1.5, 'inf', None]}
    """
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(value) for value in data]
    if isinstance(data, np.ndarray):
        return plain(data.tolist())
    if isinstance(data, np.generic):
        return plain(data.item())
    if isinstance(data, float) and not math.isfinite(data):
        return None if math.isnan(data) else str(data)
    return data if isinstance(data, (str, int, float, bool, type(None))) else str(data)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose names stands twice: readers differ in which of the two they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in an object of it")
    return found
