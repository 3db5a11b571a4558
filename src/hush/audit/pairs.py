"""Which two values to audit: the pair whose reports differ most, on a few of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hush.audit.classifier import CLEAR, learned
from hush.audit.stream import Mixture, Stream
from hush.audit.target import Target, as_target
from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import Reports

_ALL = 8  # up to so many values, every pair is tried
_STREAMS = 1000  # numbers of streams that no audit uses, so that what is proved rests on other reports


@dataclass(frozen=True)
class Telling:
    """A pair of values, and how telling it is.

    Args:
        pair: The two values.
        promise: The loss that its few reports would prove, were the event not chosen on them.
        event: What tells them apart.
    """

    pair: tuple[int, int]
    promise: float
    event: str


def best_pair(
    target: object,
    pairs: Iterable[tuple[int, int]] | None = None,
    *,
    sample: int = 4000,
    rng: np.random.Generator | None = None,
) -> tuple[int, int]:
    """The most telling of some pairs of values; the first one that clearly breaks the claim, if one does.

    Args:
        target: What is to be audited.
        pairs: The pairs to try; when left out, all pairs of up to eight values: the first ones, the last ones, the
            middle, and those around the first byte's end, where implementations err.
        sample: Reports of each value to make.
        rng: `hush.seeded(7)` to repeat the choice.
    """
    best: Telling | None = None
    what = as_target(target)
    for found in _tries(what, pairs, sample, rng):
        if best is None or found.promise > best.promise:
            best = found
        if what.claim is not None and best.promise > what.claim.epsilon + CLEAR:
            break
    if best is None:
        raise ParameterError(message("pairs", "must hold at least one pair", [], "leave them out to try a few"))
    return best.pair


def tried(
    target: object,
    pairs: Iterable[tuple[int, int]] | None = None,
    *,
    sample: int = 4000,
    rng: np.random.Generator | None = None,
) -> list[Telling]:
    """All the pairs that `best_pair` may try, the most telling first."""
    what = as_target(target)
    return sorted(_tries(what, pairs, sample, rng), key=lambda each: each.promise, reverse=True)


def _tries(
    target: Target, pairs: Iterable[tuple[int, int]] | None, sample: int, rng: np.random.Generator | None
) -> Iterator[Telling]:
    wanted = _usual(target.k) if pairs is None else [checked("pairs", pair, target.k) for pair in pairs]
    size = _rules.integer("sample", sample, 100, 10**6, "use e.g. 4000")
    root = None if rng is None else int(rng.integers(1 << 62))
    delta = 0.0 if target.claim is None else target.claim.delta
    reports: dict[int, list[Reports]] = {}
    if target.mixed:
        values = tuple(sorted({value for pair in wanted for value in pair}))
        reports = dict(zip(values, Mixture(target, values, root, _STREAMS).sample(size), strict=True))
    for pair in wanted:
        for value in pair:
            if value not in reports:
                reports[value] = Stream(target, value, root, _STREAMS + value).sample(size)
        event = learned(target, reports[pair[0]], reports[pair[1]], pair, delta=delta, thorough=False)
        yield Telling(pair, event.promise, event.words)


def _usual(k: int) -> list[tuple[int, int]]:
    values = range(k) if k <= _ALL else sorted({0, 1, 2, k // 2, k - 2, k - 1, 7, 8})
    return list(combinations([value for value in values if value < k], 2))


def checked(name: str, pair: tuple[int, int], k: int) -> tuple[int, int]:
    """Two different values."""
    try:
        first, second = (operator.index(value) for value in pair)
    except (TypeError, ValueError):
        first = second = -1
    if not (0 <= first < k and 0 <= second < k and first != second):
        raise ParameterError(message(name, f"must be two different values in 0..{k - 1}", pair, "use e.g. (0, 1)"))
    return first, second
