"""Whether the second value of an audit matters: exact expectations, and where values are not alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hush
from hush.audit import bounds, run
from hush.audit.second_value import expected_bound, guess_table, second_value
from hush.errors import ParameterError

ALIKE = ["GRR", "SS", "SUE", "OUE", "THE"]


@pytest.mark.parametrize(("hit", "false_hit"), [(0.7, 0.2), (0.3, 0.3), (0.05, 0.9), (1.0, 0.5)])
@pytest.mark.parametrize("bound", ["paper", "one-sided"])
def test_the_expected_bound_count_by_count(hit: float, false_hit: float, bound: str) -> None:
    trials, total = 25, 0.0
    for x in range(trials + 1):
        for y in range(trials + 1):
            chance = math.comb(trials, x) * hit**x * (1 - hit) ** (trials - x)
            chance *= math.comb(trials, y) * false_hit**y * (1 - false_hit) ** (trials - y)
            total += chance * bounds.epsilon_lower(x, trials, y, trials, bound=bound)
    assert expected_bound(hit, false_hit, trials=trials, bound=bound) == pytest.approx(total, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ALIKE)
def test_it_makes_no_difference_where_wrong_guesses_are_alike(name: str) -> None:
    m = hush.registry()[name](k=6, epsilon=1.0)
    assert m.forms.wrong_guesses_alike()
    for first in (0, 5):
        found = second_value(m, first)
        assert not found.matters
        assert found.once == pytest.approx(found.afresh, rel=1e-9)


@pytest.mark.parametrize(
    "m", [hush.HR(k=6, epsilon=1.0), hush.PGR(k=20, epsilon=2.0), hush.RAPPOR(k=6, epsilon=1.0)], ids=lambda m: m.name()
)
def test_it_does_where_they_are_not(m: hush.FrequencyOracle) -> None:
    assert not m.forms.wrong_guesses_alike()
    found = second_value(m)
    others = np.delete(found.fixed, 0)
    assert found.matters
    assert np.ptp(others) > 0.03
    assert others.min() < found.afresh < found.once < others.max()  # a mean of p0 proves less than the mean over pairs


def test_a_second_value_that_is_drawn_afresh_is_sound() -> None:
    """The mixture of the others is never told apart better than the best of them: ln(p1/mean) is no larger."""
    for m in (hush.HR(k=6, epsilon=1.0), hush.RAPPOR(k=6, epsilon=1.0)):
        table = guess_table(m)
        assert table.sum(axis=1) == pytest.approx(np.ones(m.k))
        mixture = math.log(table[0, 0] / table[1:, 0].mean())
        assert mixture <= math.log(table[0, 0] / table[1:, 0].min()) <= m.exact_epsilon() + 1e-9


def test_audits_prove_what_is_expected_on_average() -> None:
    """Sixty audits of each of two pairs; six standard errors, 2·10⁻⁹ under the normal law."""
    m = hush.HR(k=6, epsilon=1.0)
    expected = second_value(m, trials=2000).fixed
    for second in (1, 5):
        seeds = (hush.seeded([second, seed]) for seed in range(60))
        proved = [run(m, "attack", trials=2000, pair=(0, second), rng=rng).epsilon_lower for rng in seeds]
        assert abs(np.mean(proved) - expected[second]) < 6 * np.std(proved) / math.sqrt(60)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="first"):
        second_value(hush.GRR(k=4, epsilon=1.0), 4)
    with pytest.raises(ParameterError, match="trials"):
        second_value(hush.GRR(k=4, epsilon=1.0), trials=0)
    with pytest.raises(ParameterError, match="m must"):
        second_value(hush.OLH(k=4, epsilon=1.0))
    with pytest.raises(ParameterError, match="bound"):
        expected_bound(0.5, 0.5, bound="nonsense")
