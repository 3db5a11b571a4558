"""The public family of hash functions, against enumeration of all its members."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import hush
from hush.errors import DomainError, ParameterError, ReportError, SpecError
from hush.exact.thresholds import SCALE
from hush.kernels import family as kernels
from hush.mechanisms.hashing import family, family_tables
from hush.mechanisms.hashing.family import MEMBERS, HashFamily, nearest
from hush.mechanisms.hashing.family_tables import ByBucket, ByMember, RowsByBucket, RowsByMember
from hush.randomness import chunk_generator
from hush.testing import check_law, check_loss

POWERS = [2**i for i in range(1, 9)]


def made(k: int, g: int, epsilon: float = 1.0) -> hush.LH:
    return hush.LH(k=k, epsilon=epsilon, g=g, hash="family")


def homes(m: hush.LH) -> np.ndarray:
    """The bucket of every value under every member, shape (65535, k)."""
    return kernels.buckets(m.g)[np.arange(MEMBERS)[:, None] + kernels.places(m.k)]


# The functions.


def test_the_sequence_meets_every_nonzero_number_once() -> None:
    powers = kernels.sequence().astype(np.int64)
    assert (np.sort(powers[:MEMBERS]) == np.arange(1, 2**16)).all()
    assert (powers[MEMBERS:] == powers[:MEMBERS]).all()
    doubled = powers << 1
    assert (powers[1:] == np.where(doubled >> 16, doubled ^ 0x1100B, doubled)[:-1]).all()


def test_every_value_has_its_own_place() -> None:
    places = kernels.places(MEMBERS)
    assert (np.sort(places) == np.arange(MEMBERS)).all()
    assert (kernels.places(1000) == places[:1000]).all()


def test_vectors() -> None:
    """For other languages; from plain Python, as in docs/hashing.md."""
    assert kernels.sequence()[[0, 1, 15, 16, 17, 1000, 65534]].tolist() == [1, 2, 32768, 4107, 8214, 41430, 34821]
    assert kernels.places(5).tolist() == [5155, 22436, 33171, 38027, 36166]
    assert made(5, 16)._family.homes(12345).tolist() == [5, 0, 12, 10, 7]  # type: ignore[union-attr]


@pytest.mark.parametrize("g", POWERS)
def test_any_two_values_collide_under_equally_many_members(g: int) -> None:
    m = made(24, g)
    table = homes(m)
    for u, v in itertools.combinations(range(m.k), 2):
        assert (table[:, u] == table[:, v]).sum() == 2**16 // g - 1
    found = m.collisions()
    assert found.least == found.mean == found.most == found.stated == Fraction(2**16 // g - 1, MEMBERS)
    assert found.bias == 0
    assert m.collision == float(found.stated)


@pytest.mark.parametrize(("k", "g"), [(2000, 4), (300, 256), (6000, 2)])
def test_pairs_collide_as_often_in_large_domains(k: int, g: int) -> None:
    """All pairs together, from the sizes of buckets; one pair could only exceed the rest by another's loss."""
    sizes = made(k, g).bucket_sizes().astype(np.int64)
    assert (sizes.sum(axis=1) == k).all()
    assert int((sizes * (sizes - 1)).sum()) == k * (k - 1) * (2**16 // g - 1)


@pytest.mark.parametrize(("k", "g"), [(5, 2), (4, 4), (3, 16)])
def test_the_estimate_is_unbiased_over_the_whole_family(k: int, g: int) -> None:
    """The exact mean of a support count, over members and buckets, is p* for the own value and q* for any other."""
    m = made(k, g)
    table = homes(m).astype(np.int64)
    low, high = (Fraction(w, m.denominator) for w in m._weights)
    for own, other in itertools.product(range(k), repeat=2):
        together = int((table[:, own] == table[:, other]).sum())
        chance = (together * high + (MEMBERS - together) * low) / MEMBERS
        assert float(chance) == pytest.approx(m.p_star if own == other else m.q_star, rel=1e-14)
    mean = np.array([[m.p_star if u == v else m.q_star for v in range(k)] for u in range(k)])
    for value in range(k):
        decoded = m.decode(mean[value] * 1000, 1000)  # type: ignore[arg-type]
        assert np.abs(decoded - (np.arange(k) == value)).max() < 1e-12


def test_three_and_four_values_collide_nearly_as_often_as_under_an_ideal_hash() -> None:
    for k, g in ((100, 4), (100, 16), (1000, 64)):
        sizes = made(k, g).bucket_sizes().astype(np.float64)
        triples = (sizes * (sizes - 1) * (sizes - 2)).sum() / MEMBERS
        fours = (sizes * (sizes - 1) * (sizes - 2) * (sizes - 3)).sum() / MEMBERS
        assert triples == pytest.approx(k * (k - 1) * (k - 2) / g**2, rel=0.004)
        assert fours == pytest.approx(k * (k - 1) * (k - 2) * (k - 3) / g**3, rel=0.01)


@pytest.mark.parametrize(("k", "g"), [(3, 2), (8, 8), (17, 4), (100, 64), (257, 256)])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_attack_success_is_the_ideal_one_to_a_thousandth(k: int, g: int, epsilon: float) -> None:
    """Exactly, it is the mean over members of the largest probabilities of all buckets, over k."""
    m = made(k, g, epsilon)
    taken = (m.bucket_sizes() > 0).sum(axis=1).mean()
    exact = (taken * m.p_star + (g - taken) * (1 - m.p_star) / (g - 1)) / k
    assert m.asr() == pytest.approx(exact, rel=1e-3)


# Affine hashing, by the same measure.


@lru_cache
def counted(g: int, shared: int) -> Fraction:
    """The rate at which hashes that agree modulo 2^shared share a bucket, residue by residue."""
    ring, step, total = 1 << 32, 1 << shared, 0
    for bucket in range(g):
        length = -(-(bucket + 1) * ring // g) - -(-bucket * ring // g)
        size, extra = divmod(length, step)
        total += extra * (size + 1) ** 2 + (step - extra) * size**2
    return Fraction(total * step, ring**2)


@pytest.mark.parametrize(("k", "g"), [(2, 3), (37, 7), (64, 4), (100, 1000)])
def test_collision_rates_of_affine_hashing_are_those_of_all_pairs(k: int, g: int) -> None:
    rates = [counted(g, ((u - v) & (v - u)).bit_length() - 1) for u, v in itertools.combinations(range(k), 2)]
    found = hush.LH(k=k, epsilon=1.0, g=g).collisions()
    assert found.stated == counted(g, 0)
    assert (found.least, found.most) == (min(rates), max(rates))
    assert found.mean == sum(rates) / len(rates)
    worst = max(abs(rate - found.stated) for rate in rates)
    assert found.bias == worst / (1 - found.stated)


def test_the_bias_is_that_of_the_worst_population() -> None:
    """Everybody holds value 0; the estimate of the value that collides with it most is off by no more than stated."""
    m = hush.LH(k=2**12, epsilon=1.0, g=3000)
    found = m.collisions()
    low, high = (Fraction(w, m.denominator) for w in m._weights)
    p, q = (rate * high + (1 - rate) * low for rate in (Fraction(1), found.stated))
    biases = [(rate * high + (1 - rate) * low - q) / (p - q) for rate in (found.least, found.most)]
    assert max(abs(bias) for bias in biases) == found.bias
    assert 0 < found.bias < 1e-6


# Tallies.


@pytest.mark.parametrize(("k", "g"), [(2, 2), (5, 4), (100, 4), (300, 64), (40, 256), (3000, 2)])
def test_all_ways_of_counting_agree(k: int, g: int) -> None:
    m = made(k, g)
    reports = m.privatize(np.arange(3000) % k, rng=hush.seeded(7))
    due = m.support_matrix(reports).sum(axis=0)
    whole = HashFamily(k, g)
    one_by_one = np.zeros(k, np.int64)
    kernels.count_directly(*whole.parts(reports), kernels.buckets(g), kernels.places(k), one_by_one)
    assert (one_by_one == due).all()
    for way in (ByMember, ByBucket):
        table = way(kernels.places(k), g)
        table.add(*whole.parts(reports[:1000]))
        table.add(*whole.parts(reports[1000:]))
        assert (table.settled() == due).all()
    assert (m.tally(reports) == due).all()
    assert (m.aggregate(iter(np.array_split(reports, 7))).tally == due).all()


@pytest.mark.parametrize(("k", "g"), [(2, 2), (5, 4), (100, 8), (300, 64), (40, 256), (3000, 32)])
def test_all_ways_of_counting_rows_of_bits_agree(k: int, g: int) -> None:
    m = hush.CMS(k=k, epsilon=1.0, width=g)
    reports = m.privatize(np.arange(3000) % k, rng=hush.seeded(7))
    due = m.support_matrix(reports).sum(axis=0)
    member, rows = m._parts(reports)
    one_by_one = np.zeros(k, np.int64)
    kernels.count_rows_directly(member, rows, kernels.buckets(g), kernels.places(k), one_by_one)
    assert (one_by_one == due).all()
    for way in (RowsByMember, RowsByBucket):
        table = way(kernels.places(k), g)
        table.add(member[:1000], rows[:1000])
        table.add(member[1000:], rows[1000:])
        assert (table.settled() == due).all()
    assert (m.tally(reports) == due).all()


@pytest.mark.parametrize(("k", "width"), [(100, 4), (3, 4), (3, 16)])
def test_many_rows_of_bits_go_through_a_table(k: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    m = hush.CMS(k=k, epsilon=1.0, width=width)
    reports = m.privatize(np.arange(600_000) % k, rng=hush.seeded(7))
    assert reports.size * k > min(m.hashes._member_work, m.hashes._bucket_work)
    due = sum(m.support_matrix(part).sum(axis=0) for part in np.array_split(reports, 10))
    assert (m.aggregate(reports).tally == due).all()
    monkeypatch.setattr(family_tables, "MOST_REPORTS", 200_000 * width)  # as if a table were full after six blocks
    assert (m.aggregate(iter(np.array_split(reports, 7))).tally == due).all()
    assert m.aggregate(reports).n == 600_000


@pytest.mark.parametrize("k", [100, 3])
def test_many_reports_go_through_a_table(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    m = made(k, 4)
    reports = m.privatize(np.arange(600_000) % k, rng=hush.seeded(7))
    assert reports.size * k > min(m._family._member_work, m._family._bucket_work)  # type: ignore[union-attr]
    due = sum(m.support_matrix(part).sum(axis=0) for part in np.array_split(reports, 10))
    assert (m.aggregate(reports).tally == due).all()
    for threads in ("1", "3"):
        monkeypatch.setenv("HUSH_THREADS", threads)
        assert (m.aggregate(reports).tally == due).all()
    monkeypatch.setattr(family, "_ROWS", 50_000)  # as if a table were full after four blocks
    monkeypatch.setattr(family_tables, "MOST_REPORTS", 200_000)
    assert (m.aggregate(reports).tally == due).all()
    assert m.aggregate(reports).n == 600_000


def test_nothing_to_count() -> None:
    m = made(5, 4)
    empty = m.aggregate(m.privatize(np.zeros(0, np.int64)))
    assert empty.n == 0
    assert (empty.tally == 0).all()
    assert m.aggregate(iter([])) == empty
    with pytest.raises(ReportError):
        m.aggregate(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("field", "wrong"), [("member", 65535), ("bucket", 4), ("bucket", 255)])
def test_malformed_reports_are_refused(field: str, wrong: int) -> None:
    m = made(5, 4)
    reports = m.privatize(np.arange(5), rng=hush.seeded(7))
    reports[field][3] = wrong
    for use in (m.aggregate, m.tally, m.validate, m.attack, m.support_sizes, m.maximum_likelihood):
        with pytest.raises(ReportError, match=rf"must have {field}s below \d+, got {wrong}"):
            use(reports)  # type: ignore[operator]
    with pytest.raises(ReportError, match="dtype"):
        m.aggregate(hush.LH(k=5, epsilon=1.0, g=4).privatize([1]))


@pytest.mark.parametrize("k", [5, 300])
def test_bucket_sizes(k: int) -> None:
    m = made(k, 8)
    table = homes(m)
    sizes = m.bucket_sizes()
    assert sizes.shape == (MEMBERS, 8)
    for bucket in range(8):
        assert (sizes[:, bucket] == (table == bucket).sum(axis=1)).all()
        assert (m.bucket_sizes([0, 3, 4, 3])[:, bucket] == (table[:, [0, 3, 4]] == bucket).sum(axis=1)).all()
    assert m.bucket_sizes() is sizes
    assert not sizes.flags.writeable
    with pytest.raises(ParameterError, match=r"hash must be 'family'.*support_sizes"):
        hush.LH(k=k, epsilon=1.0, g=8).bucket_sizes()
    with pytest.raises(DomainError):
        m.bucket_sizes([k])


@pytest.mark.parametrize("n", [500, 70_000])
@pytest.mark.parametrize("m", [made(20, 8), hush.LH(k=20, epsilon=1.0, g=7), hush.Wheel(k=20, epsilon=1.0)], ids=str)
def test_support_sizes(m: hush.LH, n: int) -> None:
    reports = m.privatize(np.arange(n) % 20, rng=hush.seeded(7))
    assert (m.support_sizes(reports) == m.support_matrix(reports).sum(axis=1)).all()


# The law of a report.


def test_reports_follow_their_words() -> None:
    """What another language does with the same words: a member, whether to keep, another bucket."""
    m, key, values = made(9, 8), bytes(range(16)), [0, 8, 4, 4, 1, 2, 3, 7, 6, 5] * 30
    words = iter(chunk_generator(key).bit_generator.random_raw(5 * len(values)).tolist())

    def below(size: int) -> int:
        while True:
            product = (next(words) >> 32) * size
            if product % 2**32 >= 2**32 % size:
                return product >> 32

    due = []
    for value in values:
        member = below(MEMBERS)
        home = int(kernels.sequence()[member + int(kernels.places(9)[value])]) >> 13
        bucket = home
        if next(words) >= m.keep:
            other = below(7)
            bucket = other + (other >= home)
        due.append((member, bucket))
    assert m.sample(np.array(values), chunk_generator(key)).tolist() == due


@pytest.mark.parametrize(
    "m",
    [made(2, 2), made(5, 8, 3.0), hush.OLH(k=6, epsilon=0.1, hash="family"), hush.LHO(k=4, g=4, hash="family")],
    ids=str,
)
def test_the_loss_equals_enumeration(m: hush.LH) -> None:
    check_law(m, 0)
    check_loss(m, 0)
    assert m.bits == 16 + math.log2(m.g)
    assert m.report_dtype.itemsize == 3


def test_maximum_likelihood_counts_equal_reports_once() -> None:
    m = made(4, 2, 2.0)
    values = np.repeat(np.arange(4), [40_000, 30_000, 20_000, 10_000])
    reports = m.privatize(values, rng=hush.seeded(7))
    distinct, counts = m._distinct(reports, m.spec_hash)
    expected = np.unique(reports, return_counts=True)
    assert sorted(zip(distinct.tolist(), counts.tolist(), strict=True)) == sorted(
        zip(expected[0].tolist(), expected[1].tolist(), strict=True)
    )
    found = m.maximum_likelihood(reports).frequencies
    assert np.abs(found - [0.4, 0.3, 0.2, 0.1]).max() < 6 * math.sqrt(m.variance(100_000, 0.4))
    with pytest.raises(ParameterError, match="keep the reports"):
        m.maximum_likelihood(m.aggregate(reports))


# Parameters and the spec.


def test_affine_hashing_goes_without_saying() -> None:
    plain = hush.OLH(k=5, epsilon=1.0)
    assert "hash" not in plain.to_dict()
    assert hush.OLH(k=5, epsilon=1.0, hash="affine") == plain
    assert hush.OLH(k=5, epsilon=1.0, hash="affine").spec_hash == plain.spec_hash
    assert plain.report_dtype.names == ("a", "b", "bucket")


@pytest.mark.parametrize("name", ["LH", "BLH", "OLH", "ABLH", "AOLH", "ALH", "LHO"])
def test_a_family_travels(name: str) -> None:
    more = {"LH": {"g": 4}, "LHO": {"g": 4}, "ABLH": {"delta": 1e-5}, "AOLH": {"delta": 1e-5}}.get(name, {})
    if name != "LHO":
        more = {**more, "epsilon": 1.0}
    cls = hush.registry()[name]
    m, affine = cls(k=5, hash="family", **more), cls(k=5, **more)
    assert m.to_dict()["hash"] == "family"
    assert hush.from_dict(m.to_dict()) == m
    assert pickle.loads(pickle.dumps(m)) == m
    assert hush.Spec.from_json(hush.Spec(m).to_json()).hash == m.spec_hash != affine.spec_hash
    assert m != affine
    with pytest.raises(SpecError):
        affine.estimate(m.aggregate(m.privatize([1, 2, 3], rng=hush.seeded(7))))


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"g": 3}, "g must be a power of two"),
        ({"g": 512}, "g must be an integer in 2..256"),
        ({"g": 1}, "g must be"),
        ({"g": 0}, "g must be"),
        ({"g": -2}, "g must be"),
        ({"g": 2.0}, "g must be"),
        ({"g": math.nan}, "g must be"),
        ({"g": True}, "g must be"),
        ({"k": 65_536}, "k must be an integer in 2..65535"),
        ({"k": 1}, "k must be"),
        ({"hash": "sha"}, "hash must be one of affine, family"),
        ({"hash": None}, "hash must be one of"),
        ({"hash": 1}, "hash must be one of"),
        ({"hash": ["family"]}, "hash must be one of"),
    ],
)
def test_parameters(more: dict[str, object], named: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{named}.*, got .*; "):
        hush.LH(**{"k": 10, "epsilon": 1.0, "g": 4, "hash": "family", **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 0.54, 0.56, 1.0, 1.5, 2.0, 3.3, 4.0, 5.0, 12.0, 40.0])
def test_olh_takes_the_power_of_two_with_the_least_variance(epsilon: float) -> None:
    m = hush.OLH(k=100, epsilon=epsilon, hash="family")
    e = math.exp(min(epsilon, 20.0))
    assert m.g == min(POWERS, key=lambda g: (e + g - 1) ** 2 / (g - 1))
    assert m.g == nearest(e + 1)
    if epsilon <= 5:
        assert m.variance() < 1.08 * hush.OLH(k=100, epsilon=epsilon).variance()


def test_p_star_is_that_of_affine_hashing() -> None:
    m, affine = made(50, 16, 2.0), hush.LH(k=50, epsilon=2.0, g=16)
    assert m.keep == affine.keep
    assert m.keep < SCALE
    assert m.q_star == pytest.approx(affine.q_star, rel=1e-3)
    assert m.q_star < affine.q_star
