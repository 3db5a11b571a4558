"""Groups of the people who report: what is known of everybody to a point is known of a small district to five.

A group is a population of its own, with the same mechanism: its error is that of so many people as it has. Errors fall
with the number of people, so what holds in the smallest group holds in every one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hush import rules
from hush.errors import NOTHING, ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.planning.measures import number_of
from hush.planning.wishes import MOST_PEOPLE, Wishes

Groups = Mapping[str, int]
"""How many people each group has, by its name."""

_REMEDY = "use e.g. {'north': 5200, 'south': 2600}"


@dataclass(frozen=True)
class GroupError:
    """How well one group is known.

    Args:
        name: Of the group; None where only its size was told.
        n: Its people.
        error: In the metric of the wishes.
        reaches: Whether that is the wished error or less; None where none was wished.
    """

    name: str | None
    n: int
    error: float
    reaches: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"group": self.name, "n": self.n, "error": self.error, "reaches": self.reaches}


def people(n: int | None, groups: Groups | None, smallest: int | None) -> tuple[int, Groups, int | None]:
    """Checked: how many people there are, their groups, and the size of the smallest one."""
    if groups is None:
        if n is None:
            raise ParameterError(message("n", "or groups must be given", NOTHING, "say how many people will report"))
        return n, {}, smallest
    if smallest is not None:
        rule = "must be left out where groups are given"
        raise ParameterError(message("smallest_group", rule, smallest, "the groups tell their sizes"))
    sizes = _sizes(groups)
    total = sum(sizes.values())
    if n is not None and n != total:
        rule = f"must be {total:,}, the sum of the groups"
        raise ParameterError(message("n", rule, n, "leave n out, or count the groups again"))
    return total, sizes, min(sizes.values())


def held(in_every_group: bool, error: float | None, smallest: int | None) -> bool:
    """Whether the error is to hold in every group; checked, that there are groups, and an error."""
    known = {"an error": error, "groups, or the size of the smallest": smallest}
    for what, given in known.items() if in_every_group else ():
        if given is None:
            rule = f"must stand beside {what}"
            raise ParameterError(message("in_every_group", rule, NOTHING, f"say {what}, or leave it out"))
    return bool(in_every_group)


def _sizes(groups: Groups) -> dict[str, int]:
    if not isinstance(groups, Mapping) or not groups:
        raise ParameterError(message("groups", "must be names with numbers of people", groups, _REMEDY))
    for name in groups:
        if not isinstance(name, str) or not name:
            raise ParameterError(message("groups", "must have texts as names", name, _REMEDY))
    remedy = "count the people of each group, and leave out groups of nobody"
    return {name: rules.integer(f"groups[{name!r}]", n, 1, MOST_PEOPLE, remedy) for name, n in groups.items()}


def error_among(m: FrequencyOracle, n: int, wishes: Wishes) -> float:
    """The error where so many people report, in the metric of the wishes."""
    return number_of(m, "error", replace(wishes, n=n, smallest_group=None, in_every_group=False, delta=None))


def group_error(m: FrequencyOracle, name: str | None, n: int, wishes: Wishes) -> GroupError:
    """How well a group of so many people is known."""
    error = error_among(m, n, wishes)
    return GroupError(name, n, error, None if wishes.error is None else wishes.within("error", error))


def group_errors(m: FrequencyOracle, groups: Groups, wishes: Wishes) -> tuple[GroupError, ...]:
    """How well every group is known, the smallest first; groups of one size are measured once."""
    known: dict[int, GroupError] = {}
    for n in groups.values():
        known[n] = known.get(n) or group_error(m, None, n, wishes)
    ordered = sorted(groups.items(), key=lambda each: each[1])
    return tuple(replace(known[n], name=name) for name, n in ordered)


def people_needed(m: FrequencyOracle, wishes: Wishes) -> int | None:
    """The fewest people among whom a mechanism reaches the wished error; None where no number does, or none is wished.

    Errors fall as n grows; the number that one over its root would need is nearly right, and the search ends there.
    """
    if wishes.error is None:
        return None

    def reaches(n: int) -> bool:
        return wishes.within("error", error_among(m, n, wishes))

    factor = error_among(m, wishes.judged, wishes) / wishes.error
    guess = math.ceil(wishes.judged * (factor if wishes.metric == "mse" else factor**2) * (1 - 1e-9))
    return least_number(reaches, min(max(guess, 1), MOST_PEOPLE))


def least_number(holds: Callable[[int], bool], guess: int) -> int | None:
    """The least number from which on something holds, near a guess."""
    low, high, step = 0, guess, 1
    while not holds(high):
        if high == MOST_PEOPLE:
            return None
        low, high, step = high, min(high + step, MOST_PEOPLE), 4 * step
    step = 1
    while high - low > 1 and holds(max(high - step, low + 1)):
        high, step = max(high - step, low + 1), 4 * step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def told(groups: Groups, smallest: int | None) -> str:
    """How many groups, and how small the smallest is, in words.

    >>> told({"north": 5200, "south": 2600}, 2600), told({}, 2600), told({}, None)
    ('2 groups, the smallest of 2,600', 'the smallest group of 2,600', '')
    """
    if smallest is None:
        return ""
    return f"{len(groups):,} groups, the smallest of {smallest:,}" if groups else f"the smallest group of {smallest:,}"
