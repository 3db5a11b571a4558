"""Improve what a search found: the least ε that gives nearly the same, and nothing that is much better in something.

Mechanisms are compared at the budgets that they may have, and ranked by a balance. Neither sees that a smaller ε would
do as well, nor that another mechanism is as good in all and much better in what weighs little. Both are repaired here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.tunable import Family
from hush.planning import balance
from hush.planning.budgets import LEAST_EPSILON, budget, first, place
from hush.planning.measures import meets, number_of
from hush.planning.named import Named
from hush.planning.objectives import OBJECTIVES, Z95
from hush.planning.protection_verdicts import LITTLE_EPSILON, WELL_EPSILON
from hush.planning.wishes import ASSUMED_EPSILON, Wishes

_SAVED = 0.9
"""A smaller ε is taken where it is at most this share of what was accepted: 0.96 for 1 would only look exact."""
_BOUND = ("error", "asr")
_REACH, _POINTS = 0.3, 40
"""Closed forms are looked at for so many budgets, down to this share of the largest."""
_SLACK = 1.02
"""How far closed forms may be off: MAE is nearly that of a normal law, and bits nearly those of a report."""
_BUILT = 12
_BALANCE_STEP, _BALANCE_REFINED = 0.1, (4, 2, 1)
"""Step of the budgets that are balanced, and how many steps from the best to look next."""
_FALLING = {*balance.ERRORS, "gain"}
"""What a larger budget makes smaller."""


def at_budget(m: FrequencyOracle, epsilon: float) -> FrequencyOracle:
    """Return a mechanism with the same parameters at another budget."""
    return type(m)(**{**m.parameters, "epsilon": epsilon})


Make = Callable[[float], FrequencyOracle]
"""Makes a mechanism at a budget; without one, the parameters stay."""


def lower_budget(m: FrequencyOracle, wishes: Wishes, make: Make | None = None) -> FrequencyOracle:
    """Return a mechanism at the least round ε at which everything else stays within 5 % and every wish is met.

    Errors below the sampling error count as that, and where accuracy matters most they alone count. The mechanism is
    returned as it is where that saves less than a tenth of ε, or where it already takes only what a stated error needs.
    """
    if not wishes.spends:
        return m
    at = make or partial(at_budget, m)
    kept = ("error",) if wishes.first == "error" else (*wishes.compared, "error")
    names = [name for name in dict.fromkeys(kept) if name in _FALLING]
    enough = _comparable(wishes, {name: number_of(m, name, wishes) for name in names})
    limit = wishes.limits.get("error", math.inf)

    def excess(epsilon: float) -> float:
        try:
            other = at(epsilon)
            found = {name: number_of(other, name, wishes) for name in names}
        except HushError:
            return math.inf
        within = (math.log(x / (balance.NEAR * enough[name])) for name, x in _comparable(wishes, found).items())
        return max(*within, math.log(max(found["error"], 1e-300) / limit) if limit < math.inf else -math.inf)

    own = number_of(m, "epsilon", wishes)
    if own * _SAVED <= LEAST_EPSILON or excess(own * _SAVED) > 0:
        return m
    least = first(excess, own * _SAVED)
    if least is None or budget(least) > own * _SAVED:
        return m
    less = at(budget(least))
    return less if meets(less, wishes) else m


def balanced_budget(m: FrequencyOracle, wishes: Wishes, make: Make | None = None) -> FrequencyOracle:
    """Return a mechanism at the budget with the best balance, of its own and those in steps of 0.1 from 1 on.

    The steps are the same whatever the largest budget is, so that allowing more does not make the balance worse. Every
    eighth is tried, then those nearer and nearer to the best.
    """
    bounds, tuning = wishes.at_budgets()[0], wishes.for_tuning()
    names = dict.fromkeys(("epsilon", "error", "asr", "gain", "mse", *tuning.weights))
    own, at = number_of(m, "epsilon", wishes), make or partial(at_budget, m)
    steps = np.arange(ASSUMED_EPSILON, bounds.largest_epsilon + 1e-9, _BALANCE_STEP).round(2).tolist()
    made: dict[float, FrequencyOracle] = {own: m}
    numbers: dict[float, dict[str, float]] = {}

    def best(tried: Iterable[float]) -> float:
        for epsilon in tried:
            if epsilon in numbers:
                continue
            try:
                other = made.setdefault(epsilon, m if epsilon == own else at(epsilon))
                if epsilon == own or meets(other, bounds):
                    numbers[epsilon] = {name: number_of(other, name, wishes) for name in names}
            except HushError:
                continue
        order = tuning.order(list(numbers.values()))
        return list(numbers)[order[0]]

    found = best((own, *steps[:: 2 * _BALANCE_REFINED[0]]))
    for distance in _BALANCE_REFINED:
        found = best(x for x in steps if round(abs(x - found) / _BALANCE_STEP) == distance)
    return made[found]


@dataclass(frozen=True)
class Maker:
    """A mechanism whose parameters are fixed, at any budget.

    Args:
        mechanism: The class.
        fixed: Its parameters but k, epsilon and delta.
        tuned: Whether the parameters were chosen for the wishes.
    """

    mechanism: type[FrequencyOracle]
    fixed: tuple[tuple[str, Any], ...]
    tuned: bool

    def make(self, epsilon: float, wishes: Wishes) -> FrequencyOracle:
        """Return the mechanism at a budget."""
        return Named(self.mechanism, wishes, self.fixed).make(epsilon)


def find_better(
    first_numbers: Mapping[str, float], makers: Iterable[Maker], wishes: Wishes
) -> Iterator[tuple[FrequencyOracle, bool]]:
    """Find mechanisms within 5 % in everything compared and better by half in something, and whether they are tuned.

    For fixed parameters, error and gain fall with ε and attacks rise (but the gain of `MSS`, in places). So all ε that
    are within 5 % are an interval, and what is better by half is so at one of its ends, or at
    the largest ε of a verdict, if none above it may replace the first.
    """
    test = _Test(first_numbers, wishes)
    for maker in makers:
        for m in test.ends(maker):
            if test.passes(m):
                yield m, maker.tuned


class _Test:
    """What beats some numbers."""

    def __init__(self, numbers: Mapping[str, float], wishes: Wishes) -> None:
        self.wishes, self.own = wishes, _comparable(wishes, numbers)
        self.numbers = numbers
        self.names = balance.kept_near(wishes)
        slow = {name for name in self.names if name in OBJECTIVES and not OBJECTIVES[name].quick}
        self.falling = [name for name in self.names if name in _FALLING]
        self.rising = [name for name in self.names if name in balance.ATTACKS and name not in slow]
        self.slow_attacks = [name for name in self.names if name in balance.ATTACKS and name in slow]
        self.costs = [name for name in self.names if name in {"bits", "work"}]
        self.ordered = [name for name in self.names if name not in slow] + sorted(slow)
        most = min(balance.NEAR * numbers["epsilon"], wishes.largest_epsilon)
        self.top = place(most)
        while budget(self.top) > most * (1 + 1e-12):
            self.top -= 1

    def ends(self, maker: Maker) -> Iterator[FrequencyOracle]:
        """Yield the mechanism at the ends of the budgets that are within 5 %.

        They are the largest and the least at which quick numbers are, and the largest at which slow attacks are, if a
        number is better by half there that a smaller budget makes worse. The largest of a verdict counts, too, since
        nothing is replaced by what protects less.
        """
        limits = self.wishes.limits

        def exceeds(names: list[str], epsilon: float) -> float:
            try:
                m = maker.make(epsilon, self.wishes)
                worst = max((self._ratio(m, name) for name in names if name in self.names), default=0.0)
                bound = [number_of(m, x, self.wishes) / limits[x] for x in _BOUND if x in limits and x in names]
            except HushError:
                return math.inf
            return math.log(max(worst / balance.NEAR, *bound, 1e-300)) - 1e-12

        def left(epsilon: float) -> float:
            over = exceeds(rising, epsilon)
            return math.inf if over == math.inf else 1e-12 - over

        falling = [*self.falling, *(["error"] if "error" in limits and "error" not in self.falling else [])]
        rising = [*self.rising, *(["asr"] if "asr" in limits and "asr" not in self.rising else [])]
        high = self.top
        if high < 0 or exceeds(self.costs, budget(high)) > 0 or exceeds(falling, budget(high)) > 0:
            return
        if exceeds(rising, budget(high)) > 0:
            at = first(left, budget(high))
            if at is None or at == 0:
                return
            high = min(at - 1, high)
        low = first(lambda epsilon: exceeds(falling, epsilon), budget(high))
        if low is None or low > high:
            return
        verdicts = [place(most) for most in (WELL_EPSILON, LITTLE_EPSILON) if low < place(most) < high]
        for at in dict.fromkeys((high, *verdicts, self._largest_within(maker, low, high), low)):
            yield maker.make(budget(at), self.wishes)

    def _largest_within(self, maker: Maker, low: int, high: int) -> int:
        """Return the place of the largest budget at which slow attacks are within 5 %, or `high` if none is needed."""
        top = maker.make(budget(high), self.wishes)
        if not self.slow_attacks or all(self._ratio(top, name) > balance.MUCH_BETTER for name in self.falling):
            return high

        def left(epsilon: float) -> float:
            try:
                m = maker.make(epsilon, self.wishes)
                worst = max(self._ratio(m, name) for name in self.slow_attacks)
            except HushError:
                return math.inf
            return math.log(balance.NEAR / max(worst, 1e-300))

        if left(budget(high)) >= 0:
            return high
        at = first(left, budget(high))
        return high if at is None else min(max(at - 1, low), high)

    def passes(self, m: FrequencyOracle) -> bool:
        """Whether a mechanism beats the numbers, meets every wish and protects as well."""
        w = self.wishes
        try:
            better = False
            for name in self.ordered:
                ratio = self._ratio(m, name)
                better |= name in w.compared and ratio <= balance.MUCH_BETTER
                if ratio > balance.NEAR:
                    return False
            unseen = {name: number_of(m, name, w) for name in ("epsilon", "asr", "gain")}
            return better and meets(m, w) and w.may_replace(unseen, self.numbers)
        except HushError:
            return False

    def _ratio(self, m: FrequencyOracle, name: str) -> float:
        return _comparable(self.wishes, {name: number_of(m, name, self.wishes)})[name] / self.own[name]


def likely_better(family: Family, first_numbers: Mapping[str, float], wishes: Wishes) -> list[Maker]:
    """Return members of a family that may be within 5 % of some numbers and better by half in one, by closed forms."""
    w = wishes
    parameters = family.grid(w.k)
    top = min(balance.NEAR * first_numbers["epsilon"], w.largest_epsilon)
    epsilon = top * np.geomspace(1.0, _REACH, _POINTS)[:, None]
    got = family.measured(w.k, epsilon, parameters[None], w.judged, worst=w.worst, targets=w.targets)
    mse = got["mse"]
    metrics = {"mse": mse, "margin": Z95 * np.sqrt(mse), "mae": np.sqrt(mse * 2 / math.pi)}
    columns = {
        **metrics,
        "error": metrics[w.metric],
        "asr": got["asr"],
        "gain": w.fakes * (got["gain"] - w.targets / w.k),
        "bits": np.broadcast_to(family.bits(w.k, parameters), mse.shape),
        "epsilon": np.broadcast_to(epsilon, mse.shape),
    }
    if family.work is not None:
        columns["work"] = np.broadcast_to(family.work(parameters), mse.shape)
    known = {name: column for name, column in columns.items() if name in balance.kept_near(w)}
    own = _comparable(w, {name: first_numbers[name] for name in known})
    ratios = {name: column / own[name] for name, column in balance.comparable(w, known).items()}
    within = np.all([ratio <= balance.NEAR * _SLACK for ratio in ratios.values()], axis=0)
    if set(w.compared) <= known.keys():
        halved = [ratio <= balance.MUCH_BETTER * _SLACK for name, ratio in ratios.items() if name in w.compared]
        within &= np.any(halved, axis=0)
    total = np.sum([np.log(ratio) for ratio in ratios.values()], axis=0)
    best = np.where(within, total, math.inf).min(axis=0)
    order = [i for i in np.argsort(best, kind="stable").tolist() if best[i] < math.inf][:_BUILT]
    return [Maker(family.mechanism, ((family.parameter, family.written(parameters[i])),), tuned=True) for i in order]


def _comparable(wishes: Wishes, numbers: Mapping[str, float]) -> dict[str, float]:
    columns = {name: np.array(number) for name, number in numbers.items()}
    return {name: float(number) for name, number in balance.comparable(wishes, columns).items()}
