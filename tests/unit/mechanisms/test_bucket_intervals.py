"""Records of local hashing are counted straight from their bytes: the same counts as by the law, the same checks."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.errors import ReportError

MECHANISMS = [
    hush.BLH(k=3, epsilon=0.1),
    hush.LH(k=100, epsilon=1.0, g=4),
    hush.LH(k=5, epsilon=1.0, g=256),
    hush.LH(k=70, epsilon=1.0, g=1000),  # two bytes a bucket
    hush.LH(k=30, epsilon=1.0, g=65_537),  # four, and more of them than a table holds
    hush.LH(k=2500, epsilon=1.0, g=7),  # more keys than are counted together
]


@pytest.mark.parametrize("m", MECHANISMS, ids=lambda m: f"k={m.k}, g={m.g}")
def test_tallies_are_those_of_the_support(m: hush.LH) -> None:
    rng = np.random.default_rng(5)
    reports = np.zeros(20_001, m.report_dtype)  # more than are unpacked together
    reports["a"], reports["b"] = rng.integers(0, 2**32, (2, reports.size), dtype=np.uint32)
    reports["bucket"] = rng.integers(0, m.g, reports.size)
    few = reports[::17]  # which do not lie side by side
    assert (m.tally(few) == m.support_matrix(few).sum(axis=0)).all()
    assert (m.tally(reports[:0]) == 0).all()
    whole = m.tally(reports)
    assert (whole == sum(m.tally(reports[at : at + 777]) for at in range(0, reports.size, 777))).all()
    reports.setflags(write=False)  # as those of a file
    assert (m.tally(reports) == whole).all()


@pytest.mark.parametrize("m", [m for m in MECHANISMS if m.g & 255], ids=lambda m: f"k={m.k}, g={m.g}")
@pytest.mark.parametrize("at", [0, 16_384, 20_000])
def test_a_bucket_that_is_none_is_refused(m: hush.LH, at: int) -> None:
    reports = np.zeros(20_001, m.report_dtype)
    reports["bucket"][at] = m.g
    with pytest.raises(ReportError, match=f"^reports must have buckets below {m.g}, got {m.g}; check their spec"):
        m.aggregate(reports)
