"""A few hundred cases of each target of the fuzzer, always the same; `make fuzz` runs as many as one likes."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from hush.errors import HushError
from tests import fuzz

pytestmark = pytest.mark.slow

CASES = {"commands": 40, "ledgers": 80}


@pytest.mark.parametrize("target", sorted(fuzz.TARGETS))
def test_read_as_meant_or_refused(target: str) -> None:
    for number in range(CASES.get(target, 300)):
        try:
            fuzz.case(target, number)
        except Exception as error:
            error.add_note(f"again: python -m tests.fuzz --target {target} --first {number} --cases 1")
            raise


@pytest.mark.parametrize("target", sorted(fuzz.TARGETS.keys() - {"commands"}))
def test_some_cases_are_read_and_most_are_refused(target: str) -> None:
    """A fuzzer whose cases all fail at the first check looks at nothing behind it."""
    seen: collections.Counter[str] = collections.Counter()
    for number in range(CASES.get(target, 300)):
        try:
            fuzz.TARGETS[target](np.random.default_rng([sum(target.encode()), number]))
            seen["read"] += 1
        except HushError as error:
            seen["refused"] += 1
            seen[str(error).split(",")[0]] += 1
    assert seen["read"] >= 3
    assert seen["refused"] > seen["read"]
    assert len(seen) >= 5, seen
