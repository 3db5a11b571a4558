"""The numbers of a mechanism under some wishes."""

from __future__ import annotations

import math
from functools import lru_cache

from hush.mechanisms.base import FrequencyOracle
from hush.planning.objectives import Z95, Setting, objective
from hush.planning.wishes import NUMBERS, Wishes

_CHEAPEST = ("epsilon", "bits", "asr", "error")
"""Limits in the order in which they are checked."""


def setting(wishes: Wishes) -> Setting:
    """The circumstances that the wishes describe."""
    w = wishes
    return Setting(
        n=w.judged,
        worst=w.worst,
        fakes=w.fakes,
        targets=w.targets,
        people=w.n,
        collections=w.collections,
        observed=w.observed,
        parts=w.parts,
    )


def number_of(m: FrequencyOracle, name: str, wishes: Wishes) -> float:
    """One number of a mechanism under the wishes; "error" in the metric that was asked for; the promised epsilon."""
    if name == "epsilon":
        return m.epsilon if m.guarantee is None else m.guarantee.epsilon
    return _measured(m, wishes.metric if name == "error" else name, setting(wishes))


@lru_cache(maxsize=512)
def _measured(m: FrequencyOracle, name: str, here: Setting) -> float:
    """An objective; the last few are kept, since a search asks again for what it has found."""
    return objective(name).measure(m, here)


def numbers_of(m: FrequencyOracle, wishes: Wishes) -> dict[str, float]:
    """All that is told of a choice: what always is, and the objectives that were named."""
    return {name: number_of(m, name, wishes) for name in (*NUMBERS, *wishes.more)}


def meets(m: FrequencyOracle, wishes: Wishes) -> bool:
    """Whether a mechanism keeps all bounds, the quickest to find out first."""
    limits = wishes.limits
    return all(wishes.within(name, number_of(m, name, wishes)) for name in _CHEAPEST if name in limits)


def likely_epsilon(wishes: Wishes) -> float:
    """About the budget that the error needs, whatever else is wished: where a variance is 4e^epsilon/(e^epsilon - 1)².

    >>> round(likely_epsilon(Wishes(k=100, n=100_000, error=0.01)), 2)
    1.17
    """
    limit = wishes.limits["error"]
    squared = {"mse": limit, "mae": limit**2 * math.pi / 2, "margin": (limit / Z95) ** 2}[wishes.metric]
    ratio = 1 + 2 / (wishes.judged * squared)
    return math.log(ratio + math.sqrt(ratio * ratio - 1))
