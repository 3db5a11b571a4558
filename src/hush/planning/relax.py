"""Where no mechanism meets all wishes: the nearest that one does, and which wish to relax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hush.planning.search import Found, found
from hush.planning.wishes import LIMITS, Wishes

_OPTIMISED = {"error": "accuracy", "asr": "attack", "epsilon": "privacy", "bits": "bits"}


@dataclass(frozen=True)
class Relaxation:
    """Wishes that can be met.

    Args:
        changes: What was wished and what is possible, for each wish that is relaxed.
        mechanism: Which mechanism meets them then.
        numbers: Its numbers.
        people: How many people would meet the error as it was wished, where the error is what is relaxed.
        words: All of this in a sentence.
    """

    changes: Mapping[str, tuple[float, float]]
    mechanism: str
    numbers: Mapping[str, float]
    people: int | None
    words: str

    @property
    def factor(self) -> float:
        """How far the wishes move, at most."""
        return max(possible / wished for wished, possible in self.changes.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        changed = {name: {"wished": wished, "possible": possible} for name, (wished, possible) in self.changes.items()}
        return {"changes": changed, "mechanism": self.mechanism, "people": self.people, "words": self.words}


def relaxations(wishes: Wishes) -> tuple[Relaxation, ...]:
    """Ways out, the smallest change first: each wish alone, or all together where no single one suffices."""
    ways = [_one(wishes, name) for name in {**wishes.limits, "epsilon": 0}]  # the budget is always bounded
    alone = sorted((way for way in ways if way is not None), key=lambda way: way.factor)
    return tuple(alone) or _together(wishes)


def _one(wishes: Wishes, name: str) -> Relaxation | None:
    """Drop one wish, and get as near to it as the others allow."""
    loose = wishes.without(name, _OPTIMISED[name])
    rows = found(loose)
    if not rows:
        return None
    best = min(rows, key=lambda row: (row.numbers[name], row.numbers["asr"]))
    return _told(wishes, best, (name,))


def _together(wishes: Wishes) -> tuple[Relaxation, ...]:
    """Stretch all wishes by the same factor, the smallest that works."""
    low, high = 1.0, 2.0
    rows = found(_stretched(wishes, high))
    while not rows and high < 1e9:
        low, high = high, high * 4
        rows = found(_stretched(wishes, high))
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        tried = found(_stretched(wishes, middle))
        low, high, rows = (low, middle, tried) if tried else (middle, high, rows)
    if not rows:
        return ()
    best = min(rows, key=lambda row: max(row.numbers[name] / limit for name, limit in wishes.limits.items()))
    broken = tuple(name for name, limit in wishes.limits.items() if best.numbers[name] > limit * (1 + 1e-9))
    return (_told(wishes, best, broken),)


def _stretched(wishes: Wishes, factor: float) -> Wishes:
    wider: dict[str, Any] = {}
    for name, most in (("error", math.inf), ("max_asr", 1.0), ("max_epsilon", 40.0), ("max_bits", math.inf)):
        value = getattr(wishes, name)
        if value is not None:
            wider[name] = min(value * factor, most)
    if "max_bits" in wider:
        wider["max_bits"] = int(wider["max_bits"])
    return replace(wishes, **wider, matters="balance", objectives=())


def _told(wishes: Wishes, row: Found, names: tuple[str, ...]) -> Relaxation:
    limits = {"epsilon": wishes.largest_epsilon, **wishes.limits}
    changes = {name: (limits[name], row.numbers[name]) for name in names}
    people = None
    if names == ("error",):
        factor = row.numbers["error"] / wishes.limits["error"]
        people = math.ceil(wishes.judged * (factor if wishes.metric == "mse" else factor**2) * (1 - 1e-12))
    moves = " and ".join(
        f"{_OPTION[name]} from {wished:.4g} to {up(possible):.4g}" for name, (wished, possible) in changes.items()
    )
    where = " in every group" if wishes.in_every_group else ""
    more = f", or ask {people:,} people{where} instead of {wishes.judged:,}" if people is not None else ""
    return Relaxation(changes, row.name, row.numbers, people, f"relax {moves} ({row.name}){more}")


_OPTION = {bounded: name for name, bounded in LIMITS.items()}


def up(x: float) -> float:
    """Four digits, rounded up, so that what is printed is feasible.

    >>> up(0.0123449)
    0.01235
    """
    places = 3 - math.floor(math.log10(x))
    return math.ceil(round(x * 10.0**places, 6)) / 10.0**places
