"""The bound among few people: against the exact law of the multiset, and against the integral that it is to bound."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import hush
from hush.analysis import few, shuffle
from hush.analysis.crowd import CrowdLaw
from hush.analysis.few import few_delta, few_epsilon
from hush.errors import ParameterError
from hush.planning.shuffling import shuffled_epsilon
from tests.unit.analysis.test_crowd import binary_truth
from tests.unit.analysis.test_shuffle import channel, grid, truth


def worst(m: hush.FrequencyOracle, n: int, epsilons: np.ndarray) -> np.ndarray:
    return np.array([max(few_delta(e, n, crowd) for crowd in m.forms.crowds()) for e in epsilons])


# The truth.


@pytest.mark.parametrize(
    ("m", "near"),
    [
        (hush.SUE(k=3, epsilon=1.0), 1.5),
        (hush.SUE(k=3, epsilon=2.0), 1.65),
        (hush.OUE(k=3, epsilon=1.0), 1.5),
        (hush.OUE(k=3, epsilon=4.0), 1.5),
        (hush.SS(k=4, epsilon=1.0, omega=2), 1.5),
        (hush.SS(k=4, epsilon=2.5, omega=2), 2.1),
    ],
    ids=lambda part: f"{part.name()}-{part.epsilon}" if isinstance(part, hush.FrequencyOracle) else "",
)
def test_it_covers_every_pair_of_data_sets_and_is_near(m: hush.FrequencyOracle, near: float) -> None:
    """Up to four people; the blanket's delta is up to three times the truth."""
    epsilons = m.exact_epsilon() * np.array([0.0, 0.1, 0.4, 0.68, 0.8, 0.95])
    for n in (2, 3, 4):
        real, claimed = truth(channel(m), n, epsilons), worst(m, n, epsilons)
        assert (claimed >= real * (1 - 1e-9)).all(), n
        assert (claimed <= near * real).all(), n


@pytest.mark.parametrize(
    "m",
    [hush.GRR(k=3, epsilon=1.0), hush.GRR(k=5, epsilon=2.0), hush.HR(k=3, epsilon=2.0), hush.THE(k=2, epsilon=2.0)],
    ids=lambda m: m.name(),
)
def test_it_covers_mechanisms_that_are_listed(m: hush.FrequencyOracle) -> None:
    epsilons = grid(m.exact_epsilon(), 5)
    for n in (2, 4):
        real, claimed = truth(channel(m), n, epsilons), worst(m, n, epsilons)
        assert (claimed >= real * (1 - 1e-9)).all()
        assert (claimed[:-1] <= 1.5 * real[:-1]).all()


def test_it_covers_any_channel() -> None:
    """Three values of three kinds, with more than two levels of probability."""
    rng = np.random.default_rng(23)
    for spread in (0.5, 1.5, 1.5, 4.0):
        rows = np.exp(rng.uniform(0, spread, (3, 4))) * rng.dirichlet(np.ones(4))
        rows /= rows.sum(axis=1, keepdims=True)
        epsilons = grid(0.5 * spread, 3)
        for n in (2, 3, 4):
            real = truth(rows, n, epsilons)
            claimed = [max(few_delta(e, n, each) for each in CrowdLaw.of_law(rows.T)) for e in epsilons]
            assert (np.array(claimed) >= real * (1 - 1e-9)).all()


@pytest.mark.parametrize(("local", "n"), [(1.0, 2), (1.0, 7), (3.0, 7), (0.3, 12), (2.0, 25)])
def test_it_is_next_to_exact_over_two_values(local: float, n: int) -> None:
    """Up to 25 people, whoever holds what: a part in twenty, where delta is no less than one in ten thousand."""
    (crowd,) = hush.GRR(k=2, epsilon=local).forms.crowds()
    epsilons = local * np.array([0.05, 0.2, 0.5, 0.8])
    real = binary_truth(math.exp(local) / (1 + math.exp(local)), n, np.exp(epsilons))
    claimed = np.array([few_delta(e, n, crowd) for e in epsilons])
    assert (claimed >= real * (1 - 1e-9)).all()
    seen = real > 1e-4
    assert (claimed[seen] <= 1.05 * real[seen]).all()


# The integral over times.


def slots(crowd: CrowdLaw, row: np.ndarray, e: float, time: float) -> list[tuple[float, float]]:
    """What one report adds, as the module on crowds has it, with its mass."""
    law = row - (1 - time) * crowd.least
    shift = crowd.blanket * time * (crowd.first - e * crowd.second)
    return list(zip((shift / law).tolist(), (crowd.weights * law).tolist(), strict=True))


def integral(crowd: CrowdLaw, rows: list[np.ndarray], e: float, steps: int) -> float:
    """Of all that people may send, for people who hold known values, by the midpoint rule."""
    own = crowd.blanket * (crowd.first - e * crowd.second) / crowd.least
    whole = 0.0
    for step in range(steps):
        parts = [list(zip(own.tolist(), (crowd.weights * crowd.least / crowd.blanket).tolist(), strict=True))]
        parts += [slots(crowd, row, e, (step + 0.5) / steps) for row in rows]
        for sent in product(*parts):
            whole += max(sum(value for value, _ in sent), 0.0) * math.prod(mass for _, mass in sent) / steps
    return whole


def test_numbers_of_holders_are_those_that_are_summed() -> None:
    """Three people, all that the other two may hold: each integral is bounded, and by no more than a hundredth."""
    (crowd,) = hush.OUE(k=4, epsilon=1.2).forms.crowds()
    e, others = math.exp(0.5), 2
    people = few._FewPeople.of(others + 1, crowd)
    held = few._all_held(others, len(people.kinds))
    found = sum(part.all(held) for part in people._parts(people.kinds, e))
    singly = [sum(part.one(one) for part in people._parts(people.kinds, e)) for one in held.tolist()]
    assert found == pytest.approx(singly, rel=1e-4)  # in another order, other chords
    assert sorted(map(tuple, held.tolist())) == sorted(it for it in product(range(3), repeat=3) if sum(it) == others)
    for counts, bound in zip(held.tolist(), found, strict=True):
        rows = [kind.row for kind, count in zip(people.kinds, counts, strict=True) for _ in range(count)]
        due = integral(crowd, rows, e, 60)
        assert due * (1 - 1e-4) <= bound <= 1.01 * due  # the midpoint rule is off by less


@pytest.mark.parametrize("name", ["first", "second"])
def test_nothing_is_lost_where_all_hold_the_same(name: str) -> None:
    """Delta is then E[(V_1 + ... + V_n)+] / n for V = (P_u - e P_v)/P_w at a draw from P_w, exactly."""
    (crowd,) = hush.SUE(k=5, epsilon=1.5).forms.crowds()
    e, n, row = math.exp(0.4), 6, getattr(crowd, name)
    parts: dict[float, float] = {}
    for value, mass in zip((crowd.first - e * crowd.second) / row, crowd.weights * row, strict=True):
        parts[round(float(value), 9)] = parts.get(round(float(value), 9), 0.0) + float(mass)
    real = sum(max(sum(sent), 0.0) * math.prod(parts[value] for value in sent) for sent in product(parts, repeat=n)) / n
    people = few._FewPeople.of(n, crowd)
    held = np.array([(n - 1) * int(kind.row is row) for kind in people.kinds])
    assert held.sum() == n - 1
    assert people._closer(e, held) == pytest.approx(real, rel=2e-3)
    assert people._closer(e, held) >= real * (1 - 1e-8)


@pytest.mark.parametrize("n", [3, 9, 14])
def test_a_finer_grid_gives_no_more(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each grid has the points of those before it. Shorter parts of the times have grids of their own: next to none."""
    for m, share in product((hush.SUE(k=6, epsilon=1.0), hush.OUE(k=6, epsilon=4.0)), (0.2, 0.8)):
        (crowd,) = m.forms.crowds()
        found = []
        for finer in (1, 2, 4, 8):
            monkeypatch.setattr(few, "_FINER", finer)
            found.append(few_delta(share * m.exact_epsilon(), n, crowd))
        assert all(coarse >= fine * (1 - 1e-9) for coarse, fine in pairwise(found))
        monkeypatch.setattr(few, "_PARTS", 2 * few._PARTS)
        assert found[2] / 1.05 <= few_delta(share * m.exact_epsilon(), n, crowd) <= 1.001 * found[3]
        monkeypatch.undo()


def test_values_that_are_alike_are_of_one_kind() -> None:
    for m, kinds in ((hush.SUE(k=9, epsilon=1.0), 3), (hush.GRR(k=5, epsilon=1.0), 3), (hush.GRR(k=2, epsilon=1.0), 2)):
        (crowd,) = m.forms.crowds()
        people = few._FewPeople.of(4, crowd)
        assert len(people.kinds) == kinds
        assert sum(kind.other for kind in people.kinds) == kinds - 2
        assert people.kinds[0].chances.sum() == pytest.approx(crowd.blanket, rel=1e-12)


# How it behaves.


def test_limits() -> None:
    (crowd,) = hush.SUE(k=4, epsilon=1.0).forms.crowds()
    assert few_delta(0.3, 1, crowd) == pytest.approx(crowd.alone(math.exp(0.3)), rel=1e-11)
    assert few_delta(1.1, 5, crowd) == 0.0
    assert few_delta(0.0, 5, crowd) < crowd.alone(1.0)
    for n, delta in ((1, 1e-3), (10**6, 1e-3), (5, 0.0), (5, 1e-300)):
        assert few_epsilon(delta, n, [crowd], 0.7) == 0.7
    assert few_epsilon(1e-3, 5, [], 0.7) == 0.7
    assert few_epsilon(0.9, 5, [crowd], 0.7) < 1e-13


def test_what_would_take_long_is_left_to_other_bounds() -> None:
    """Sixteen values of sixteen kinds, and thirty pairs of values at once."""
    rng = np.random.default_rng(5)
    rows = np.exp(rng.uniform(0, 1, (16, 20)))
    rows /= rows.sum(axis=1, keepdims=True)
    crowd = CrowdLaw(np.ones(20), rows[0], rows[1], rows, rows.min(axis=0))
    assert few_epsilon(1e-2, 8, [crowd], 0.9) == 0.9
    (known,) = hush.SUE(k=4, epsilon=1.0).forms.crowds()
    assert few_epsilon(1e-3, 12, [known], 0.9) < 0.9
    assert few_epsilon(1e-3, 12, [known] * 30, 0.9) == 0.9


@pytest.mark.parametrize("n", [2, 3, 12])
def test_a_blanket_of_next_to_nothing_hides_nothing(n: int) -> None:
    """Of mass 1e-17: a third value, which all others hold, is told apart for sure, and delta is what it is alone."""
    law = np.array([[0.6, 0.4, 3e-18], [0.4, 0.6, 3e-18], [3e-18, 3e-18, 1.0]])
    for crowd in CrowdLaw.of_law(law):
        for epsilon in (0.0, 0.3):
            assert few_delta(epsilon, n, crowd) >= crowd.alone(math.exp(epsilon)) * (1 - 1e-9)


@pytest.mark.parametrize("local", [1e-6, 20.0, 38.0])
def test_losses_small_and_large(local: float) -> None:
    """At large ones doubles have no digits to spare; delta is that of two people, by hand."""
    m = hush.GRR(k=2, epsilon=local)
    (crowd,) = m.forms.crowds()
    q, p = sorted((crowd.weights * crowd.first).tolist())
    for share in (0.5, 0.9, 1 - 1e-9):
        epsilon = share * local
        e = math.exp(epsilon)
        # another who holds u: both say u, both v, or one each
        held_u = max(p * p - e * p * q, 0.0) + max(2 * p * q - e * (p * p + q * q), 0.0) + max(q * q - e * p * q, 0.0)
        claimed = few_delta(epsilon, 2, crowd)
        assert held_u * (1 - 1e-6) - 1e-15 <= claimed <= crowd.alone(e * (1 - 1e-12))


@pytest.mark.parametrize("short", [1e-3, 1e-9])
@pytest.mark.parametrize(
    "rows",
    [
        [[0.5000001785371023, 0.49999982146289756], [0.4999997683759243, 0.5000002316240757]],
        [[1.7416495718009548e-09, 0.9999999982583504], [1.6041347162352126e-07, 0.9999998395865285]],
        [[6.447432575002806e-13, 0.9999999999993554], [0.5094559768557276, 0.4905440231442725]],
    ],
)
def test_next_to_the_largest_loss_no_digit_that_is_lost_counts(rows: list[list[float]], short: float) -> None:
    """Delta is a difference of next to equal numbers there: it is compared with that of two people, by fractions."""
    laws = [[Fraction(it) for it in row] for row in rows]
    for first, second in ((0, 1), (1, 0)):
        epsilon = math.log(max(a / b for a, b in zip(laws[first], laws[second], strict=True))) * (1 - short)
        e = Fraction(math.exp(epsilon))
        adds = [a - e * b for a, b in zip(laws[first], laws[second], strict=True)]
        both = [(adds[0] * w[0], adds[0] * w[1] + adds[1] * w[0], adds[1] * w[1]) for w in laws]
        real = max(sum(max(it, Fraction(0)) for it in each) for each in both)
        law = np.array(rows)
        claimed = few_delta(epsilon, 2, CrowdLaw(np.ones(2), law[first], law[second], law, law.min(axis=0)))
        assert real > 0
        assert Fraction(claimed) >= real * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize(
    "m", [hush.OUE(k=10, epsilon=1.0), hush.SS(k=30, epsilon=3.0), hush.GRR(k=4, epsilon=2.0)], ids=lambda m: m.name()
)
def test_never_weaker_than_the_blanket_alone(m: hush.FrequencyOracle) -> None:
    (((variation, both),), local) = m.forms.pair_kinds(), m.exact_epsilon()
    for n, delta in product((2, 4, 11), (0.05, 1e-3, 1e-7)):
        found = shuffled_epsilon(m, n, delta)
        assert both is not None
        before = shuffle.epsilon_after(delta, n, local, float(variation), float(both))
        assert found.epsilon is not None
        assert found.epsilon <= before * (1 + 1e-9)
        assert found.bound in ("few", "blanket", "local")


def test_it_counts_among_few_and_more_people_never_hurt() -> None:
    """From one way to compute it to the next, where people are too many for this one."""
    m = hush.SUE(k=10, epsilon=2.0)
    found = [shuffled_epsilon(m, n, 1e-3) for n in (1, 2, 3, 5, 9, 11, 16, 20, 30, 60)]
    assert [each.bound for each in found[2:6]] == ["few"] * 4
    assert found[-1].bound == "crowd"
    epsilons = [each.epsilon for each in found if each.epsilon is not None]
    assert all(more >= less for more, less in pairwise(epsilons))


def test_delta_and_epsilon_are_inverse() -> None:
    (crowd,) = hush.SS(k=8, epsilon=2.0).forms.crowds()
    for n, delta in ((2, 0.03), (6, 1e-3), (12, 1e-5)):
        found = few_epsilon(delta, n, [crowd], 2.0)
        assert few_delta(found, n, crowd) <= delta
        assert few_delta(found * (1 - 1e-4), n, crowd) > delta


def test_what_is_told_is_grammatical_and_what_is_refused_is_named() -> None:
    assert shuffled_epsilon(hush.GRR(k=3, epsilon=1.0), 1, 1e-6).words == "One shuffled report is (1, 1e-06)-private."
    with pytest.raises(ParameterError, match="must be a mechanism that estimates frequencies, got Duchi"):
        shuffled_epsilon(hush.Duchi(low=0, high=1, epsilon=1.0), 5, 1e-6)  # type: ignore[arg-type]
