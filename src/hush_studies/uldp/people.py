"""The people of the study: four made-up populations of the paper's shapes, and two real ones.

Of its data the paper gives the number of people n, of values d and of sensitive values s, and the share theta of people
whose value is not sensitive. The populations here have these; how people spread over the values is ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import count

import numpy as np

from hush import datasets
from hush.people import Domain, Label, Population
from hush.people.population import apportioned
from hush.randomness import seeded
from hush.types import Floats
from hush_studies.given import GivenData, given


@dataclass(frozen=True)
class MechanismSetting:
    """What the parameters of a mechanism depend on: the domain's size, its sensitive values, and theta."""

    k: int
    sensitive: tuple[int, ...]
    theta: float

    @property
    def s(self) -> int:
        """How many values are sensitive."""
        return len(self.sensitive)


class People(Population):
    """A population, some of whose values are sensitive."""

    @property
    def sensitive(self) -> tuple[int, ...]:
        """Which values are."""
        return self.domain.sensitive or ()

    @property
    def theta(self) -> float:
        """The share of people whose value is not sensitive."""
        return 1.0 - float(self.counts[list(self.sensitive)].sum()) / self.n

    @property
    def setting(self) -> MechanismSetting:
        """All but how many they are, and how they spread."""
        return MechanismSetting(self.counts.size, self.sensitive, self.theta)

    def with_share(self, share: float) -> People:
        """The same people, with this share of all values sensitive: the sensitive ones first, then any others."""
        k = self.counts.size
        others = np.setdiff1d(np.arange(k), self.sensitive)
        order = [*seeded(1).permutation(np.array(self.sensitive)), *seeded(2).permutation(others)]
        sensitive = [int(value) for value in order[: max(1, round(share * k))]]
        return People(self.counts, Domain(size=k, sensitive=sensitive), self.name, self.source)


def shaped(name: str, n: int, theta: float, weights: Floats, sensitive: Iterable[int]) -> People:
    """n people, theta of them at values that are not sensitive, in proportion to the weights within each group."""
    hidden = np.zeros(weights.size, np.bool_)
    hidden[list(sensitive)] = True
    counts, open_people = np.zeros(weights.size, np.int64), round(theta * n)
    for group, number in ((~hidden, open_people), (hidden, n - open_people)):
        counts[group] = apportioned(weights[group] / weights[group].sum(), number)
    return People(counts, Domain(size=weights.size, sensitive=np.flatnonzero(hidden).tolist()), name)


def _places(k: int, s: int, seed: int) -> list[int]:
    """Which values are sensitive, drawn once and for all."""
    return sorted(int(value) for value in seeded([seed, k]).choice(k, s, replace=False))


def _ranked(k: int, seed: int) -> Floats:
    """Proportional to 1/rank, in no order."""
    return np.asarray(seeded([seed, k]).permutation(1.0 / np.arange(1, k + 1)), np.float64)


def _bell(name: str, n: int, theta: float, k: int, s: int) -> People:
    """People drawn from a bell, and sensitive values drawn until they hold the share that they should."""
    bell = np.exp(-0.5 * ((np.arange(k) - (k - 1) / 2) / (0.15 * k)) ** 2)
    counts = seeded(5).multinomial(n, bell / bell.sum()).astype(np.int64)
    tried = (People(counts, Domain(size=k, sensitive=_places(k, s, seed)), name) for seed in count())
    return next(each for each in tried if abs(each.theta - theta) < 5e-4)


_RATINGS = np.array([13.0, 4.5, 4.5, 3.0, 5.0, 4.0, 6.0, 12.0, 17.0, 31.0])
"""Of a drug, from 1 to 10: most people love it or hate it."""

TOPICS = ("opinion", "health", "business", "bbs")
"""Sensitive pages of msnbc.com."""

OLD = 65
"""From this age on, an age is sensitive."""

SYNTHETIC = ("Foursquare", "Census", "Drug", "Normal")
REAL = ("MSNBC", "Adult age")
ALL = (*SYNTHETIC, *REAL)
_QUICK = ("Foursquare", "Drug", "Adult age")


def chosen(quick: bool) -> tuple[str, ...]:
    """The populations of a study, or of its small version."""
    return _QUICK if quick else ALL


def people(name: str) -> People:
    """By name; of the file that was given, if there is one.

    >>> drug = people("Drug")
    >>> drug.n, drug.setting.k, drug.setting.s, round(drug.theta, 4)
    (215063, 10, 3, 0.78)
    """
    found = given(name)
    return _made(name) if found is None else _read(found)


@cache
def _read(found: GivenData) -> People:
    hidden = [v for v, hides in enumerate(found.sensitive) if hides]
    counts = np.array(found.counts, np.int64)
    return People(counts, Domain(size=counts.size, sensitive=hidden), found.data.name, found.source)


@cache
def _made(name: str) -> People:
    if name == "Foursquare":
        return shaped(name, 419_959, 0.95, _ranked(625, 3), _places(625, 25, 4))
    if name == "Census":
        return shaped(name, 2_458_285, 0.56, _ranked(1200, 3), _places(1200, 424, 4))
    if name == "Drug":
        return shaped(name, 215_063, 0.78, _RATINGS, range(3))
    if name == "Normal":
        return _bell(name, 99_732, 0.77, 1000, 230)
    if name == "MSNBC":
        return _real(name, datasets.msnbc(), TOPICS)
    return _real(name, datasets.adult_age(), range(OLD, 100))


def _real(name: str, whole: Population, sensitive: Iterable[Label]) -> People:
    domain = Domain(labels=whole.domain.labels, sensitive=sensitive)
    return People(whole.counts, domain, name, whole.source)


def titled(name: str) -> str:
    """A population's name and shape, for a panel."""
    at = people(name).setting
    return f"{called(name)}, s/d = {at.s}/{at.k}"


def called(name: str) -> str:
    """A population's name; that of data which it only resembles, marked."""
    if given(name) is not None:
        return name
    return name if people(name).source or name == "Normal" else f"{name}-like"
