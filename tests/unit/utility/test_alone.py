"""A value sent alone where z goes by a hash function: the record names that function, so that its law can be stated."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hush
from hush import utility
from hush.errors import ReportError
from hush.exact.thresholds import SCALE


@pytest.mark.parametrize(("s", "g"), [(2, 3), (4, 2), (4, 3), (5, 3)])
def test_moments_are_those_of_all_hash_functions(s: int, g: int) -> None:
    """All g^s functions, every bucket: how often a value is revealed, and what its protected reports add."""
    u = utility.uLH(k=s + 2, epsilon=1.2, sensitive=range(s), g=g, reveal="alone")
    known, base = u._revelation, u.base
    low, high = (w / base.denominator for w in base._weights)  # type: ignore[attr-defined]
    p, q = base.p_star, base.q_star  # type: ignore[attr-defined]
    revealed, mean, square = 0.0, 0.0, 0.0
    for homes in itertools.product(range(g), repeat=s):
        for bucket in range(g):
            held = homes.count(bucket)
            chance = (held * high + (s - held) * low) / s / g**s
            shown = known._of(held) / SCALE  # type: ignore[attr-defined]
            adds = ((homes[0] == bucket) - q) / (p - q)
            revealed += chance * shown
            mean += chance * (1 - shown) * adds
            square += chance * (1 - shown) * adds**2
    assert u.f == 1.0
    assert u.z_star == pytest.approx(revealed, rel=1e-9)
    assert u._moments_sent.mean == pytest.approx(np.full(s, mean), rel=1e-8)
    assert u._moments_sent.square == pytest.approx(np.full(s, square), rel=1e-8)
    assert u.z_star == pytest.approx(utility.z_star_by_attack(base), rel=1e-8)


@pytest.mark.parametrize("cls", [utility.uLH, utility.uWheel])
def test_the_law_is_stated_given_the_hash_function(cls: type[utility.uLH | utility.uWheel]) -> None:
    u = cls(k=6, epsilon=1.0, sensitive=(1, 3, 4), reveal="alone")
    chances = set()
    for public in u.publics():
        outputs = u.outputs(public)
        for x in range(u.k):
            assert sum(u.copies(y) * u.weight(y, x) for y in outputs) == u.denominator
        lone = outputs[outputs["kind"] == 1]
        assert lone["value"].tolist() == [0, 2, 5]
        assert [u.public(y) for y in lone] == [public] * 3
        chances.add(u.weight(lone[0], 0))
        told = u.log_prob(lone, 2)
        assert told[1] == pytest.approx(math.log(u.weight(lone[1], 2) / u.denominator), rel=1e-12)
        assert np.isneginf(told[[0, 2]]).all()
    assert len(chances) > 1  # which is why the record names the function


def test_what_else_lies_beside_a_value_is_refused() -> None:
    u = utility.uLH(k=6, epsilon=1.0, sensitive=(1, 3, 4), reveal="alone")
    reports = u.privatize(np.zeros(200, int), rng=hush.seeded(7))
    lone = reports[reports["kind"] == 1][:1].copy()
    assert u.aggregate(lone).n == 1
    assert lone["base"]["a"][0] != 0
    lone["base"]["bucket"] = 1
    with pytest.raises(ReportError, match="zero elsewhere"):
        u.aggregate(lone)
    plain = utility.uLH(k=6, epsilon=1.0, sensitive=(1, 3, 4), reveal="alone", z="constant")
    with pytest.raises(ReportError, match="zero elsewhere"):
        plain.aggregate(reports[reports["kind"] == 1])


def test_it_has_less_error_than_pairs_and_is_recommended_so() -> None:
    for cls in (utility.uLH, utility.uWheel):
        pair, alone = (cls(k=60, epsilon=1.0, sensitive=range(25), reveal=r) for r in ("pair", "alone"))
        assert utility.total_error(alone) < 0.9 * utility.total_error(pair)
        assert alone.bits < pair.bits
        assert alone.exact_epsilon() <= 1.0
    names = [option.name for option in hush.planning.uldp(hush.Domain(size=60, sensitive=range(25)), 1.0).options]
    assert {"uLH", "uLH, in pairs", "uWheel", "uWheel, in pairs"} <= set(names)
    assert names.index("uLH") < names.index("uLH, in pairs")
