"""Intervals of several attributes cover from few tuples on: by enumeration of all reports."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import hush
from hush.estimation.laws import Parts, Supports, by_value
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim

PROTOCOLS: list[Multidim] = [
    SPL(sizes=(2, 3), epsilon=4.0),
    SMP(sizes=(2, 3), epsilon=2.0, mechanism="GRR"),
    RSFD(sizes=(2, 3), epsilon=2.0, variant="GRR"),
    RSRFD(sizes=(2, 3), epsilon=2.0, variant="GRR", priors=[[0.8, 0.2], [0.5, 0.3, 0.2]]),
]


@pytest.mark.parametrize("m", PROTOCOLS, ids=lambda m: m.name())
def test_every_attribute_is_covered(m: Multidim) -> None:
    """In all collections together; one that says nothing about an attribute leaves it everything."""
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
            aggregate = hush.Aggregate(len(people), np.frombuffer(key, np.int64), m.spec_hash)
            each = zip(missed, m.estimate(aggregate), truths, m.reports_about(aggregate), strict=True)
            for wrong, estimate, truth, about in each:
                low, high = estimate.interval(0.95)
                wrong += chance * ((truth < low) | (truth > high))
                assert estimate.interval().method == ("exact" if about else "no report")
        assert total == pytest.approx(1.0)
        assert max(wrong.max() for wrong in missed) <= 0.05 + 1e-9


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
