"""Utility-optimized mechanisms keep Definition 3 exactly, and the theorem about z* holds for every base mechanism."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hush
from hush import utility
from hush.errors import ParameterError, ReportError
from hush.exact.loss import enumerated_loss
from hush.exact.thresholds import SCALE, exp_below, log_ratio
from hush.guarantee import LDP, ULDP
from hush.mechanisms import registry
from hush.statistics import sigmas
from hush.utility import optimal, theory
from hush.utility.named import NamedOracle
from tests.conftest import APPROXIMATE, example


@pytest.fixture(autouse=True, scope="module")
def _known() -> Iterator[None]:
    """Specs may name these mechanisms here; other tests see the registry as it was."""
    before = dict(registry._known)
    for cls in utility.MECHANISMS:
        hush.register(cls)
    yield
    registry._known.clear()
    registry._known.update(before)


NAMED: list[type[NamedOracle]] = [
    utility.uRR, utility.uRAP, utility.uHR, utility.uSS, utility.uUE, utility.uLH, utility.uWheel,
]  # fmt: skip
HASHED = {"uLH", "uWheel"}
DOMAINS = [(4, (2,)), (3, (0, 2)), (5, (1, 3, 4)), (4, None)]
BUILT_IN = sorted(n for n in hush.registry() if n not in APPROXIMATE | {"LHO"} and not issubclass(
    hush.registry()[n], utility.UtilityOracle) and ":" not in n)  # fmt: skip


def choices(cls: type[NamedOracle]) -> list[str]:
    return ["exact", "constant", "paper", "none"] + (["balanced"] if cls is utility.uLH else [])


def make(
    cls: type[NamedOracle], k: int, sensitive: tuple[int, ...] | None, epsilon: float, z: str, **more: object
) -> NamedOracle:
    s = k if sensitive is None else len(sensitive)
    if cls is utility.uLH:
        more = {"g": min(3, s) if z == "balanced" and s > 1 else 3, **more}
    return cls(k=k, epsilon=epsilon, sensitive=sensitive, z=z, **more)


PUBLICS: dict[tuple[type, int], list[object]] = {}


def publics(u: utility.UtilityOracle) -> list[object]:
    """Hash functions to look at, searched for once for each kind of base mechanism."""
    key = type(u.base), u.s
    if key not in PUBLICS:
        PUBLICS[key] = u.publics()
    return PUBLICS[key]


def definition_3(u: utility.UtilityOracle, public: object) -> float:
    """The loss of Definition 3, written out; infinite where an invertible output shows anything but one value."""
    inside = set(range(u.k)) if u.sensitive is None else set(u.sensitive)
    worst = Fraction(1)
    totals = [0] * u.k
    for y in u.outputs(public):
        weights, copies = [u.weight(y, x) for x in range(u.k)], u.copies(y)
        for x, w in enumerate(weights):
            totals[x] += copies * w
        if any(weights[x] for x in inside):
            if not all(weights):
                return math.inf
            worst = max(worst, Fraction(max(weights), min(weights)))
        elif sum(w > 0 for w in weights) > 1:
            return math.inf
    assert totals == [u.denominator] * u.k
    return log_ratio(worst.numerator, worst.denominator)


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
@pytest.mark.parametrize(("k", "sensitive"), DOMAINS)
def test_definition_3_holds_for_every_output(cls: type[NamedOracle], k: int, sensitive: tuple[int, ...] | None) -> None:
    for z, epsilon, reveal in itertools.product(
        choices(cls), (0.1, 1.0, 3.0) if k == 5 else (1.0,), utility.oracle.REVEALS
    ):
        u = make(cls, k, sensitive, epsilon, z, reveal=reveal)
        losses = [definition_3(u, public) for public in publics(u)]
        unsafe = z == "paper" and cls.__name__ in HASHED and 1 < u.s < k
        assert max(losses) == pytest.approx(u.exact_epsilon(), rel=1e-9)
        assert (u.exact_epsilon() > epsilon) == unsafe
        assert u.guarantee == (LDP(epsilon) if u.s == k else ULDP(max(epsilon, u.exact_epsilon()), u.sensitive))
        if u.tight:
            assert u.exact_epsilon() >= epsilon - 1e-9


@pytest.mark.parametrize(("s", "g"), [(2, 3), (4, 2), (5, 3)])
def test_every_hash_function_of_a_small_family_is_safe_with_exact_z(s: int, g: int) -> None:
    """All (a, b) whose low bits are zero: 64 functions, from all values together to all apart."""
    steps = [i << 29 for i in range(8)]
    u = utility.uLH(k=s + 1, epsilon=1.0, sensitive=range(s), g=g)
    wheel = utility.uWheel(k=s + 1, epsilon=1.0, sensitive=range(s), coverage=1 / g)
    found = set()
    for a, b in itertools.product(steps, steps):
        found |= {int(c) for c in u.base.support_sizes(u.base.outputs((a, b)))}
        assert definition_3(u, (a, b)) <= 1.0
        if b == 0:
            assert definition_3(wheel, (a, b)) <= 1.0
    assert found >= {1, s}


@pytest.mark.parametrize("s", [2, 3, 5])
def test_every_bucket_assignment_is_safe_with_exact_z_and_not_with_the_printed_one(s: int) -> None:
    """All g^s functions, in exact integers: a bucket that holds c values, with the threshold of that size."""
    g, e = 3, Fraction(math.exp(1.0))
    exact = utility.uLH(k=s + 1, epsilon=1.0, sensitive=range(s), g=g)._revelation
    paper = utility.uLH(k=s + 1, epsilon=1.0, sensitive=range(s), g=g, z="paper")._revelation
    high, low = exact.shape.high, exact.shape.low
    broken = 0
    for homes in itertools.product(range(g), repeat=s):
        losses = []
        for revelation in (exact, paper):
            worst = Fraction(1)
            for bucket in range(g):
                weights = [Fraction(high if home == bucket else low) for home in homes]
                kept = Fraction(SCALE - revelation._of(homes.count(bucket)), SCALE)
                other = Fraction(revelation.hide, SCALE) * kept * sum(weights) / s
                worst = max(worst, max(*weights, other) / min(*weights, other))
            losses.append(worst)
        assert losses[0] <= e * (1 + Fraction(1, 10**15))
        broken += losses[1] > e * (1 + Fraction(1, 10**6))
        if len(set(homes)) == g or s == 2:
            # with the printed z every hash function that leaves no bucket empty violates
            assert (losses[1] > e * (1 + Fraction(1, 10**6))) == (len(set(homes)) > 1)
    assert broken > g**s / 2


def test_the_printed_z_of_local_hashing_and_the_wheel_spends_more_by_exactly_what_the_errata_say() -> None:
    u = utility.uLH(k=25, epsilon=1.0, sensitive=range(10), g=4, z="paper")
    assert u.exact_epsilon() == pytest.approx(1.2851212651645, abs=1e-9)
    assert enumerated_loss(u) == pytest.approx(u.exact_epsilon(), abs=1e-12)  # some hash function shows it
    assert u.guarantee == ULDP(u.exact_epsilon(), tuple(range(10)))
    wheel = utility.uWheel(k=25, epsilon=1.0, sensitive=range(10), coverage=0.25, z="paper")
    assert wheel.exact_epsilon() == pytest.approx(1.2851212651645, abs=1e-8)
    assert enumerated_loss(wheel) == pytest.approx(wheel.exact_epsilon(), abs=1e-12)
    large = utility.uLH(k=1200, epsilon=2.0, sensitive=range(424), g=8, z="paper")
    assert large.exact_epsilon() == pytest.approx(2.579, abs=5e-4)
    for s, epsilon, g in ((10, 1.0, 4), (424, 2.0, 8), (5, 0.3, 2)):
        case = utility.uLH(k=s + 3, epsilon=epsilon, sensitive=range(s), g=g, z="paper")
        assert case.exact_epsilon() == pytest.approx(theory.true_loss_hashing(s, epsilon, g), abs=1e-8)
        ring = utility.uWheel(k=s + 3, epsilon=epsilon, sensitive=range(s), coverage=1 / g, z="paper")
        assert ring.exact_epsilon() == pytest.approx(theory.true_loss_wheel(s, epsilon, 1 / g), abs=1e-8)


@pytest.mark.parametrize("base_name", BUILT_IN)
@pytest.mark.parametrize("s", [2, 5])
def test_the_theorem_for_every_base_mechanism(base_name: str, s: int) -> None:
    """z* = 1 - s·ASR/E, by enumeration, by the attack's success, and by the thresholds that are really used."""
    for epsilon in (0.5, 2.0):
        base = example(base_name, s, epsilon)
        u = utility.transform(base, hush.Domain(size=s + 2, sensitive=range(s)))
        by_attack = utility.z_star_by_attack(base)
        assert u.z_star == pytest.approx(by_attack, rel=1e-6, abs=1e-9)
        if base_name in {"SHE", "ServerTHE"}:
            continue  # too many outputs; the statistical tests take over
        found = utility.z_star_by_enumeration(base)
        if len(found) == 1:
            assert found[0] == pytest.approx(by_attack, rel=1e-9)


@pytest.mark.parametrize(("s", "g"), [(2, 2), (3, 2), (4, 3), (5, 3)])
def test_the_theorem_under_an_ideal_hash_by_all_assignments(s: int, g: int) -> None:
    base = hush.LH(k=s, epsilon=1.3, g=g)
    low, high = (w / base.denominator for w in base._weights)
    success = 0.0
    for homes in itertools.product(range(g), repeat=s):
        success += sum(high if b in homes else low for b in range(g)) / g**s
    due = 1 - success / math.exp(1.3)
    assert utility.z_star_by_attack(base) == pytest.approx(due, rel=1e-8)
    assert utility.transform(base, hush.Domain(size=s + 1, sensitive=range(s))).z_star == pytest.approx(due, rel=1e-8)


@pytest.mark.parametrize("s", [2, 10, 230])
def test_closed_forms_of_z_star(s: int) -> None:
    e = math.exp(0.7)
    for omega in {1, s // 2, s - 1}:
        u = utility.uSS(k=s + 5, epsilon=0.7, sensitive=range(s), omega=omega)
        assert u.z_star == pytest.approx(omega * (e - 1) / (omega * (e - 1) + s), rel=1e-9)
    unary = utility.uUE(k=s + 5, epsilon=0.7, sensitive=range(s), p=0.6)
    p, q = 0.6, unary.base.q_star
    due = 1 - ((p / q) * (1 - (1 - q) ** s) + (1 - p) * (1 - q) ** (s - 1)) / e
    assert unary.z_star == pytest.approx(due, rel=1e-9)
    assert utility.uUE(k=s + 5, epsilon=0.7, sensitive=range(s), z="constant").z_star == pytest.approx(
        (e - 1) / (e + s - 1), rel=1e-9
    )
    hashed = utility.uLH(k=s + 5, epsilon=0.7, sensitive=range(s), g=4)
    ideal = 1 - 4 / (e + 3) * (1 - 0.75**s * (1 - 1 / e))
    assert hashed.z_star == pytest.approx(ideal, rel=1e-7)
    safe = utility.uLH(k=s + 5, epsilon=0.7, sensitive=range(s), g=4, z="constant")
    assert safe.z_mean == pytest.approx(e * (e - 1) / ((e + 3) * (e + s - 1)), rel=1e-7)
    for value in ("exact", "constant", "paper", "none"):
        assert utility.uRR(k=s + 5, epsilon=0.7, sensitive=range(s), z=value).z_mean == pytest.approx(0.0, abs=1e-12)
    hadamard = utility.uHR(k=300, epsilon=0.7, sensitive=range(max(s, 3)), z="paper")
    assert hadamard.z_star == pytest.approx((e - 1) / (e + 1), rel=1e-9)


GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text(encoding="utf-8"))["golden"]
ULDP_VALUES = [case for case in GOLDEN if case["doc"] == "002" and case["protocol"] != "uWheel"]


@pytest.mark.parametrize("case", ULDP_VALUES, ids=lambda c: str(c["id"]))
def test_golden_values(case: dict[str, object]) -> None:
    """Computed independently, in forty digits or by enumeration."""
    params, quantity, due = case["params"], str(case["quantity"]), float(case["value"])  # type: ignore[arg-type]
    s, epsilon, theta = params["s"], params["eps"], params["theta"]  # type: ignore[index]
    name = str(case["protocol"]).removesuffix("-balanced")
    z = "constant" if name == "uUE" else "paper"
    if case["protocol"] == "uLH-balanced":
        z = "balanced"
    elif quantity in {"z_star_output_dependent_ideal_H", "z_safe_arbitrary_H"}:
        z = "exact" if "ideal" in quantity else "constant"
    more = {"g": params["g"]} if "g" in params else {"omega": params["k"]} if "k" in params else {}  # type: ignore[index, operator]
    given = {"k": s + 100, "epsilon": epsilon, "sensitive": range(s), "theta": theta, "z": z, "reveal": "pair"}
    if name == "uUE":  # left out, p has six digits
        more = {"p": utility.optimal.unary_probability_paper(s, epsilon, theta)}
        assert utility.uUE(**given).p == pytest.approx(more["p"], abs=1e-6)
    u = getattr(utility, name)(**given, **more)
    found = {
        "k_int_argmin_eq28": lambda: u.omega,
        "f": lambda: u.f,
        "z_star": lambda: u.z_star,
        "q_star": lambda: u.base.q_star,
        "MSE_n1": lambda: utility.total_error(u, theta),
        "MSE_n1_document": lambda: utility.total_error(u, theta),
        "z_document": lambda: u.z_mean,
        "z_safe_arbitrary_H": lambda: u.z_mean,
        "actual_epsilon_with_document_z": lambda: u.exact_epsilon(),
        "z_star_output_dependent_ideal_H": lambda: u.z_star,
    }[quantity]()
    assert found == pytest.approx(due, rel=2e-7)


def test_unary_encoding_does_not_always_outperform_rappor() -> None:
    """Errata 18, at epsilon 0.5: Normal (230 sensitive, theta 0.77) and Foursquare (25, 0.95)."""
    for k, s, theta, unary, rappor in ((1000, 230, 0.77, 3878, 3664), (625, 25, 0.95, 428, 401)):
        setting = {"k": k, "epsilon": 0.5, "sensitive": range(s), "theta": theta, "z": "paper", "reveal": "pair"}
        assert round(utility.total_error(utility.uUE(**setting), theta)) == unary
        assert round(utility.total_error(utility.uRAP(**setting), theta)) == rappor


def test_all_sensitive_is_the_base_mechanism() -> None:
    """The same law and, from the same seed, the same bytes."""
    for cls, z in itertools.product(NAMED, ("exact", "paper")):
        u = make(cls, 5, None, 1.0, z)
        values = np.arange(300) % 5
        reports, due = u.privatize(values, rng=hush.seeded(3)), u.base.privatize(values, rng=hush.seeded(3))
        assert (reports["kind"] == 0).all()
        assert reports["base"].tobytes() == due.tobytes()
        assert not reports["value"].any()
        assert np.allclose(
            u.estimate(u.aggregate(reports)).frequencies, u.base.estimate(u.base.aggregate(due)).frequencies
        )
        assert np.allclose(u.variances(np.full(5, 0.2), 9), u.base.variances(np.full(5, 0.2), 9))
        assert u.exact_epsilon() == u.base.exact_epsilon()
        assert u.asr() == pytest.approx(u.base.asr(), rel=1e-12)
        assert make(cls, 5, (0, 1, 2, 3, 4), 1.0, z) == u
        y = u.outputs(publics(u)[-1])[0]
        for value in range(5):
            ratio = Fraction(u.weight(y, value), u.denominator)
            assert ratio == Fraction(u.base.weight(y["base"], value), u.base.denominator)


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
def test_a_large_budget_is_plain_reporting(cls: type[NamedOracle]) -> None:
    u = cls(k=6, epsilon=30.0, sensitive=(1, 2, 4))
    values = np.repeat(np.arange(6), 500)
    reports = u.privatize(values, rng=hush.seeded(1))
    others = ~np.isin(values, (1, 2, 4))
    assert u.z_star > 1 - 1e-9
    assert (reports["kind"][others] != 0).all()
    assert (reports["value"][others] == values[others]).all()
    if cls is not utility.uUE and cls is not utility.uLH and cls is not utility.uWheel and cls is not utility.uHR:
        assert np.allclose(u.estimate(u.aggregate(reports)).frequencies, 1 / 6, atol=1e-6)
    assert cls(k=6, epsilon=40.0, sensitive=(1, 2, 4)).exact_epsilon() <= 40.0


@pytest.mark.parametrize("cls", [c for c in NAMED if c.__name__ not in HASHED], ids=lambda c: c.__name__)
@pytest.mark.parametrize("reveal", ["pair", "alone"])
def test_unbiased_and_variance_by_enumeration(cls: type[NamedOracle], reveal: str) -> None:
    """Of those without a public hash function, which the statistical tests hold against the ideal one."""
    shares = np.array([0.1, 0.25, 0.3, 0.15, 0.2])
    for z in choices(cls):
        u = make(cls, 5, (0, 1, 3), 0.8, z, reveal=reveal)
        mean, square = np.zeros((5, 5)), np.zeros((5, 5))
        for y in u.outputs():
            told = u.decode(u.tally(np.asarray(y)[None]), 1)
            for x in range(5):
                chance = float(Fraction(u.copies(y) * u.weight(y, x), u.denominator))
                mean[x] += chance * told
                square[x] += chance * told**2
        assert np.allclose(mean, np.eye(5), atol=1e-12)
        assert np.allclose(u.variances(shares, 3), shares @ (square - mean**2) / 3, rtol=1e-9)


def test_equation_28_is_the_sum_of_variances_whatever_the_frequencies() -> None:
    rng = np.random.default_rng(5)
    for cls in (utility.uRR, utility.uRAP, utility.uSS, utility.uUE, utility.uLH, utility.uWheel):
        u = cls(k=12, epsilon=1.1, sensitive=range(7), reveal="pair")
        p, q = u.base.p_star, u.base.q_star
        for _ in range(3):
            shares = rng.dirichlet(np.ones(12))
            due = theory.mean_squared_error(7, float(shares[7:].sum()), p, q, u.z_star, n=10)
            assert u.variances(shares, 10).sum() == pytest.approx(float(due), rel=1e-9)


def test_a_value_alone_never_has_more_variance_and_is_shorter() -> None:
    for cls, z in itertools.product(NAMED, ("exact", "constant", "none")):
        pair = cls(k=40, epsilon=1.0, sensitive=range(20), z=z, reveal="pair")
        own = {f: getattr(pair, f) for f in ("omega", "p", "g", "coverage", "blocks") if hasattr(pair, f)}
        alone = cls(k=40, epsilon=1.0, sensitive=range(20), z=z, reveal="alone", **own)
        assert alone.z_star == pytest.approx(pair.z_star, rel=1e-12)
        assert (alone.variances(np.full(40, 1 / 40)) <= pair.variances(np.full(40, 1 / 40)) * (1 + 1e-12)).all()
        assert alone.bits <= pair.bits
        if cls.__name__ != "uHR" and hasattr(pair.base, "q_star"):
            p, q, exact = pair.base.p_star, pair.base.q_star, z == "exact"
            due = theory.mean_squared_error_alone(20, 1.0, 0.5, p, q, pair.z_star, exact=exact)
            assert utility.total_error(alone, 0.5) == pytest.approx(float(due), rel=1e-8)
    best = [
        utility.total_error(utility.uSS(k=1200, epsilon=2.0, sensitive=range(424), theta=0.77, reveal=r), 0.77)
        for r in utility.oracle.REVEALS
    ]
    assert best == pytest.approx([304.80836, 190.64700], rel=1e-6)


# Parameters.


@pytest.mark.parametrize(("s", "epsilon", "theta"), [(10, 1.0, 0.77), (25, 5.0, 0.95), (30, 0.5, 0.2), (7, 3.0, 0.0)])
@pytest.mark.parametrize("reveal", ["pair", "alone"])
def test_parameters_against_brute_force(s: int, epsilon: float, theta: float, reveal: str) -> None:
    """The error of the mechanisms themselves, over every subset size and bucket number, and a grid of the others."""

    def error(cls: type[NamedOracle], **own: object) -> float:
        u = cls(k=s + 30, epsilon=epsilon, sensitive=range(s), theta=theta, reveal=reveal, **own)
        return utility.total_error(u, theta)

    for z in ("exact", "constant"):
        sizes = {w: error(utility.uSS, omega=w, z=z) for w in range(1, s)}
        assert error(utility.uSS, z=z) == pytest.approx(min(sizes.values()), rel=1e-9)
        chances = [error(utility.uUE, p=p, z=z) for p in np.linspace(0.02, 0.98, 25)]
        assert error(utility.uUE, z=z) <= min(chances) * (1 + 1e-9)
        buckets = [error(utility.uLH, g=g, z=z) for g in (*range(2, 20), *range(20, 260, 16))]
        assert error(utility.uLH, z=z) <= min(buckets) * (1 + 1e-9)
        arcs = [error(utility.uWheel, coverage=c, z=z) for c in np.geomspace(0.002, 0.9, 16)]
        assert error(utility.uWheel, z=z) <= min(arcs) * (1 + 1e-6)
    balanced = {g: error(utility.uLH, g=g, z="balanced") for g in range(2, s + 1)}
    assert error(utility.uLH, z="balanced") == pytest.approx(min(balanced.values()), rel=1e-9)
    blocks = [error(utility.uHR, blocks=2**i) for i in range((2 * s).bit_length())]
    assert error(utility.uHR) == pytest.approx(min(blocks), rel=1e-9)


def test_closed_forms_of_the_parameters() -> None:
    """Equations 37 and 43 are exact for a constant z; 49 and 63 need s far above g (errata 19)."""
    for s, epsilon, theta in ((230, 0.5, 0.77), (25, 5.0, 0.95), (424, 2.0, 0.56)):
        best = optimal.subset_size(s, epsilon, theta, reveal="pair")
        assert abs(best - max(optimal.subset_size_paper(s, epsilon, theta), 1)) < 1
        chance = optimal.unary_probability_paper(s, epsilon, theta)
        assert optimal.unary_probability(s, epsilon, theta, "constant", "pair") == pytest.approx(chance, abs=1e-6)
    assert optimal.hash_range_paper(25, 5.0, 0.95) == pytest.approx(57.5, abs=0.05)
    assert optimal.hash_range(25, 5.0, 0.95, "paper", "pair") == 124
    assert 1 / optimal.coverage(25, 5.0, 0.95, "paper", "pair") == pytest.approx(124.2, abs=0.05)
    assert optimal.coverage_paper(25, 5.0, 0.95) == pytest.approx(1 / 57.5, abs=1e-4)
    assert optimal.hash_range(424, 2.0, 0.56, "paper", "pair") == round(optimal.hash_range_paper(424, 2.0, 0.56))


# Likelihoods and attacks.


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
def test_log_prob_and_scores_are_the_weights(cls: type[NamedOracle]) -> None:
    for z, reveal in itertools.product(choices(cls), ("pair", "alone")):
        u = make(cls, 5, (0, 1, 3), 0.8, z, reveal=reveal)
        outputs = u.outputs(publics(u)[-1])
        exact = np.array([[Fraction(u.weight(y, x), u.denominator) for x in range(5)] for y in outputs], np.float64)
        stated = np.stack([u.log_prob(outputs, x) for x in range(5)], axis=1)
        assert np.allclose(np.exp(stated), exact, rtol=1e-9)
        shown = exact.max(axis=1) > 0
        scores = np.exp(u.scores(outputs))[shown]
        assert np.allclose(
            scores / scores.max(axis=1, keepdims=True), (exact / exact.max(axis=1, keepdims=True).clip(1e-300))[shown]
        )


@pytest.mark.parametrize(
    "prior", [[1, 1, 1, 1, 1], [5, 1, 3, 1, 2], [1, 2, 50, 3, 1], [0, 1, 0, 1, 3], [1, 0, 4, 0, 0]]
)
@pytest.mark.parametrize("cls", [utility.uRR, utility.uRAP, utility.uHR, utility.uSS, utility.uUE])
def test_success_of_the_best_guess_with_any_prior(cls: type[NamedOracle], prior: list[float]) -> None:
    for z, reveal in (
        ("exact", "pair"),
        ("exact", "alone"),
        ("constant", "alone"),
        ("paper", "pair"),
        ("none", "pair"),
    ):
        u = make(cls, 5, (0, 1, 3), 0.8, z, reveal=reveal)
        assert u.asr(prior) == pytest.approx(hush.FrequencyOracle.asr(u, prior), rel=1e-9)


def test_success_under_a_uniform_prior_is_bound_to_the_base() -> None:
    for cls in NAMED:
        u = cls(k=30, epsilon=1.0, sensitive=range(12))
        assert u.asr() == pytest.approx((18 * u.z_star + 12 * u.base.asr()) / 30, rel=1e-12)


# How it travels, and what is refused.


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
def test_travels(cls: type[NamedOracle]) -> None:
    for z in choices(cls):
        u = make(cls, 9, (0, 2, 5, 6), 1.5, z, theta=0.3)
        assert hush.from_dict(u.to_dict()) == u
        assert hush.from_dict(json.loads(json.dumps(u.to_dict()))) == u
        assert hush.Spec.from_json(hush.Spec(u).to_json()) == hush.Spec(u)
        twin = pickle.loads(pickle.dumps(u))
        assert twin == u
        assert hash(twin) == hash(u)
    whole = utility.transform(hush.HR(k=4, epsilon=1.5), hush.Domain(size=9, sensitive=(0, 2, 5, 6)))
    assert hush.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    assert hash(pickle.loads(pickle.dumps(whole))) == hash(whole)


def test_spec_with_labels() -> None:
    domain = hush.Domain(labels=["flu", "cold", "HIV", "cancer"], sensitive=[2, 3])
    spec = hush.Spec(utility.uSS(k=4, epsilon=1.0, sensitive=domain.sensitive), domain)
    reports = spec.privatize(["flu", "HIV", "cold"] * 100, rng=hush.seeded(2))
    estimate = spec.estimate(spec.aggregate(reports))
    assert estimate.labels == ["flu", "cold", "HIV", "cancer"]
    truth = np.array([1, 1, 1, 0]) / 3
    spread = np.sqrt(spec.mechanism.variances(truth, 300))
    assert (np.abs(estimate.frequencies - truth) < sigmas(4) * spread).all()


def test_malformed_reports_are_refused() -> None:
    u = utility.uSS(k=9, epsilon=1.0, sensitive=(0, 2, 5, 6), omega=2, reveal="pair")
    good = u.privatize(np.arange(900) % 9, rng=hush.seeded(4))
    u.validate(good)
    kinds = good["kind"]
    assert set(kinds.tolist()) == {0, 1, 2}
    for kind, field, value in ((0, "value", 1), (0, "kind", 3), (1, "value", 5), (2, "value", 9), (1, "kind", 0)):
        bad = good[kinds == kind][:1].copy()
        bad[field] = value
        with pytest.raises(ReportError):
            u.aggregate(bad)
        with pytest.raises(ReportError):
            u.log_prob(bad, 0)
    lone = good[kinds == 1][:1].copy()
    lone["base"]["subset"] = [0, 1]
    with pytest.raises(ReportError):
        u.validate(lone)
    unsorted = good[kinds == 0][:1].copy()
    unsorted["base"]["subset"] = [1, 0]
    with pytest.raises(ReportError):
        u.aggregate(unsorted)
    none = utility.uSS(k=9, epsilon=1.0, sensitive=(0, 2, 5, 6), omega=2, z="none")
    with pytest.raises(ReportError):
        none.validate(good[kinds == 2].astype(none.report_dtype))


TWO_OF_FIVE = hush.Domain(size=5, sensitive=[1, 2])


@pytest.mark.parametrize(
    ("act", "parameter"),
    [
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[]), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[5]), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[-1]), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[0.5]), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=["HIV"]), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive="01"), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=3), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[math.nan]), "sensitive"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[True]), "sensitive"),
        (lambda: utility.uSS(k=1, epsilon=1.0), "k"),
        (lambda: utility.uSS(k=5, epsilon=math.nan, sensitive=[1, 2]), "epsilon"),
        (lambda: utility.uSS(k=5, epsilon=0.0, sensitive=[1]), "epsilon"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], z="best"), "z"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], z=0.5), "z"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], z="balanced"), "z"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], reveal="both"), "reveal"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], theta=1.5), "theta"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], theta=math.nan), "theta"),
        (lambda: utility.uSS(k=5, epsilon=1.0, sensitive=[1, 2], omega=2), "omega"),
        (lambda: utility.uUE(k=5, epsilon=1.0, sensitive=[1, 2], p=1.0), "p"),
        (lambda: utility.uLH(k=5, epsilon=1.0, sensitive=[1, 2], g=1), "g"),
        (lambda: utility.uLH(k=5, epsilon=1.0, sensitive=[1, 2], g=3, z="balanced"), "g"),
        (lambda: utility.uLH(k=5, epsilon=1.0, sensitive=[1, 2], reveal="alone", hash="family"), "reveal"),
        (lambda: utility.uWheel(k=5, epsilon=1.0, sensitive=[1, 2], coverage=0.0), "coverage"),
        (lambda: utility.uHR(k=5, epsilon=1.0, sensitive=[1, 2], blocks=3), "blocks"),
        (lambda: utility.transform(hush.GRR(k=3, epsilon=1.0), TWO_OF_FIVE), "base"),
        (lambda: utility.transform(hush.GRR(k=3, epsilon=1.0), 5), "domain"),
        (lambda: utility.transform("GRR", TWO_OF_FIVE), "base"),
        (lambda: utility.transform(hush.LHO(k=2, g=2), TWO_OF_FIVE), "base"),
        (
            lambda: utility.transform(hush.GM(k=2, epsilon=0.9, delta=0.1), TWO_OF_FIVE),
            "base",
        ),
        (lambda: utility.transform(hush.GRR(k=2, epsilon=1.0), TWO_OF_FIVE, f="9"), "f"),
        (lambda: utility.transform(hush.HR(k=2, epsilon=1.0), TWO_OF_FIVE, f="pure"), "f"),
        (
            lambda: utility.transform(hush.GRR(k=2, epsilon=1.0), TWO_OF_FIVE, z="balanced"),
            "z",
        ),
        (lambda: utility.collaborate(utility.uSS, k=4, epsilon=1.0, sensitive=[1], values=[1]), "values"),
        (lambda: utility.collaborate(utility.uSS, k=4, epsilon=1.0, sensitive=[1]), "values"),
        (lambda: utility.collaborate(hush.GRR, k=4, epsilon=1.0, values=[1, 2]), "mechanism"),  # type: ignore[arg-type]
        (lambda: utility.collaborate(utility.uSS, k=4, epsilon=1.0, values=[1, 2], share=0.0), "share"),
        (lambda: utility.combined([]), "parts"),
    ],
)
def test_bad_input(act: object, parameter: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{parameter} must .*, got .*; "):
        act()  # type: ignore[operator]


def test_the_transformation_takes_any_mechanism_and_any_choice_of_f() -> None:
    domain = hush.Domain(size=7, sensitive=(0, 2, 3, 6))
    for name in BUILT_IN:
        base = example(name, 4, 1.0)
        for f in (None, "general") if name in {"GRR", "HR", "OUE"} else (None,):
            u = utility.transform(base, domain, f=f)
            assert u.f == pytest.approx(4 / (math.e + 3), rel=1e-9) or f is None
            reports = u.privatize(np.arange(70) % 7, rng=hush.seeded(5))
            assert reports.dtype.names == ("kind", "base", "value")
            assert u.estimate(u.aggregate(reports)).n == 70
            assert u.exact_epsilon() <= 1.0


def test_one_sensitive_value_is_the_same_for_all() -> None:
    for cls in NAMED:
        u = cls(k=4, epsilon=1.0, sensitive=[2])
        assert u.z_star == pytest.approx(1 - 1 / math.e)
        assert u.exact_epsilon() <= 1.0
        assert u.estimate(u.aggregate(u.privatize([2] * 50 + [0] * 50))).n == 100


def test_a_public_family_of_hash_functions() -> None:
    u = utility.uLH(k=30, epsilon=1.0, sensitive=range(12), hash="family")
    assert u.g == 4
    assert u.exact_epsilon() <= 1.0
    assert max(definition_3(u, public) for public in u.publics()) <= 1.0
    reports = u.privatize(np.arange(3000) % 30, rng=hush.seeded(6))
    whole = u.aggregate(reports)
    assert u.aggregate(iter(np.array_split(reports, 3))) == whole
    assert (whole.tally == u.tally(reports)).all()
    assert whole.n == 3000
    assert hush.from_dict(u.to_dict()) == u


@pytest.mark.parametrize(
    ("z", "g", "epsilon", "reveal"),
    [("exact", 4, 1.0, "pair"), ("exact", 2, 3.0, "pair"), ("constant", 4, 1.0, "pair"), ("constant", 4, 1.0, "alone")],
)
def test_over_a_public_family_the_estimate_has_no_bias(z: str, g: int, epsilon: float, reveal: str) -> None:
    """By enumeration of all 65,535 functions and their buckets; the ideal law of bucket sizes is off by 1 in 5,000."""
    u = utility.uLH(k=13, epsilon=epsilon, sensitive=range(10), g=g, hash="family", z=z, reveal=reveal)
    base, n = u.base, 10**14
    every = np.empty(65_535 * g, base.report_dtype)
    every["member"], every["bucket"] = np.divmod(np.arange(every.size), g)
    supports = base.support_matrix(every)
    low, high = (weight / (base.denominator * 65_535) for weight in base._weights)
    reveals = np.array([t / SCALE for t in u._revelation.thresholds(every).tolist()])
    mixed = np.where(supports, high, low).mean(axis=1) * u.f
    shown = float((mixed * reveals).sum())
    assert u.z_star == pytest.approx(1 - u.f + shown, rel=1e-12)
    for value in (0, 7, 10, 12):
        chance = np.where(supports[:, value], high, low) if value < 10 else mixed
        assert chance.sum() == pytest.approx(1.0 if value < 10 else u.f, rel=1e-12)
        counts = np.zeros(14)
        counts[:10] = supports.T @ (chance * (1 - reveals) if reveal == "alone" and value >= 10 else chance)
        if value >= 10:
            counts[value], counts[13] = 1 - u.f + shown, 1 - u.f + (shown if reveal == "alone" else 0.0)
        estimate = u.decode(np.rint(n * counts).astype(np.int64), n)
        assert np.abs(estimate - np.eye(13)[value]).max() < 1e-10


def test_bucket_sizes_from_the_table_are_those_that_are_counted() -> None:
    """A batch of at least as many people as there are functions makes the table; thresholds stay the same."""
    u, values = utility.uLH(k=30, epsilon=1.0, sensitive=range(12), hash="family"), np.arange(40_000) % 30
    base = u.base.privatize(values % 12, rng=hush.seeded(6))
    counted, reports = u._revelation.thresholds(base), u.privatize(values, rng=hush.seeded(7))
    u._revelation.expect(65_534)
    assert "sizes" not in vars(u.base._family)
    u._revelation.expect(65_535)
    assert "sizes" in vars(u.base._family)
    assert (u._revelation.thresholds(base) == counted).all()
    assert np.unique(counted).size > 3
    assert (u.privatize(values, rng=hush.seeded(7)) == reports).all()


TALLIED = [
    utility.uLH(k=30, epsilon=3.0, sensitive=range(12)),
    utility.uLH(k=30, epsilon=3.0, sensitive=range(12), hash="family"),
    utility.uWheel(k=30, epsilon=3.0, sensitive=range(12)),
    utility.uUE(k=30, epsilon=3.0, sensitive=range(12), reveal="alone"),
    utility.uSS(k=30, epsilon=3.0, sensitive=range(12)),
]


@pytest.mark.parametrize("u", TALLIED, ids=lambda u: f"{u.name()}-{u.base.report_dtype.itemsize}")
def test_a_tally_is_that_of_the_base_reports_however_records_lie_in_memory(u: NamedOracle) -> None:
    reports = u.privatize(np.arange(3000) % 30, rng=hush.seeded(8))
    kept = reports["kind"] != 1
    assert 0 < kept.sum() < reports.size
    counts = np.bincount(reports["value"][reports["kind"] != 0], minlength=30)[12:]
    due = np.concatenate([u.base.tally(reports["base"][kept]), counts, [(~kept).sum()]])
    spread = np.repeat(reports, 2)[::2]
    frozen = np.frombuffer(reports.tobytes(), u.report_dtype)
    for each in (reports, spread, frozen):
        assert (u.aggregate(each).tally == due).all()
    for part in (reports[kept], reports[~kept], reports[:0], reports[~kept][:1]):
        assert u.aggregate(part).tally[-1] == (part["kind"] == 1).sum()
    assert (sum(u.aggregate(part).tally for part in (reports[kept], reports[~kept])) == due).all()


def test_a_bucket_that_there_is_not_is_refused() -> None:
    u = utility.uLH(k=30, epsilon=1.0, sensitive=range(12), g=5)
    bad = u.privatize(np.zeros(3, np.int64), rng=hush.seeded(9))
    bad["base"]["bucket"][1] = 5
    for act in (u.aggregate, u.validate):
        with pytest.raises(ReportError, match="buckets below 5"):
            act(bad)


def test_importing_brings_no_heavy_package() -> None:
    import subprocess
    import sys

    code = "import sys, hush.utility; print([m for m in ('numba', 'scipy', 'pandas') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("epsilon", [12.0, 20.0])
def test_noise_is_rounded_safely_where_nearly_everything_is_revealed(epsilon: float) -> None:
    """By exact weights of reports that were made: no ratio of a sensitive value to another one exceeds e^epsilon."""
    u = utility.transform(hush.ServerTHE(k=3, epsilon=epsilon), hush.Domain(size=5, sensitive=range(3)))
    reports = u.privatize(np.tile([0, 1, 2], 100), rng=hush.seeded(7))
    bound = Fraction(exp_below(epsilon))
    for report in reports:
        weights = [u.weight(report, value) for value in range(5)]
        assert max(weights) <= bound * min(weights) * (1 + Fraction(1, 10**18))
