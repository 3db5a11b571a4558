"""Numeric samplers against their law. False-alarm rate: 1e-9 a test, by fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.statistics import counts_alarm, mean_alarm

N = 300_000


@pytest.mark.parametrize("number", [0.0, 0.75, 2.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("name", sorted(hush.registry("numeric")))
def test_reports_follow_the_law(name: str, epsilon: float, number: float) -> None:
    m = hush.registry("numeric")[name](low=0.0, high=3.0, epsilon=epsilon, steps=3)
    reports = m.privatize(np.full(N, number), rng=hush.seeded([7, int(epsilon * 10), int(number * 4)]))
    below = min(int(number), 2)
    law = m.chances(np.array([below, below + 1])) @ np.array([below + 1 - number, number - below])
    seen = np.bincount(reports.astype(np.int64), minlength=m.size)
    assert counts_alarm(law * N, seen) == ""


@pytest.mark.parametrize("name", sorted(hush.registry("numeric")))
def test_reports_are_right_on_average(name: str) -> None:
    m = hush.registry("numeric")[name](low=-1.0, high=1.0, epsilon=1.0)
    values = np.full(N, 0.123456)
    said = m.low + m.decode(m.privatize(values, rng=hush.seeded(7))) * m.width / m.steps
    least, most = (m.low + x * m.width / m.steps for x in (m.decode(m.outputs()).min(), m.decode(m.outputs()).max()))
    assert mean_alarm(said - least, 0.123456 - least, most - least) == ""
