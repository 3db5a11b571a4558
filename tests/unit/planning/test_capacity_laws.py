"""The estimated total: variances, bounds and exact tails against enumeration, whole convolutions and golden values."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import hush
from hush.analysis import capacity as forms
from hush.analysis.inversion import Inversion
from hush.analysis.waves import independent_bits_wave
from hush.mechanisms.numeric.base import Numeric
from hush.planning.capri import Population, law, population
from hush.types import Reports, Values

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text(encoding="utf-8"))["golden"]
SMALL = population([5, 2, 4, 1], domain=hush.Domain(size=4, values=[0, 1, 3, 10]))


def golden(identity: int) -> float:
    return next(float(entry["value"]) for entry in GOLDEN if entry["id"] == identity)


def one_report(m: Any, people: Population) -> tuple[np.ndarray, np.ndarray]:
    """What each output adds to the estimated total, and its probability for each value, by enumeration."""
    outputs = m.outputs() if isinstance(m, Numeric) else m.outputs(None)
    if isinstance(m, Numeric):
        said = m.low + m.decode(outputs) * m.width / m.steps
        return said, m.chances(np.rint(people.amounts - m.low).astype(np.int64))
    said = np.array([m.decode(m.tally(outputs[i : i + 1]), 1) @ people.amounts for i in range(outputs.size)])
    chances = [[m.copies(y) * m.weight(y, v) / m.denominator for v in range(m.k)] for y in outputs]
    return said, np.array(chances)


def enumerated_variance(m: Any, people: Population) -> float:
    said, chances = one_report(m, people)
    means = said @ chances
    return float(((said[:, None] - means) ** 2 * chances).sum(axis=0) @ people.counts)


def convolved(m: Any, people: Population) -> dict[float, float]:
    """The whole law of the estimated total, person by person."""
    said, chances = one_report(m, people)
    whole = {0.0: 1.0}
    for value, many in enumerate(people.counts):
        for _ in range(many):
            more: dict[float, float] = defaultdict(float)
            for total, chance in whole.items():
                for add, one in zip(said, chances[:, value], strict=True):
                    more[round(total + add, 7)] += chance * one
            whole = dict(more)
    return whole


MECHANISMS = [
    hush.GRR(k=4, epsilon=1.2),
    hush.SUE(k=4, epsilon=1.2),
    hush.OUE(k=4, epsilon=0.5),
    hush.SS(k=4, epsilon=1.2, omega=2),
    hush.SS(k=4, epsilon=0.3, omega=3),
    hush.HR(k=4, epsilon=1.2),
    hush.HR(k=4, epsilon=3.0, blocks=2),
    *[cls(low=0.0, high=10.0, epsilon=1.2, steps=10) for cls in hush.registry("numeric").values()],
]


@pytest.mark.parametrize("m", MECHANISMS, ids=lambda m: f"{m.name()}-{m.epsilon}")
def test_variances_equal_enumeration(m: Any) -> None:
    found = law(m, SMALL)
    assert found.variance == pytest.approx(enumerated_variance(m, SMALL), rel=1e-9)
    assert found.mean == SMALL.total == 24.0


@pytest.mark.parametrize(("m", "identity"), [
    (hush.GRR(k=4, epsilon=1.2), 256),
    (hush.SUE(k=4, epsilon=1.2), 257),
    (hush.LH(k=4, epsilon=1.2, g=3), 259),
    (hush.SS(k=4, epsilon=1.2, omega=2), 260),
], ids=lambda x: x.name() if hasattr(x, "name") else str(x))  # fmt: skip
def test_variances_equal_the_golden_ones(m: hush.FrequencyOracle, identity: int) -> None:
    assert law(m, SMALL).variance == pytest.approx(golden(identity), rel=1e-8)


FEW_OUTPUTS = [m for m in MECHANISMS if m.name() in ("GRR", "SUE", "SS", "HR", "Duchi")]


@pytest.mark.parametrize("m", FEW_OUTPUTS, ids=lambda m: f"{m.name()}-{m.epsilon}")
def test_probabilities_equal_the_whole_convolution(m: Any) -> None:
    people = population([2, 1, 2, 1], domain=hush.Domain(size=4, values=[0, 1, 3, 10]))
    whole, found = convolved(m, people), law(m, people)
    assert sum(whole.values()) == pytest.approx(1.0)
    for cap in (-30.2, 0.0, 5.5, 11.3, 17.0, 24.1, 60.0):
        exact = sum(chance for total, chance in whole.items() if total <= cap + 1e-6)
        assert found.at_most(cap) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("name", ["Piecewise", "Hybrid"])
def test_probabilities_of_two_people_equal_the_convolution(name: str) -> None:
    m = hush.registry("numeric")[name](low=0.0, high=10.0, epsilon=1.2, steps=10)
    people = population([0, 1, 1, 0], domain=hush.Domain(size=4, values=[0, 1, 3, 10]))
    said, chances = one_report(m, people)
    sums = said[:, None] + said
    joint = chances[:, 1][:, None] * chances[:, 2]
    for cap in (-10.33, 3.21, 4.04, 12.7):
        # Hybrid's reports lie on no lattice, and few people leave steps that no smooth sum can follow.
        tolerance = 1e-9 if name == "Piecewise" else 1e-3
        assert law(m, people).at_most(cap) == pytest.approx(float(joint[sums <= cap].sum()), abs=tolerance)


def test_an_own_mechanism_is_enumerated() -> None:
    class Own(hush.GRR):
        def sample(self, values: Values, rng: np.random.Generator) -> Reports:
            return super().sample(values, rng)

    m, plain = Own(k=4, epsilon=1.2), law(hush.GRR(k=4, epsilon=1.2), SMALL)
    found = law(m, SMALL)
    assert found.work == SMALL.n != plain.work  # collections are simulated one by one
    assert found.variance == pytest.approx(plain.variance, rel=1e-9)
    assert found.at_most(20.0) == pytest.approx(plain.at_most(20.0), abs=1e-9)


@pytest.mark.parametrize("m", [hush.SHE(k=3, epsilon=2.0), hush.GM(k=3, epsilon=1.0, delta=1e-3)], ids=["SHE", "GM"])
def test_grid_noise_is_convolved(m: Any) -> None:
    """Forty people over three values: the total is 1·x + 2·y of two sums of noise, each convolved on its whole grid."""
    people = population([10, 20, 10])
    grid, found = m.grid, law(m, people)
    assert found.variance == pytest.approx(5 * 40 * grid.variance / m._span**2)
    size = 40 * (len(grid.null) - 1) + 1
    zeros, ones = (np.fft.rfft(p, size) for p in (grid.probabilities, grid.probabilities[::-1]))
    first, second = (np.fft.irfft(ones**own * zeros ** (40 - own), size) for own in (20, 10))
    steps = 40 * grid.lowest + np.arange(size)
    upto = np.concatenate([[0.0], np.cumsum(second)])
    for cap in (20.0, 39.3, 40.0, 61.7):
        limit = cap * m._span + 3 * 40 * grid.mean
        rest = np.floor((limit - steps) / 2 + 1e-9) - 40 * grid.lowest
        exact = float(first @ upto[np.clip(rest + 1, 0, size).astype(np.int64)])
        assert found.at_most(cap) == pytest.approx(exact, abs=1e-9)


def test_figure_4_1a_recomputed() -> None:
    """Errata 22: Chebyshev's bound in all five rows, and the exact probability of a false negative in two."""
    rows = [(500, 100, 0.4), (500, 600, 0.8), (400, 500, 0.4), (500, 100, 0.1), (500, 200, 0.1)]
    laws = [law(hush.GRR(k=2, epsilon=e), population([1000 - total, total])) for _, total, e in rows]
    bounds = [forms.chebyshev(found.variance, total - cap) for found, (cap, total, _) in zip(laws, rows, strict=True)]
    assert bounds == pytest.approx([golden(239), golden(241), 0.616732912411, golden(251), golden(253)], rel=1e-9)
    assert [round(b, 4) for b in bounds] == [0.0385, 0.1482, 0.6167, 0.6245, 1.1102]
    assert laws[1].at_most(500) == pytest.approx(0.005235954341, abs=1e-10)
    assert laws[2].at_most(400) == pytest.approx(golden(248), rel=1e-9)
    assert [laws[1].variance, laws[2].variance, laws[3].variance] == pytest.approx([golden(i) for i in (242, 247, 254)])
    assert forms.normal(laws[1].variance, 100) == pytest.approx(golden(244), rel=1e-9)
    assert forms.cantelli(laws[1].variance, 100) == pytest.approx(golden(245), rel=1e-9)
    assert forms.cantelli(laws[2].variance, 100) == pytest.approx(golden(250), rel=1e-9)


def test_the_binary_closed_form() -> None:
    """The variance of randomized response over {0, 1} at the budget is the one that the normal quantile asks for."""
    from scipy.special import ndtri

    for n, margin, chance in ((1000, 100, 0.01), (50, 3, 0.2), (10**6, 500, 1e-6)):
        epsilon = forms.binary_epsilon(n, margin, chance)
        found = law(hush.GRR(k=2, epsilon=epsilon), population([n - n // 2, n // 2]))
        assert margin / math.sqrt(found.variance) == pytest.approx(-ndtri(chance), rel=1e-9)


def test_subset_covariances() -> None:
    """The covariance of a value's own membership with another's, from the variance of the sum of the two."""
    m = hush.SS(k=6, epsilon=1.0, omega=3)
    alone = [forms.subsets(np.eye(6)[v], np.eye(6, dtype=np.int64)[0], 3, m.p_star) for v in (0, 1)]
    both = forms.subsets(np.array([1.0, 1, 0, 0, 0, 0]), np.eye(6, dtype=np.int64)[0], 3, m.p_star)
    assert (both - alone[0] - alone[1]) / 2 == pytest.approx(golden(101), rel=1e-9)
    assert alone == pytest.approx([m.p_star * (1 - m.p_star), m.q_star * (1 - m.q_star)])


def binomial_at_most(x: int, n: int, p: float) -> float:
    """The distribution function, summed downwards from x until nothing is left."""
    if x < 0:
        return 0.0
    with mpmath.workdps(30):
        chance = mpmath.mpf(p)
        term = mpmath.binomial(n, x) * chance**x * (1 - chance) ** (n - x)
        total = mpmath.mpf(0)
        while x >= 0 and term > mpmath.mpf(10) ** -30:
            total += term
            term *= mpmath.mpf(x) / (n - x + 1) * (1 - chance) / chance
            x -= 1
        return float(total)


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (7, 0.01), (40, 0.5), (1000, 0.002), (10**6, 0.4)])
def test_tails_equal_the_binomial(n: int, p: float) -> None:
    """Against sums in thirty digits: scipy before 1.17 is off by 1.5e-11 at a million."""
    wave, deviation = independent_bits_wave(np.array([1.0]), np.array([n]), p, 0.0), math.sqrt(n * p * (1 - p))
    inversion = Inversion(wave, deviation, 1.0)
    for z in (-5, -2.3, 0, 1, 3):
        x = math.floor(n * p + z * deviation)
        found, error = inversion.at_most(x + 0.5 - n * p)
        assert found == pytest.approx(binomial_at_most(x, n, p), abs=1e-11)
        assert error < 1e-11


def test_lattices_that_revive_are_summed_whole() -> None:
    """Many who add 100 and two who add 1: the characteristic function comes back a hundred times."""
    from scipy.stats import binom

    wave = independent_bits_wave(np.array([100.0, 1.0]), np.array([500, 2]), 0.5, 0.0)
    inversion = Inversion(wave, math.sqrt(500 * 2500 + 0.5), 1.0)
    assert inversion.places.left.size == 51
    for hundreds, ones in ((250, 0), (249, 1), (230, 2)):
        exact = binom.cdf(hundreds - 1, 500, 0.5) + binom.pmf(hundreds, 500, 0.5) * binom.cdf(ones, 2, 0.5)
        point = 100 * hundreds + ones + 0.5 - 25_001
        assert inversion.at_most(point)[0] == pytest.approx(float(exact), abs=1e-10)


def bits(m: Any, people: Population, value: int) -> np.ndarray:
    """The law of how many reports support a value."""
    from scipy.stats import binom

    own, others = people.counts[value], people.n - people.counts[value]
    ones = binom.pmf(np.arange(own + 1), own, m.p_star)
    return np.convolve(ones, binom.pmf(np.arange(others + 1), others, m.q_star))


@pytest.mark.parametrize(("values", "unit", "n", "epsilon"), [
    ([0.0, 5.0, 10.0, 19.99], 0.01, 1000, 1.0),
    ([0.0, 5.0, 10.0, 19.99], 0.01, 10_000, 1.0),
    ([0.0, 1.0, 2.0, 3.001], 0.001, 1000, 1.0),
    ([0.0, 10.0, 20.0, 49.95], 0.05, 1000, 2.0),
    ([0.0, 10.0, 20.0, 49.95], 0.05, 12, 0.5),
])  # fmt: skip
def test_price_lists_with_one_fine_amount(values: list[float], unit: float, n: int, epsilon: float) -> None:
    """Against convolution: caps in the middle and in tails, on totals and between them."""
    people = population([n - 3 * (n // 4)] + [n // 4] * 3, domain=hush.Domain(size=4, values=values))
    m = hush.OUE(k=4, epsilon=epsilon)
    found, places = law(m, people), np.rint(np.array(values) / unit).astype(np.int64)
    first, second, third = (bits(m, people, v) for v in (1, 2, 3))
    double = np.zeros(2 * second.size - 1)  # the third amount is twice the second
    double[::2] = second
    below = np.concatenate([[0.0], np.cumsum(np.convolve(first, double))])
    assert found.exact
    for z in (-4.5, -2.0, -0.7, -0.01, 0.003, 1.3, 4.0):
        near = math.floor((found.mean + z * math.sqrt(found.variance) - found.offset) / found.step)
        for part in (0.0, 0.5, 0.99):
            cap = found.offset + (near + part) * found.step
            rest = (near - places[3] * np.arange(third.size)) // places[1]
            exact = float(third @ below[np.clip(rest + 1, 0, below.size - 1)])
            assert found.at_most(cap) == pytest.approx(exact, abs=1e-11)
            assert found.error(cap) < 1e-11


@pytest.mark.parametrize(("n", "epsilon"), [(40, 2.0), (1000, 1.0)])
def test_amounts_without_a_lattice_are_near_with_a_bound_that_holds(n: int, epsilon: float) -> None:
    """Against all sums of two supports, at caps between totals and on them, where only the bound tells."""
    root = math.sqrt(2)
    people = population([n // 2, n // 4, n // 4], domain=hush.Domain(size=3, values=[0.0, 1.0, root]))
    m = hush.OUE(k=3, epsilon=epsilon)
    found, one, other = law(m, people), bits(m, people, 1), bits(m, people, 2)
    sums = np.add.outer(np.arange(one.size), root * np.arange(other.size)) - n * m.q_star * (1 + root)
    sums, chances = sums.ravel() / (m.p_star - m.q_star), np.outer(one, other).ravel()
    assert found.known == "near"
    bounds = []
    for z in np.linspace(-3, 3, 13):
        cap = found.mean + z * math.sqrt(found.variance)
        for at in (cap, float(sums[np.argmin(np.abs(sums - cap))])):
            bound = found.error(at)
            assert bound is not None
            assert abs(found.at_most(at) - float(chances[sums <= at + 1e-9].sum())) <= bound + 1e-12
            bounds.append(bound)
    assert 1e-10 < min(bounds) < 1e-3


@pytest.mark.parametrize("m", [
    hush.SS(k=4, epsilon=1.0, omega=2),
    hush.GRR(k=4, epsilon=2.0),
    hush.HR(k=4, epsilon=1.0),
    hush.uSS(k=4, epsilon=1.0, sensitive=(0, 1)),
], ids=lambda m: m.name())  # fmt: skip
def test_fine_amounts_of_few_people_equal_the_convolution(m: Any) -> None:
    people = population([2, 1, 2, 2], domain=hush.Domain(size=4, values=[0.0, 5.0, 10.0, 19.99]))
    whole, found = convolved(m, people), law(m, people)
    assert found.exact
    for z in (-2.0, -0.5, 0.02, 0.9, 2.2):
        cap = found.mean + z * math.sqrt(found.variance)
        exact = sum(chance for total, chance in whole.items() if total <= cap)
        assert found.at_most(cap) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("value", range(4))
@pytest.mark.parametrize("m", [
    hush.SS(k=4, epsilon=9.0),
    hush.PGR(k=4, epsilon=9.0),
    hush.uRR(k=4, epsilon=9.0, sensitive=(0, 1)),
    hush.uSS(k=4, epsilon=9.0, sensitive=(0, 1)),
], ids=lambda m: m.name())  # fmt: skip
def test_one_person_at_a_large_budget_reaches_as_far_as_reports_do(m: Any, value: int) -> None:
    """A report that hardly ever comes is a hundred deviations away, and its probability 1e-4: none of it is lost."""
    for amounts in ([6.1, 18.86, 9.58, 13.69], [0.0, 1.0, 2.0, 3.0], [-2000.0, -1999.0, -1998.0, -2001.0]):
        people = population(np.eye(4, dtype=np.int64)[value], domain=hush.Domain(size=4, values=amounts))
        (said, chances), found = one_report(m, people), law(m, people)
        for cap in said + 1e-4:
            bound = found.error(cap)
            assert bound is not None
            assert found.at_most(cap) == pytest.approx(float(chances[said <= cap, value].sum()), abs=bound + 1e-10)


@pytest.mark.parametrize("name", ["GRR", "OUE", "SS", "HR", "PGR", "uSS", "uUE", "SHE", "Duchi", "Piecewise"])
def test_many_people_do_not_add_up_roundings(name: str) -> None:
    """Of billions of people the sum is nearly normal: log phi is that of the normal law, but for one part in n."""
    people = population(np.array([5, 2, 4, 1, 3, 6, 2, 2]) * 10**8)
    sensitive = {"sensitive": range(4)} if name.startswith("u") else {}
    means = hush.registry("numeric")
    m: Any = means[name](low=0.0, high=7.0, epsilon=1.0, steps=7) if name in means else None
    found = law(m or hush.registry()[name](k=8, epsilon=1.0, **sensitive), people)
    turns = np.array([0.5, 1.0, 3.0])
    assert found.log is not None
    values = found.log(turns / math.sqrt(found.variance))
    assert values.real == pytest.approx(-(turns**2) / 2, abs=1e-8)
    assert np.abs(values.imag).max() < 1e-3


@pytest.mark.parametrize("n", [10**7, 10**9, 10**11])
def test_amounts_of_both_signs_round_within_the_error(n: int) -> None:
    """What is added up is large where the total is not. Of so many people it is normal, to 0.1 over their number."""
    shares = hush.seeded(7).dirichlet(np.ones(200))
    counts = np.floor(n * shares).astype(np.int64)
    amounts = np.concatenate([np.arange(1.0, 101), -np.arange(1.0, 101)])
    people = population(counts, domain=hush.Domain(size=200, values=amounts.tolist()))
    m = hush.OUE(k=200, epsilon=1.0)
    found, step = law(m, people), 1 / (m.p_star - m.q_star)
    for z in (-1.5, 0.3):
        cap = people.total + z * math.sqrt(found.variance)
        place = math.floor((cap - found.offset) / step + 1e-9)
        middle = found.offset + (place + 0.5) * step - people.total
        normal = 0.5 * math.erfc(-middle / math.sqrt(2 * found.variance))
        off, bound = abs(found.at_most(cap) - normal), found.error(cap)
        assert bound is not None
        assert off <= bound + 0.1 / n
        assert found.exact == (bound < 1e-10)


@pytest.mark.parametrize("cls", [hush.GRR, hush.OUE, hush.SS])
def test_edgeworth_is_near_the_exact_value_where_it_answers(cls: type[hush.GRR]) -> None:
    m = cls(k=30, epsilon=1.0)
    found = law(m, population(np.arange(1000, 1030)))
    for z in (-3.0, -1.0, 0.5):
        cap = found.mean + z * math.sqrt(found.variance)
        rough = found.roughly(cap)
        assert rough is not None
        assert rough == pytest.approx(found.at_most(cap), rel=1e-4)
    assert law(m, population([1] + [0] * 29)).roughly(5.0) is None


def test_bounds_are_in_order() -> None:
    for variance, margin in ((1.0, 0.5), (3.0, 10.0)):
        assert forms.cantelli(variance, margin) < forms.chebyshev(variance, margin)
        assert forms.normal(variance, margin) <= forms.cantelli(variance, margin)
    assert forms.chebyshev(1.0, 0.0) == math.inf
    assert (forms.cantelli(0.0, 1.0), forms.normal(0.0, 1.0)) == (0.0, 0.0)


def test_lattice_steps() -> None:
    assert forms.lattice([0.0, 2.0, 6.0]) == 2.0
    assert forms.lattice([0.1, 0.3, 12.7]) == pytest.approx(0.1)
    assert forms.lattice([0.0]) == 0.0
    assert forms.lattice([1.0, math.pi]) == 0.0
    assert forms.lattice([0.1, 0.4, 20.0], from_first=True) == pytest.approx(0.1)
    assert forms.lattice([3.0, 3.0], from_first=True) == 0.0
