"""What can be audited: anything that turns a value into a report."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.audit.inputs import Inputs, Values
from hush.audit.metrics import metric_of
from hush.errors import ParameterError, message
from hush.guarantee import ULDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.randomness import CHUNK
from hush.types import Bools, Floats, Reports

MOST = 700
"""Losses that can be claimed: e to a larger one is beyond doubles, and protects nobody."""


@dataclass(frozen=True)
class Claim:
    """The promise under audit.

    Args:
        epsilon: The loss that is not exceeded.
        delta: The slack of events.
        kind: "LDP", or "ULDP", which speaks only of outputs that a sensitive value can give.
        metric: A distance of inputs, for each unit of which so much may be lost (d-privacy): "absolute", "cyclic",
            "euclidean", "hamming", a function of two inputs, or a table of distances between values.
    """

    epsilon: float
    delta: float = 0.0
    kind: str = "LDP"
    metric: Any = None

    def __post_init__(self) -> None:
        for name, value in (("claim", self.epsilon), ("delta", self.delta)):
            real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if not (real and (0 <= value <= MOST if name == "claim" else 0 <= value < 1)):
                rule = f"must be a number from 0 to {MOST}" if name == "claim" else "must be a number from 0 to below 1"
                remedy = "use e.g. 1.0, in nats" if name == "claim" else "use e.g. 1e-6, or leave it out"
                raise ParameterError(message(name, rule, value, remedy))
        if self.kind not in ("LDP", "ULDP"):
            raise ParameterError(message("kind", "must be LDP or ULDP", self.kind, "use 'LDP'"))
        if self.metric is not None:
            if self.kind != "LDP" or self.delta:
                rule = "must be left out beside a delta and beside ULDP"
                raise ParameterError(message("metric", rule, str(self.metric), "claim an epsilon alone"))
            object.__setattr__(self, "metric", metric_of(self.metric))

    def between(self, inputs: Inputs, first: int, second: int) -> float:
        """The distance of the inputs at two positions: 1 where the claim has no metric."""
        return 1.0 if self.metric is None else float(self.metric.between(inputs, first, second))

    def __str__(self) -> str:
        if self.metric is not None:
            return f"{self.epsilon:g}-LDP for each unit of {self.metric} distance"
        amount = f"({self.epsilon:g}, {self.delta:g})" if self.delta else f"{self.epsilon:g}"
        return f"{amount}-{self.kind}"


class Target(ABC):
    """Something that turns a value into a report."""

    name: str
    k: int
    claim: Claim | None
    threaded: bool = False
    """Whether draws may run on several threads at once."""
    mixed: bool = False
    """Whether it is asked for several values in random order (`draws`), since its reports may carry marks."""
    seedable: bool = False
    """Whether a generator determines the reports, so that an audit can go on from a checkpoint."""
    chunk: int = CHUNK
    """How many reports may be drawn at a time."""
    lawful: bool = False
    """Whether pairs are compared by what the law says of their reports (`log_ratio`), and not by a classifier."""
    screened: bool = False
    """Whether every value is tried, to find out which two to tell apart, unless two are named (`screening`)."""
    first_pair: tuple[int, int] = (0, 1)
    """The inputs that are told apart unless others are named."""

    @property
    def inputs(self) -> Inputs:
        """What it is asked about, by position 0..k-1: values, numbers, tuples or histories."""
        return Values(self.k)

    @property
    def unit(self) -> str:
        """What the loss is of."""
        return self.inputs.unit

    def allowed(self, pair: tuple[int, int]) -> float:
        """The loss between two inputs that its claim allows."""
        return math.inf if self.claim is None else self.claim.epsilon * self.claim.between(self.inputs, *pair)

    def including(self, pair: Sequence[Any]) -> Target:
        """The target that can be asked about these two inputs as well."""
        return self

    @property
    def likely_pairs(self) -> list[tuple[int, int]]:
        """Of a target that is not screened, the pairs of which the most telling is taken."""
        return [self.first_pair, *([(self.k - 2, self.k - 1)] if self.k > 3 else [])]

    @abstractmethod
    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """So many reports of one value; `rng` is for those that can be seeded."""

    def draws(self, values: npt.NDArray[np.int64], rng: np.random.Generator | None) -> Reports:
        """One report of each value, in order."""
        order = np.argsort(values, kind="stable")
        each, counts = np.unique(values, return_counts=True)
        parts = [self.draw(value, many, rng) for value, many in zip(each.tolist(), counts.tolist(), strict=True)]
        return np.concatenate(parts)[np.argsort(order, kind="stable")]

    def features(self, reports: Reports) -> Floats:
        """Numbers that a classifier can read, one row for each report."""
        raise NotImplementedError(f"{self.name} has no features")

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each report is under the first value, in logarithm; NaN where the claim does not speak."""
        raise self.lawless("likelihood")

    def guesses(self, reports: Reports, first: int, coin: np.random.Generator) -> Bools:
        """Whether the attack's guess from each report is the first value."""
        raise self.lawless("attack")

    def guessed(self, first: int) -> str:
        """That the attack's guess is the first value, in words."""
        return f"the best guess is {self.inputs.said(first)}"

    def exact_epsilon(self) -> float:
        """The loss by the law that it states, at its own delta."""
        raise self.lawless("exact")

    def spoken(self, reports: Reports, pair: tuple[int, int]) -> Bools | None:
        """Which reports of two values the claim speaks of; None for all."""
        return None

    @property
    def identity(self) -> dict[str, Any]:
        """What it is, in plain data, for the files."""
        return {"target": self.name, **self.inputs.about}

    def lawless(self, method: str) -> ParameterError:
        """The error for a method that needs a law which this target does not state."""
        rule = f"must be one that needs no likelihood for {self.name}"
        return ParameterError(message("method", rule, method, "use 'classifier'"))


@dataclass(frozen=True)
class MechanismTarget(Target):
    """A mechanism of Hush, or one that derives from its base class."""

    mechanism: FrequencyOracle
    threaded: bool = True
    seedable: bool = True
    exempting: bool = True
    """Whether values that are not sensitive may reveal themselves, as ULDP allows."""

    @property
    def name(self) -> str:  # type: ignore[override]
        """The mechanism's name."""
        return self.mechanism.name()

    @property
    def k(self) -> int:  # type: ignore[override]
        """The number of values."""
        return self.mechanism.k

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What the mechanism promises."""
        promise = self.mechanism.guarantee
        if promise is None:
            return None
        kind = "ULDP" if isinstance(promise, ULDP) else "LDP"
        return Claim(promise.epsilon, getattr(promise, "delta", 0.0), kind)

    @property
    def screened(self) -> bool:  # type: ignore[override]
        """Of Hush's own mechanisms the conformance suite has seen every value."""
        return from_outside(type(self.mechanism))

    @property
    def first_pair(self) -> tuple[int, int]:  # type: ignore[override]
        """The first two values; under ULDP, the first sensitive one and the first other."""
        promise = self.mechanism.guarantee
        if not isinstance(promise, ULDP) or len(promise.sensitive) == self.k:
            return 0, 1
        return promise.sensitive[0], next(v for v in range(self.k) if v not in promise.sensitive)

    @property
    def identity(self) -> dict[str, Any]:
        """The spec, thresholds included, and its hash."""
        m = self.mechanism
        return {"target": self.name, "k": self.k, "mechanism": m.to_dict(), "spec_hash": m.spec_hash}

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Reports of one value."""
        reports: Reports = self.mechanism.privatize(np.full(size, value), rng=rng)
        return reports

    def draws(self, values: npt.NDArray[np.int64], rng: np.random.Generator | None) -> Reports:
        """One report of each value, in order."""
        reports: Reports = self.mechanism.privatize(values, rng=rng)
        return reports

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """From the law that the mechanism states; what no sensitive value may send speaks for the one that it names."""
        ratio = self.mechanism.forms.log_ratio(reports, first, second)
        inside = self.spoken(reports, (first, second))
        return ratio if inside is None else np.where(inside, ratio, np.nan)

    def guesses(self, reports: Reports, first: int, coin: np.random.Generator) -> Bools:
        """The best guess, ties broken by the coin; under ULDP, where the claim speaks."""
        hit = coin.random(reports.size) < self.mechanism.forms.guess_chance(reports, np.full(reports.size, first))
        inside = self.spoken(reports, (first, first))
        return hit if inside is None else hit & inside

    def spoken(self, reports: Reports, pair: tuple[int, int]) -> Bools | None:
        """Under ULDP, all but the reports in which one of the two values reveals itself and is not sensitive."""
        return self.mechanism.forms.spoken(reports, pair) if self.exempting else None


def unpacked(reports: Reports) -> Floats:
    """Every number in the records, and every bit of those that are bytes."""
    if reports.dtype.names is None:
        return reports.reshape(reports.size, -1).astype(np.float64)
    columns = []
    for name in reports.dtype.names:
        field = reports[name].reshape(reports.size, -1)
        columns.append(np.unpackbits(field, axis=1, bitorder="little") if field.dtype == np.uint8 else field)
    return np.concatenate([column.astype(np.float64) for column in columns], axis=1)
