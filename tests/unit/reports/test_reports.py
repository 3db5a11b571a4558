"""Records: layout, and refusal of malformed ones. Priors of the attack. Bad counts."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.errors import DomainError, ParameterError, ReportError


@pytest.mark.parametrize(
    ("mechanism", "size"),
    [
        (hush.GRR(k=256, epsilon=1.0), 1),
        (hush.GRR(k=257, epsilon=1.0), 2),
        (hush.GRR(k=65_537, epsilon=1.0), 4),
        (hush.OUE(k=17, epsilon=1.0), 3),
        (hush.SS(k=300, epsilon=1.0, omega=5), 10),
        (hush.OLH(k=300, epsilon=1.0), 9),
        (hush.LH(k=300, epsilon=1.0, g=257), 10),
        (hush.Wheel(k=300, epsilon=1.0), 12),
        (hush.HR(k=300, epsilon=0.5), 2),
        (hush.SHE(k=7, epsilon=1.0), 28),
        (hush.AGM(k=7, epsilon=1.0, delta=1e-5), 28),
    ],
    ids=lambda x: x.name() if isinstance(x, hush.FrequencyOracle) else str(x),
)
def test_record_sizes(mechanism: hush.FrequencyOracle, size: int) -> None:
    assert mechanism.report_dtype.itemsize == size
    assert mechanism.report_dtype == mechanism.report_dtype.newbyteorder("<")
    assert mechanism.privatize([0, 1]).shape == (2,)


def forged(m: hush.FrequencyOracle, **fields: object) -> np.ndarray:
    """Two reports, the second with other fields."""
    reports = m.privatize([0, 1], rng=hush.seeded(1))
    for name, value in fields.items():
        if name == "value":
            reports[1] = value
        else:
            reports[name][1] = value
    return reports


@pytest.mark.parametrize(
    ("mechanism", "fields"),
    [
        (hush.GRR(k=5, epsilon=1.0), {"value": 5}),
        (hush.HR(k=5, epsilon=0.5), {"value": 8}),
        (hush.OUE(k=5, epsilon=1.0), {"bits": 0b100000}),
        (hush.SS(k=5, epsilon=0.1), {"subset": [1, 1]}),
        (hush.SS(k=5, epsilon=0.1), {"subset": [3, 1]}),
        (hush.SS(k=5, epsilon=0.1), {"subset": [1, 5]}),
        (hush.LH(k=5, epsilon=1.0, g=3), {"bucket": 3}),
        (hush.SHE(k=2, epsilon=1.0), {"steps": [0, 2**30]}),
        (hush.ServerTHE(k=2, epsilon=1.0), {"steps": [-(2**30), 0]}),
        (hush.AGM(k=2, epsilon=1.0, delta=1e-5), {"steps": [0, -(2**30)]}),
    ],
    ids=lambda x: x.name() if isinstance(x, hush.FrequencyOracle) else "-".join(x),
)
def test_malformed_reports_are_refused(mechanism: hush.FrequencyOracle, fields: dict[str, object]) -> None:
    reports = forged(mechanism, **fields)
    for use in (
        mechanism.aggregate,
        mechanism.attack,
        mechanism.maximum_likelihood,
        lambda r: mechanism.log_prob(r, 0),
    ):
        with pytest.raises(ReportError, match=r"reports must .*, got .*; "):
            use(reports)


def test_one_report_can_be_aggregated() -> None:
    for m in (hush.GRR(k=5, epsilon=1.0), hush.OUE(k=5, epsilon=1.0)):
        one = m.privatize(3, rng=hush.seeded(1))
        assert m.aggregate(np.atleast_1d(one)).n == 1
        assert m.aggregate(one).n == 1


def test_values_of_any_integer_type() -> None:
    m = hush.GRR(k=5, epsilon=1.0)
    for dtype in ("u1", "i1", "<u8", ">i4", "bool"):
        assert m.privatize(np.array([0, 1], dtype), rng=hush.seeded(1)).shape == (2,)
    with pytest.raises(DomainError, match=r"values must lie in 0\.\.4, got another one at position 0"):
        m.privatize([-1])
    with pytest.raises(DomainError, match="position 0"):
        m.privatize(np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize("counts", [[1, 2], [1, -1, 0], [0.5, 1, 1], "abc", None, [[1, 2, 3]]])
def test_bad_counts(counts: object) -> None:
    with pytest.raises(ParameterError, match="counts must be 3 non-negative integers"):
        hush.GRR(k=3, epsilon=1.0).simulate(counts)  # type: ignore[arg-type]


@pytest.mark.parametrize("prior", [[1, 1], [0, 0, 0], [-1, 1, 1], [float("nan"), 1, 1], [[1, 1, 1]]])
def test_bad_priors(prior: object) -> None:
    m = hush.GRR(k=3, epsilon=1.0)
    with pytest.raises(ParameterError, match="prior must be 3 non-negative numbers"):
        m.attack(m.privatize([0]), prior)  # type: ignore[arg-type]


def test_a_prior_changes_the_guess() -> None:
    m = hush.GRR(k=3, epsilon=1.0)
    reports = m.outputs()
    assert m.attack(reports).tolist() == [0, 1, 2]
    assert m.attack(reports, [0.9, 0.05, 0.05]).tolist() == [0, 0, 0]
    assert m.attack(reports, [0, 0.5, 0.5], rng=hush.seeded(1))[0] in (1, 2)


def test_ties_are_broken_at_random() -> None:
    m = hush.SS(k=6, epsilon=1.0, omega=3)
    reports = np.repeat(m.outputs()[:1], 3000)
    guesses = np.bincount(m.attack(reports, rng=hush.seeded(2)), minlength=6)
    assert (guesses[3:] == 0).all()
    assert (np.abs(guesses[:3] - 1000) < 6.5 * np.sqrt(3000 * 2 / 9)).all()


def test_nothing_in_nothing_out() -> None:
    m = hush.OUE(k=3, epsilon=1.0)
    empty = m.privatize([])
    assert empty.shape == (0,)
    assert m.attack(empty).shape == (0,)
    assert m.log_prob(empty, 0).shape == (0,)
    assert m.aggregate(empty).n == 0
    assert m.simulate([0, 0, 0]).n == 0


def test_enumeration_refuses_what_would_not_end() -> None:
    for m in (hush.OUE(k=60, epsilon=1.0), hush.SS(k=60, epsilon=0.1), hush.SHE(k=5, epsilon=1.0)):
        with pytest.raises(ParameterError, match="weights to enumerate"):
            m.outputs()
