"""Which events to count: chosen on some reports of the two values, so that others, fresh ones, can prove them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.audit.classifier import Learned, halves, hypotheses, reader, tables_of
from hush.audit.columns import all_columns
from hush.audit.events import best_threshold, ratio_words
from hush.audit.stream import Event, Mixture, Stream
from hush.audit.target import Target
from hush.types import Reports

_SHARE = 0.1  # of the trials, spent on choosing the event
_LEARNING, _LARGEST = 4000, 0.25  # reports to learn from where trials are few, but not a larger share of them
_MOST = 200_000
_ALIKE = 50  # reports of a value that are all the same, for which chance is no excuse


@dataclass(frozen=True)
class ChosenEvents:
    """Events, and what is left to prove them.

    Args:
        events: The most promising first.
        swapped: Whether each is likely under the second value.
        proving: Trials that are left.
        learned: How many reports events were fitted to, and how many chose among them; None where a law chose.
        alike: Of a target that may remember: the values whose reports were all the same.
    """

    events: list[Event]
    swapped: list[bool]
    proving: int
    learned: tuple[int, int] | None = None
    alike: tuple[int, ...] = ()


def chosen(
    what: Target, method: str, pair: tuple[int, int], trials: int, root: int | None, rules: dict[str, Any]
) -> ChosenEvents:
    """What a method counts."""
    if method == "attack":
        first = pair[0]
        return ChosenEvents(
            [Event(what.guessed(first), lambda reports, coin: what.guesses(reports, first, coin))], [False], trials
        )
    size = min(int(trials * _SHARE), _MOST)
    if method == "classifier":
        size = max(size, min(int(trials * _LARGEST), _LEARNING))
    if what.mixed:
        parts = Mixture(what, pair, root, 0).sample(size)
    else:
        parts = [Stream(what, value, root, i).sample(size) for i, value in enumerate(pair)]
    if method == "likelihood":
        return _by_law(what, pair, parts, trials - size, rules)
    found = hypotheses(what, parts[0], parts[1], pair, delta=rules["delta"])
    learned = halves(size, len(reader(what)(parts[0][0][:256]).paths()))
    alike = tuple(value for value, part in zip(pair, parts, strict=True) if what.mixed and _alike(what, part))
    events = [_shown(what, each, pair) for each in found]
    return ChosenEvents(events, [each.swapped for each in found], trials - size, learned, alike)


def _by_law(
    what: Target, pair: tuple[int, int], parts: list[list[Reports]], trials: int, rules: dict[str, Any]
) -> ChosenEvents:
    first, second = pair
    ones, twos = (np.concatenate([what.log_ratio(chunk, first, second) for chunk in part]) for part in parts)
    found = best_threshold(ones, twos, trials, **rules)
    sign = -1.0 if found.swapped else 1.0
    event = Event(
        ratio_words(found.level), lambda reports, coin: sign * what.log_ratio(reports, first, second) >= found.level
    )
    return ChosenEvents([event], [found.swapped], trials)


def _shown(what: Target, event: Learned, pair: tuple[int, int]) -> Event:
    def shows(reports: Reports, coin: np.random.Generator) -> np.ndarray:
        inside = what.spoken(reports, pair)
        return event.shows(reports) if inside is None else event.shows(reports) & inside

    return Event(event.words, shows)


def _alike(what: Target, part: list[Reports]) -> bool:
    """Whether these reports of one value are all the same."""
    if sum(map(len, part)) < _ALIKE:
        return False
    return not all_columns(tables_of(reader(what), part))
