"""What a search for a budget gives a page: words, what was tried, and a spec. Plain data, which travel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes

_AROUND = 8.0


@dataclass(frozen=True)
class Searched:
    """The answer.

    Args:
        words: In sentences, the answer first.
        epsilon: The smallest budget that is enough; None where none is.
        tried: Budgets that were looked at, rising.
        shares: What was found at each: the share of collections that keep the wish, or the chance of a wrong decision.
        wanted: Where the wish lies on that scale.
        meaning: What the shares are.
        spec: The collection, as JSON; "" where there is none.
    """

    words: tuple[str, ...]
    epsilon: float | None
    tried: tuple[float, ...]
    shares: tuple[float, ...]
    wanted: float
    meaning: str
    spec: str = ""


def named_mechanisms(kinds: Iterable[str] = ("frequency",)) -> dict[str, str]:
    """Mechanisms whose budget can be searched for, with what their names stand for."""
    found: dict[str, str] = {}
    for kind in kinds:
        for name, cls in registry(kind).items():
            required = {each for each, needed in takes(cls).items() if needed}
            if (
                "epsilon" in takes(cls)
                and "sensitive" not in takes(cls)
                and required <= {"k", "epsilon", "low", "high"}
            ):
                long = vars(cls).get("full_name") or name
                found[name] = name if long == name else f"{name}, {long}"
    return found


def near(found: Searched) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What was tried around the answer, for a plot; all of it where there is no answer."""
    rows = list(zip(found.tried, found.shares, strict=True))
    if found.epsilon is not None:
        low, high = found.epsilon / _AROUND, found.epsilon * _AROUND
        rows = [(at, share) for at, share in rows if low <= at <= high]
    return tuple(at for at, _ in rows), tuple(share for _, share in rows)


def tidy(pairs: Iterable[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Budgets, each once, rising, with the last that was found at each."""
    rows = sorted(dict(pairs).items())
    return tuple(at for at, _ in rows), tuple(share for _, share in rows)
