"""What one way gains and gives up beside another, in words with both numbers; and which are worth a thought."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hush.planning.wishes import WEIGHTS
from hush.workbench.plan import words
from hush.workbench.plan.answer import Paragraphs, PlanOption

Numbers = Mapping[str, float]

_NOTICED = 1.1
"""What differs by less than a tenth is as good."""
_JUST = 1.02
"""Unless there is nothing else to think about; then this much is noticed."""
_SCARCELY = 0.05
_CLOSE, _SAME = 0.05, 1e-6
_FEWEST, _MOST = 2, 3

_LESS = {
    "epsilon": "a smaller ε",
    "asr": "fewer right guesses",
    "error": "a smaller error",
    "gain": "less for liars to gain",
    "bits": "shorter reports",
    "work": "less work for the server",
}
_MORE = {
    "epsilon": "a larger ε",
    "asr": "more right guesses",
    "error": "a larger error",
    "gain": "more for liars to gain",
    "bits": "longer reports",
    "work": "more work for the server",
}
_WHEN = {
    "epsilon": "Worth a thought if ε itself must be small: because a rule names it, or people will compare it.",
    "asr": "Worth a thought if guessing one person's answer is what you fear most.",
    "error": "Worth a thought if the estimates can be bought at this price.",
    "gain": "Worth a thought if some people may lie to push an answer.",
    "bits": "Worth a thought if devices send over a thin line.",
    "work": "Worth a thought if the server is small.",
}


def compared(own: Numbers, other: Numbers, noticed: float = _NOTICED) -> tuple[Paragraphs, Paragraphs, str]:
    """What is gained, what is given up, each what weighs most first; and who should think about it.

    Args:
        own: Numbers of one way.
        other: Those of the other.
        noticed: What differs by a smaller factor is as good.
    """
    names = [name for name in _LESS if name in own and name in other]
    ratios = {name: own[name] / max(other[name], 1e-300) for name in names}
    order = sorted(names, key=lambda name: -abs(math.log(max(ratios[name], 1e-300))) * WEIGHTS.get(name, _SCARCELY))
    better = [name for name in order if ratios[name] * noticed < 1]
    worse = [name for name in order if ratios[name] > noticed]
    return (
        tuple(f"{_LESS[name]}: {_beside(name, own, other)}" for name in better),
        tuple(f"{_MORE[name]}: {_beside(name, own, other)}" for name in worse),
        _WHEN[better[0]] if better else "",
    )


def _beside(name: str, own: Numbers, other: Numbers) -> str:
    """Both numbers, with the unit of the first."""
    said, unit = _SAID[name]
    return f"{said(own[name])}{unit} instead of {said(other[name])}"


_SAID: dict[str, tuple[Callable[[float], str], str]] = {
    "epsilon": (words.epsilon, ""),
    "asr": (words.hundred, " in 100"),
    "error": (lambda share: f"±{words.hundred(share)}", " points"),
    "gain": (words.hundred, " points"),
    "bits": (lambda bits: f"{bits:,.0f}", " bits"),
    "work": (lambda counters: f"{counters:,.0f}", " counters a report"),
}


def thoughts(options: Sequence[PlanOption], worth: Sequence[int]) -> tuple[PlanOption, ...]:
    """Two or three to think about: first who has the least ε and the fewest right guesses, then by rank.

    What nobody should promise is none of them. Where fewer than two gain a tenth, those join that have the least of
    something, by however little.

    Args:
        options: All, the recommended one first.
        worth: The numbers of those that gain a tenth in something, by rank.
    """
    first = options[0].numbers
    sound = [i for i in worth if _sound(options[i].numbers, first)]
    best = [_least(options, sound, name, _NOTICED) for name in ("epsilon", "asr")]
    kept: list[int] = []
    for i in dict.fromkeys((*best, *sound)):
        if i is not None and len(kept) < _MOST and not any(_covers(options[j], options[i]) for j in kept):
            kept.append(i)
    others = [i for i, each in enumerate(options) if i and each.on_front and _sound(each.numbers, first)]
    for name in _LESS:
        i = _least(options, others, name, _JUST)
        if len(kept) < _FEWEST and i is not None and not any(_covers(options[j], options[i]) for j in kept):
            kept.append(i)
    return tuple(_noticing(options[i], first) for i in sorted(kept))


def _sound(own: Numbers, first: Numbers) -> bool:
    """Whether it would not be warned of, where the first is not."""
    return own["epsilon"] <= max(words.MUCH, first["epsilon"])


def _least(options: Sequence[PlanOption], among: Sequence[int], name: str, noticed: float) -> int | None:
    """The one with the least of something, where that is less than the first has."""
    most = options[0].numbers.get(name, 0.0) / noticed
    able = [i for i in among if options[i].numbers.get(name, math.inf) < most]
    return min(able, key=lambda i: options[i].numbers[name], default=None)


def _noticing(option: PlanOption, first: Numbers) -> PlanOption:
    """With smaller differences told, where there are no larger ones to gain."""
    if option.gains:
        return option
    gains, gives_up, when = compared(option.numbers, first, _JUST)
    return replace(option, gains=gains, gives_up=gives_up, when=option.when or when)


def _covers(one: PlanOption, other: PlanOption) -> bool:
    """Whether whoever has seen one need not look at the other: it is no better in anything, by a twentieth."""
    named = {each.partition(":")[0] for each in other.gains if " instead of " not in each}
    shared = [name for name in _LESS if name in one.numbers and name in other.numbers]
    return named <= set(one.gains) and all(one.numbers[name] <= other.numbers[name] * (1 + _CLOSE) for name in shared)


def undominated(numbers: Sequence[Numbers], enough: float | None = None) -> list[bool]:
    """Of each whether no other is as good in everything that both know, and better in something.

    Args:
        numbers: Of each way, all of which are better the smaller they are.
        enough: The error that was asked for: one below it counts as that.
    """
    counted = [{**own, "error": max(own["error"], enough or 0.0)} for own in numbers]

    def beats(one: Numbers, other: Numbers) -> bool:
        names = [name for name in one if name in other]
        return all(one[n] <= other[n] * (1 + _SAME) for n in names) and any(
            one[n] < other[n] * (1 - _SAME) for n in names
        )

    return [not any(beats(other, own) for other in counted) for own in counted]
