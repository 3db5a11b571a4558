"""The planner's words: what a choice gives up, why the first is first, and what a little more would buy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hush.mechanisms.forms import Forms
from hush.planning.balance import ERRORS, NEAR
from hush.planning.protection_verdicts import MAX_ASR
from hush.planning.wishes import WEIGHTS

Numbers = Mapping[str, float]

_TITLES = {
    "epsilon": "budget",
    "asr": "attack success",
    "error": "error",
    "gain": "gain of fake users",
    "bits": "report size",
}
_WORK = "work for the server"
_MORE = {
    "reidentification": "re-identification",
    "attribute": "attribute inference",
    "pools": "pool inference",
    "changes": "detection of changes",
    "variance": "variance",
    "mse": "squared error",
    "mae": "absolute error",
    "margin": "margin",
    "information": "information lost",
    "work": _WORK,
}
"""What is compared only where it is named."""
_LESS = {"epsilon": "less ε", "gain": "less gain of fake users", "bits": "shorter reports", "work": f"less {_WORK}"}
_SHORT = {**_MORE, "epsilon": "ε", "asr": "ASR", "error": "error", "gain": "gain", "bits": "bits", "work": "work"}
_COSTS = ("bits", "work")
_NOTICED = 1.1
"""Less than ten per cent apart is as good."""
_SCARCELY = 0.05
"""What a server's work weighs in a comparison, beside what costs people something."""
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


def compared(own: Numbers, other: Numbers, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a choice gains and what it gives up against another one, each what weighs most first.

    >>> compared({"epsilon": 1.0, "bits": 18.0}, {"epsilon": 1.5, "bits": 9.0}, ("epsilon", "bits"))
    (('1.50× less ε',), ('2.0× the bits',))
    """
    ratios = {name: own[name] / max(other[name], 1e-300) for name in names}
    order = sorted(names, key=lambda name: -abs(math.log(max(ratios[name], 1e-300))) * WEIGHTS.get(name, _SCARCELY))
    better = [name for name in order if ratios[name] * _NOTICED < 1]
    less = (f"{times(1 / max(ratios[name], 1e-300))} {'fewer' if name == 'bits' else 'less'}" for name in better)
    return (
        tuple(f"{much} {_SHORT[name]}" for much, name in zip(less, better, strict=True)),
        tuple(f"{times(ratios[name])} the {_SHORT[name]}" for name in order if ratios[name] > _NOTICED),
    )


def why_first(
    forms: Forms,
    names: Sequence[str],
    numbers: Sequence[Numbers],
    most: str | None,
    counted: Sequence[str] = tuple(_TITLES),
    *,
    instead: tuple[str, Numbers] | None = None,
) -> str:
    """Say why the first of the ranked choices is first.

    Args:
        forms: Of the first choice.
        names: Of the choices.
        numbers: Of the choices.
        most: What matters most, or None for a balance.
        counted: What counts in the balance.
        instead: The choice that ranks first, where another one is as good within 5 % and much better in something.
    """
    more = (
        _budget(names, numbers),
        _lead(names, numbers, most, counted) if instead is None else _exchange(names[0], numbers[0], instead, most),
        _little_more(names, numbers, most, counted),
        _known_for(forms, names, numbers),
    )
    return " ".join(words for words in more if words)


def _budget(names: Sequence[str], numbers: Sequence[Numbers]) -> str:
    """The recommendation and its budget; where another one needs less, what the larger budget buys."""
    own, least = numbers[0], min(range(len(names)), key=lambda i: (numbers[i]["epsilon"], i))
    said = f"{names[0]} is recommended, at ε = {own['epsilon']:.4g}"
    if len(names) == 1:
        return f"{said}, the only mechanism that meets every wish."
    other = numbers[least]
    if own["epsilon"] == max(row["epsilon"] for row in numbers) == other["epsilon"]:
        return f"{said}, like every other choice."
    if own["epsilon"] <= 1.01 * other["epsilon"]:
        return f"{said}: no other choice has {'less' if least == 0 else '1 % less'}."
    ratios = {name: other[name] / max(own[name], 1e-300) for name in (*_TITLES, *_MORE) if name in own}
    noticed = [name for name, ratio in ratios.items() if ratio > _NOTICED] or [n for n, r in ratios.items() if r > 1.01]
    bought = _listed([_won(name, ratios[name]) for name in noticed])
    as_exact = other["error"] <= 1.01 * own["error"]
    needs = f"needs only {other['epsilon']:.4g} for that error" if as_exact else f"takes only {other['epsilon']:.4g}"
    if own["asr"] <= MAX_ASR < other["asr"]:
        return (
            f"{said}; {names[least]} {needs}, but its reports name the value of their sender more than 9 times in 10."
        )
    return f"{said}; {names[least]} {needs}, {f'and the larger ε buys {bought}' if bought else 'but balances worse'}."


def _won(name: str, ratio: float) -> str:
    """By how much something is better."""
    return f"{times(ratio)} {_LESS.get(name) or f'less {_titled(name)}'}"


def listed_titles(names: Sequence[str]) -> str:
    """Return what numbers are called, in a list.

    >>> listed_titles(["error", "gain"])
    'error and gain of fake users'
    """
    return _listed([_titled(name) for name in names])


def _titled(name: str) -> str:
    return _TITLES.get(name) or _MORE[name]


def _lead(names: Sequence[str], numbers: Sequence[Numbers], most: str | None, counted: Sequence[str]) -> str:
    if len(names) == 1:
        return ""
    if most is not None:
        title, least = _titled(most), min(row[most] for row in numbers)
        if numbers[0][most] > 1.0101 * least:
            near = "count as equal, since they are below the sampling error" if most in ERRORS else "are within 5 %"
            return f"Rows with a lower {title} protect less, let fake users gain more, or {near}."
        ahead = numbers[1][most] / max(numbers[0][most], 1e-300)
        lead = f"It has the lowest {title} of the {len(names)} that meet every wish"
        if ahead > 1.01:
            return f"{lead}; the next, {names[1]}, has {times(ahead)} as much."
        return f"{lead}; {names[1]} has as little, but is worse in the balance of the rest."
    costs = [name for name in counted if name in _COSTS]
    titles = [_titled(name) for name in (*(name for name in counted if name not in _COSTS), *costs)]
    quarter = (
        "" if not costs else f", where {_listed(titles[-len(costs) :])} {'count' if len(costs) > 1 else 'counts'} least"
    )
    return f"It has the best balance of {_listed(titles)} among the {len(names)} that meet every wish{quarter}."


def _exchange(chosen: str, own: Numbers, instead: tuple[str, Numbers], most: str | None) -> str:
    """Say what the first choice has in place of the one that ranks first."""
    name, its = instead
    ratios = {each: its[each] / max(own[each], 1e-300) for each in (*_TITLES, *_MORE) if each in own}
    won = [_won(each, ratio) for each, ratio in ratios.items() if ratio > _NOTICED]
    near = all(ratio * NEAR >= 1 for ratio in ratios.values())
    behind = "" if most is None or own[most] <= its[most] else f", with the lower {_titled(most)}"
    little = "this is within 5 % of it in every compared number"
    equal = "an error below the sampling error counts as equal to it, and an attack near a blind guess as blind"
    another = "Another " if name == chosen else ""
    return f"{another}{name} ranks first{behind}, but {little if near else equal}, and this has {_listed(won)}."


def _little_more(names: Sequence[str], numbers: Sequence[Numbers], most: str | None, counted: Sequence[str]) -> str:
    """A choice with somewhat more of what matters most that is much better in something, and as good in the rest."""
    if most is None:
        return ""
    first, found, least = numbers[0], 0, 0.0
    others = [name for name in counted if name != most]
    for i, row in enumerate(numbers):
        ratios = {name: row[name] / max(first[name], 1e-300) for name in others}
        near = row[most] <= _LITTLE_MORE * first[most]
        if near and max(ratios.values()) <= _NOTICED and min(ratios.values()) <= 1 / _WORTH_IT:
            total = sum(math.log(max(ratio, 1e-300)) for ratio in ratios.values())
            found, least = (i, total) if total < least else (found, least)
    if not found:
        return ""
    row = numbers[found]
    won = [_won(name, first[name] / max(row[name], 1e-300)) for name in others if row[name] * _NOTICED < first[name]]
    return f"{_price(first[most], row[most], most)}, {names[found]} has {_listed(won)}."


def _price(first: float, other: float, most: str) -> str:
    if other <= 1.01 * first:
        return "With as little of it"
    if most == "bits":
        return f"For {other - first:,.0f} {'bit' if other - first == 1 else 'bits'} more"
    return f"For {times(other / first)} the {_titled(most)}"


def _known_for(forms: Forms, names: Sequence[str], numbers: Sequence[Numbers]) -> str:
    """What mechanisms with few bits and quick decoding trade, beside the one they are compared with if it is there."""
    rival, own = forms.compared_with, numbers[0]
    if not rival:
        return ""
    other = dict(zip(names, numbers, strict=True)).get(rival)
    sizes = [f"a value alone, {(forms.m.k - 1).bit_length()}"]
    sizes += [] if other is None else [f"{rival}'s {other['bits']:,.0f}"]
    steps = "" if other is None else f" ({rival}'s to {other['work']:,.0f})"
    counters = "1 counter" if own["work"] == 1 else f"{own['work']:,.0f} counters"
    bits = "1 bit" if own["bits"] == 1 else f"{own['bits']:,.0f} bits"
    said = f"Its report has {bits}{_bracketed(sizes)} and adds to {counters} of the server{steps}."
    return f"{said} {forms.warning}" if forms.warning else said


def _bracketed(words: Sequence[str]) -> str:
    return f" ({'; '.join(words)})" if words else ""


def points(share: float) -> str:
    """Write a share in percentage points.

    >>> points(0.0123), points(1.881), points(2769.2)
    ('1.23 points', '188 points', '276,920 points')
    """
    return f"{100 * share:.3g} points" if share < 1 else f"{100 * share:,.0f} points"


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
