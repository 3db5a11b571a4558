"""The suite rejects every bug of the museum, and nothing but the bug."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import hush
from hush import statistics
from hush.testing import ConformanceError, check_mechanism, museum


@pytest.mark.parametrize(
    ("exhibit", "k", "complaint"),
    [
        (museum.MissingResetOUE, 6, "likelihood ratio"),
        (museum.MissingResetSUE, 6, "likelihood ratio"),
        (museum.LastBitUnprotected, 6, "likelihood ratio|does not follow its law"),
        (museum.ShiftByOne, 6, "likelihood ratio|does not follow its law"),
        (museum.FloatReports, 6, "sample gives float64, not the report_dtype uint8"),
        (museum.TrueValueFirst, 6, "ascending|not among the outputs"),
        (museum.LastNeverFake, 6, "likelihood ratio|does not follow its law"),
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
def test_the_suite_rejects_each_bug_for_what_it_is(exhibit: type[museum.Exhibit], k: int, complaint: str) -> None:
    check_mechanism(exhibit.honest()(k=k, epsilon=1.0))
    with pytest.raises(ConformanceError, match=complaint):
        check_mechanism(exhibit(k=k, epsilon=1.0))


@pytest.mark.parametrize(
    ("exhibit", "complaint"),
    [
        (museum.RoundedDown, "does not follow its law for the number -1.75"),
        (museum.LouderCoin, "does not follow its law for the number -2"),
        (museum.RoundedUpCoin, "exceeds the guarantee"),
        (museum.OneSided, "does not follow its law"),
        (museum.TellingChoice, "does not follow its law"),
        (museum.ClippedNumbers, "the estimate is biased: tick 0 is"),
        (museum.OptimisticMean, "variance says"),
    ],
)
def test_the_suite_rejects_each_bug_of_means_for_what_it_is(exhibit: type[museum.Exhibit], complaint: str) -> None:
    given = {"low": -2.0, "high": 4.0, "epsilon": 1.0, "steps": 6}
    check_mechanism(exhibit.honest()(**given))
    with pytest.raises(ConformanceError, match=complaint):
        check_mechanism(exhibit(**given))


def test_the_suite_rejects_a_threshold_rounded_to_nearest() -> None:
    candidates = [museum.FloatThreshold(k=k, epsilon=e / 16) for k in range(2, 9) for e in range(1, 64)]
    broken = [m for m in candidates if m.breaks_its_promise]
    assert len(broken) > 10
    for mechanism in broken[:10]:
        with pytest.raises(ConformanceError, match="exceeds the guarantee"):
            check_mechanism(mechanism)


@pytest.mark.parametrize("broken", [museum.MissingResetOUE, museum.MissingResetSUE])
def test_a_missing_reset_has_the_law_it_states(broken: type[museum.MissingReset]) -> None:
    """False alarm 1e-9 for each of three numbers."""
    m = broken(k=12, epsilon=0.5)
    n, values = 60_000, np.full(60_000, 5)
    reports = m.privatize(values, rng=hush.seeded(7))
    p, q = m.p_star, m.q_star
    ones = m.support_matrix(reports).sum(axis=0)
    true = p + (1 - p) * q
    assert not statistics.count_alarm(int(ones[5]), n, true)
    assert not statistics.count_alarm(int(ones[0]), n, q)
    assert m.true_epsilon() == pytest.approx(math.log(true * (1 - q) / ((1 - true) * q)))
    assert not statistics.mean_alarm(m.forms.guess_chance(reports, values), m.true_asr(), 1.0)


def test_a_missing_reset_loses_what_the_golden_value_says() -> None:
    assert museum.MissingResetOUE(k=4, epsilon=0.25).true_epsilon() == pytest.approx(1.18906993111192, abs=1e-12)
    assert museum.MissingResetOUE(k=4, epsilon=0.25).exact_epsilon() <= 0.25


def test_bugs_of_means_lose_what_they_say() -> None:
    given = {"low": -2.0, "high": 4.0, "epsilon": 1.0, "steps": 6}
    assert 1.0 < museum.RoundedUpCoin(**given).true_epsilon() < 1.0 + 1e-12
    assert museum.LouderCoin(**given).true_epsilon() == pytest.approx(1.1, rel=1e-9)
    assert museum.LouderCoin(**given).exact_epsilon() <= 1.0
    for honest in (museum.RoundedDown, museum.ClippedNumbers, museum.OptimisticMean):
        assert honest(**given).true_epsilon() <= 1.0


def test_a_biased_lie_loses_what_its_table_says() -> None:
    """Eight words for five lies: three come with 2/8, two with 1/8."""
    m = museum.BiasedUniform(k=6, epsilon=1.0)
    channel = np.diag(np.full(6, m.p_star))
    for value in range(6):
        lies = [v for v in range(6) if v != value]
        channel[value, lies] = (1 - m.p_star) * np.array([2, 2, 2, 1, 1]) / 8
    assert m.true_epsilon() == pytest.approx(np.log(channel.max(axis=0) / channel.min(axis=0)).max())


@pytest.mark.parametrize(
    ("broken", "first", "second", "event"),
    [
        (museum.LastBitUnprotected, 7, 0, lambda m, y: m.supports(y, np.full(y.size, 7))),
        (museum.ShiftByOne, 0, 1, lambda m, y: y == 0),
        (museum.TrueValueFirst, 1, 0, lambda m, y: (y["subset"][:, 0] == 1) & (y["subset"][:, 1] == 0)),
        (museum.LastNeverFake, 7, 0, lambda m, y: y == 7),
        (museum.SeedTellsValue, 1, 0, lambda m, y: y["b"] % 2 == 1),
        (museum.TwinBits, 0, 1, lambda m, y: m.support_matrix(y)[:, 2] != m.support_matrix(y)[:, 3]),
        (museum.EvenSteps, 0, 1, lambda m, y: y["steps"][:, 0] % 2 == 0),
    ],
)
def test_infinite_losses_are_infinite(
    broken: type[museum.Exhibit], first: int, second: int, event: Callable[..., np.ndarray]
) -> None:
    """An event that occurs under one value, and never under another."""
    m = broken(k=8, epsilon=1.0)
    assert math.isinf(m.true_epsilon())
    if broken is museum.EvenSteps:
        second = 7  # whose next coordinate is 0, and made odd
    one, two = (m.privatize(np.full(20_000, value), rng=hush.seeded([7, value])) for value in (first, second))
    assert event(m, one).mean() > 0.02
    assert event(m, two).sum() == 0


@pytest.mark.parametrize("broken", [museum.OneSided, museum.TellingChoice])
def test_infinite_losses_of_numbers_are_infinite(broken: type[museum.Exhibit]) -> None:
    """The lowest places: a small number has its window there, or sends none; a large one does the other."""
    m = broken(low=0.0, high=4.0, epsilon=1.0, steps=4)  # type: ignore[call-arg]
    assert math.isinf(m.true_epsilon())
    small, large = (m.privatize(np.full(20_000, x), rng=hush.seeded([7, int(x)])) for x in (0.0, 3.0))
    often, never = (small, large) if broken is museum.OneSided else (large, small)
    assert (often < 100).mean() > 0.02
    assert (never < 100).sum() == 0
