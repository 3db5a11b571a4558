"""What a person wants of a collection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.planning import balance
from hush.planning.objectives import OBJECTIVES
from hush.planning.protection_verdicts import (
    LITTLE_EPSILON,
    MAX_ASR,
    MAX_WEIGHT_OF_FAKES,
    max_useful_mse,
    protection,
    protection_level,
    protects_as_well,
)
from hush.types import Floats

METRICS = {
    "margin": "half the width of a 95 % interval",
    "mse": "mean squared error",
    "mae": "mean absolute error",
}
"""How an error can be meant."""

MATTERS = {
    "balance": "no one thing: everything below but work",
    "privacy": "the smallest epsilon",
    "attack": "the lowest attack success",
    "accuracy": "the smallest error",
    "manipulation": "the least gain of fake users",
    "bits": "the shortest reports",
    "work": "the least work for the server, whose counters each report touches",
}
"""What can matter most."""

ASSUMED_EPSILON = 1.0
"""The largest budget where neither an error nor a budget is stated."""

SEARCHED_EPSILON = 10.0
"""The largest budget that is searched for one that reaches a stated error."""

FIRST = {
    "privacy": "epsilon",
    "attack": "asr",
    "accuracy": "error",
    "manipulation": "gain",
    "bits": "bits",
    "work": "work",
}
"""The number that decides where that matters most."""

MOST_PEOPLE = 10**12
"""More than there will ever be."""

_MOST_EPSILON = 30.0  # for the question how much budget would do; beyond it, thresholds of 64 bits end

COMPARED = ("epsilon", "asr", "error", "gain", "bits")
"""What choices are compared in, unless other objectives are named."""

NUMBERS = (*COMPARED, "work")
"""What is told of every choice."""

WEIGHTS = {"epsilon": 1.0, "asr": 0.5, "error": 1.0, "gain": 1.0, "bits": 0.25}
"""What counts in the balance, and how much, unless other objectives are named.

Attack success counts half, since ε, which bounds its log-odds, counts, too.
"""
_USELESS, _NAMED, _HARDLY = 8, 4, 2
"""What ranks later: what tells nothing, an attack success above 0.9, what hardly protects; 1 are heavy fakes."""
_BOUNDED = 0.5  # what ε weighs where it is bounded and not named: no other attack or defence sees the worst case
_SAME = math.log(1.01)
_NONE = 1e-300  # in place of zero, where logarithms are taken
_RUNGS = 4  # budgets from 1 to the largest, where the balance chooses one

LIMITS = {"error": "error", "max_asr": "asr", "max_epsilon": "epsilon", "max_bits": "bits"}
"""The wishes that bound something, and what each bounds."""


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What is known and wanted; see `hush.plan`."""

    k: int
    n: int
    error: float | None = None
    metric: str = "margin"
    worst: bool = False
    max_asr: float | None = None
    max_bits: int | None = None
    max_epsilon: float | None = None
    delta: float | None = None
    matters: str = "balance"
    fakes: float = 0.05
    targets: int = 1
    smallest_group: int | None = None
    in_every_group: bool = False
    objectives: tuple[str, ...] = ()
    observed: int = 10
    parts: int = 2
    collections: int = 1

    def __post_init__(self) -> None:
        plain: dict[str, float | None] = {  # numbers of any kind become Python's own
            "k": rules.domain_size(self.k),
            "n": rules.integer("n", self.n, 1, MOST_PEOPLE, "count the people who will report"),
            "fakes": rules.number("fakes", self.fakes, 0.0, 1.0, "use e.g. 0.05"),
        }
        self._check_objectives()
        for name, allowed in (("metric", tuple(METRICS)), ("matters", (*MATTERS, *self.more))):
            rules.named(name, getattr(self, name), allowed, f"use e.g. {allowed[0]!r}")
        counted = "count the reports of one person"
        plain["observed"] = rules.integer("observed", self.observed, 2, 10_000, f"{counted}, two or more")
        remedy = f"there are only {self.k:,} values to cut into parts: use 2 to {self.k:,}"
        plain["parts"] = rules.integer("parts", self.parts, 2, self.k, remedy)
        plain["collections"] = rules.integer("collections", self.collections, 1, 10_000, counted)
        if self.error is not None:
            remedy = "use e.g. 0.01 for one percentage point"
            plain["error"] = rules.number("error", self.error, 1e-12, 1.0, remedy, closed=True)
        if self.max_asr is not None:
            remedy = f"blind guessing succeeds one time in {self.k:,}, and certainty is 1: choose between them"
            plain["max_asr"] = rules.number("max_asr", self.max_asr, 1 / self.k, 1.0, remedy, closed=True)
        if self.max_bits is not None:
            remedy = "count the bits that a device may send"
            plain["max_bits"] = rules.integer("max_bits", self.max_bits, 1, 10**12, remedy)
        if self.max_epsilon is not None:
            try:
                plain["max_epsilon"] = rules.epsilon(self.max_epsilon)
            except ParameterError as error:
                raise error.naming("max_epsilon") from None
        if self.delta is not None:
            plain["delta"] = rules.delta(self.delta)
            if self.delta * self.n > 1:
                rule = "must be at most 1/n: a mechanism may give away a share delta of the people"
                raise ParameterError(message("delta", rule, self.delta, f"use e.g. {0.01 / self.n:.0e}"))
        remedy = "say how many values fake users promote"
        plain["targets"] = rules.integer("targets", self.targets, 1, self.k - 1, remedy)
        if self.smallest_group is not None:
            remedy = "count the people of the smallest group, who are among all n"
            plain["smallest_group"] = rules.integer("smallest_group", self.smallest_group, 1, self.n, remedy)
        for name, number in plain.items():
            object.__setattr__(self, name, number)
        if self.matters in {"accuracy", "manipulation"} and self.max_epsilon is None and self.max_asr is None:
            rule = f"must be given where {self.matters} matters most, since more budget always helps it"
            raise ParameterError(
                message("max_epsilon", rule, Unsaid("nothing"), "state the largest you accept, e.g. 1")
            )

    def _check_objectives(self) -> None:
        """Two names or more, each once, with an error among them unless one is wished for."""
        given = self.objectives
        names = tuple([given] if isinstance(given, str) else given)
        known = ("error", *OBJECTIVES)
        for name in names:
            rules.named("objectives", name, known, "use e.g. asr, error, pools, changes and bits")
        if names and (len(names) < 2 or len(set(names)) < len(names)):
            rule = "must be two different names or more"
            raise ParameterError(message("objectives", rule, names, "use e.g. asr, error and pools"))
        if names and self.error is None and not set(names) & set(balance.ERRORS):
            rule = "must hold an error where none is wished for, since noise without end would be best in all else"
            raise ParameterError(message("objectives", rule, names, "add 'error', or say which error will do"))
        object.__setattr__(self, "objectives", names)

    @property
    def compared(self) -> tuple[str, ...]:
        """What choices are compared in: with named objectives ε, too, unless it is bounded."""
        if not self.objectives:
            return NUMBERS
        return tuple(dict.fromkeys((*self.objectives, *(["epsilon"] if self.max_epsilon is None else []))))

    @property
    def more(self) -> tuple[str, ...]:
        """Objectives that were named beside what is told of every choice."""
        return tuple(name for name in self.objectives if name not in NUMBERS)

    @property
    def weights(self) -> dict[str, float]:
        """What counts in the balance, and how much (`hush.planning.balance`)."""
        return {"epsilon": _BOUNDED, **balance.objective_weights(self.compared)} if self.objectives else WEIGHTS

    @cached_property
    def floors(self) -> dict[str, float]:
        """The numbers below which less is no better."""
        return balance.floors(self)

    @property
    def first(self) -> str | None:
        """The number that decides; None where it is the balance."""
        return FIRST.get(self.matters, self.matters if self.matters in self.more else None)

    @property
    def limits(self) -> dict[str, float]:
        """The bounds that were given, by what they bound."""
        given = {bounded: getattr(self, name) for name, bounded in LIMITS.items()}
        return {bounded: float(limit) for bounded, limit in given.items() if limit is not None}

    @property
    def judged(self) -> int:
        """The people among whom the error is measured: all, or those of the smallest group."""
        return self.smallest_group if self.in_every_group and self.smallest_group is not None else self.n

    @property
    def largest_epsilon(self) -> float:
        """The budget up to which is searched."""
        if self.max_epsilon is not None:
            return self.max_epsilon
        return ASSUMED_EPSILON if self.assumes_epsilon else SEARCHED_EPSILON

    @property
    def assumes_epsilon(self) -> bool:
        """Whether neither a budget nor an error that needs one is stated."""
        return self.max_epsilon is None and self.error is None

    @property
    def spends(self) -> bool:
        """Whether a mechanism takes all the budget it may, rather than only what the error needs."""
        return self.error is None or (self.matters in {"accuracy", "manipulation"} and self.max_epsilon is not None)

    def at_budgets(self) -> tuple[Wishes, ...]:
        """Return the wishes at each budget to search, the largest first: none is spent that no stated error needs.

        Without an error, a budget at which reports hardly protect is not spent unless accuracy matters most, and never
        one at which an attack succeeds more than 9 times in 10. Where attacks or nothing single matters most, the
        balance also chooses among smaller budgets, down to the assumed one, which is the largest where privacy matters
        most.
        """
        if self.error is not None:
            return (self,)
        top = self.largest_epsilon
        if self.first not in balance.ERRORS:
            top = min(top, LITTLE_EPSILON)
        if self.matters == "privacy":
            top = min(top, ASSUMED_EPSILON)
        tops = [top]
        if top > ASSUMED_EPSILON and (self.first is None or self.favors_attacks):
            rungs = max(2, math.ceil(_RUNGS * math.log(top / ASSUMED_EPSILON) / math.log(LITTLE_EPSILON)))
            rungs = rungs if all(OBJECTIVES[name].quick for name in self.more) else 2  # each takes a search
            tops += np.geomspace(top, ASSUMED_EPSILON, rungs)[1:].round(2).tolist()
        asr = MAX_ASR if self.max_asr is None else min(self.max_asr, MAX_ASR)
        limited = self.max_asr is not None or math.exp(top) / (math.exp(top) + self.k - 1) > MAX_ASR
        return tuple(replace(self, max_epsilon=each, max_asr=asr if limited else None) for each in tops)

    @property
    def favors_attacks(self) -> bool:
        """Whether the success of an attack matters most."""
        return self.first in balance.ATTACKS

    def met(self, found: Mapping[str, float]) -> bool:
        """Whether these numbers keep all bounds."""
        return all(self.within(bounded, found[bounded]) for bounded in self.limits)

    def may_replace(self, one: Mapping[str, float], other: Mapping[str, float]) -> bool:
        """Whether one choice may replace another in what is not compared: its verdict, and the weight of its fakes."""
        most = max(MAX_WEIGHT_OF_FAKES * self.fakes, balance.NEAR * other["gain"])
        return protects_as_well(one, other, self.k) and (one["gain"] <= most or "gain" in self.compared)

    def within(self, bounded: str, number: float) -> bool:
        """Whether a number keeps its bound, if it has one."""
        return number <= self.limits.get(bounded, math.inf) * (1 + 1e-12)

    def counted(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """Numbers as they are told in comparisons: an error below the one that was asked for counts as that."""
        enough = 0.0 if self.error is None or self.matters == "accuracy" else self.error
        return {**numbers, "error": max(numbers["error"], enough)}

    def order(self, rows: Sequence[Mapping[str, float]]) -> list[int]:
        """Best first: by what matters most, where what is within 1 % of the best is as good; then by the balance.

        Attacks within 5 % are as good, and what has a worse verdict must halve them. Errors below the sampling error
        are as good, and the smaller ε then decides.

        The balance is the weighted sum of what each number costs on its scale (`hush.planning.balance`). A server's
        work, which costs no person anything, does not count unless it is named. An attack success above 0.9 comes
        last, as does, in a balance, what hardly protects.
        """
        columns = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
        return self._ranked(columns, relative=True)

    def best_first(self, columns: Mapping[str, Floats]) -> list[int]:
        """As `order`, for columns; whether one row comes before another depends on these two alone.

        So the best of some rows is the best of any fewer of them that it is among. What matters most then counts in
        steps of 1 %, not from the best.
        """
        return self._ranked(columns, relative=False)

    def _ranked(self, columns: Mapping[str, Floats], *, relative: bool) -> list[int]:
        if not columns:
            return []
        numbers = balance.comparable(self, columns)
        first = self.first or ""
        steps = np.zeros(len(columns["error"]))
        enough = np.zeros(len(steps))
        if first in numbers:
            decisive = numbers[first]
            if self.favors_attacks:
                decisive, enough = self._weigh_attack(decisive, columns)
            floor = self.floors["error"] * balance.NEAR if first == "error" else 0.0
            logs = np.log(np.maximum(decisive, floor))
            least = logs.min(initial=math.inf) if relative else 0.0

            def step(log: Floats) -> Floats:
                return np.floor((log - least) / (math.log(balance.NEAR) if self.favors_attacks else _SAME) + 1e-9)

            steps = step(logs)
            if floor > 0:  # of what is about as good as the sampling error, the least ε
                bins = np.floor(np.log(columns["epsilon"]) / math.log(balance.NEAR))
                enough = np.where(steps <= step(np.log(np.array(floor))), bins, 0.0)
        costs = balance.costs(self, columns)
        known = {name: weight for name, weight in self.weights.items() if name in costs}
        if not set(known) - {"epsilon"}:  # closed forms know none of the objectives: what they find best otherwise
            known = {name: weight for name, weight in WEIGHTS.items() if name in costs}
        total = np.sum([weight * costs[name] for name, weight in known.items()], axis=0)
        raw = np.sum([np.log(np.maximum(columns[name], _NONE)) for name in known], axis=0)  # below floors, where equal
        return [int(i) for i in np.lexsort((raw.round(9), total.round(9), enough, steps, self._tiers(columns)))]

    def _weigh_attack(self, attack: Floats, columns: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return the success of an attack as it counts where it matters most, and how little each row protects.

        What protects less must halve it, but for what a blind guess has.
        """
        if "epsilon" not in columns or "asr" not in columns:
            return attack, np.zeros(len(attack))
        blind = 1 / self.k if self.first == "asr" else 0.0
        pairs = zip(columns["epsilon"].tolist(), columns["asr"].tolist(), strict=True)
        levels = np.array([float(protection_level(e, a, self.k)) for e, a in pairs])
        return np.asarray(blind + (attack - blind) / balance.MUCH_BETTER**levels), levels

    def _tiers(self, columns: Mapping[str, Floats]) -> npt.NDArray[np.int64]:
        """Return what comes last, the later the larger: what tells nothing, and what protects less than is ever needed.

        In a balance, and of named objectives without the gain of fakes, those come last, too, whose fakes weigh as
        several people each: what the plan would warn of, and what is not compared and would else be given away.
        """
        asr, epsilon = columns.get("asr"), columns.get("epsilon")
        last = np.zeros(len(columns["error"]), np.int64)
        if self.error is None and "mse" in columns:
            last += _USELESS * (columns["mse"] >= max_useful_mse(self.k, worst=self.worst))
        if asr is None or epsilon is None:
            return last
        last += _NAMED * (asr > MAX_ASR)
        if self.matters == "balance":
            pairs = zip(epsilon.tolist(), asr.tolist(), strict=True)
            last += _HARDLY * np.array([protection(e, a, self.k) == "hardly" for e, a in pairs], np.bool_)
        if self.matters == "balance" or (self.objectives and "gain" not in self.objectives):
            last += columns["gain"] > MAX_WEIGHT_OF_FAKES * self.fakes
        return last

    def for_tuning(self) -> Wishes:
        """What parameters are tuned for: where nothing bounds the error, the balance.

        The least attack success would be that of noise without end.
        """
        return replace(self, matters="balance") if self.favors_attacks and self.error is None else self

    def unbound(self) -> Wishes:
        """The circumstances alone, with no bounds and nothing that matters most."""
        loose: dict[str, Any] = dict.fromkeys(LIMITS)
        return replace(self, **loose, matters="balance", objectives=())

    def for_every_group(self) -> Wishes:
        """The same error in every group, at whatever budget, the least of which matters most."""
        free: dict[str, Any] = {"max_asr": None, "max_epsilon": _MOST_EPSILON, "objectives": ()}
        return replace(self, in_every_group=True, **free, matters="privacy")

    def without(self, bounded: str, matters: str) -> Wishes:
        """The same with one bound dropped, and what it bounded mattering most."""
        loose: dict[str, Any] = {name: None for name, each in LIMITS.items() if each == bounded}
        if bounded == "epsilon" or (bounded == "error" and self.max_epsilon is None):
            loose["max_epsilon"] = _MOST_EPSILON if bounded == "epsilon" else SEARCHED_EPSILON
        return replace(self, **loose, matters=matters, objectives=())
