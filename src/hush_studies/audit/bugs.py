"""Bugs that audits should find: the table of the part "bugs"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hush import audit
from hush.randomness import seeded
from hush.testing import museum
from hush_studies.audit.proof import ALPHA
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = ("bug", "base", "published", "claimed", "exact", "first", "second", "attack", "likelihood", "classifier")
METHODS = ("attack", "likelihood", "classifier")
K, CLAIMED = 8, 1.0
REPORTS = 200_000


@dataclass(frozen=True)
class Case:
    """A bug, and a pair of values that shows it.

    Args:
        name: What it is, in a few words.
        broken: The mechanism, an exhibit of the museum.
        pair: The values.
        published: Where it was found; empty for kin.
    """

    name: str
    broken: type[Any]
    pair: tuple[int, int] = (0, 1)
    published: str = ""

    @property
    def base(self) -> str:
        """The mechanism that it claims to be."""
        return self.broken.honest().__name__


CASES = (
    Case("own bit never cleared", museum.MissingResetOUE, published="pure-LDP 1.1.2"),
    Case("own bit never cleared", museum.MissingResetSUE, published="pure-LDP 1.1.2"),
    Case("last bit unprotected", museum.LastBitUnprotected, (K - 1, 0), "OpenDP, for 20 months"),
    Case("x never reports x−1", museum.ShiftByOne, (0, 1), "code of a survey"),
    Case("true value first in subset", museum.TrueValueFirst, (1, 0), "code of a toolbox"),
    Case("last value never a lie", museum.LastNeverFake, (K - 1, 0)),
    Case("hash function tells value", museum.SeedTellsValue),
    Case("two bits always equal", museum.TwinBits),
    Case("noise's last bit tells value", museum.EvenSteps),
    Case("budget 10 % too large", museum.LouderHashing),
    Case("budget 10 % too large", museum.LouderNoise),
)
ALPHA_EACH = ALPHA / (K * (K - 1))
"""So that what is proved would also hold if the pair had been searched for, among all of them."""


def bugs_found(settings: Settings, advance: Advance) -> Table:
    """What three audits prove of every bug; the quick version keeps to those of published code."""
    shown = [each for each in CASES if each.published or not settings.quick]
    rows = []
    for i, each in enumerate(shown):
        rows.append([*_audited(each, [settings.seed, 9, i])])
        advance(1 / len(shown))
    return rows_of(COLUMNS, rows)


def _audited(each: Case, seed: list[int]) -> list[Any]:
    m = each.broken(k=K, epsilon=CLAIMED)
    proved = [
        audit.run(m, method, trials=REPORTS, alpha=ALPHA_EACH, pair=each.pair, rng=seeded([*seed, i])).epsilon_lower
        for i, method in enumerate(METHODS)
    ]
    exact = m.true_epsilon()
    return [each.name, each.base, each.published, CLAIMED, exact, *each.pair, *proved]


def found(row: dict[str, Any]) -> list[str]:
    """The methods that prove the claim false."""
    return [method for method in METHODS if row[method] > row["claimed"]]


def infinite(value: float) -> str:
    """A loss as text."""
    return "∞" if math.isinf(value) else f"{value:.3f}"
