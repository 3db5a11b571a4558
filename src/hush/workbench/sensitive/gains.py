"""What is gained by protecting the sensitive answers alone: errors with and without the distinction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.people import Domain
from hush.planning import uldp
from hush.planning.objectives import Z95
from hush.types import Floats
from hush.utility import UtilityOracle


@dataclass(frozen=True)
class Margins:
    """Half the widths of 95 % intervals of estimated shares.

    Args:
        sensitive: Of a sensitive answer, on average.
        other: Of another one.
        overall: Of any.
    """

    sensitive: float
    other: float
    overall: float


@dataclass(frozen=True)
class SensitiveOption:
    """One mechanism that makes the distinction.

    Args:
        name: Its name; one that sends a revealed answer together with its disguise is marked "(in pairs)".
        mechanism: Made for these answers.
        distinct: Its errors.
        same: Its errors where every answer is protected, at the same epsilon.
    """

    name: str
    mechanism: UtilityOracle
    distinct: Margins
    same: Margins

    @property
    def fewer(self) -> float:
        """How many times fewer people give the same error."""
        return (self.same.overall / self.distinct.overall) ** 2


@dataclass(frozen=True)
class Distinction:
    """All mechanisms that make the distinction, the least error first.

    Args:
        domain: The answers.
        epsilon: Privacy loss of a report of a sensitive answer.
        n: People.
        theta: Share of people whose answer is not sensitive.
        options: The mechanisms.
        plain: The best mechanism that protects every answer.
        plain_margins: Its errors.
    """

    domain: Domain
    epsilon: float
    n: int
    theta: float
    options: tuple[SensitiveOption, ...]
    plain: FrequencyOracle
    plain_margins: Margins

    @property
    def best(self) -> SensitiveOption:
        """The one with the least error."""
        return self.options[0]

    def option(self, name: str) -> SensitiveOption:
        """By name; the best where there is none of that name."""
        return next((option for option in self.options if option.name == name), self.best)

    @property
    def fewer(self) -> float:
        """How many times fewer people the best needs than the best that protects everything."""
        return (self.plain_margins.overall / self.best.distinct.overall) ** 2


def distinguished(domain: Domain, epsilon: float, n: int, theta: float | None = None) -> Distinction:
    """Errors with and without the distinction, for each mechanism that offers it.

    Args:
        domain: The answers, some of them sensitive.
        epsilon: Privacy loss of a report of a sensitive answer.
        n: People.
        theta: Share of people whose answer is not sensitive; left out, as if all answers were equally frequent.

    >>> found = distinguished(Domain(size=12, sensitive=range(3)), 1.0, 20_000)
    >>> found.best.distinct.overall < found.best.same.overall, found.fewer > 1
    (True, True)
    """
    made = uldp(domain, epsilon, theta=theta, n=n)
    sensitive = domain.sensitive or ()
    shares = _shares(domain.size, sensitive, made.theta)
    found = []
    for option in made.options:
        u = option.mechanism
        assert isinstance(u, UtilityOracle)
        same = _everything(type(u), domain.size, epsilon)
        margins = [_margins(m, shares, sensitive, n) for m in (u, same)]
        found.append(SensitiveOption(option.name.replace(", in pairs", " (in pairs)"), u, *margins))
    found.sort(key=lambda each: (each.distinct.overall, each.mechanism.bits))
    plain = made.plain.mechanism
    return Distinction(domain, epsilon, n, made.theta, tuple(found), plain, _margins(plain, shares, sensitive, n))


def _shares(k: int, sensitive: Sequence[int], theta: float) -> Floats:
    """Frequencies: the sensitive answers are equally frequent, and so are the others."""
    shares = np.full(k, theta / (k - len(sensitive)))
    shares[list(sensitive)] = (1 - theta) / len(sensitive)
    return shares


def _margins(m: FrequencyOracle, shares: Floats, sensitive: Sequence[int], n: int) -> Margins:
    variances = m.variances(shares, n)
    among = np.zeros(m.k, np.bool_)
    among[list(sensitive)] = True
    means = (variances[among].mean(), variances[~among].mean(), variances.mean())
    return Margins(*(Z95 * math.sqrt(float(mean)) for mean in means))


@lru_cache(maxsize=256)
def _everything(cls: type[UtilityOracle], k: int, epsilon: float) -> UtilityOracle:
    """The same mechanism, every answer being sensitive to it."""
    return cls(k=k, epsilon=epsilon, sensitive=tuple(range(k)))
