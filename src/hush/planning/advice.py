"""The planner's words: what a choice gives up, why the first is first, and what a little more would buy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Numbers = Mapping[str, float]

_TITLES = {
    "epsilon": "budget",
    "asr": "attack success",
    "error": "error",
    "gain": "gain of fake users",
    "bits": "report size",
}
_WORK = "work for the server"
_SHORT = {"epsilon": "ε", "asr": "ASR", "error": "error", "gain": "gain", "bits": "bits", "work": "work"}
_NOTICED = 1.1
"""Less than ten per cent apart is as good."""
_LITTLE_MORE = 1.5
_WORTH_IT = 2.0
"""A choice that is twice as good in something, for half as much again of what matters most, is pointed out."""


def gives_up(own: Numbers, rivals: Mapping[str, Numbers], names: Sequence[str] = tuple(_TITLES)) -> tuple[str, ...]:
    """Where a choice is worse than the best rival in something, the worst first.

    >>> gives_up({"asr": 0.2, "bits": 7.0}, {"GRR": {"asr": 0.2, "bits": 7.0}, "BLH": {"asr": 0.1, "bits": 65.0}})
    ('2.0× the ASR of BLH',)
    """
    losses = []
    for name in (each for each in names if each in own):
        best = min(rivals, key=lambda rival: rivals[rival][name])
        factor = own[name] / max(rivals[best][name], 1e-300)
        if factor > _NOTICED:
            losses.append((factor, f"{times(factor)} the {_SHORT[name]} of {best}"))
    losses.sort(reverse=True)
    return tuple(words for _, words in losses)


def why_first(names: Sequence[str], numbers: Sequence[Numbers], compared: str | None, k: int) -> str:
    """Why the first of the ranked choices is first; `compared` is what matters most, or None for a balance."""
    more = (_lead(names, numbers, compared), _little_more(names, numbers, compared), _known_for(names, numbers, k))
    return " ".join(words for words in more if words)


def _lead(names: Sequence[str], numbers: Sequence[Numbers], compared: str | None) -> str:
    if len(names) == 1:
        return f"{names[0]} is the only mechanism that meets every wish."
    first, second = names[0], names[1]
    if compared is not None:
        ahead = numbers[1][compared] / numbers[0][compared]
        lead = f"{first} has the lowest {_TITLES.get(compared, _WORK)} of the {len(names)} that meet every wish"
        if ahead > 1.01:
            return f"{lead}; the next, {second}, has {times(ahead)} as much."
        return f"{lead}; {second} has as little, but is worse in the balance of the rest."
    best = [_TITLES[name] for name in _TITLES if _stands_out([each[name] for each in numbers])]
    shines = f" It has the lowest {_listed(best)} of all." if best else ""
    return (
        f"{first} has the best balance of {_listed(list(_TITLES.values()))} among the {len(names)} that meet every "
        f"wish: the least geometric mean of all five, with size counted a quarter.{shines}"
    )


def _little_more(names: Sequence[str], numbers: Sequence[Numbers], compared: str | None) -> str:
    """A choice with somewhat more of what matters most that is much better in something, and as good in the rest."""
    if compared is None:
        return ""
    first, found, least = numbers[0], 0, 0.0
    others = [name for name in _TITLES if name != compared]
    for i, row in enumerate(numbers):
        ratios = {name: row[name] / max(first[name], 1e-300) for name in others}
        near = row[compared] <= _LITTLE_MORE * first[compared]
        if near and max(ratios.values()) <= _NOTICED and min(ratios.values()) <= 1 / _WORTH_IT:
            total = sum(math.log(max(ratio, 1e-300)) for ratio in ratios.values())
            found, least = (i, total) if total < least else (found, least)
    if not found:
        return ""
    row = numbers[found]
    won = [f"{times(first[n] / max(row[n], 1e-300))} less {_TITLES[n]}" for n in others if row[n] * _NOTICED < first[n]]
    return f"{_price(first[compared], row[compared], compared)}, {names[found]} has {_listed(won)}."


def _price(first: float, other: float, compared: str) -> str:
    if other <= 1.01 * first:
        return "With as little of it"
    if compared == "bits":
        return f"For {other - first:,.0f} {'bit' if other - first == 1 else 'bits'} more"
    return f"For {times(other / first)} the {_TITLES.get(compared, _WORK)}"


def _known_for(names: Sequence[str], numbers: Sequence[Numbers], k: int) -> str:
    """What the mechanisms with few bits and quick decoding trade, beside subset selection where it is there."""
    first, own = names[0].removeprefix("tuned "), numbers[0]
    if first not in {"PGR", "MSS"}:
        return ""
    other = dict(zip(names, numbers, strict=True)).get("SS")
    sizes = [f"GRR's, a value alone, {(k - 1).bit_length()}"] if first == "PGR" else []
    sizes += [] if other is None else [f"SS's {other['bits']:,.0f}"]
    steps = "" if other is None else f" (SS's to {other['work']:,.0f})"
    counters = "1 counter" if own["work"] == 1 else f"{own['work']:,.0f} counters"
    said = f"Its report has {own['bits']:,.0f} bits{_bracketed(sizes)} and adds to {counters} of the server{steps}."
    if other is not None:
        apart = [each for each in ("error", "epsilon") if abs(math.log(other[each] / own[each])) > math.log(1.01)]
        same = [f"{times(other[each] / own[each])} its {_TITLES[each]}" for each in apart]
        said += f" SS has {_listed(same) if same else 'the same error, within 1 %'}."
    return f"{said} Fakes can choose the block where they weigh most." if first == "MSS" else said


def _bracketed(words: Sequence[str]) -> str:
    return f" ({'; '.join(words)})" if words else ""


def _stands_out(values: Sequence[float]) -> bool:
    """Whether the first is the least, and some are larger."""
    return values[0] <= min(values) * (1 + 1e-9) < max(values)


def times(factor: float) -> str:
    """How many times as much.

    >>> times(1.14), times(2.04), times(37.2), times(12345.6)
    ('1.14×', '2.0×', '37×', '12,346×')
    """
    if factor < 2:
        return f"{factor:.2f}×"
    return f"{factor:.1f}×" if factor < 10 else f"{factor:,.0f}×"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
