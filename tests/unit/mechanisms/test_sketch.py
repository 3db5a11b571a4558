"""The count-mean sketch: against local hashing, against all members of its family, and against the ideal hash."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush import statistics
from hush.errors import ParameterError, ReportError
from hush.mechanisms.hashing.family import MEMBERS


def test_tallies_count_the_values_of_set_buckets() -> None:
    m = hush.CMS(k=300, epsilon=1.0, width=16)
    reports = m.privatize(np.arange(3_000) % m.k, rng=hush.seeded(7))
    due = m.support_matrix(reports).sum(axis=0)
    assert (m.tally(reports) == due).all()
    parts = m.aggregate(iter(np.array_split(reports, 7)))
    assert parts == m.aggregate(reports)
    assert (parts.tally == due).all()
    for value in (0, 17, 299):
        assert (m.supports(reports, np.full(reports.size, value)) == m.support_matrix(reports)[:, value]).all()


@pytest.mark.parametrize(("k", "width"), [(2, 2), (5, 4), (7, 8)])
def test_support_probabilities_are_those_of_all_members(k: int, width: int) -> None:
    """The mean over all 65,535 members, each exact: another value is supported with q* whichever the two are."""
    m = hush.CMS(k=k, epsilon=1.5, width=width)
    p, q = m.bit_chances
    homes = m.buckets_of(np.arange(MEMBERS), np.arange(k))
    for first, second in itertools.combinations(range(k), 2):
        together = float((homes[:, first] == homes[:, second]).mean())
        assert together == pytest.approx(m.collision, rel=1e-12)
        assert q + (p - q) * together == pytest.approx(m.q_star, rel=1e-12)


def test_attack_success_is_that_of_all_members_to_a_thousandth() -> None:
    """The formula is of an ideal hash; here it is enumerated over the family, by the partition that a member makes."""
    k, width, epsilon = 4, 4, 1.0
    m = hush.CMS(k=k, epsilon=epsilon, width=width)
    p, q = m.bit_chances
    homes = m.buckets_of(np.arange(MEMBERS), np.arange(k))
    patterns, counts = np.unique(homes, axis=0, return_counts=True)
    rows = np.array(list(itertools.product((0, 1), repeat=width)))
    right = 0.0
    for home, count in zip(patterns, counts, strict=True):
        for bits in rows:
            law = [
                np.prod([(p if b == own else q) if bit else 1 - (p if b == own else q) for b, bit in enumerate(bits)])
                for own in home
            ]
            right += count / MEMBERS * max(law) / k
    assert m.asr() == pytest.approx(right, rel=1e-3)
    assert m.asr([0.25] * 4) == pytest.approx(m.asr(), rel=1e-12)
    assert m.asr([0.7, 0.1, 0.1, 0.1]) >= 0.7


def test_people_are_guessed_as_often_as_the_formula_says() -> None:
    """False alarm 1e-9."""
    m = hush.CMS(k=20, epsilon=3.0)
    values = np.arange(100_000) % m.k
    guesses = m.attack(m.privatize(values, rng=hush.seeded(7)), rng=hush.seeded(8))
    assert not statistics.count_alarm(int((guesses == values).sum()), values.size, m.asr())


def test_fakes_gain_what_the_forms_say() -> None:
    m = hush.CMS(k=50, epsilon=1.0, width=32)
    targets = np.array([3, 8, 21])
    fakes = m.forms.maximal_reports(targets, 500, hush.seeded(7))
    found = m.decode(m.tally(fakes), fakes.size)[targets].sum()
    assert found == pytest.approx(m.forms.maximal_sum(targets), rel=1e-12)
    ones = np.unpackbits(fakes["bits"], axis=1).sum(axis=1)
    p, q = m.bit_chances
    assert not statistics.mean_alarm(ones.astype(np.float64), p + 31 * q, 32.0)  # as many ones as genuine reports
    anything = m.forms.random_reports(20_000, hush.seeded(7))
    supported = m.support_matrix(anything)[:, 3]
    assert not statistics.count_alarm(int(supported.sum()), supported.size, 0.5)


def test_width_follows_k_and_travels() -> None:
    assert [hush.CMS(k=k, epsilon=1.0).width for k in (2, 3, 64, 65, 5_000)] == [2, 4, 64, 128, 256]
    m = hush.CMS(k=10, epsilon=1.0, width=64)
    assert hush.from_dict(m.to_dict()) == m
    assert m.to_dict()["width"] == 64


@pytest.mark.parametrize(("given", "named"), [({"width": 3}, "width"), ({"width": 512}, "width"), ({"k": 70_000}, "k")])
def test_what_the_family_lacks_is_refused(given: dict[str, int], named: str) -> None:
    with pytest.raises(ParameterError) as error:
        hush.CMS(**{"k": 10, "epsilon": 1.0, **given})
    assert error.value.parameter == named


def test_malformed_reports_are_refused() -> None:
    m = hush.CMS(k=10, epsilon=1.0, width=4)
    reports = m.privatize([1, 2], rng=hush.seeded(7))
    for field, wrong in (("member", MEMBERS), ("bits", 16)):
        broken = reports.copy()
        broken[field][1] = wrong
        with pytest.raises(ReportError):
            m.aggregate(broken)


# The tally of a collection, drawn as a whole.


def test_drawn_tallies_have_the_covariances_of_real_ones() -> None:
    """Bits make supports of values that collide with nobody in particular go together; false alarm 1e-9."""
    m, runs, n = hush.CMS(k=6, epsilon=4.0, width=4), 4_000, 60
    counts = np.array([30, 12, 10, 8, 0, 0])
    values = np.repeat(np.arange(6), counts)
    rng = hush.seeded(7)
    reports = m.privatize(np.tile(values, runs), rng=rng)
    real = m.support_matrix(reports).reshape(runs, n, m.k).sum(axis=1)
    drawn = m.forms.tallies(counts[None], runs, hush.seeded(8))
    sizes = np.diag(np.cov(real.T))
    error = np.sqrt(2 * (np.outer(sizes, sizes) + np.cov(real.T) ** 2) / runs)
    assert (np.abs(np.cov(real.T) - np.cov(drawn.T)) / error).max() < statistics.sigmas(21) * 1.1
    assert np.abs(np.cov(drawn.T)[4, 5]) > 2 * error[4, 5]  # which independent bits would not have
    assert m.simulate(counts, rng=hush.seeded(1)).tally.shape == (6,)


def test_populations_may_differ_from_run_to_run() -> None:
    m = hush.CMS(k=4, epsilon=1.0)
    rows = m.forms.tallies(np.array([[40_000, 0, 0, 0], [0, 0, 0, 40_000]]), 2, hush.seeded(7))
    for run, value in ((0, 0), (1, 3)):
        assert not statistics.count_alarm(int(rows[run, value]), 40_000, m.p_star)
        assert not statistics.count_alarm(int(rows[run, 3 - value]), 40_000, m.q_star)
