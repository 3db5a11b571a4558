"""What can be traded: attack success, error, manipulation and cost of any mechanism, each a number to be kept small.

Equation 22 of "Revisiting locally differentially private protocols" (arXiv 2503.01482) asks for four kinds: P (attacks
on privacy), U (utility lost), S (manipulation by fake users) and C (cost).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis.reidentification import nearest_profile
from hush.attacks import poisoning
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.planning import accuracy
from hush.randomness import seeded

Z95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard errors."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The circumstances that objectives are measured in.

    Args:
        n: People who report.
        frequencies: How frequent each value is; left out, errors are averages over the values: for a pure oracle the
            mean squared error is then the same for every distribution.
        worst: Take the error of the worst value, whatever its frequency, in place of the average.
        prior: What an attacker believes beforehand about one value; uniform if left out, and for re-identification.
        fakes: Share of all reports that come from fake users.
        targets: How many values they promote.
        attack: How: "maximal", "item" or "random".
        collections: Reports of one person, each about another attribute of k values, for re-identification.
        people: Size of the table in which the person is looked for; n if left out.
        observed: Fresh reports of one person that an attacker has, for pools and changes.
        parts: Classes into which the values are cut at random, for pools and attributes.
        loyalty: How often a value is of the class that its holder favours, for pools.
    """

    n: int = 1
    frequencies: npt.ArrayLike | None = None
    worst: bool = False
    prior: npt.ArrayLike | None = None
    fakes: float = 0.05
    targets: int = 1
    attack: str = "maximal"
    collections: int = 1
    people: int | None = None
    observed: int = 10
    parts: int = 2
    loyalty: float = 1.0

    def __post_init__(self) -> None:
        for name in ("n", "targets", "collections", "people"):
            if getattr(self, name) is not None:
                rules.integer(name, getattr(self, name), 1, 10**15, "count them")
        rules.integer("observed", self.observed, 2, 10_000, "count the reports of one person, two or more")
        rules.integer("parts", self.parts, 2, 10**9, "cut the values into two parts or more")
        rules.share("loyalty", self.loyalty)
        rules.share("fakes", self.fakes)
        if self.worst and self.frequencies is not None:
            rule = "must be left out where the worst case is asked for"
            raise ParameterError(message("frequencies", rule, self.frequencies, "choose one of the two"))


@dataclass(frozen=True)
class Objective:
    """A number to be kept small.

    Args:
        name: What it is called in tables and options.
        kind: P, U, S or C.
        meaning: In one line.
        measure: From a mechanism and the circumstances.
        quick: Whether it takes milliseconds; others are simulated for some mechanisms, and told where they are named.
    """

    name: str
    kind: str
    meaning: str
    measure: Callable[[FrequencyOracle, Setting], float]
    quick: bool = True


def _mse(m: FrequencyOracle, s: Setting) -> float:
    return accuracy.mean_squared_error(m, s.n, s.frequencies, worst=s.worst)


def _mae(m: FrequencyOracle, s: Setting) -> float:
    return accuracy.mean_absolute_error(m, s.n, s.frequencies, worst=s.worst)


def _gain(m: FrequencyOracle, s: Setting) -> float:
    return poisoning.gain(m, min(s.targets, m.k), fraction=s.fakes, attack=s.attack)


def _reidentification(m: FrequencyOracle, s: Setting) -> float:
    return nearest_profile([m.asr()] * s.collections, [m.k] * s.collections, s.people or s.n)


def _attribute(m: FrequencyOracle, s: Setting) -> float:
    from hush.attacks import inference  # with all that reports over time, which most plans do without

    return inference.attribute(m, min(s.parts, m.k)).advantage


def _pools(m: FrequencyOracle, s: Setting) -> float:
    from hush.attacks import inference

    return inference.pools(m, min(s.parts, m.k), reports=s.observed, loyalty=s.loyalty).advantage


def _changes(m: FrequencyOracle, s: Setting) -> float:
    from hush.attacks import inference

    return inference.changes(m, reports=s.observed).advantage


_ALL = (
    Objective("epsilon", "P", "privacy loss of one report, exact", lambda m, s: m.exact_epsilon()),
    Objective(
        "asr",
        "P",
        "chance that the best attacker names the value behind a report",
        lambda m, s: m.asr() if s.prior is None else m.asr(s.prior),
    ),
    Objective("reidentification", "P", "chance to find a person in a table from all their reports", _reidentification),
    Objective(
        "attribute",
        "P",
        "advantage over a blind guess in naming the class of the value behind a report",
        _attribute,
        quick=False,
    ),
    Objective(
        "pools",
        "P",
        "advantage over a blind guess in naming the class of values that a person favours, from all observed reports",
        _pools,
        quick=False,
    ),
    Objective(
        "changes",
        "P",
        "advantage over a coin in telling a value that changed halfway through the observed reports from another",
        _changes,
        quick=False,
    ),
    Objective(
        "variance",
        "U",
        "variance for a value that nobody holds, the paper's MSE (equation 4)",
        lambda m, s: m.variance(s.n),
    ),
    Objective("mse", "U", "mean squared error of a frequency", _mse),
    Objective("mae", "U", "mean absolute error of a frequency", _mae),
    Objective("margin", "U", "half the width of a 95 % interval", lambda m, s: Z95 * math.sqrt(_mse(m, s))),
    Objective(
        "information",
        "U",
        "share of the Fisher information that is lost (simulated where frequencies are given)",
        lambda m, s: accuracy.information_loss(m, s.frequencies, reports=20_000, rng=seeded(7)).loss,
    ),
    Objective("gain", "S", "frequency that fake users add to what they promote", _gain),
    Objective("bits", "C", "information bits of a report", lambda m, s: float(m.bits)),
    Objective("work", "C", "counters that the server touches for a report", lambda m, s: float(m.forms.server_work)),
)

OBJECTIVES: dict[str, Objective] = {each.name: each for each in _ALL}
"""By name."""


def objective(name: str) -> Objective:
    """The objective of that name."""
    if not isinstance(name, str) or name not in OBJECTIVES:
        rule = f"must be one of {', '.join(OBJECTIVES)}"
        raise ParameterError(message("objective", rule, name, "use e.g. 'asr'"))
    return OBJECTIVES[name]


def measured(m: FrequencyOracle, names: tuple[str, ...], setting: Setting) -> npt.NDArray[np.float64]:
    """The named objectives of one mechanism."""
    return np.array([objective(name).measure(m, setting) for name in names], np.float64)
