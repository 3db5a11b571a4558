"""The exact law of reports about tuples, against a definition written out in fractions, by enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from multi_freq_ldpy.mdim_freq_est.Variance_RSpFD import VAR_RSpFD_GRR, VAR_RSpFD_UE_rnd, VAR_RSpFD_UE_zero

import hush
from hush.multidim import RSFD, RSRFD, SMP, SPL
from hush.multidim.fake_data import FakeData
from hush.multidim.loss import enumerated

pytestmark = pytest.mark.peers

ONE = Fraction(1)
SIZES = [(2, 2), (2, 3), (2, 5), (3, 3)]
VARIANTS = ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r")
SKEWED = {2: (0.75, 0.25), 3: (0.5, 0.375, 0.125), 5: (0.5, 0.25, 0.125, 0.0625, 0.0625)}  # exact in binary


def cases(*, sizes: list[tuple[int, ...]] = SIZES) -> list[FakeData]:
    plain = [RSFD(sizes=s, epsilon=1.0, variant=v) for s in sizes for v in VARIANTS]
    priors = [tuple(SKEWED[k] for k in s) for s in sizes]
    real = [
        RSRFD(sizes=s, epsilon=1.0, variant=v, priors=p)
        for s, p in zip(sizes, priors, strict=True)
        for v in ("GRR", "SUE-r", "OUE-r")
    ]
    rare = [
        RSRFD(sizes=(2, 3), epsilon=1.0, variant=v, priors=((1.0, 0.0), (0.5, 0.5, 0.0)))
        for v in ("GRR", "SUE-r", "OUE-r")
    ]
    mixed = [
        RSFD(sizes=(3, 2), epsilon=0.5, variant=("SUE-r", "GRR")),
        RSFD(sizes=(2, 3), epsilon=3.0, variant=("GRR", "OUE-z")),
    ]
    return [*plain, *real, *rare, *mixed]


def identify(m: object) -> str:
    sizes, names = getattr(m, "sizes", ""), getattr(m, "variant", getattr(m, "mechanism", ""))
    return f"{type(m).__name__}-{sizes}-{'+'.join(names)}".replace(" ", "")


# The definition.


def fake_share(m: FakeData, j: int, v: int) -> Fraction:
    if isinstance(m, RSFD):
        return Fraction(1, m.sizes[j])
    prior = [Fraction(x) for x in m.priors[j]]  # type: ignore[attr-defined]
    return prior[v] / sum(prior)


def bits_of(part: np.void, k: int) -> list[int]:
    return [(int(part["bits"][v >> 3]) >> (v & 7)) & 1 for v in range(k)]


def bit(one: int, chance: Fraction) -> Fraction:
    return chance if one else 1 - chance


def real_chance(m: FakeData, j: int, part: object, v: int) -> Fraction:
    """Randomized response, or bit by bit, at the amplified budget."""
    c, k = m.components[j], m.sizes[j]
    if m.variant[j] == "GRR":
        p = Fraction(c.thresholds["keep"], 2**64)
        return p if int(part) == v else (1 - p) / (k - 1)  # type: ignore[call-overload]
    p, q = (Fraction(c.thresholds[name], 2**64) for name in "pq")
    return math.prod((bit(b, p if u == v else q) for u, b in enumerate(bits_of(part, k))), start=ONE)  # type: ignore[arg-type]


def fake_chance(m: FakeData, j: int, part: object) -> Fraction:
    k = m.sizes[j]
    if m.variant[j] == "GRR":
        return fake_share(m, j, int(part))  # type: ignore[call-overload]
    if m.variant[j].endswith("z"):
        q = Fraction(m.components[j].thresholds["q"], 2**64)
        return math.prod((bit(b, q) for b in bits_of(part, k)), start=ONE)  # type: ignore[arg-type]
    return sum((fake_share(m, j, v) * real_chance(m, j, part, v) for v in range(k)), start=Fraction(0))


def joint(m: FakeData, report: np.void, values: tuple[int, ...]) -> list[Fraction]:
    """The probability that each attribute is the sampled one and this is the report."""
    real = [real_chance(m, j, report[f"a{j}"], v) for j, v in enumerate(values)]
    fake = [fake_chance(m, j, report[f"a{j}"]) for j in range(m.d)]
    return [Fraction(1, m.d) * real[s] * math.prod(fake[:s] + fake[s + 1 :], start=ONE) for s in range(m.d)]


def brute_loss(law: dict[tuple[int, ...], list[Fraction]], changed: int) -> float:
    worst = ONE
    for u, v in itertools.product(law, law):
        if 1 <= sum(a != b for a, b in zip(u, v, strict=True)) <= changed:
            worst = max(worst, *(x / y for x, y in zip(law[u], law[v], strict=True) if y))
            assert not any(x for x, y in zip(law[u], law[v], strict=True) if not y)
    return math.log(worst)


@pytest.mark.parametrize("m", cases(), ids=identify)
def test_weights_and_losses_are_those_of_the_definition(m: FakeData) -> None:
    outputs = m.outputs()
    law = {v: [sum(joint(m, y, v), start=Fraction(0)) for y in outputs] for v in m.tuples()}
    for values, chances in law.items():
        assert sum(chances) == 1
        assert [Fraction(m.weight(y, values), m.denominator) for y in outputs] == chances
        with np.errstate(divide="ignore"):
            exact = np.log(np.array([float(c) for c in chances]))
        assert np.allclose(m.log_prob(outputs, values), exact, rtol=1e-12, atol=1e-12)
    for changed in (1, 2):
        assert m.exact_epsilon(changed) == pytest.approx(brute_loss(law, changed), abs=1e-12)
    assert m.exact_epsilon() <= m.guarantee.epsilon == m.amplified_epsilon  # type: ignore[union-attr]


@pytest.mark.parametrize("m", cases(sizes=[(2, 3)]), ids=identify)
def test_posteriors_are_those_of_bayes(m: FakeData) -> None:
    priors = ([0.9, 0.1], [0.2, 0.3, 0.5]) if m.sizes == (2, 3) else ([0.2, 0.3, 0.5], [0.9, 0.1])
    outputs = m.outputs()
    belief = {v: math.prod(Fraction(p[x]) for p, x in zip(priors, v, strict=True)) for v in m.tuples()}
    for given, weights in ((None, dict.fromkeys(belief, ONE)), (priors, belief)):
        sampled = np.zeros((len(outputs), m.d))
        scores = [np.zeros((len(outputs), k)) for k in m.sizes]
        for i, y in enumerate(outputs):
            parts = {v: joint(m, y, v) for v in m.tuples()}
            whole = [sum(weights[v] * parts[v][s] for v in parts) for s in range(m.d)]
            sampled[i] = [float(w / sum(whole)) for w in whole] if sum(whole) else np.nan
            for j, k in enumerate(m.sizes):
                for x in range(k):
                    mine = [v for v in parts if v[j] == x]
                    total = sum(weights[v] * sum(parts[v]) for v in mine) / sum(weights[v] for v in mine)
                    scores[j][i, x] = math.log(total) if total else -math.inf
        possible = ~np.isnan(sampled[:, 0])
        assert np.allclose(m.sampled(outputs[possible], given), sampled[possible], atol=1e-9)
        for j in range(m.d):
            assert np.allclose(m.scores(outputs[possible], j, given), scores[j][possible], atol=1e-9)


@pytest.mark.parametrize("variant", ["GRR", "SUE-r", "OUE-r"])
def test_uniform_fakes_hide_the_sampled_attribute_of_uniform_people(variant: str) -> None:
    m = RSFD(sizes=(2, 3), epsilon=1.0, variant=variant)
    assert np.allclose(m.sampled(m.outputs()), 0.5)


def test_zero_vectors_show_the_sampled_attribute() -> None:
    m = RSFD(sizes=(2, 3), epsilon=1.0, variant="OUE-z")
    posterior = m.sampled(m.outputs())
    assert posterior.max() > 0.7
    assert posterior.min() < 0.3


# Losses in closed form.


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_losses_in_closed_form(epsilon: float) -> None:
    e = math.exp(epsilon)
    for d in (2, 3, 7):
        larger = d * (e - 1) + 1
        for sizes in ((2,) * d, (2, *(5,) * (d - 1)), tuple(range(2, 2 + d))):
            for variant in VARIANTS:
                m = RSFD(sizes=sizes, epsilon=epsilon, variant=variant)
                assert m.exact_epsilon() == pytest.approx(math.log(larger), abs=1e-12)
                assert m.claimed_epsilon == epsilon
                if variant == "GRR":
                    mass = [k / (larger + k - 1) for k in sizes]
                    one = 1 + max(mass) * (larger - 1) / sum(mass)
                elif variant.endswith("z"):
                    one = e
                else:
                    single = [k / (larger + k - 1) for k in sizes]  # the own bit is the only one
                    rest = [k / ((k - 1) * larger + 1) for k in sizes]  # the own bit is the only zero
                    one = max(
                        (larger * single[j] + sum(rest) - rest[j]) / (single[j] + sum(rest) - rest[j]) for j in range(d)
                    )
                assert m.exact_epsilon(1) == pytest.approx(math.log(one), abs=1e-12)
                losses = [m.exact_epsilon(c) for c in range(1, d + 1)]
                assert losses == sorted(losses)
        claimed = RSFD(sizes=(4,) * d, epsilon=epsilon, variant="GRR").exact_epsilon(1)
        assert epsilon - 1e-12 < claimed <= epsilon
        assert RSFD(sizes=(4, *(9,) * (d - 1)), epsilon=epsilon, variant="OUE-z").exact_epsilon(1) <= epsilon


def test_losses_of_the_errata() -> None:
    def loss(sizes: tuple[int, ...], variant: str, changed: int | None = None) -> float:
        return RSFD(sizes=sizes, epsilon=1.0, variant=variant).exact_epsilon(changed)

    assert loss((2, 5), "GRR") == pytest.approx(1.490, abs=5e-4)
    assert loss((2,) * 10, "GRR") == pytest.approx(2.900, abs=5e-4)
    assert loss((2, 5), "GRR", 1) == pytest.approx(1.138, abs=5e-4)
    assert loss((3, 3), "OUE-r", 1) == pytest.approx(1.125, abs=5e-4)
    assert loss((3, 3), "SUE-r", 1) == pytest.approx(1.125, abs=5e-4)


@pytest.mark.parametrize("variant", ["GRR", "SUE-z", "OUE-r", ("GRR", "OUE-z", "SUE-r")], ids=str)
def test_losses_of_three_attributes_equal_enumeration(variant: str | tuple[str, ...]) -> None:
    m = RSFD(sizes=(2, 3, 2), epsilon=1.5, variant=variant)
    for changed in (1, 2, 3):
        assert m.exact_epsilon(changed) == pytest.approx(enumerated(m, changed, Fraction(0)), abs=1e-12)


def test_skewed_priors_cost_more_where_one_attribute_changes() -> None:
    plain = RSFD(sizes=(3, 3), epsilon=1.0, variant="GRR")
    skewed = RSRFD(sizes=(3, 3), epsilon=1.0, variant="GRR", priors=[[0.9, 0.09, 0.01]] * 2)
    certain = RSRFD(sizes=(3, 3), epsilon=1.0, variant="GRR", priors=[[0.9, 0.1, 0.0]] * 2)
    assert plain.exact_epsilon(1) < skewed.exact_epsilon(1) < certain.exact_epsilon(1)
    assert certain.exact_epsilon(1) == pytest.approx(certain.amplified_epsilon, abs=1e-12)
    assert skewed.exact_epsilon() == pytest.approx(plain.exact_epsilon(), abs=1e-12)


@pytest.mark.parametrize("name", ["AGRR", "ASUE", "ABLH"])
@pytest.mark.parametrize("cls", [SPL, SMP], ids=lambda c: c.__name__)
def test_approximate_mechanisms_are_enumerated_at_their_delta(cls: type[SPL] | type[SMP], name: str) -> None:
    m = cls(sizes=(2, 2), epsilon=1.0, mechanism=name, options={"delta": 0.01})
    delta = 0.02 if cls is SPL else 0.01
    assert m.guarantee == hush.ApproxLDP(1.0, delta)
    one, both = m.exact_epsilon(1), m.exact_epsilon()
    assert 0 < one <= both <= 1.0
    if cls is SMP:
        assert both == pytest.approx(m.components[0].exact_epsilon(), abs=1e-12)
        assert one < both  # a change that is seen only half the time spends less delta
    with pytest.raises(hush.errors.ParameterError, match="enumerate"):
        cls(sizes=(40, 40), epsilon=1.0, mechanism="AGRR", options={"delta": 0.01}).exact_epsilon()


@pytest.mark.parametrize("name", ["GRR", "OUE", "SS", "HR", "OLH", "THE", "Wheel"])
def test_losses_of_splitting_add_up_and_of_sampling_do_not(name: str) -> None:
    split = SPL(sizes=(2, 3), epsilon=1.0, mechanism=name)
    drawn = SMP(sizes=(2, 3), epsilon=1.0, mechanism=name)
    for changed in (1, 2):
        assert split.exact_epsilon(changed) == pytest.approx(enumerated(split, changed, Fraction(0)), abs=1e-12)
        assert drawn.exact_epsilon(changed) == pytest.approx(enumerated(drawn, changed, Fraction(0)), abs=1e-12)
    assert split.exact_epsilon(1) == max(c.exact_epsilon() for c in split.components)


# Estimates.


@pytest.mark.parametrize(
    "m",
    [
        *(SMP(sizes=s, epsilon=1.0, mechanism="GRR") for s in [(2, 2), (2, 3), (3, 3)]),
        SMP(sizes=(2, 2), epsilon=2.0, mechanism=("OUE", "GRR")),
        SMP(sizes=(3,), epsilon=1.0, mechanism="GRR"),
        *(SPL(sizes=s, epsilon=1.0, mechanism="GRR") for s in [(2, 2), (2, 3)]),
        RSFD(sizes=(2, 3), epsilon=1.0, variant="GRR"),
        RSRFD(sizes=(2, 3), epsilon=1.0, variant="GRR", priors=[[0.9, 0.1], [0.6, 0.4, 0.0]]),
    ],
    ids=identify,
)
def test_three_people_are_estimated_without_bias_and_with_the_stated_variance(m: SMP) -> None:
    """By enumeration of all three reports; of a sample, given that somebody reports the attribute."""
    people = [(0,) * m.d, tuple(k - 1 for k in m.sizes), (1,) * m.d]
    outputs = m.outputs()
    laws = [[m.weight(y, v) / m.denominator for y in outputs] for v in people]
    tallies = [m.tally(y[None]) for y in outputs]
    sums = [np.zeros((3, k)) for k in m.sizes]
    for drawn in itertools.product(range(len(outputs)), repeat=3):
        share = math.prod(law[i] for law, i in zip(laws, drawn, strict=True))
        for total, found in zip(sums, m.decode(sum(tallies[i] for i in drawn), 3), strict=True):
            if not np.isnan(found[0]):
                total += share * np.stack([np.ones_like(found), found, found**2])
    truth = [np.bincount([v[j] for v in people], minlength=k) / 3 for j, k in enumerate(m.sizes)]
    for j, (chance, mean, square) in enumerate(sums):
        assert np.allclose(mean / chance, truth[j], atol=1e-9)
        assert np.allclose(square / chance - (mean / chance) ** 2, m.variances(truth, 3)[j], rtol=1e-9)
    assert (sums[0][0] < 1 - 1e-9).all() == (isinstance(m, SMP) and m.d > 1)


@pytest.mark.parametrize("m", cases(), ids=identify)
def test_one_report_decodes_without_bias_and_with_the_stated_variance(m: FakeData) -> None:
    outputs = m.outputs()
    decoded = [m.decode(m.tally(y[None]), 1) for y in outputs]
    for values in m.tuples():
        chances = np.array([m.weight(y, values) / m.denominator for y in outputs])
        truth = [(np.arange(k) == v).astype(float) for k, v in zip(m.sizes, values, strict=True)]
        for j, spread in enumerate(m.variances(truth, 1)):
            rows = np.array([d[j] for d in decoded])
            mean = chances @ rows
            assert np.allclose(mean, truth[j], atol=1e-9)
            assert np.allclose(chances @ rows**2 - mean**2, spread, rtol=1e-9)


@pytest.mark.parametrize(("d", "k", "epsilon"), [(2, 2, 1.0), (5, 10, 1.0), (10, 100, 3.0)])
def test_a_peer_has_the_same_variance_for_a_random_population(d: int, k: int, epsilon: float) -> None:
    """Theirs is for people drawn at random, ours for the people there are: they differ by f(1-f)/n."""
    n = 1000
    for f in (0.0, 0.1, 0.7):
        for variant in VARIANTS:
            m = RSFD(sizes=(k,) * d, epsilon=epsilon, variant=variant)
            p, q = m.components[0].p_star, m.components[0].q_star
            if variant == "GRR":
                theirs = VAR_RSpFD_GRR(p, q, k, d, n, f)
            elif variant.endswith("z"):
                theirs = VAR_RSpFD_UE_zero(p, q, d, n, f)
            else:
                theirs = VAR_RSpFD_UE_rnd(p, q, k, d, n, f)
            ours = m.variance(0, n=n, frequency=f) + f * (1 - f) / n
            assert ours == pytest.approx(theirs, rel=1e-9)


def test_uniform_priors_are_plain_fake_data() -> None:
    for variant in ("GRR", "SUE-r", "OUE-r"):
        plain = RSFD(sizes=(2, 4), epsilon=1.0, variant=variant)
        prior = RSRFD(sizes=(2, 4), epsilon=1.0, variant=variant, priors=[[1, 1], [3, 3, 3, 3]])
        assert prior.exact_epsilon(1) == pytest.approx(plain.exact_epsilon(1), abs=1e-15)
        truth = [np.array([0.3, 0.7]), np.array([0.1, 0.2, 0.3, 0.4])]
        for ours, theirs in zip(prior.variances(truth, 9), plain.variances(truth, 9), strict=True):
            assert np.allclose(ours, theirs, rtol=1e-14)


def test_success_of_the_attack_is_exact() -> None:
    for m in [*cases(sizes=[(2, 3)]), SMP(sizes=(2, 3), epsilon=1.0), SPL(sizes=(2, 3), epsilon=1.0)]:
        outputs, everything = m.outputs(), list(m.tuples())
        law = np.array([[m.weight(y, v) / m.denominator for v in everything] for y in outputs])
        for j, k in enumerate(m.sizes):
            mine = np.stack([law[:, [v[j] == x for v in everything]].mean(axis=1) for x in range(k)], axis=1)
            assert m.asr(j) == pytest.approx(mine.max(axis=1).sum() / k, abs=1e-12)


def test_bits_count_what_a_report_can_say() -> None:
    assert SPL(sizes=(2, 5), epsilon=1.0, mechanism="GRR").bits == 1 + 3
    assert SMP(sizes=(2, 5, 9), epsilon=1.0, mechanism="GRR").bits == 2 + 4
    assert RSFD(sizes=(2, 5), epsilon=1.0, variant=("GRR", "OUE-z")).bits == 1 + 5
    assert SPL(sizes=(2, 5), epsilon=1.0, mechanism="BLH").bits == 2 * 65
