"""The suite rejects every bug of the museum, and nothing but the bug."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import hush
from hush.testing import ConformanceError, check_mechanism
from tests.conformance import museum


@pytest.mark.parametrize(
    ("exhibit", "honest"),
    [
        (museum.MissingReset, hush.OUE),
        (museum.LastBitUnprotected, hush.SUE),
        (museum.ShiftByOne, hush.GRR),
        (museum.UnsortedSubset, hush.SS),
        (museum.OffByOneDomain, hush.GRR),
        (museum.BiasedUniform, hush.GRR),
        (museum.SeedTellsValue, hush.OLH),
        (museum.OptimisticVariance, hush.OUE),
        (museum.ClippedEstimate, hush.GRR),
        (museum.LeftoverBits, hush.OUE),
    ],
)
def test_the_suite_rejects_each_bug(exhibit: type[hush.FrequencyOracle], honest: type[hush.FrequencyOracle]) -> None:
    check_mechanism(honest(k=6, epsilon=1.0))
    with pytest.raises((ConformanceError, hush.HushError)):
        check_mechanism(exhibit(k=6, epsilon=1.0))


def test_the_suite_rejects_a_threshold_rounded_to_nearest() -> None:
    candidates = [museum.FloatThreshold(k=k, epsilon=e / 16) for k in range(2, 9) for e in range(1, 64)]
    broken = [m for m in candidates if m.breaks_its_promise]
    assert len(broken) > 10
    for mechanism in broken[:10]:
        with pytest.raises(ConformanceError, match="exceeds the guarantee"):
            check_mechanism(mechanism)


def test_missing_reset_loses_what_the_golden_value_says() -> None:
    honest = hush.OUE(k=4, epsilon=0.25)
    p = honest.p_star + (1 - honest.p_star) * honest.q_star
    loss = math.log(p * (1 - honest.q_star) / (honest.q_star * (1 - p)))
    assert loss == pytest.approx(1.18906993111192, abs=1e-12)
    exhibit = museum.MissingReset(k=4, epsilon=0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ones = exhibit.aggregate(exhibit.privatize(np.zeros(200_000, np.int64), rng=hush.seeded(3))).tally[0]
    assert ones / 200_000 == pytest.approx(p, abs=0.007)  # six standard errors
