"""For one mechanism or family, the budget and the parameter that serve the wishes best, if any do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis.projective import dimension, points
from hush.analysis.roots import crossing
from hush.errors import HushError
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._moduli import ANCHORS, MOST_SEARCHED, choose_moduli, usual_moduli
from hush.mechanisms.adaptive import Adaptive
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import AOLH, OLH
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes
from hush.mechanisms.subset import SS
from hush.planning.families import FAMILIES, Family
from hush.planning.objectives import Z95, Setting, objective
from hush.planning.wishes import Wishes
from hush.utility._oracle import UtilityOracle

Floats = npt.NDArray[np.float64]

LEAST_EPSILON = 1e-3
_SCAN = 24
_DIGITS = 3, 6, 12
"""Of a budget that is found: the fewest with which it keeps the wishes."""
_SWITCHING = (Adaptive, SS, HR, PGR, MSS, OLH, AOLH)
"""What chooses a parameter of its own from the budget: error and attack jump where that switches."""

_ORDERS = (2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 19, 23, 27, 32, 37, 43, 49, 59, 64, 73, 81, 97, 121, 149, 181, 223, 256)
"""Fields that are tried for projective geometry response; others are between them."""
_MODULI_FOR = 4_096
"""Values up to which moduli are chosen for what matters."""
_FAMILY_FOR = 4_096
"""Values up to which hashing by a public family is looked at: what fakes gain is found by going through all of it."""
_WANTED: dict[str, str | dict[str, float]] = {"bits": "bits", "work": "bits", "attack": "asr", "accuracy": "mse"}
_BALANCE = {"mse": 0.5, "asr": 1.0, "bits": 0.25}

COMPARED = ("epsilon", "asr", "error", "gain", "bits")
"""What choices are compared in."""

NUMBERS = (*COMPARED, "work")
"""What is told of every choice."""


def setting(wishes: Wishes) -> Setting:
    """The circumstances that the wishes describe."""
    return Setting(n=wishes.n, worst=wishes.worst, fakes=wishes.fakes, targets=wishes.targets)


@dataclass(frozen=True)
class Named:
    """A registered mechanism that needs nothing but k, epsilon and perhaps delta."""

    mechanism: type[FrequencyOracle]
    wishes: Wishes
    fixed: tuple[tuple[str, Any], ...] = ()

    tuned: ClassVar[bool] = False

    def make(self, epsilon: float) -> FrequencyOracle:
        """The mechanism at a budget."""
        extra = {"delta": self.wishes.delta} if "delta" in takes(self.mechanism) else {}
        return self.mechanism(k=self.wishes.k, epsilon=epsilon, **extra, **dict(self.fixed))

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        top = self._top()
        if top is None:
            return None
        held = {name for name, _ in self.fixed} & {"blocks", "q"}
        switches = issubclass(self.mechanism, _SWITCHING) and not held
        found = self._scan(top) if switches else self._between(top)
        return found if found is not None and self._met(found) else None

    def _top(self) -> float | None:
        """The largest budget that it takes, up to what the wishes allow."""
        for epsilon in (self.wishes.largest_epsilon, 1.0):
            if epsilon <= self.wishes.largest_epsilon:
                try:
                    self.make(epsilon)
                    return epsilon
                except HushError:
                    continue
        return None

    def _of(self, name: str) -> Callable[[float], float]:
        """An objective, as a function of the budget."""
        asked = objective(self.wishes.metric if name == "error" else name)
        return lambda epsilon: asked.measure(self.make(epsilon), setting(self.wishes))

    def _met(self, m: FrequencyOracle) -> bool:
        return self.wishes.met({name: number_of(m, name, self.wishes) for name in self.wishes.limits})

    def _scan(self, top: float) -> FrequencyOracle | None:
        """Over a grid of budgets, since neither error nor attack need be monotone; then between two of them."""
        grid = np.geomspace(LEAST_EPSILON, top, _SCAN).tolist()
        if self.wishes.spends:
            grid.reverse()
        at = next((i for i, epsilon in enumerate(grid) if self._met(self.make(epsilon))), None)
        if at is None:
            return None
        good, bad = grid[at], grid[max(at - 1, 0)]
        while abs(math.log(good / bad)) > 1e-4:
            middle = math.sqrt(good * bad)
            good, bad = (middle, bad) if self._met(self.make(middle)) else (good, middle)
        towards = math.floor if self.wishes.spends else math.ceil
        made = (self.make(rounded(good, towards, digits)) for digits in _DIGITS)
        return next((m for m in made if self._met(m)), None)

    def _between(self, top: float) -> FrequencyOracle | None:
        """Attack success rises with the budget and error falls, so that the wishes bound it from both sides."""
        limits, high = self.wishes.limits, top
        if "asr" in limits:
            attack = self._of("asr")
            within = _crossing(lambda e: attack(e) / limits["asr"], top, math.floor)
            if within is None:
                return None
            high = within
        if self.wishes.spends:
            return self.make(high)
        error = self._of("error")
        needed = _crossing(lambda e: limits["error"] / error(e), high, math.ceil)
        return self.make(LEAST_EPSILON if needed is None else needed) if error(high) <= limits["error"] else None


def number_of(m: FrequencyOracle, name: str, wishes: Wishes) -> float:
    """One number of a mechanism under the wishes; "error" in the metric that was asked for; the promised epsilon."""
    if name == "epsilon":
        return m.epsilon if m.guarantee is None else m.guarantee.epsilon
    return objective(wishes.metric if name == "error" else name).measure(m, setting(wishes))


def numbers_of(m: FrequencyOracle, wishes: Wishes) -> dict[str, float]:
    """All that is told of a choice."""
    return {name: number_of(m, name, wishes) for name in NUMBERS}


def _crossing(rising: Callable[[float], float], top: float, towards: Callable[[float], int]) -> float | None:
    """The budget at which a rising measure crosses one, rounded to three digits up or down; the top where it does not.

    None where it lies above one even at the least budget.
    """
    if rising(top) <= 1:
        return top
    low, high = top, top
    while rising(low) > 1:  # from above, since small budgets make large tables
        low, high = low / 2, low
        if low < LEAST_EPSILON:
            return None
    at = math.exp(crossing(lambda x: math.log(rising(math.exp(x))), math.log(low), math.log(high), width=1e-5))
    near = rounded(at, towards)
    if (rising(near) > 1) == (towards is math.floor):  # the root was found on the other side of a round number
        near = rounded(near * (1.001 if towards is math.ceil else 0.999), towards)
    return min(near, top)


def rounded(x: float, towards: Callable[[float], int], digits: int = 3) -> float:
    """A number with so many digits, up or down.

    >>> rounded(1.06834, math.ceil), rounded(0.0106834, math.floor)
    (1.07, 0.0106)
    """
    places = digits - 1 - math.floor(math.log10(x))
    return round(towards(round(x * 10.0**places, 6)) / 10.0**places, max(places, 0))


@dataclass(frozen=True)
class Tuned:
    """A family whose parameter is chosen together with the budget."""

    family: Family
    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best: the right budget for each parameter of a grid, then parameters between the best."""
        w = self.wishes
        parameters = self.family.grid(w.k, w.largest_epsilon)
        for _ in range(4):
            parameters = parameters[self.family.bits(w.k, parameters) <= w.limits.get("bits", math.inf)]
            budgets = self._budgets(parameters)
            able = np.nonzero(budgets > 0)[0]
            if able.size == 0:
                return None
            at = int(able[w.order(self._numbers(budgets[able], parameters[able]))[0]])
            chosen = float(budgets[at]), float(parameters[at])
            near = parameters[max(at - 1, 0)], parameters[min(at + 1, parameters.size - 1)]
            parameters = np.append(np.linspace(*near, 25), parameters[at])
            digits = "{:.0f}" if self.family.whole else "{:.5g}"
            parameters = np.unique([float(digits.format(x)) for x in parameters.tolist()])
        return self._built(*chosen)

    def _budgets(self, parameter: Floats) -> Floats:
        """For each parameter the budget that the wishes call for, zero where none does.

        For a fixed parameter, attack success rises with the budget and error falls: each is bisected.
        """
        w, top = self.wishes, self.wishes.largest_epsilon
        least, most = np.full(parameter.shape, math.log(LEAST_EPSILON)), np.full(parameter.shape, math.log(top))

        def crossing(name: str, limit: float, *, rises: bool) -> Floats:
            low, high = least.copy(), most.copy()
            for _ in range(50):
                middle = (low + high) / 2
                within = (self._measured(np.exp(middle), parameter)[name] <= limit) == rises
                low, high = np.where(within, middle, low), np.where(within, high, middle)
            return low if rises else high

        if "asr" in w.limits:
            most = np.where(
                self._measured(np.exp(most), parameter)["asr"] <= w.limits["asr"],
                most,
                crossing("asr", w.limits["asr"], rises=True),
            )
        held = np.ones(parameter.shape, np.bool_)
        if "error" in w.limits:
            held &= self._measured(np.exp(most), parameter)["error"] <= w.limits["error"]
            least = crossing("error", w.limits["error"], rises=False)
        if "asr" in w.limits:
            held &= self._measured(np.exp(most), parameter)["asr"] <= w.limits["asr"]
        return np.where(held, np.exp(most if w.spends else np.minimum(least, most)), 0.0)

    def _measured(self, epsilon: Floats, parameter: Floats) -> dict[str, Floats]:
        w = self.wishes
        got = self.family.measured(w.k, epsilon, parameter, w.n, worst=w.worst, targets=w.targets)
        error = {"mse": got["mse"], "mae": np.sqrt(got["mse"] * 2 / math.pi), "margin": Z95 * np.sqrt(got["mse"])}
        return {"error": error[w.metric] * (1 + 1e-6), "asr": got["asr"] * (1 + 1e-9), "gain": got["gain"]}

    def _numbers(self, epsilon: Floats, parameter: Floats) -> list[dict[str, float]]:
        """What is compared, for each pair of a budget and a parameter; bits where they matter most."""
        whole = {"epsilon": epsilon, **self._measured(epsilon, parameter)}
        if self.wishes.matters == "bits":
            whole["bits"] = self.family.bits(self.wishes.k, parameter)
        if self.wishes.matters == "work" and self.family.mechanism is SS:
            whole["work"] = parameter
        return [{name: float(column[i]) for name, column in whole.items()} for i in range(epsilon.size)]

    def _built(self, epsilon: float, parameter: float) -> FrequencyOracle | None:
        """The mechanism itself, with a round budget where that keeps the wishes."""
        w = self.wishes
        towards = math.floor if w.spends else math.ceil
        for budget in (rounded(epsilon, towards, digits) for digits in _DIGITS):
            m = self.family.make(w.k, min(max(budget, LEAST_EPSILON), w.largest_epsilon), parameter)
            if w.met({name: number_of(m, name, w) for name in w.limits}):
                return m
        return None


@dataclass(frozen=True)
class Blocks:
    """Hadamard response, whose number of blocks is chosen together with the budget."""

    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        w = self.wishes
        sizes = [2**i for i in range((2 * w.k).bit_length()) if 2**i <= math.exp(w.largest_epsilon)]
        made = [Named(HR, w, (("blocks", size),)).search() for size in sizes]
        able = [m for m in made if m is not None]
        return able[w.order([numbers_of(m, w) for m in able])[0]] if able else None


@dataclass(frozen=True)
class Orders:
    """Projective geometry response, whose field is chosen together with the budget."""

    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """The one that serves best."""
        w = self.wishes
        most = min(4 * math.exp(w.largest_epsilon) + 4, w.k)
        orders = [q for q in _ORDERS if q <= most and points(q, dimension(w.k, q)) <= 64 * w.k]
        made = [Named(PGR, w, (("q", q),)).search() for q in orders]
        able = [m for m in made if m is not None]
        return able[w.order([numbers_of(m, w) for m in able])[0]] if able else None


@dataclass(frozen=True)
class Moduli:
    """Modular subset selection, whose moduli are chosen for what matters, near the largest budget."""

    wishes: Wishes

    tuned: ClassVar[bool] = True

    def search(self) -> FrequencyOracle | None:
        """With one choice of moduli, the budget that serves best."""
        w = self.wishes
        if w.k > _MODULI_FOR:
            return None
        nearest = min(ANCHORS, key=lambda each: (abs(each - w.largest_epsilon), each))
        return Named(MSS, w, (("moduli", _moduli(w.k, nearest, w.matters)),)).search()


@lru_cache(maxsize=256)
def _moduli(k: int, epsilon: float, matters: str) -> tuple[int, ...]:
    """Moduli for what matters; kept, since they take a while and wishes are often asked for again."""
    return choose_moduli(k, epsilon, objective=_WANTED.get(matters, _BALANCE))


def candidates(wishes: Wishes) -> Iterator[Named | Tuned | Blocks | Orders | Moduli]:
    """All that can be planned with: registered mechanisms that promise something, and the families to tune."""
    for cls in registry().values():
        wanted = takes(cls)
        required = {name for name, needed in wanted.items() if needed}
        if not required <= {"k", "epsilon", "delta"} or "epsilon" not in wanted:
            continue
        if ("delta" in wanted and wishes.delta is None) or issubclass(cls, UtilityOracle):
            continue  # all values are taken to be sensitive here
        if cls is MSS and wishes.k > MOST_SEARCHED:
            continue
        many = cls is MSS and wishes.k > _MODULI_FOR  # choosing moduli anew for every budget would take long
        yield Named(cls, wishes, (("moduli", usual_moduli(wishes.k, wishes.largest_epsilon)),) if many else ())
    if wishes.k <= _FAMILY_FOR:
        yield Named(OLH, wishes, (("hash", "family"),))
    tuned = wishes.for_tuning()
    for family in FAMILIES:
        yield Tuned(family, tuned)
    yield Blocks(tuned)
    yield Orders(tuned)
    yield Moduli(tuned)


@dataclass(frozen=True)
class Found:
    """A mechanism that meets the wishes, whether its parameter was tuned for them, and its numbers."""

    mechanism: FrequencyOracle
    tuned: bool
    numbers: dict[str, float]

    @property
    def name(self) -> str:
        """What it is called in the table."""
        family = " family" if getattr(self.mechanism, "hash", "") == "family" else ""
        return f"{'tuned ' if self.tuned else ''}{self.mechanism.name()}{family}"


def found(wishes: Wishes) -> list[Found]:
    """Everything that meets the wishes; what tuning finds again is left out."""
    rows: list[Found] = []
    for each in candidates(wishes):
        try:
            m = each.search()
        except HushError:  # a limit of this mechanism's own
            continue
        if m is None:
            continue
        row = Found(m, each.tuned, numbers_of(m, wishes))
        if not (row.tuned and any(_alike(row.numbers, other.numbers) for other in rows)):
            rows.append(row)
    return rows


def blind_error(wishes: Wishes) -> float:
    """Mean squared error of who reads no report and answers 1/k for every value, at its largest.

    It is largest where all people hold one value: (1 - 1/k)/k on average over the values, (1 - 1/k)² for that one.
    """
    return (1 - 1 / wishes.k) ** 2 if wishes.worst else (1 - 1 / wishes.k) / wishes.k


def useful(rows: list[Found], wishes: Wishes) -> list[Found]:
    """Those that tell more than no report would, if there are any; all where the error was asked for."""
    if wishes.error is not None:
        return rows
    return [row for row in rows if tells(row.mechanism, wishes)] or rows


def tells(m: FrequencyOracle, wishes: Wishes) -> bool:
    """Whether it does better than answering 1/k for every value."""
    return number_of(m, "mse", wishes) < blind_error(wishes)


def _alike(one: dict[str, float], other: dict[str, float]) -> bool:
    return all(abs(one[name] - other[name]) <= 0.05 * abs(other[name]) for name in COMPARED)
