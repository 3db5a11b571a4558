"""Gains in closed form are what crafted reports decode to, and no report beats the maximal one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hush
from hush.analysis import manipulation
from hush.analysis.manipulation import Targets
from hush.attacks.poisoning import ATTACKS, Gain, craft, gain, simulate_gain
from hush.errors import ParameterError, ReportError
from hush.mechanisms.forms import Forms
from hush.mechanisms.histogram import NoisyHistogram
from hush.testing import museum
from tests.conftest import NAMES, example

pytestmark = pytest.mark.slow

CASES = [(2, 1.0, [1]), (5, 0.3, [3]), (12, 0.9, [0, 3, 7]), (17, 0.5, [16, 2, 5, 8, 9, 11]), (9, 0.7, range(9))]

GRIDS = ["SHE", "ServerTHE", "GM", "AGM"]
ENUMERABLE = sorted(n for n in NAMES if n not in GRIDS)


def decoded(m: hush.FrequencyOracle, report: Any) -> np.ndarray:
    """What one report adds to the estimate of each value, times the number of people."""
    if isinstance(m, hush.MSS):
        return margin(m, report)
    return m.decode(m.tally(np.asarray(report, m.report_dtype)[None]), 1)


def margin(m: hush.MSS, report: Any, each: int = 10**7) -> np.ndarray:
    """As much as one report moves the estimates of a large even population, since this decoder is not linear."""
    law, ends = m.blocks, m._starts[-1]
    tally = np.full(ends + law.m.size, float(each))
    for j, shares in enumerate(law.system.folded(np.full(m.k, 1 / m.k))):
        tally[m._starts[j] : m._starts[j + 1]] *= law.q[j] + (law.p[j] - law.q[j]) * shares
    n = each * law.m.size
    after = m.decode(tally + m.tally(np.asarray(report, m.report_dtype)[None]), n + 1)
    return n * (after - m.decode(tally, n)) + 1 / m.k


def exactness(m: hush.FrequencyOracle) -> float:
    """Relative: the margin of one in 10^7 is rounded."""
    return 1e-6 if isinstance(m, hush.MSS) else 1e-11


def total(m: hush.FrequencyOracle, targets: Any, attack: str = "maximal") -> float:
    """What a fake report decodes to over the targets, by the closed form: the gain without genuine people's share."""
    if isinstance(m, hush.MSS) and attack == "maximal":
        return m.forms.maximal_sum(targets if isinstance(targets, int) else np.array(targets))
    return gain(m, targets, fraction=0.5, attack=attack, frequency=0.0) / 0.5


@dataclass(frozen=True, kw_only=True)
class Table(hush.FrequencyOracle):
    """An oracle from outside, not pure: any matrix of weights, decoded by its inverse."""

    @property
    def law(self) -> np.ndarray:
        rows = np.random.default_rng(self.k).integers(1, 9, (self.k, self.k))
        rows += 30 * np.eye(self.k, dtype=np.int64)
        rows[:, -1] += 1000 - rows.sum(axis=1)
        return rows

    @property
    def report_dtype(self) -> np.dtype:
        return np.dtype("<u2")

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = rng.integers(0, 1000, values.size)
        return (drawn[:, None] >= np.cumsum(self.law, axis=1)[values]).sum(axis=1).astype("<u2")

    def tally(self, reports: np.ndarray) -> np.ndarray:
        if reports.size and reports.max() >= self.k:
            raise ReportError("reports must be below k")
        return np.bincount(reports, minlength=self.k)

    def decode(self, tally: np.ndarray, n: int) -> np.ndarray:
        return np.linalg.solve(self.law.T / 1000, tally / n)

    def outputs(self, public: Any = None) -> np.ndarray:
        return np.arange(self.k, dtype="<u2")

    def weight(self, report: Any, value: int) -> int:
        return int(self.law[value, report])


@dataclass(frozen=True, kw_only=True)
class Pairs(hush.PureOracle):
    """A pure oracle from outside: a value's pair (v, v+1 mod k) or another; output y supports y and y+1."""

    p_star = 0.7

    @property
    def q_star(self) -> float:
        return (2 - 0.7) / (self.k - 1)  # only the mean over other values: enough for what is tested here

    @property
    def report_dtype(self) -> np.dtype:
        return np.dtype("u1")

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return ((values + rng.integers(0, 2, values.size)) % self.k).astype("u1")

    def supports(self, reports: np.ndarray, values: np.ndarray) -> np.ndarray:
        return (reports == values) | ((reports + 1) % self.k == values)

    def outputs(self, public: Any = None) -> np.ndarray:
        return np.arange(self.k, dtype="u1")

    def weight(self, report: Any, value: int) -> int:
        return 1


class Huge(Table):
    """Too many outputs to enumerate."""

    def outputs(self, public: Any = None) -> np.ndarray:
        return np.zeros(300_000, "<u2")


class TestMaximal:
    @pytest.mark.parametrize(("k", "epsilon", "targets"), CASES)
    def test_closed_form_is_what_crafted_reports_decode_to(
        self, name: str, k: int, epsilon: float, targets: list[int]
    ) -> None:
        m = example(name, k, epsilon)
        reports = craft(m, "maximal", targets, 20, rng=hush.seeded(7))
        assert reports.dtype == m.report_dtype
        m.validate(reports)
        due = total(m, targets)
        for report in reports:
            assert decoded(m, report)[list(targets)].sum() == pytest.approx(due, rel=exactness(m), abs=exactness(m))

    @pytest.mark.parametrize("name", ENUMERABLE)
    @pytest.mark.parametrize("targets", [[2], [0, 3], [1, 2, 4], [0, 1, 2, 3, 4]])
    def test_no_report_beats_it(self, name: str, targets: list[int]) -> None:
        m = example(name, 5, 0.8)
        sums = [decoded(m, y)[targets].sum() for public in m.publics() for y in m.outputs(public)]
        assert total(m, targets) == pytest.approx(max(sums), rel=exactness(m))

    @pytest.mark.parametrize("moduli", [(3, 5, 7), (9, 4)])
    def test_worst_sets_of_modular_subset_selection(self, moduli: tuple[int, ...]) -> None:
        """A search, which never finds more than there is, finds all for one target, and most for several."""
        m = hush.MSS(k=9, epsilon=0.5, moduli=moduli)
        sums = np.sort([decoded(m, y) for public in m.publics() for y in m.outputs(public)], axis=1)
        for r in range(1, 10):
            due = sums[:, -r:].sum(axis=1).max()
            assert (0.85 if r > 1 else 1 - 1e-6) * due < total(m, r) < (1 + 1e-6) * due

    @pytest.mark.parametrize("fraction", [0.001, 0.1, 0.4])
    def test_many_fakes_of_one_block_are_worth_less(self, fraction: float) -> None:
        """Against the decoder itself, fed with mean tallies; at the margin each gains what one report does."""
        m, targets = hush.MSS(k=9, epsilon=0.5, moduli=(3, 5, 7)), [1, 4]
        fake = craft(m, "maximal", targets, 1, rng=hush.seeded(7))
        law, ends, n = m.blocks, m._starts[-1], 10**6
        tally = np.full(ends + 3, n * (1 - fraction) / 3)
        for j, shares in enumerate(law.system.folded(np.full(9, 1 / 9))):
            tally[m._starts[j] : m._starts[j + 1]] *= law.q[j] + (law.p[j] - law.q[j]) * shares
        after = m.decode(tally + n * fraction * m.tally(fake), n)[targets].sum()
        found = gain(m, targets, fraction=fraction)
        assert found == pytest.approx(after - 2 / 9, rel=1e-5)
        linear = fraction * (total(m, targets) - 2 / 9)
        assert (1 - 2.1 * fraction) * linear < found < linear

    @pytest.mark.parametrize("name", GRIDS)
    def test_no_step_of_a_noisy_histogram_beats_it(self, name: str) -> None:
        """Coordinates decode one by one, so the best report has the best step in each."""
        m = example(name, 3, 0.8)
        assert isinstance(m, NoisyHistogram)
        steps = m.grid.steps[::-3]  # with the highest
        ends = steps[[-1, steps.size // 2, 0]]
        best, due = -math.inf, total(m, [0, 2])
        for other in ends:
            rows = np.zeros(steps.size, m.report_dtype)
            rows["steps"][:, 0], rows["steps"][:, 1], rows["steps"][:, 2] = steps, other, ends[-1]
            sums = [decoded(m, row)[[0, 2]].sum() for row in rows]
            best = max(best, *sums)
        assert due == pytest.approx(best, rel=1e-11)
        beyond = np.zeros(1, m.report_dtype)
        beyond["steps"] = m.grid.highest + 1
        with pytest.raises(ReportError):
            m.validate(beyond)

    @pytest.mark.parametrize("blocks", [1, 2, 4, 8])
    @pytest.mark.parametrize("targets", [[0, 2, 4], [0, 1, 2, 3], [1, 3, 5, 7, 9], [6]])
    def test_hadamard_response_depends_on_shared_blocks(self, blocks: int, targets: list[int]) -> None:
        m = hush.HR(k=10, epsilon=1.5, blocks=blocks)
        sums = np.array([decoded(m, y)[targets].sum() for y in m.outputs()])
        assert total(m, targets) == pytest.approx(sums.max(), rel=1e-11)
        reports = craft(m, "maximal", targets, 400, rng=hush.seeded(7))
        assert set(reports.tolist()) == set(np.flatnonzero(np.isclose(sums, sums.max())).tolist())  # all ties are used

    def test_a_number_of_targets_stands_for_the_worst_set(self) -> None:
        own = Table(k=6, epsilon=2.0), Pairs(k=6, epsilon=2.0)
        for m in (
            hush.GRR(k=6, epsilon=1.0),
            hush.SS(k=6, epsilon=0.3, omega=3),
            hush.HR(k=6, epsilon=1, blocks=2),
            *own,
        ):
            for r, attack in itertools.product((1, 2, 3, 5, 6), ATTACKS):
                sets = itertools.combinations(range(6), r)
                assert total(m, r, attack) == pytest.approx(max(total(m, t, attack) for t in sets), rel=1e-11)

    @pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 10.0])
    def test_printed_formulas(self, epsilon: float) -> None:
        """GRR and OUE agree with Table 1 of the paper up to the rounding of thresholds; OLH where its g is one."""
        for m, targets, attack in itertools.product(
            (hush.GRR(k=50, epsilon=epsilon), hush.OUE(k=50, epsilon=epsilon)), (1, 7, 50), ATTACKS
        ):
            more = {"frequency": 0.2, "fraction": 0.1}
            printed = manipulation.gain_paper(m.name(), attack, k=50, epsilon=epsilon, targets=targets, **more)
            assert gain(m, targets, attack=attack, **more) == pytest.approx(printed, rel=1e-8, abs=1e-12)

    def test_printed_formula_of_hashing_needs_a_whole_number_of_buckets(self) -> None:
        def printed(epsilon: float, attack: str) -> float:
            return manipulation.gain_paper("OLH", attack, k=50, epsilon=epsilon, targets=3, frequency=0.2, fraction=0.1)

        for attack in ATTACKS:  # e^epsilon + 1 = 4 buckets
            whole = gain(hush.OLH(k=50, epsilon=math.log(3)), 3, frequency=0.2, fraction=0.1, attack=attack)
            assert whole == pytest.approx(printed(math.log(3), attack), rel=1e-8)
        m = hush.OLH(k=50, epsilon=1.0)  # 4 buckets in place of 3.72
        exact = gain(m, 3, frequency=0.2, fraction=0.1)
        assert exact == pytest.approx(0.1 * (3 * (1 + m.g / math.expm1(1.0)) - 0.2), rel=1e-8)
        assert exact - printed(1.0, "maximal") == pytest.approx(0.1 * 3 * (4 - math.e - 1) / (math.e - 1), rel=1e-6)

    @pytest.mark.parametrize(
        "make",
        [
            lambda e: hush.GRR(k=40, epsilon=e), lambda e: hush.SUE(k=40, epsilon=e),
            lambda e: hush.OUE(k=40, epsilon=e),
            lambda e: hush.SS(k=40, epsilon=e, omega=5), lambda e: hush.LH(k=40, epsilon=e, g=6),
            lambda e: hush.Wheel(k=40, epsilon=e, coverage=0.2), lambda e: hush.HR(k=40, epsilon=e, blocks=4),
            lambda e: hush.THE(k=40, epsilon=e, theta=0.7), lambda e: hush.ServerTHE(k=40, epsilon=e, theta=0.7),
            lambda e: hush.SHE(k=40, epsilon=e), lambda e: hush.AGM(k=40, epsilon=e, delta=1e-5),
        ],
        ids=["GRR", "SUE", "OUE", "SS", "LH", "Wheel", "HR", "THE", "ServerTHE", "SHE", "AGM"],
    )  # fmt: skip
    def test_more_privacy_is_more_fragile(self, make: Callable[[float], hush.FrequencyOracle]) -> None:
        """At fixed parameters, a fake user's weight falls as epsilon grows, and never below a genuine one's."""
        sums = [total(make(epsilon), 1) for epsilon in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)]
        assert all(a > b > 1.0 for a, b in itertools.pairwise(sums))

    def test_a_parameter_that_follows_epsilon_can_break_the_rule(self) -> None:
        """More blocks of Hadamard response mean less variance at a large epsilon, but more weight for a fake."""
        low, high = hush.HR(k=40, epsilon=3.0), hush.HR(k=40, epsilon=4.0)
        assert high.blocks > low.blocks
        assert total(high, 1) > total(low, 1)

    def test_without_noise_nothing_is_amplified(self) -> None:
        assert total(hush.LHO(k=40, g=4), [3, 8]) == pytest.approx(2.0)

    def test_it_is_the_strongest(self, name: str) -> None:
        m = example(name, 12, 0.7)
        for targets in (1, 3, 12):
            gains = [gain(m, targets, attack=attack) for attack in ATTACKS]
            assert gains[0] >= max(gains) - 1e-9


class TestOrdinary:
    def test_unary_reports_have_the_usual_number_of_ones(self) -> None:
        m = hush.OUE(k=60, epsilon=1.0)
        due = m.p_star + 59 * m.q_star
        few = m.support_matrix(craft(m, "maximal", [5, 9], 40_000, rng=hush.seeded(7)))
        assert few[:, [5, 9]].all()
        spread = math.sqrt((due - 2) * (1 - (due - 2) / 58) / 40_000)
        assert abs(few.sum(axis=1).mean() - due) < 7 * spread  # false alarm: 3e-12
        many = m.support_matrix(craft(m, "maximal", range(30), 100, rng=hush.seeded(7)))
        assert (many == (np.arange(60) < 30)).all()

    def test_subsets_have_random_other_members(self) -> None:
        m = hush.SS(k=12, epsilon=0.1, omega=4)
        few = m.support_matrix(craft(m, "maximal", [3, 8], 12_000, rng=hush.seeded(7)))
        assert few[:, [3, 8]].all()
        others = np.delete(few, [3, 8], axis=1).mean(axis=0)
        assert np.abs(others - 0.2).max() < 7 * math.sqrt(0.16 / 12_000)  # false alarm: 3e-11
        many = m.support_matrix(craft(m, "maximal", range(6), 500, rng=hush.seeded(7)))
        assert not many[:, 6:].any()
        assert np.unique(many, axis=0).shape[0] == math.comb(6, 4)

    @pytest.mark.parametrize("m", [hush.OLH(k=50, epsilon=1.0), hush.Wheel(k=50, epsilon=1.0)], ids=["OLH", "Wheel"])
    def test_hash_functions_look_random_while_they_can(self, m: hush.FrequencyOracle) -> None:
        few = craft(m, "maximal", [1, 20, 33], 500, rng=hush.seeded(7))
        assert few["a"].all()
        assert np.unique(few["a"]).size > 400
        assert np.bitwise_count(few["a"]).mean() == pytest.approx(16, abs=1.0)
        many = craft(m, "maximal", range(30), 500, rng=hush.seeded(7))
        assert not many["a"].any()  # the one function that sends all values to one hash
        assert np.unique(many["b"]).size > 490

    def test_long_arcs_are_gathered_too(self) -> None:
        m = hush.Wheel(k=50, epsilon=1.0, coverage=0.9)
        targets = list(range(0, 50, 3))
        reports = craft(m, "maximal", targets, 300, rng=hush.seeded(7))
        assert reports["a"].all()
        assert m.support_matrix(reports)[:, targets].all()

    def test_many_buckets(self) -> None:
        m = hush.LH(k=10, epsilon=1.0, g=70_000)
        assert m.support_matrix(craft(m, "maximal", [0, 9], 50, rng=hush.seeded(7)))[:, [0, 9]].all()

    @pytest.mark.parametrize("name", ["SHE", "ServerTHE", "AGM"])
    def test_noise_elsewhere_is_genuine(self, name: str) -> None:
        m = example(name, 4, 1.0)
        assert isinstance(m, NoisyHistogram)
        steps = craft(m, "maximal", [0, 2], 20_000, rng=hush.seeded(7))["steps"]
        for v in (1, 3):
            z = (steps[:, v].mean() - m.grid.mean) / math.sqrt(m.grid.variance / 20_000)
            assert abs(z) < 7  # false alarm: 3e-12 each
        own = m.grid.steps > (m._limit if isinstance(m, hush.ServerTHE) else m.grid.highest - 1)
        assert set(steps[:, 0]) <= set(m.grid.steps[own])


class TestRandom:
    @pytest.mark.parametrize("targets", [[2], [0, 3, 4], [0, 1, 2, 3, 4]])
    def test_closed_form_is_the_mean_of_all_reports(self, name: str, targets: list[int]) -> None:
        m = example(name, 5, 0.8)
        if isinstance(m, NoisyHistogram):  # coordinates are alike and independent: run through one
            reports = np.zeros(m.grid.steps.size, m.report_dtype)
            reports["steps"][:] = m.grid.steps[:, None]
        elif isinstance(m, hush.LH):  # hashes are uniform: a bucket supports a value as often as it is long
            reports = np.zeros(m.g, m.report_dtype)
            reports["bucket"] = np.arange(m.g)
            chance = float(np.mean(m._interval(reports)[2] / 2**32))
            due = len(targets) * (chance - m.q_star) / (m.p_star - m.q_star)
            assert total(m, targets, "random") == pytest.approx(due, abs=1e-9)
            return
        elif isinstance(m, hush.Wheel):
            assert total(m, targets, "random") == pytest.approx(0.0, abs=1e-12)
            return
        else:
            reports = m.outputs()
        if isinstance(m, hush.MSS):
            means = [np.mean([decoded(m, y)[targets].sum() for y in m.outputs(j)]) for j in m.publics()]
            assert total(m, targets, "random") == pytest.approx(np.mean(means), rel=1e-6)
            return
        assert total(m, targets, "random") == pytest.approx(
            np.mean([decoded(m, y)[targets].sum() for y in reports]), abs=1e-9
        )

    def test_one_hash_function_has_the_same_mean(self) -> None:
        """Averaged over all points of the ring, whatever the function: the arc's share."""
        m = hush.Wheel(k=5, epsilon=0.8)
        for public in m.publics():
            outputs = m.outputs(public)
            copies = np.array([m.copies(y) for y in outputs], np.float64)
            assert copies @ m.support_matrix(outputs) / copies.sum() == pytest.approx(np.full(5, m.q_star), abs=1e-9)

    def test_reports_are_well_formed_and_ignore_the_targets(self, name: str) -> None:
        m = example(name, 13, 0.9)
        first, second = (craft(m, "random", targets, 300, rng=hush.seeded(7)) for targets in ([0], [3, 7]))
        m.validate(first)
        assert first.dtype == m.report_dtype
        assert (first == second).all()


class TestEveryAttack:
    @pytest.mark.parametrize("attack", ATTACKS)
    def test_reports_aggregate_and_repeat(self, name: str, attack: str) -> None:
        m = example(name, 10, 0.9)
        reports = craft(m, attack, {2, 7}, 64, rng=hush.seeded(3))
        assert reports.dtype == m.report_dtype
        assert reports.shape == (64,)
        assert m.aggregate(reports).n == 64
        assert (reports == craft(m, attack, [2, 7], 64, rng=hush.seeded(3))).all()
        assert craft(m, attack, [2, 7], 0).shape == (0,)
        assert craft(m, attack, [2, 7], 5).shape == (5,)  # secure randomness

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_no_fakes_gain_nothing(self, name: str, attack: str) -> None:
        m = example(name, 6, 0.9)
        assert gain(m, 2, fraction=0.0, attack=attack) == 0.0
        simulated = simulate_gain(m, [10] * 6, [1], fraction=0.0, attack=attack, runs=2, rng=hush.seeded(7))
        assert simulated == Gain(0.0, 0.0, 0.0)

    def test_items_gain_what_is_not_theirs_already(self, name: str) -> None:
        m = example(name, 8, 0.9)
        assert gain(m, [1, 5], attack="item", fraction=0.2, frequency=0.3) == pytest.approx(0.14)
        assert gain(m, 2, attack="item", fraction=0.2) == pytest.approx(0.2 * 0.75)
        assert gain(m, 8, attack="item") == 0.0

    def test_all_values_targeted(self) -> None:
        """What sums to one cannot be inflated; what does not, can."""
        for m in (hush.GRR(k=9, epsilon=1.0), hush.SS(k=9, epsilon=1.0)):
            assert gain(m, 9) == pytest.approx(0.0, abs=1e-12)
        assert gain(hush.OUE(k=9, epsilon=1.0), 9, fraction=0.1) > 2.0

    def test_blind_reports_of_a_noisy_histogram_add_half_a_person_to_every_value(self) -> None:
        for name in ("SHE", "GM", "AGM"):
            assert total(example(name, 20, 0.5), 3, "random") == pytest.approx(1.5)

    def test_large_domains_need_no_large_tables(self, name: str) -> None:
        m = example(name, 10_000 if name != "RAPPOR" else 600, 1.0)  # whose equations are of few values
        gains = [gain(m, t, attack=a) for t in (1, 200, np.arange(0, m.k, 7)) for a in ATTACKS]
        assert np.isfinite(gains).all()

    def test_linearity_of_the_whole_collection(self) -> None:
        """The identity behind all gains, without chance: after = (1 - beta) before + beta D."""
        m = hush.SS(k=7, epsilon=1.0)
        genuine = m.aggregate(m.privatize(np.arange(700) % 7, rng=hush.seeded(1)))
        fakes = m.aggregate(craft(m, "maximal", [2, 4], 100, rng=hush.seeded(2)))
        before, after = (m.estimate(a).frequencies[[2, 4]].sum() for a in (genuine, genuine + fakes))
        beta = 100 / 800
        assert after == pytest.approx((1 - beta) * before + beta * total(m, [2, 4]))
        assert after - before == pytest.approx(gain(m, [2, 4], fraction=beta, frequency=0.0) - beta * before)


class TestOwnMechanism:
    def test_enumeration_of_one_that_is_not_pure(self) -> None:
        m = Table(k=6, epsilon=3.0)
        matrix = np.array([decoded(m, y) for y in m.outputs()])
        assert total(m, [1, 4]) == pytest.approx(matrix[:, [1, 4]].sum(axis=1).max())
        assert total(m, [1, 4], "random") == pytest.approx(matrix[:, [1, 4]].sum(axis=1).mean())
        best = craft(m, "maximal", [1, 4], 30, rng=hush.seeded(7))
        assert set(best.tolist()) == {int(matrix[:, [1, 4]].sum(axis=1).argmax())}
        assert set(craft(m, "random", [1], 300, rng=hush.seeded(7)).tolist()) == set(range(6))

    def test_enumeration_of_a_pure_one(self) -> None:
        m = Pairs(k=7, epsilon=1.0)
        gap = 0.7 - m.q_star
        assert total(m, [2, 3]) == pytest.approx((2 - 2 * m.q_star) / gap)
        assert total(m, [2, 4]) == pytest.approx((1 - 2 * m.q_star) / gap)
        assert total(m, 3) == pytest.approx((2 - 3 * m.q_star) / gap)
        assert total(m, [2, 4], "random") == pytest.approx(2 * (2 / 7 - m.q_star) / gap)
        assert set(craft(m, "maximal", [2, 4], 200, rng=hush.seeded(7)).tolist()) == {1, 2, 3, 4}

    def test_what_derives_from_a_known_one_has_its_closed_forms_until_its_law_changes(self) -> None:
        class Renamed(hush.OUE):
            pass

        assert gain(Renamed(k=20, epsilon=1.0), 2) == gain(hush.OUE(k=20, epsilon=1.0), 2)
        assert gain(museum.MissingResetOUE(k=9, epsilon=1.0), 2) == pytest.approx(gain(hush.OUE(k=9, epsilon=1.0), 2))
        with pytest.raises(ParameterError, match="write the closed form in its forms"):
            gain(museum.MissingResetOUE(k=20, epsilon=1.0), 2)

    def test_simulation(self) -> None:
        simulated = simulate_gain(Table(k=4, epsilon=3.0), [50] * 4, [0, 2], fraction=0.2, runs=50, rng=hush.seeded(7))
        assert abs(simulated.mean - simulated.expected) < 8 * simulated.stderr  # false alarm: 2e-10

    def test_a_companion_has_closed_forms(self) -> None:
        class Fives(Forms):
            def maximal_sum(self, targets: Targets) -> float:
                return 5.0

        class Known(Huge):
            companion = Fives

        with pytest.raises(ParameterError, match="write the closed form in its forms"):
            gain(Huge(k=4, epsilon=1.0))
        assert gain(Known(k=4, epsilon=1.0), fraction=0.1) == pytest.approx(0.1 * (5.0 - 0.25))


class TestRefusals:
    m = hush.OUE(k=5, epsilon=1.0)

    @pytest.mark.parametrize(
        "targets",
        [0, 6, -1, True, [], [1, 1], [5], [-1], [0.5], [[0, 1]], [[0], [1, 2]], "0", b"0", None, math.nan, [None],
         [2**70], [True, False], np.array(3), 1.0],
    )  # fmt: skip
    def test_targets(self, targets: Any) -> None:
        with pytest.raises(ParameterError, match="targets must"):
            gain(self.m, targets)

    @pytest.mark.parametrize("targets", [1, 3, [1, 1], [5], [], None])
    def test_crafting_needs_values(self, targets: Any) -> None:
        with pytest.raises(ParameterError, match="targets must be one or more distinct integers"):
            craft(self.m, "maximal", targets, 3)
        with pytest.raises(ParameterError, match="targets"):
            simulate_gain(self.m, [1] * 5, targets)

    @pytest.mark.parametrize("fraction", [-0.1, 1.0, 2, math.nan, math.inf, None, "0.1", True])
    def test_fraction(self, fraction: Any) -> None:
        with pytest.raises(ParameterError, match="fraction must be a number from 0 to below 1"):
            gain(self.m, fraction=fraction)
        with pytest.raises(ParameterError, match="fraction"):
            simulate_gain(self.m, [1] * 5, [0], fraction=fraction)

    @pytest.mark.parametrize("attack", ["MGA", "", None, 1, ["maximal"]])
    def test_attack(self, attack: Any) -> None:
        for call in (
            lambda: gain(self.m, attack=attack),
            lambda: craft(self.m, attack, [0], 1),
            lambda: simulate_gain(self.m, [1] * 5, [0], attack=attack),
        ):
            with pytest.raises(ParameterError, match="attack must be one of maximal, item, random"):
                call()

    @pytest.mark.parametrize("frequency", [-0.1, 1.1, math.nan, "half"])
    def test_frequency(self, frequency: Any) -> None:
        with pytest.raises(ParameterError, match="frequency"):
            gain(self.m, frequency=frequency)

    @pytest.mark.parametrize("size", [-1, 2.0, True, None, 2**40])
    def test_size(self, size: Any) -> None:
        with pytest.raises(ParameterError, match="size"):
            craft(self.m, "random", [0], size)

    @pytest.mark.parametrize("runs", [0, 1, 2.5, None])
    def test_runs(self, runs: Any) -> None:
        with pytest.raises(ParameterError, match="runs"):
            simulate_gain(self.m, [1] * 5, [0], runs=runs)

    @pytest.mark.parametrize("counts", [[0] * 5, [1] * 4, [1, 1, 1, 1, -1], [0.5] * 5])
    def test_counts(self, counts: Any) -> None:
        with pytest.raises(ParameterError, match="counts"):
            simulate_gain(self.m, counts, [0])

    def test_more_fakes_than_can_be_simulated(self) -> None:
        with pytest.raises(ParameterError, match="fraction must leave at most"):
            simulate_gain(self.m, [10**6] * 5, [0], fraction=0.999999)

    @pytest.mark.parametrize("m", [None, "OUE", hush.OUE])
    def test_mechanism(self, m: Any) -> None:
        for call in (lambda: gain(m), lambda: gain(m, [0]), lambda: craft(m, "item", [0], 1)):
            with pytest.raises(ParameterError, match="m must be a mechanism"):
                call()

    def test_generator(self) -> None:
        with pytest.raises(ParameterError, match="rng"):
            craft(self.m, "maximal", [0], 1, rng=7)  # type: ignore[arg-type]
