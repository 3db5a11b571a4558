"""Choices: near ties, flat minima, ranges of all sizes; exp and log by decimals; choices at other budgets."""

from __future__ import annotations

import functools
import itertools
import math
from decimal import Context, Decimal

import numpy as np
import pytest

import hush
from hush.analysis import choice, portable
from hush.errors import ParameterError
from hush.mechanisms.chosen import freed
from hush.planning.capri.build import builder
from hush.planning.capri.population import population


@pytest.mark.parametrize("x", [1e-6, 1e-3, 0.5, 1.0, math.pi, 20.0, 40.0])
def test_portable_functions_are_the_nearest_doubles(x: float) -> None:
    digits = Context(prec=90)
    for found, exact in (
        (portable.exp(x), Decimal(x).exp(digits)),
        (portable.exp(-x), Decimal(-x).exp(digits)),
        (portable.expm1(x), digits.subtract(Decimal(x).exp(digits), Decimal(1))),
        (portable.log(x), Decimal(x).ln(digits)),
    ):
        off = abs(Decimal(found) - exact)
        for other in (math.nextafter(found, -math.inf), math.nextafter(found, math.inf)):
            assert off <= abs(Decimal(other) - exact)


@pytest.mark.parametrize(
    ("scores", "first", "middle"),
    [
        ([3.0, 1.0, 2.0], 1, 1),
        ([3.0, 1.0 + 1e-12, 1.0, 1.0 + 1e-12, 2.0], 1, 2),
        ([1.0, 1.0, 1.0], 0, 0),
        ([2.0, 1.0, 1.0], 1, 2),
        ([math.nan, 2.0, 1.0, 3.0], 2, 2),
        ([-1.0, -2.0 + 1e-12, -2.0, -1.0], 1, 1),
        ([2.0, 1.0, 2.0, 1.0, 2.0], 1, 1),
        ([math.inf, 5.0, 4.0, math.inf], 2, 2),
    ],
)
def test_near_ties(scores: list[float], first: int, middle: int) -> None:
    assert (choice.first(scores), choice.middle(scores)) == (first, middle)


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 9), (2, 30_000), (1, 10**8)])
@pytest.mark.parametrize("place", [0.0, 0.01, 0.5, 1.0])
def test_whole_numbers_against_all_of_them(least: int, most: int, place: float) -> None:
    best = least + place * (most - least)

    def score(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(x / best) ** 2 + 1.0)

    found = choice.whole(score, least, most)
    assert least <= found <= most
    nearby = np.unique(np.clip(np.round(best) + np.arange(-500, 501), least, most))
    assert score(np.array([found]))[0] <= score(nearby).min() * (1 + 2e-9)
    assert int(str(found).rstrip("0") or 0) < 10**5 or found in (least, most)


@pytest.mark.parametrize("best", [1e-5, 0.0123456789, 0.3, 1 / 3, 0.8161291388, 1 - 1e-5, 1 - 3e-9])
def test_shares_are_found_to_six_digits(best: float) -> None:
    near, lack = min(best, 1 - best), best > 0.5
    ends = np.geomspace(1e-10, 0.5, 400)
    grid = np.unique(np.concatenate([ends, 1 - ends]))

    def score(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.log((1 - x if lack else x) / near) ** 2 + 2.0)

    found = choice.share(score, grid)
    assert abs(found - best) <= 1.1e-5 * near + 1e-15
    assert found == choice.shortened(found)


def test_a_share_at_an_end_of_the_range_is_that_end() -> None:
    grid = np.linspace(0.5, 1.0, 100)
    assert choice.share(lambda x: (x - 0.3) ** 2, grid) == 0.5
    assert choice.share(lambda x: -x, grid) == 1.0


def test_at_another_budget_a_mechanism_chooses_anew_unless_it_was_told() -> None:
    people = population([50, 30, 20])
    for made in (hush.OLH, hush.ASS, hush.AUE, hush.ATHE):
        build = builder(made(k=3, epsilon=1.0), people, None)
        assert [build(e) for e in (0.5, 3.0)] == [made(k=3, epsilon=e) for e in (0.5, 3.0)]
    assert builder(hush.AGM(k=3, epsilon=1.0, delta=1e-5), people, None)(0.5) == hush.AGM(k=3, epsilon=0.5, delta=1e-5)
    told = hush.OLH(k=3, epsilon=1.0, g=7)
    assert builder(told, people, None)(3.0) == hush.OLH(k=3, epsilon=3.0, g=7)
    assert freed(hush.SS(k=10, epsilon=1.0)) == {"k": 10, "epsilon": 1.0, "omega": 3}


@pytest.mark.parametrize(("scale", "words"), [(5.0, "so large"), (0.0, "above 0.01"), (1e9, "at most 100000")])
def test_a_scale_must_keep_the_promise(scale: float, words: str) -> None:
    with pytest.raises(ParameterError, match=f"^scale must .*{words}"):
        hush.AGM(k=4, epsilon=1.0, delta=1e-5, scale=scale)
    assert hush.AGM(k=4, epsilon=1.0, delta=1e-5, scale=6.0).exact_epsilon() < 1.0


def test_what_was_chosen_can_be_given() -> None:
    pairs = itertools.product((hush.ASS, hush.AUE, hush.ALH, hush.ATHE, hush.OLH), ((5, 1.0), (60, 3.0)))
    for made, (k, epsilon) in pairs:
        m = made(k=k, epsilon=epsilon)
        assert made(**m.parameters) == m
        assert m.choice in m.parameters


@pytest.mark.parametrize("wrong", [[{"omega": 1}], "omega", [1, 2], {"omega": 1}])
def test_choices_of_attributes_are_one_mapping_each(wrong: object) -> None:
    made = functools.partial(hush.multidim.SMP, sizes=(4, 9), epsilon=1.0, mechanism="SS")
    with pytest.raises(ParameterError, match=r"^chosen must be 2 mappings"):
        made(chosen=wrong)
    told = made(chosen=[{"omega": 2}, {"omega": 4}])
    assert [component.omega for component in told.components] == [2, 4]
    assert hush.from_dict(told.to_dict()) == told != made()
