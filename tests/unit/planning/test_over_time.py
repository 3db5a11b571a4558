"""Trials over time: people whose values change, and errors of every round beside their formulas."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.longitudinal import LGRR, LOSUE
from hush.multidim import LSMP
from hush.planning.over_time import histories, of_rounds
from hush.planning.trials import stderr


def test_values_change_as_often_as_is_said() -> None:
    """Half of the anew drawn values of two are the same: within six standard deviations, 2e-9."""
    first = np.arange(100_000) % 2
    held = histories(first, 5, 0.2, hush.seeded(1))
    assert held.shape == (100_000, 5)
    assert (held[:, 0] == first).all()
    changed = (held[:, 1:] != held[:, :-1]).mean(axis=0)
    assert (np.abs(changed - 0.1) < 6 * np.sqrt(0.1 * 0.9 / 100_000)).all()
    assert (np.abs(held.mean(axis=0) - 0.5) < 6 * 0.5 / np.sqrt(100_000)).all()


def test_nobody_changes_or_everybody_draws_anew() -> None:
    first = np.arange(1000) % 7
    assert (histories(first, 3, 0.0, hush.seeded(1)) == first[:, None]).all()
    assert (histories(first, 3, 1.0, hush.seeded(1))[:, 1] != first).mean() > 0.5
    tuples = np.stack([first % 2, first], axis=1)
    held = histories(tuples, 4, 0.5, hush.seeded(2))
    assert held.shape == (1000, 4, 2)
    moved = held[:, 1] != held[:, 0]
    assert 0 < (moved[:, 0] & moved[:, 1]).sum() < moved[:, 1].sum()  # each by itself


@pytest.mark.parametrize(
    "protocol",
    [
        LGRR(k=4, epsilon_permanent=3.0, epsilon_report=1.5),
        LOSUE(k=4, epsilon_permanent=3.0, epsilon_report=1.5),
        LSMP(sizes=(2, 4), epsilon_permanent=3.0, epsilon_report=1.5),
    ],
    ids=lambda m: m.name(),
)
def test_errors_of_every_round_are_those_of_the_formula(protocol: object) -> None:
    """The mean squared error of 200 runs within seven standard errors, for its law is skewed, on a fixed seed."""
    spec = hush.Spec(protocol)  # type: ignore[arg-type]
    first = np.arange(2000) % 4
    held = np.stack([first % 2, first], axis=1) if hasattr(protocol, "sizes") else first
    course = histories(held, 3, 0.1, hush.seeded(3))
    heard: list[float] = []
    found, last = of_rounds(spec, course, 200, hush.seeded(4), heard.append)
    assert len(heard) == 200
    assert len(last) == 3
    assert [each["round"] for each in found["rounds"]] == ([1, 1, 2, 2, 3, 3] if held.ndim == 2 else [1, 2, 3])
    for each in found["rounds"]:
        assert abs(each["mse"] - each["analytic_variance"]) < 7 * each["mse_stderr"]
        assert 0 < each["mse_stderr"] < 0.15 * each["mse"]
        assert each["coverage"] > 0.9


def test_one_run_has_no_standard_error() -> None:
    assert stderr(np.ones(1)) is None
