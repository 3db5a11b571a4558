"""RAPPOR: filters against their definition, least squares against the law, the loss against all pairs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hush
from hush import statistics
from hush.errors import ParameterError, ReportError, SpecError
from hush.exact import SCALE, shared_bit
from hush.exact.thresholds import log_ratio
from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.shape import bit_counts
from hush.mechanisms.sketch.bloom_guesses import ideal_success, scores_of
from hush.mechanisms.sketch.cohorts import STEP


def table(m: hush.RAPPOR) -> np.ndarray:
    """Which bits are set, as [cohort, bit, value]."""
    found = np.zeros((m.cohorts, m.width, m.k), np.int64)
    for cohort, value, function in np.ndindex(m.filters.homes.shape):
        found[cohort, m.filters.homes[cohort, value, function], value] = 1
    return found


def test_functions_are_members_of_the_family() -> None:
    m = hush.RAPPOR(k=20, epsilon=1.0, width=32, hashes=3, cohorts=5)
    assert math.gcd(STEP, MEMBERS) == 1
    other = hush.CMS(k=20, epsilon=1.0, width=32)
    for cohort, function in itertools.product(range(5), range(3)):
        member = (3 * cohort + function) * STEP % MEMBERS
        homes = other.buckets_of(np.array([member]), np.arange(20))[0]
        assert (m.filters.homes[cohort, :, function] == homes).all()
    assert (m.filters.sizes == table(m).sum(axis=1)).all()
    assert (m.filters.sizes < 3).any()  # where two functions agree


@pytest.mark.parametrize(("k", "width", "hashes"), [(5, 4, 2), (30, 16, 3), (40, 128, 2), (9, 8, 8), (6, 16, 1)])
def test_the_loss_is_that_of_the_bits_that_differ_most(k: int, width: int, hashes: int) -> None:
    m = hush.RAPPOR(k=k, epsilon=1.0, width=width, hashes=hashes, cohorts=16)
    sets = table(m)
    due = max(int(np.abs(sets[:, :, u] - sets[:, :, v]).sum(axis=1).max()) for u in range(k) for v in range(u))
    assert m.differing == due <= 2 * hashes
    p, q = m.bit_thresholds
    assert m.exact_epsilon() == log_ratio(p**due, q**due) <= 1.0
    assert m.exact_epsilon() > 1 - 1e-12


@pytest.mark.parametrize("bits", [1, 2, 3, 16])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 7.3, 20.0])
def test_thresholds_are_the_least_that_keep_the_promise(bits: int, epsilon: float) -> None:
    q = shared_bit(epsilon, bits)
    assert log_ratio((SCALE - q) ** bits, q**bits) <= epsilon
    assert log_ratio((SCALE - q + 1) ** bits, (q - 1) ** bits) > epsilon


def test_tallies_count_bits_and_cohorts() -> None:
    m = hush.RAPPOR(k=12, epsilon=1.0)
    reports = m.privatize(np.arange(3_000) % m.k, rng=hush.seeded(7))
    ones = np.unpackbits(reports["bits"], axis=1, bitorder="little")
    due = [ones[reports["cohort"] == cohort].sum(axis=0) for cohort in range(m.cohorts)]
    tally = m.tally(reports)
    assert (tally[: m.cohorts * m.width].reshape(m.cohorts, m.width) == due).all()
    assert (tally[m.cohorts * m.width :] == np.bincount(reports["cohort"], minlength=m.cohorts)).all()
    assert m.aggregate(iter(np.array_split(reports, 5))) == m.aggregate(reports)


@pytest.mark.parametrize(("k", "hashes"), [(30, 2), (17, 3)])
def test_estimates_and_variances_are_exact(k: int, hashes: int) -> None:
    """Unbiased, by the mean of every bit of every cohort; the variance, by the definition of one report's."""
    m = hush.RAPPOR(k=k, epsilon=1.0, hashes=hashes)
    (p, q), sets = m.bit_chances, table(m)
    columns = sets.reshape(-1, k)
    decoder = np.linalg.pinv(columns).reshape(k, m.cohorts, m.width)
    for value in (0, k - 1):
        chances = np.where(sets[:, :, value] == 1, p, q)
        mean = m.decode(np.append((chances * 1e6).ravel(), np.full(m.cohorts, 1e6)), int(m.cohorts * 1e6))
        assert mean == pytest.approx(np.eye(k)[value], abs=1e-9)
        adds = m.cohorts / (p - q) * np.einsum("vcb,cb->cv", decoder, chances - q)
        noise = (m.cohorts / (p - q)) ** 2 * np.einsum("vcb,cb->cv", decoder**2, chances * (1 - chances))
        due = (noise + adds**2).mean(axis=0) - adds.mean(axis=0) ** 2
        assert m.variances(np.eye(k)[value]) == pytest.approx(due, rel=1e-9)
    shares = np.full(k, 0.7 / (k - 1))
    means = []
    for value in range(k):
        shares[:] = 0.7 / (k - 1)
        shares[value] = 0.3
        means.append(m.variances(shares, 50)[value])
    assert m.variance(50, 0.3) == pytest.approx(np.mean(means), rel=1e-12)


def test_no_report_says_more_than_its_bounds() -> None:
    m = hush.RAPPOR(k=6, epsilon=2.0)
    outputs, terms = m.outputs(), m.terms()
    said = np.array([m.decode(m.tally(outputs[i : i + 1]), 1) for i in range(outputs.size)])
    assert said.max() == pytest.approx(terms.other.up, rel=1e-9)
    assert said.min() == pytest.approx(-terms.other.down, rel=1e-9)
    assert terms.own.up == pytest.approx(terms.other.up - 1)


def test_intervals_cover_few_people() -> None:
    """At 95 %: no more of the collections are missed than six standard deviations allow, false alarm 1e-9."""
    m, counts, runs = hush.RAPPOR(k=5, epsilon=2.0), np.array([30, 20, 10, 0, 0]), 400
    tallies = m.forms.tallies(counts[None], runs, hush.seeded(7))
    missed = 0
    for tally in tallies:
        low, high = m.estimate(hush.Aggregate(60, tally, m.spec_hash, m.check_tally)).interval(0.95)
        missed += int(((counts / 60 < low - 1e-12) | (counts / 60 > high + 1e-12))[0])
    assert missed <= runs * 0.05 + 6 * math.sqrt(runs * 0.05)


def test_drawn_tallies_have_the_law_of_real_ones() -> None:
    """Bits of one and of two cohorts; false alarm 1e-9."""
    m, counts, runs = hush.RAPPOR(k=4, epsilon=3.0, cohorts=3), np.array([20, 10, 0, 10]), 4_000
    reports = m.privatize(np.tile(np.repeat(np.arange(4), counts), runs), rng=hush.seeded(7)).reshape(runs, -1)
    real = np.array([m.tally(rows) for rows in reports])
    drawn = m.forms.tallies(counts[None], runs, hush.seeded(8))
    mine, theirs = np.cov(drawn.T), np.cov(real.T)
    sizes = np.diag(theirs)
    error = np.sqrt(2 * (np.outer(sizes, sizes) + theirs**2) / runs)
    assert (np.abs(mine - theirs) / error).max() < statistics.sigmas(120) * 1.1
    off = (drawn.mean(axis=0) - real.mean(axis=0)) / np.sqrt(2 * sizes / runs)
    assert np.abs(off).max() < statistics.sigmas(15)


def test_scores_of_independent_functions() -> None:
    """By enumeration of all that three functions can draw."""
    width, ones = 8, 3
    due = np.zeros(7)
    for drawn in itertools.product(range(width), repeat=3):
        bits = set(drawn)
        inside = sum(bit < ones for bit in bits)
        due[3 + inside - (len(bits) - inside)] += width**-3
    assert scores_of(width, ones, 3) == pytest.approx(due, rel=1e-12)


@pytest.mark.parametrize("prior", [[0.25] * 4, [0.5, 0.3, 0.2, 0.0]])
def test_success_against_independent_functions(prior: list[float]) -> None:
    """The mean over filters and functions of the likeliest value, by enumeration: two bits, two functions."""
    q, step, width = 0.3, math.log(0.7 / 0.3), 2
    due = 0.0
    sets = [set(drawn) for drawn in itertools.product(range(width), repeat=2)]
    for row in itertools.product((0, 1), repeat=width):
        chance = math.prod(q if bit else 1 - q for bit in row)
        worth = [math.exp(step * sum(2 * row[bit] - 1 for bit in bits)) for bits in sets]
        for all_ in itertools.product(worth, repeat=4):
            due += chance * max(w * share for w, share in zip(all_, prior, strict=True)) / len(sets) ** 4
    assert ideal_success(np.array(prior), bit_counts(width, q), 2, step) == pytest.approx(due, rel=1e-12)


def test_people_are_guessed_about_as_often_as_the_formula_says() -> None:
    """Of 100 values, by the functions of the cohorts: to one part in fifty, and what chance adds."""
    m = hush.RAPPOR(k=100, epsilon=4.0, cohorts=64)
    values = np.arange(40_000) % m.k
    guesses = m.attack(m.privatize(values, rng=hush.seeded(7)), rng=hush.seeded(8))
    due = m.asr() * values.size
    assert abs((guesses == values).sum() - due) < 0.02 * due + statistics.sigmas() * math.sqrt(due)


@pytest.mark.parametrize("targets", [[0], [3, 8, 21], list(range(30))])
def test_fakes_gain_what_the_forms_say(targets: list[int]) -> None:
    m, at = hush.RAPPOR(k=40, epsilon=1.0), np.array(targets)
    fakes = m.forms.maximal_reports(at, 50, hush.seeded(7))
    alone = [m.decode(m.tally(fakes[i : i + 1]), 1)[at].sum() for i in range(fakes.size)]
    assert alone == pytest.approx([m.forms.maximal_sum(at)] * fakes.size, rel=1e-9)
    others = m.forms.random_reports(2_000, hush.seeded(8))
    assert max(m.decode(m.tally(others[i : i + 1]), 1)[at].sum() for i in range(200)) <= m.forms.maximal_sum(at)
    assert m.forms.maximal_sum(len(targets)) >= m.forms.maximal_sum(at) * 0.5  # found by a climb


def test_as_many_targets_climb_to_what_enumeration_finds() -> None:
    m = hush.RAPPOR(k=6, epsilon=1.0)
    for number in (1, 2, 6):
        best = max(m.forms.maximal_sum(np.array(some)) for some in itertools.combinations(range(6), number))
        assert m.forms.maximal_sum(number) == pytest.approx(best, rel=1e-9)
        assert m.forms._climbed(number) <= best * (1 + 1e-9)
    assert m.forms._climbed(1) == pytest.approx(m.forms.maximal_sum(1), rel=1e-9)


@pytest.mark.parametrize("k", [*range(2, 40), 64, 65, 100, 128, 129, 200, 256, 257, 300, 400])
def test_usual_cohorts_tell_all_values_apart(k: int) -> None:
    m = hush.RAPPOR(k=k, epsilon=1.0)
    assert m.cohorts * m.width >= 4 * k
    assert np.linalg.matrix_rank(table(m).reshape(-1, k)) == k
    assert hush.from_dict(m.to_dict()) == m


def test_cohorts_that_do_not_are_refused() -> None:
    with pytest.raises(ParameterError, match="must tell all 50 values apart") as error:
        hush.RAPPOR(k=50, epsilon=1.0, width=16, cohorts=3)
    assert error.value.parameter == "cohorts"
    with pytest.raises(ParameterError, match="apart"):  # enough bits, and two values of the same filters
        hush.RAPPOR(k=100, epsilon=1.0, width=256, hashes=1, cohorts=1)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"width": 2}, "width"), ({"width": 48}, "width"), ({"width": 512}, "width"), ({"hashes": 0}, "hashes"),
        ({"hashes": 9}, "hashes"), ({"cohorts": 0}, "cohorts"), ({"cohorts": 2_000}, "cohorts"), ({"k": 3_000}, "k"),
        ({"epsilon": math.nan}, "epsilon"), ({"hashes": "two"}, "hashes"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(given: dict[str, object], named: str) -> None:
    with pytest.raises(ParameterError) as error:
        hush.RAPPOR(**{"k": 10, "epsilon": 1.0, **given})  # type: ignore[arg-type]
    assert error.value.parameter == named


def test_malformed_reports_and_tallies_are_refused() -> None:
    m = hush.RAPPOR(k=4, epsilon=1.0)
    reports = m.privatize([1, 2], rng=hush.seeded(7))
    for field, wrong in (("cohort", m.cohorts), ("bits", 16)):
        broken = reports.copy()
        broken[field][1] = wrong
        with pytest.raises(ReportError):
            m.aggregate(broken)
    tally = m.tally(reports)
    for place, more in ((0, 3), (-1, 1), (0, -5)):
        forged = tally.copy()
        forged[place] += more
        with pytest.raises(SpecError):
            m.check_tally(forged, 2)


def test_answers_are_kept_over_time() -> None:
    m = hush.longitudinal.Memoized(mechanism=hush.RAPPOR(k=5, epsilon=1.0))
    reports = m.collect(np.array([[3, 3, 3]] * 4), rng=hush.seeded(7))
    assert (reports[:, :1] == reports).all()
