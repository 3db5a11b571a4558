"""The Hadamard sketch: against its definition, against binary local hashing, and against all members of its family."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.linalg import hadamard

import hush
from hush import statistics
from hush.errors import ParameterError, ReportError
from hush.mechanisms.hashing.family import MEMBERS


@pytest.mark.parametrize("width", [2, 16, 256])
def test_supports_are_signs_of_the_hadamard_matrix(width: int) -> None:
    m = hush.HCMS(k=40, epsilon=1.0, width=width)
    reports = m.privatize(np.arange(2_000) % m.k, rng=hush.seeded(7))
    homes = m.buckets_of(reports["member"].astype(np.int64), np.arange(m.k))
    signs = hadamard(width)[reports["coefficient"][:, None], homes]
    due = signs == np.where(reports["bit"], -1, 1)[:, None]
    assert (m.support_matrix(reports) == due).all()
    assert (m.supports(reports, np.full(reports.size, 17)) == due[:, 17]).all()


@pytest.mark.parametrize("width", [2, 8, 256])
def test_member_and_coefficient_are_a_binary_member(width: int) -> None:
    """Every coefficient but the first, with members all over the family."""
    m = hush.HCMS(k=30, epsilon=1.0, width=width)
    member = np.arange(0, MEMBERS, 997)
    for coefficient in range(1, width):
        parities = np.bitwise_count(m.buckets_of(member, np.arange(m.k)) & coefficient) % 2
        shifted = (member + m.shifts[coefficient]) % MEMBERS
        assert (parities == np.array([m.binary.homes(int(one)) for one in shifted])).all()


def test_tallies_are_supports() -> None:
    m = hush.HCMS(k=300, epsilon=1.0, width=4)  # where every fourth report supports all values or none
    reports = m.privatize(np.arange(30_000) % m.k, rng=hush.seeded(7))
    due = m.support_matrix(reports).sum(axis=0)
    assert (m.tally(reports) == due).all()
    parts = m.aggregate(iter(np.array_split(reports, 7)))
    assert parts == m.aggregate(reports)
    assert (parts.tally == due).all()


@pytest.mark.parametrize("width", [2, 4])
def test_support_probabilities_are_those_of_all_members(width: int) -> None:
    """Over all 65,535 members and all coefficients: q* whichever the two values are, and so no bias."""
    m = hush.HCMS(k=5, epsilon=1.5, width=width)
    homes = m.buckets_of(np.arange(MEMBERS), np.arange(m.k))
    for first, second in itertools.combinations(range(m.k), 2):
        differ = homes[:, first] ^ homes[:, second]
        same = np.mean([(np.bitwise_count(differ & coefficient) % 2 == 0).mean() for coefficient in range(width)])
        assert float(m.agreement) == pytest.approx(same, rel=1e-12)
        assert same * m.p_star + (1 - same) * (1 - m.p_star) == pytest.approx(m.q_star, rel=1e-12)


def test_the_loss_is_that_of_one_bit() -> None:
    m = hush.HCMS(k=9, epsilon=1.0)
    assert 1 - 1e-12 < m.exact_epsilon() <= 1
    assert m.exact_epsilon() == hush.BLH(k=9, epsilon=1.0).exact_epsilon()


def test_people_are_guessed_as_often_as_the_formula_says() -> None:
    """False alarm 1e-9."""
    m = hush.HCMS(k=4, epsilon=3.0, width=4)
    values = np.arange(100_000) % m.k
    reports = m.privatize(values, rng=hush.seeded(7))
    guesses = m.attack(reports, rng=hush.seeded(8))
    assert not statistics.count_alarm(int((guesses == values).sum()), values.size, m.asr())
    prior = [0.6, 0.2, 0.1, 0.1]
    held = np.random.default_rng(1).choice(4, values.size, p=prior)
    guesses = m.attack(m.privatize(held, rng=hush.seeded(9)), prior, rng=hush.seeded(10))
    assert not statistics.count_alarm(int((guesses == held).sum()), held.size, m.asr(prior))


def test_drawn_tallies_have_the_covariances_of_real_ones() -> None:
    """Which the first coefficient makes; false alarm 1e-9."""
    m, runs, n = hush.HCMS(k=5, epsilon=2.0, width=2), 4_000, 60
    counts = np.array([30, 12, 10, 8, 0])
    reports = m.privatize(np.tile(np.repeat(np.arange(5), counts), runs), rng=hush.seeded(7))
    real = np.cov(m.support_matrix(reports).reshape(runs, n, m.k).sum(axis=1).T)
    drawn = np.cov(m.forms.tallies(counts[None], runs, hush.seeded(8)).T)
    sizes = np.diag(real)
    error = np.sqrt(2 * (np.outer(sizes, sizes) + real**2) / runs)
    assert (np.abs(real - drawn) / error).max() < statistics.sigmas(15) * 1.1
    assert drawn[3, 4] > 6 * error[3, 4]


@pytest.mark.parametrize("targets", [[3], [3, 8, 21], list(range(40))])
def test_fakes_gain_what_the_forms_say(targets: list[int]) -> None:
    m, at = hush.HCMS(k=50, epsilon=1.0, width=32), np.array(targets)
    fakes = m.forms.maximal_reports(at, 500, hush.seeded(7))
    found = m.decode(m.tally(fakes), fakes.size)[at].sum()
    assert found == pytest.approx(m.forms.maximal_sum(at), rel=1e-12)
    assert (np.unique(fakes["coefficient"]).size > 16) == (len(targets) < 15)  # ordinary ones, as long as there are any


@pytest.mark.parametrize(("given", "named"), [({"width": 3}, "width"), ({"width": 512}, "width"), ({"k": 70_000}, "k")])
def test_what_the_family_lacks_is_refused(given: dict[str, int], named: str) -> None:
    with pytest.raises(ParameterError) as error:
        hush.HCMS(**{"k": 10, "epsilon": 1.0, **given})
    assert error.value.parameter == named


def test_malformed_reports_are_refused() -> None:
    m = hush.HCMS(k=10, epsilon=1.0, width=4)
    reports = m.privatize([1, 2], rng=hush.seeded(7))
    for field, wrong in (("member", MEMBERS), ("coefficient", 4), ("bit", 2)):
        broken = reports.copy()
        broken[field][1] = wrong
        with pytest.raises(ReportError):
            m.aggregate(broken)
        with pytest.raises(ReportError):
            m.validate(broken)
