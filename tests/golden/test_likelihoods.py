"""What other languages are held to: likelihoods of reports with every value, and the specs of the demo page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import hush
from tests.golden import write_demo
from tests.golden.write_likelihoods import FILE, entries

STORED: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))


def logs(entry: dict[str, Any]) -> Any:
    return np.array([[-np.inf if each is None else each for each in row] for row in entry["logs"]])


def test_likelihoods_are_those_of_the_mechanisms() -> None:
    made = dict(entries())
    assert made.keys() == STORED.keys()
    for name, entry in made.items():
        stored = STORED[name]
        assert {**entry, "logs": None} == {**stored, "logs": None}, name
        np.testing.assert_allclose(logs(entry), logs(stored), rtol=0, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("name", ["OUE k=64 epsilon=1.0", "SS k=9 epsilon=0.1 omega=7"])
def test_likelihoods_differ_by_epsilon_at_most(name: str) -> None:
    m = hush.from_dict(STORED[name]["spec"])
    spread = np.ptp(logs(STORED[name]), axis=1)
    assert np.all(spread <= m.epsilon + 1e-11)
    assert np.any(spread > m.epsilon - 1e-9)


def test_the_demo_has_specs_as_they_are_made() -> None:
    assert json.loads(write_demo.FILE.read_text(encoding="utf-8")) == write_demo.specs()
