"""The seven mechanisms, as the paper has them and as they can be.

The paper's reading: its z, its closed forms of the parameters (the better of the two nearest integers by its own
equation 28), pairs. Ours: the exact z, the parameter with the least error, and what is revealed goes alone where that
has less error; local hashing then needs a balanced hash family.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from hush.utility import UtilityOracle, optimal, total_error, uHR, uLH, uRAP, uRR, uSS, uUE, uWheel
from hush.utility.named import NamedOracle
from hush_studies.uldp.people import MechanismSetting

MECHANISMS: dict[str, type[NamedOracle]] = {
    "uRR": uRR, "uRAP": uRAP, "uHR": uHR, "uSS": uSS, "uUE": uUE, "uLH": uLH, "uWheel": uWheel,
}  # fmt: skip
PURE = ("uRR", "uRAP", "uSS", "uUE", "uLH", "uWheel")
"""All that equation 28 speaks of."""

PROPOSED = ("uSS", "uUE", "uLH")
READINGS = ("paper", "ours")
PARAMETERS = {"uSS": "omega", "uUE": "p", "uLH": "g", "uWheel": "coverage", "uHR": "blocks"}

BUDGETS = tuple(i / 2 for i in range(1, 11))
_QUICK = (0.5, 2.0, 5.0)

_CHOICES = {
    "uRR": [("exact", "alone")],
    "uHR": [("exact", "alone")],
    "uLH": [("exact", "pair"), ("balanced", "alone")],
    "uWheel": [("exact", "pair")],
}
_USUAL = [("exact", "pair"), ("exact", "alone")]


def budgets(quick: bool) -> tuple[float, ...]:
    """From 0.5 to 5, as in section 6.3."""
    return _QUICK if quick else BUDGETS


def made(name: str, reading: str, at: MechanismSetting, epsilon: float) -> UtilityOracle:
    """A mechanism as read; "without z" is the paper's reading with z = 0."""
    if reading == "ours":
        return ours(name, at, epsilon)
    return paper(name, at, epsilon, "paper" if reading == "paper" else "none")


@cache
def paper(name: str, at: MechanismSetting, epsilon: float, z: str = "paper") -> UtilityOracle:
    """As the paper has it, with its z or, by name, another one."""
    common: dict[str, Any] = {"k": at.k, "epsilon": epsilon, "sensitive": at.sensitive, "theta": at.theta}
    common["reveal"] = "alone" if name in ("uRR", "uHR") else "pair"  # the z of uRR is zero, and uHR is published so
    options = _closed(name, at, epsilon) if at.s > 1 else [{}]
    best = min(options, key=lambda more: _error(MECHANISMS[name](**common, z="paper", **more), at))
    return MECHANISMS[name](**common, z=z, **best)


@cache
def ours(name: str, at: MechanismSetting, epsilon: float) -> UtilityOracle:
    """With the least error that Hush knows for it."""
    common: dict[str, Any] = {"k": at.k, "epsilon": epsilon, "sensitive": at.sensitive, "theta": at.theta}
    choices = _CHOICES.get(name, _USUAL) if at.s > 1 else [("exact", "alone" if name == "uHR" else "pair")]
    return min((MECHANISMS[name](**common, z=z, reveal=way) for z, way in choices), key=lambda u: _error(u, at))


def _error(u: UtilityOracle, at: MechanismSetting) -> float:
    return total_error(u, at.theta)


def _closed(name: str, at: MechanismSetting, epsilon: float) -> list[dict[str, Any]]:
    """Equations 37, 43, 49 and 63; integers on both sides where one is needed."""
    s, theta = at.s, at.theta
    if name == "uSS":
        return [{"omega": size} for size in _around(optimal.subset_size_paper(s, epsilon, theta), 1, s - 1)]
    if name == "uUE":
        return [{"p": optimal.unary_probability_paper(s, epsilon, theta)}]
    if name == "uLH":
        return [{"g": g} for g in _around(optimal.hash_range_paper(s, epsilon, theta), 2, 2**30)]
    return [{"coverage": optimal.coverage_paper(s, epsilon, theta)}] if name == "uWheel" else [{}]


def _around(value: float, least: int, most: int) -> list[int]:
    return sorted({min(max(each, least), most) for each in (math.floor(value), math.ceil(value))})


def parameter(u: UtilityOracle) -> float | None:
    """The number that was chosen, for those that have one."""
    found = getattr(u, PARAMETERS.get(u.name(), ""), None)
    return None if found is None else float(found)
