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
    ("exhibit", "k", "complaint"),
    [
        (museum.MissingReset, 6, "likelihood ratio"),
        (museum.LastBitUnprotected, 6, "likelihood ratio|does not follow its law"),
        (museum.ShiftByOne, 6, "likelihood ratio|does not follow its law"),
        (museum.FloatReports, 6, "sample gives float64, not the report_dtype uint8"),
        (museum.UnsortedSubset, 6, "ascending|not among the outputs"),
        (museum.OffByOneDomain, 6, "likelihood ratio|does not follow its law"),
        (museum.BiasedUniform, 6, "does not follow its law|likelihood ratio"),
        (museum.SeedTellsValue, 6, "public randomness depends on the value"),
        (museum.MiddleBits, 6, "public randomness depends on the value"),
        (museum.EvenSteps, 4, "does not follow its law"),
        (museum.TwinBits, 6, "does not follow its law"),
        (museum.TwinBits, 20, "depend on each other"),
        (museum.LouderHashing, 6, "likelihood ratio"),
        (museum.LouderNoise, 6, "likelihood ratio|does not follow its law"),
        (museum.OptimisticVariance, 6, "variances says"),
        (museum.ClippedEstimate, 6, "biased|variances says"),
        (museum.LeftoverBits, 6, "zeros after bit 5"),
        (museum.StrictTally, 6, "check_tally refuses a real tally"),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else str(x),
)
def test_the_suite_rejects_each_bug_for_what_it_is(exhibit: type[hush.FrequencyOracle], k: int, complaint: str) -> None:
    honest = exhibit.__mro__[1]
    check_mechanism(honest(k=k, epsilon=1.0))
    with pytest.raises(ConformanceError, match=complaint):
        check_mechanism(exhibit(k=k, epsilon=1.0))


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
