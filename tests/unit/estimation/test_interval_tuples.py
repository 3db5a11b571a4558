"""Intervals of several attributes cover from few tuples on: by enumeration of all reports."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import hush
from hush.estimation.laws import DrawnSupports, Parts, Supports, by_value
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim

PROTOCOLS: list[Multidim] = [
    SPL(sizes=(2, 3), epsilon=4.0),
    SMP(sizes=(2, 3), epsilon=2.0, mechanism="GRR"),
    RSFD(sizes=(2, 3), epsilon=2.0, variant="GRR"),
    RSRFD(sizes=(2, 3), epsilon=2.0, variant="GRR", priors=[[0.8, 0.2], [0.5, 0.3, 0.2]]),
]


@pytest.mark.parametrize("m", PROTOCOLS, ids=lambda m: m.name())
def test_every_attribute_is_covered(m: Multidim) -> None:
    """An attribute that no report is about may have any frequency, and is covered, too."""
    outputs = m.outputs()
    steps = [(m.tally(np.asarray(y, m.report_dtype)[None]), y) for y in outputs]
    for people in ([(0, 0)], [(1, 2), (1, 2)], [(0, 0), (0, 1), (1, 1)]):
        law: dict[bytes, float] = {m._empty().tobytes(): 1.0}
        for person in people:
            longer: dict[bytes, float] = defaultdict(float)
            for before, chance in law.items():
                for tally, y in steps:
                    weight = m.copies(y) * m.weight(y, person) / m.denominator
                    longer[(np.frombuffer(before, np.int64) + tally).tobytes()] += chance * weight
            law = longer
        truths = [
            np.bincount(column, minlength=k) / len(people)
            for column, k in zip(np.array(people).T, m.sizes, strict=True)
        ]
        missed, total = [np.zeros(k) for k in m.sizes], 0.0
        for key, chance in law.items():
            total += chance
            found = m.estimate(hush.Aggregate(len(people), np.frombuffer(key, np.int64), m.spec_hash))
            for wrong, estimate, truth in zip(missed, found, truths, strict=True):
                low, high = estimate.interval(0.95)
                wrong += chance * ((truth < low) | (truth > high))
                assert estimate.interval().method in (("exact", "bound", "no report") if m.samples else ("exact",))
        assert total == pytest.approx(1.0)
        assert max(wrong.max() for wrong in missed) <= 0.05 + 1e-9


@pytest.mark.parametrize("drawn", [1, 2, 3, 7, 20, 39])
@pytest.mark.parametrize(("p", "q"), [(0.9, 0.1), (0.5, 0.05), (0.6, 0.4)])
def test_people_who_were_drawn_speak_for_all(drawn: int, p: float, q: float) -> None:
    """Of 40 people some are drawn, of whom a hypergeometric number hold the value: the law of supports is summed."""
    people, tail = 40, 0.025
    low, high = DrawnSupports(np.arange(drawn + 1), drawn, p, q).ends(tail, np.ones(drawn + 1, bool))
    for holding in range(people + 1):
        law = np.zeros(drawn + 1)
        for held in range(drawn + 1):
            chance = hypergeom.pmf(held, people, holding, drawn)
            ours, others = (binom.pmf(np.arange(n + 1), n, each) for n, each in ((held, p), (drawn - held, q)))
            law += chance * np.convolve(ours, others)
        assert law.sum() == pytest.approx(1.0)
        assert law[low > holding / people].sum() <= tail + 1e-12
        assert law[high < holding / people].sum() <= tail + 1e-12


@pytest.mark.parametrize(("people", "drawn", "tail"), [(795, 20, 0.025), (7, 3, 0.4)])
def test_a_single_support_may_be_the_only_one_there_is(people: int, drawn: int, tail: float) -> None:
    """One of all people holds the value: Clopper and Pearson's end for a single success would miss too often."""
    (low,), _ = DrawnSupports(np.array([1]), drawn, 1.0, 0.0).ends(tail, np.ones(1, bool))
    assert drawn / people > tail  # so likely is this one drawn
    assert low <= 1 / people < 1 - (1 - tail) ** (1 / drawn)


def test_intervals_of_one_attribute_lie_around_its_estimate() -> None:
    """However many were drawn: two values of one attribute have intervals that mirror each other."""
    m = SMP(sizes=(2, 2), epsilon=2.0, mechanism="GRR")
    rows = np.array([(i % 2, 0) for i in range(300)])
    for seed in range(20):
        found = m.estimate(m.aggregate(m.privatize(rows, rng=hush.seeded(seed))))[0]
        low, high = found.interval(0.95)
        assert (low <= found.frequencies).all()
        assert (found.frequencies <= high).all()
        assert np.allclose(low, 1 - high[::-1])


def test_mechanisms_that_are_not_pure_have_bounds() -> None:
    m = SMP(sizes=(2, 3), epsilon=1.0, mechanism="SHE")
    reports = m.privatize(np.zeros((40, 2), int), rng=hush.seeded(1))
    assert [each.interval().method for each in m.estimate(m.aggregate(reports))] == ["bound", "bound"]


def test_values_with_chances_of_their_own() -> None:
    law = by_value(np.array([3, 4, 5]), 10, np.array([0.9, 0.8, 0.9]), np.array([0.1, 0.1, 0.1]))
    assert isinstance(law, Parts)
    low, high = law.ends(0.025, np.ones(3, bool))
    for i, p in enumerate((0.9, 0.8, 0.9)):
        alone = Supports(np.array([3 + i]), 10, p, 0.1).ends(0.025, np.ones(1, bool))
        assert (low[i], high[i]) == (alone[0][0], alone[1][0])
