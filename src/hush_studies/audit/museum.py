"""Bugs that audits should find: the table of the part "bugs"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hush import audit
from hush.mechanisms.base import FrequencyOracle
from hush.randomness import seeded
from hush_studies.audit import bugs
from hush_studies.audit.proof import ALPHA
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = ("bug", "base", "published", "claimed", "exact", "first", "second", "attack", "likelihood", "classifier")
METHODS = ("attack", "likelihood", "classifier")
K, CLAIMED = 8, 1.0
REPORTS = 200_000


@dataclass(frozen=True)
class Exhibit:
    """A bug, and a pair of values that shows it.

    Args:
        name: What it is, in a few words.
        broken: The mechanism.
        pair: The values.
        published: Where it was found; empty for kin.
    """

    name: str
    broken: type[FrequencyOracle]
    pair: tuple[int, int] = (0, 1)
    published: str = ""

    @property
    def base(self) -> str:
        """The mechanism that it claims to be."""
        return next(each.__name__ for each in self.broken.__mro__[1:] if not each.__module__.endswith("audit.bugs"))


EXHIBITS = (
    Exhibit("own bit never cleared", bugs.MissingResetOUE, published="pure-LDP 1.1.2"),
    Exhibit("own bit never cleared", bugs.MissingResetSUE, published="pure-LDP 1.1.2"),
    Exhibit("last bit unprotected", bugs.LastBitUnprotected, (K - 1, 0), "OpenDP, for 20 months"),
    Exhibit("x never reports x−1", bugs.ShiftByOne, (0, 1), "code of a survey"),
    Exhibit("true value first in subset", bugs.TrueValueFirst, (1, 0), "code of a toolbox"),
    Exhibit("last value never a lie", bugs.LastNeverFake, (K - 1, 0)),
    Exhibit("hash function tells value", bugs.SeedTellsValue),
    Exhibit("two bits always equal", bugs.TwinBits),
    Exhibit("noise's last bit tells value", bugs.EvenSteps),
    Exhibit("budget 10 % too large", bugs.LouderHashing),
    Exhibit("budget 10 % too large", bugs.LouderNoise),
)
ALPHA_EACH = ALPHA / (K * (K - 1))
"""So that what is proved would also hold if the pair had been searched for, among all of them."""


def bugs_found(settings: Settings, advance: Advance) -> Table:
    """What three audits prove of every bug; the quick version keeps to those of published code."""
    shown = [each for each in EXHIBITS if each.published or not settings.quick]
    rows = []
    for i, each in enumerate(shown):
        rows.append([*_audited(each, [settings.seed, 9, i])])
        advance(1 / len(shown))
    return rows_of(COLUMNS, rows)


def _audited(each: Exhibit, seed: list[int]) -> list[Any]:
    m = each.broken(k=K, epsilon=CLAIMED)
    proved = [
        audit.run(m, method, trials=REPORTS, alpha=ALPHA_EACH, pair=each.pair, rng=seeded([*seed, i])).epsilon_lower
        for i, method in enumerate(METHODS)
    ]
    exact = m.exact_epsilon()
    return [each.name, each.base, each.published, CLAIMED, exact, *each.pair, *proved]


def found(row: dict[str, Any]) -> list[str]:
    """The methods that prove the claim false."""
    return [method for method in METHODS if row[method] > row["claimed"]]


def infinite(value: float) -> str:
    """A loss as text."""
    return "∞" if math.isinf(value) else f"{value:.3f}"
