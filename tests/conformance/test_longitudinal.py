"""One report of every longitudinal protocol conforms, like any mechanism."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import hush
from hush.longitudinal import (
    LGRR,
    LOLOHA,
    LOSUE,
    LOUE,
    LSOUE,
    LSUE,
    OLOLOHA,
    BiLOLOHA,
    FirstLGRR,
    FirstLOSUE,
    Longitudinal,
    dBitFlipPM,
)
from hush.multidim import LSMP, LSPL
from hush.testing import ConformanceError, check_mechanism

TWO_ROUNDS = [LGRR, LSUE, LOSUE, LOUE, LSOUE, BiLOLOHA, OLOLOHA]


@pytest.mark.parametrize("make", TWO_ROUNDS)
@pytest.mark.parametrize(
    ("k", "epsilon_permanent", "epsilon_report"),
    [(2, 2.0, 1.0), (3, 2.0, 1.0), (6, 0.5, 0.2), (4, 6.0, 3.5), (4, 0.02, 0.005)],
)
def test_one_report_conforms(
    make: Callable[..., Longitudinal], k: int, epsilon_permanent: float, epsilon_report: float
) -> None:
    check_mechanism(make(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report))


@pytest.mark.parametrize("make", [LGRR, LSUE, LOSUE, BiLOLOHA])
def test_one_report_conforms_at_large_budgets(make: Callable[..., Longitudinal]) -> None:
    check_mechanism(make(k=3, epsilon_permanent=20.0, epsilon_report=12.0))


@pytest.mark.parametrize("make", [LSUE, LOSUE, LOUE, LSOUE])
def test_many_bits_conform(make: Callable[..., Longitudinal]) -> None:
    check_mechanism(make(k=70, epsilon_permanent=2.0, epsilon_report=1.0))


def test_hashing_to_a_number_of_buckets_of_ones_own_conforms() -> None:
    check_mechanism(LOLOHA(k=6, epsilon_permanent=3.0, epsilon_report=1.0, g=7))


@pytest.mark.parametrize(("k", "d"), [(2, 1), (2, 2), (5, 1), (5, 3), (6, 6)])
@pytest.mark.parametrize("epsilon_permanent", [0.3, 2.0])
def test_asked_bits_conform(k: int, d: int, epsilon_permanent: float) -> None:
    check_mechanism(dBitFlipPM(k=k, epsilon_permanent=epsilon_permanent, d=d))


class ForgottenRound(FirstLGRR):
    """The permanent answer is sent as it is."""

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return hush.GRR(k=self.k, epsilon=self.epsilon_permanent).sample(values, rng)


class FreshAlone(FirstLOSUE):
    """The fresh round is applied to the truth: nothing is kept."""

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        truth = np.zeros(values.size, self.report_dtype)
        truth["bits"][np.arange(values.size), values >> 3] = 1 << (values & 7)
        return self._fresh(truth, rng)


@pytest.mark.parametrize("broken", [ForgottenRound, FreshAlone])
def test_the_suite_rejects_a_round_that_is_missing(broken: Callable[..., hush.FrequencyOracle]) -> None:
    with pytest.raises(ConformanceError, match=r"likelihood ratio|does not follow its law"):
        check_mechanism(broken(k=4, epsilon=1.0, epsilon_permanent=2.0))


@pytest.mark.parametrize("make", [LSMP, LSPL])
@pytest.mark.parametrize("protocol", ["ADP", "LOSUE", ("LGRR", "BiLOLOHA")])
def test_one_report_of_tuples_conforms(make: Callable[..., LSMP | LSPL], protocol: str | tuple[str, str]) -> None:
    check_mechanism(make(sizes=(2, 3), epsilon_permanent=3.0, epsilon_report=1.5, protocol=protocol))
