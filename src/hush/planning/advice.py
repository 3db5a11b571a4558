"""The planner's words: what a choice gives up, and why the first is first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Numbers = Mapping[str, float]

_TITLES = {
    "epsilon": "budget",
    "asr": "attack success",
    "error": "error",
    "gain": "gain of fake users",
    "bits": "report size",
}
_SHORT = {"epsilon": "ε", "asr": "ASR", "error": "error", "gain": "gain", "bits": "bits"}
_NOTICED = 1.1
"""Less than ten per cent apart is as good."""


_KNOWN_FOR = {
    "PGR": "It is about as accurate as subset selection, in a report as short as randomized response's, which a server "
    "counts in one step.",
    "MSS": "It is subset selection modulo several small numbers: its subsets are shorter and its server counts fewer "
    "members, for some more error, and fakes can choose the block where they weigh most.",
}
"""What the choices with few bits and quick decoding trade."""


def gives_up(own: Numbers, rivals: Mapping[str, Numbers]) -> str:
    """Where a choice is worse than the best rival in something, the two worst first.

    >>> gives_up({"asr": 0.2, "bits": 7.0}, {"GRR": {"asr": 0.2, "bits": 7.0}, "BLH": {"asr": 0.1, "bits": 65.0}})
    '2.0× the ASR of BLH'
    """
    losses = []
    for name, value in own.items():
        best = min(rivals, key=lambda rival: rivals[rival][name])
        factor = value / max(rivals[best][name], 1e-300)
        if factor > _NOTICED:
            losses.append((factor, f"{times(factor)} the {_SHORT[name]} of {best}"))
    losses.sort(reverse=True)
    return "; ".join(words for _, words in losses[:2]) or "nothing: within 10 % of the best in everything"


def why_first(names: Sequence[str], numbers: Sequence[Numbers], compared: str | None) -> str:
    """Why the first of the ranked choices is first; `compared` is what matters most, or None for a balance."""
    more = _KNOWN_FOR.get(names[0].removeprefix("tuned "), "")
    return f"{_lead(names, numbers, compared)} {more}".rstrip()


def _lead(names: Sequence[str], numbers: Sequence[Numbers], compared: str | None) -> str:
    if len(names) == 1:
        return f"{names[0]} is the only mechanism that meets every wish."
    first, second = names[0], names[1]
    if compared is not None:
        ahead = numbers[1][compared] / numbers[0][compared]
        lead = f"{first} has the lowest {_TITLES[compared]} of the {len(names)} that meet every wish"
        if ahead > 1.01:
            return f"{lead}; the next, {second}, has {times(ahead)} as much."
        return f"{lead}; {second} has as little, but is worse in the balance of the rest."
    best = [_TITLES[name] for name in numbers[0] if _stands_out([each[name] for each in numbers])]
    shines = f" It has the lowest {_listed(best)} of all." if best else ""
    return (
        f"{first} has the best balance of {_listed(list(_TITLES.values()))} among the {len(names)} that meet every "
        f"wish: the least geometric mean of all five, with size counted a quarter.{shines}"
    )


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
