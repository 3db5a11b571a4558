"""Which values are sensitive, checked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hush.errors import ParameterError, message


def checked_sensitive(sensitive: Iterable[int] | None, k: int) -> tuple[int, ...] | None:
    """Distinct values in ascending order; None for all."""
    if sensitive is None:
        return None
    rule, remedy = f"must be values in 0..{k - 1}", "name the values that need protection, or leave it out for all"
    try:
        chosen = list(sensitive)
    except TypeError:
        raise ParameterError(message("sensitive", rule, sensitive, remedy)) from None
    whole = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) and 0 <= v < k for v in chosen)
    if isinstance(sensitive, str) or not whole:
        raise ParameterError(message("sensitive", rule, sensitive, remedy))
    if not chosen:
        raise ParameterError(message("sensitive", "must name at least one value", chosen, remedy))
    distinct = tuple(sorted({int(v) for v in chosen}))
    return None if len(distinct) == k else distinct
