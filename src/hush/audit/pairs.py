"""How telling a pair of values is: what a classifier finds in a few of their reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hush import rules
from hush.audit.classifier import hypotheses
from hush.audit.events import best_threshold, ratio_words
from hush.audit.stream import Mixture, Stream
from hush.audit.target import Target
from hush.audit.targets import as_target
from hush.errors import ParameterError, message
from hush.types import Reports

_ALL = 64  # up to so many values, every pair can be tried by hand
_FORESEEN, _DOUBT = 10**5, 0.01  # trials and error rate of the proof by which pairs are compared
_STREAMS = 1000  # numbers of streams that no audit uses, so that what is proved rests on other reports


@dataclass(frozen=True)
class TellingPair:
    """A pair of values, and how telling it is.

    Args:
        pair: The two values.
        promise: The loss that its few reports would prove, were the event not chosen on them.
        event: What tells them apart.
        hope: The loss that they would prove with little confidence: a rare event has little promise, but hope.
    """

    pair: tuple[int, int]
    promise: float
    event: str
    hope: float


def tried(
    target: object,
    pairs: Iterable[tuple[int, int]] | None = None,
    *,
    sample: int = 4000,
    rng: np.random.Generator | None = None,
) -> list[TellingPair]:
    """Pairs of values, the most telling first.

    Args:
        target: What is to be audited.
        pairs: The pairs to try; all of them when left out.
        sample: Reports of each value to make.
        rng: `hush.seeded(7)` to repeat it.
    """
    what = as_target(target)
    if pairs is None and what.k > _ALL:
        rule = f"must be named where there are more than {_ALL} values"
        raise ParameterError(message("pairs", rule, None, "or let hush.audit.screen find the most telling"))
    size = rules.integer("sample", sample, 100, 10**6, "use e.g. 4000")
    wanted = list(combinations(range(what.k), 2) if pairs is None else pairs)
    if not wanted:
        raise ParameterError(message("pairs", "must hold at least one pair", [], "leave them out to try all"))
    root = None if rng is None else int(rng.integers(1 << 62))
    found = tries(what, [what.inputs.pair("pairs", pair) for pair in wanted], size, root)
    return sorted(found, key=lambda each: each.promise, reverse=True)


def tries(target: Target, pairs: list[tuple[int, int]], size: int, root: int | None) -> Iterator[TellingPair]:
    """Every pair, by so many reports of each value."""
    delta = 0.0 if target.claim is None else target.claim.delta
    reports: dict[int, list[Reports]] = {}
    if target.mixed:
        values = tuple(sorted({value for pair in pairs for value in pair}))
        reports = dict(zip(values, Mixture(target, values, root, _STREAMS).sample(size), strict=True))
    for pair in pairs:
        for value in pair:
            if value not in reports:
                reports[value] = Stream(target, value, root, _STREAMS + value).sample(size)
        if target.lawful and not target.screened:  # code from outside may not follow the law that it states
            yield _by_law(target, pair, [reports[value] for value in pair], delta)
            continue
        events = hypotheses(target, reports[pair[0]], reports[pair[1]], pair, delta=delta, thorough=False)
        yield TellingPair(pair, events[0].promise, events[0].words, max(event.hope for event in events))


def _by_law(target: Target, pair: tuple[int, int], parts: list[list[Reports]], delta: float) -> TellingPair:
    """A pair by the law: no classifier sees through a hash function."""
    ones, twos = (np.concatenate([target.log_ratio(chunk, *pair) for chunk in part]) for part in parts)
    found = best_threshold(ones, twos, _FORESEEN, alpha=_DOUBT, delta=delta, bound="paper")
    return TellingPair(pair, found.promise, ratio_words(found.level), found.promise)
