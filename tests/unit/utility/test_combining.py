"""Reports of several specs together: a collaboration step by step, and classes that find different values sensitive."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import hush
from hush import utility
from hush.errors import HushError
from hush.guarantee import ULDP
from hush.statistics import sigmas

PLACES = hush.Domain(labels=["park", "museum", "clinic", "casino"], sensitive=["clinic", "casino"])
BOTH = utility.classes(hush.uRR, hush.Domain(size=4), 0.8, {"A": (0, 1, 3), "B": (1,)})
SOME = utility.classes(hush.uRR, hush.Domain(size=4), 0.8, {"shy": (0, 1), "rare": (1,), "open": ()})


def law_of(m: hush.FrequencyOracle) -> tuple[np.ndarray, np.ndarray]:
    """What one report of each value adds to each estimate: its mean, and its mean square."""
    mean, square = np.zeros((m.k, m.k)), np.zeros((m.k, m.k))
    for y in m.outputs():
        told = m.decode(m.tally(np.asarray(y)[None]), 1)
        for x in range(m.k):
            chance = float(Fraction(m.copies(y) * m.weight(y, x), m.denominator))
            mean[x] += chance * told
            square[x] += chance * told**2
    return mean, square


def test_classes_are_unbiased_with_the_variance_of_their_laws() -> None:
    """By enumeration: the exact mean and variance of the whole estimate, of people who are not alike."""
    people = {"A": np.array([5, 0, 2, 3]), "B": np.array([1, 4, 0, 9])}
    n = sum(int(held.sum()) for held in people.values())
    mean, variance = np.zeros(4), np.zeros(4)
    for name, held in people.items():
        spec = BOTH.specs[name]
        assert spec is not None
        means, squares = law_of(spec.mechanism)
        mean += held @ means / n
        variance += held @ (squares - means**2) / n**2
        stated = spec.mechanism.variances(held / held.sum(), int(held.sum())) * (held.sum() / n) ** 2
        variance -= stated
    assert mean == pytest.approx(sum(people.values()) / n, abs=1e-12)
    assert variance == pytest.approx(np.zeros(4), abs=1e-12)


def test_classes_estimate_what_all_people_hold() -> None:
    counts = {"A": [4000, 1000, 3000, 2000], "B": [500, 8000, 100, 1400]}
    seen = BOTH.simulate(counts, rng=hush.seeded(11))
    found, truth = BOTH.estimate(seen), np.sum(list(counts.values()), axis=0) / 20_000
    assert found.n == 20_000
    assert (np.abs(found.frequencies - truth) < sigmas(4) * found.stderr).all()
    lower, upper = found.interval(1 - 1e-9)
    assert (lower <= truth).all()
    assert (truth <= upper).all()


def test_every_class_has_its_own_guarantee_and_loss() -> None:
    assert BOTH.guarantees == {"A": ULDP(0.8, (0, 1, 3)), "B": ULDP(0.8, (1,))}
    assert all(loss == pytest.approx(0.8, abs=1e-9) and loss <= 0.8 for loss in BOTH.exact_epsilons().values())
    assert BOTH.asr()["B"] > BOTH.asr()["A"]


def test_a_class_without_sensitive_values_tells_them() -> None:
    some = utility.classes(hush.uSS, PLACES, 1.0, {"shy": ["clinic", "casino", "park"], "open": []})
    held, who = ["park", "clinic", "casino", "museum"] * 50, ["shy", "open"] * 100
    reports = some.privatize(held, who, rng=hush.seeded(3))
    told = some.aggregate(reports)
    assert told["open"].tolist() == [0, 50, 50, 0]  # type: ignore[union-attr]
    assert (some.guarantees["open"], some.exact_epsilons()["open"], some.asr()["open"]) == (None, float("inf"), 1.0)
    assert some.attack(reports)["open"].tolist() == reports["open"].tolist()
    found = some.estimate(told)
    assert (found.n, list(found.labels)) == (200, ["park", "museum", "clinic", "casino"])
    alone = some.estimate({"shy": told["shy"]})
    mixed = (alone.frequencies * 100 + told["open"]) / 200
    assert found.frequencies == pytest.approx(mixed)
    assert found.stderr == pytest.approx(alone.stderr / 2)
    lower, upper = found.interval(0.95)
    assert (lower <= upper).all()


def test_a_class_of_which_nobody_came_counts_for_nothing() -> None:
    reports = SOME.privatize([0, 1, 2, 3], ["shy", "shy", "open", "shy"], rng=hush.seeded(3))
    found = SOME.estimate(SOME.aggregate(reports))
    assert found.n == 4
    assert (
        found.frequencies.tolist()
        == SOME.estimate(SOME.aggregate({n: reports[n] for n in ("shy", "open")})).frequencies.tolist()
    )


def test_a_collaboration_step_by_step_is_that_of_one_call() -> None:
    values = ["park"] * 6000 + ["museum"] * 2000 + ["clinic"] * 2000
    one = utility.collaborate(hush.uUE, epsilon=1.0, domain=PLACES, values=values, rng=hush.seeded(5))
    assert list(one.estimate.labels) == ["park", "museum", "clinic", "casino"]
    assert one.estimate.n == 10_000
    by_number = utility.collaborate(
        hush.uUE, k=4, epsilon=1.0, sensitive=(2, 3), values=PLACES.encode(values), rng=hush.seeded(5)
    )
    assert by_number.estimate.frequencies.tolist() == one.estimate.frequencies.tolist()
    first = hush.Spec(hush.uUE(k=4, epsilon=1.0, sensitive=(2, 3), theta=0.0, reveal="alone"), PLACES)
    early = first.simulate([300, 100, 100, 0], rng=hush.seeded(6))
    theta, second = utility.followed(first, early)
    assert theta == pytest.approx(first.estimate(early).frequencies[:2].sum())
    made = second.mechanism
    assert (made.theta, made.reveal, second.domain) == (theta, "alone", PLACES)  # type: ignore[attr-defined]
    assert made.p == hush.uUE(k=4, epsilon=1.0, sensitive=(2, 3), theta=theta, reveal="alone").p  # type: ignore[attr-defined]
    hashed = hush.Spec(hush.uLH(k=4, epsilon=1.0, sensitive=(2, 3), hash="family"), PLACES)
    assert utility.followed(hashed, hashed.simulate([9] * 4, rng=hush.seeded(6)))[1].mechanism.hash == "family"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: utility.combined([]), "parts must be mechanisms or specs"),
        (lambda: utility.combined([(3, 4)]), "parts must be mechanisms or specs"),  # type: ignore[list-item]
        (
            lambda: utility.combined(
                [(u, u.simulate([1] * u.k)) for u in (hush.GRR(k=k, epsilon=1.0) for k in (2, 3))]
            ),
            "parts must be over the same values",
        ),
        (lambda: utility.combined([(hush.GRR(k=2, epsilon=1.0), BOTH.simulate({"B": [1] * 4})["B"])]), "spec"),  # type: ignore[list-item]
        (lambda: utility.followed(hush.Spec(hush.GRR(k=2, epsilon=1.0)), None), "spec must be of uSS"),  # type: ignore[arg-type]
        (lambda: utility.Classes({}), "specs must be a spec for each class"),
        (lambda: utility.Classes({"a": 3}), "specs must be a spec for each class"),  # type: ignore[dict-item]
        (lambda: utility.classes(hush.GRR, PLACES, 1.0, {"a": [0]}), "mechanism must be uSS"),  # type: ignore[arg-type]
        (lambda: utility.classes(hush.uSS, 4, 1.0, {"a": [0]}), "domain must be a Domain"),  # type: ignore[arg-type]
        (lambda: utility.classes(hush.uSS, PLACES, 1.0, {"a": ["zoo"]}), "sensitive"),
        (lambda: utility.classes(hush.uSS, PLACES, -1.0, {"a": ["park"]}), "epsilon must"),
        (lambda: BOTH.privatize([0, 1], ["A"]), "classes must name the class of each of 2 people"),
        (lambda: BOTH.privatize([0], ["Z"]), "classes must be among A, B"),
        (lambda: BOTH.simulate({"Z": [1] * 4}), "class must be one of A, B"),
        (lambda: utility.classes(hush.uSS, PLACES, 1.0, [0]), "sensitive must be given for each class"),  # type: ignore[arg-type]
        (lambda: utility.classes(hush.uSS, PLACES, 1.0, {"a": "park"}), "sensitive must be several values for class a"),
        (lambda: utility.classes(hush.uSS, PLACES, 1.0, {"a": None}), "sensitive must be several values for class a"),  # type: ignore[dict-item]
        (lambda: utility.classes(hush.uSS, PLACES, 1.0, {1: [0]}), "specs must be named by strings"),  # type: ignore[dict-item]
        (lambda: SOME.privatize([0, 9], ["shy", "open"]), "values must lie in 0..3, got another one at position 1"),
        (lambda: SOME.aggregate({"open": [9]}), "values must lie in 0..3"),
        (lambda: SOME.aggregate({"open": [-1]}), "values must lie in 0..3"),
        (lambda: SOME.aggregate([1]), "reports must be given for each class"),  # type: ignore[arg-type]
        (lambda: SOME.simulate({"open": [1, 2]}), "counts must be 4 non-negative integers"),
        (lambda: SOME.simulate({"open": [1.5] * 4}), "counts must be 4 non-negative integers"),
        (lambda: SOME.estimate({"shy": [1] * 4}), "aggregates must be the aggregate of the reports of class shy"),
        (lambda: SOME.estimate({"open": [1] * 4}), "aggregates must have reports of a class"),
        (lambda: SOME.estimate(None), "aggregates must be given for each class"),  # type: ignore[arg-type]
        (lambda: utility.combined([3]), "parts must be pairs"),  # type: ignore[list-item]
        (lambda: utility.combined(None), "parts must be pairs"),  # type: ignore[arg-type]
        (lambda: utility.combined([(hush.GRR(k=2, epsilon=1.0), None)]), "parts must have an aggregate"),  # type: ignore[list-item]
        (lambda: utility.followed(hush.uSS(k=4, epsilon=1.0, sensitive=[0]), None), "spec must be that of the first"),  # type: ignore[arg-type]
        (lambda: utility.followed(hush.Spec(hush.uSS(k=4, epsilon=1.0, sensitive=[0])), None), "aggregate must have"),  # type: ignore[arg-type]
        (lambda: utility.collaborate(hush.uSS, epsilon=1.0, values=[0, 1]), "k must be given"),
        (lambda: utility.collaborate(hush.uSS, k=4, domain=PLACES, epsilon=1.0, values=["park"]), "k must be given"),
    ],
)
def test_bad_input(act: object, words: str) -> None:
    with pytest.raises(HushError, match=words):
        act()  # type: ignore[operator]


def test_parts_of_any_frequency_mechanism() -> None:
    """Plain ones too, at another epsilon: each by its own law."""
    parts = [
        (m, m.simulate([50, 30, 20], rng=hush.seeded(2)))
        for m in (hush.GRR(k=3, epsilon=2.0), hush.OUE(k=3, epsilon=1.0))
    ]
    found = utility.combined(parts)
    each = [m.estimate(a) for m, a in parts]
    assert found.frequencies == pytest.approx((each[0].frequencies + each[1].frequencies) / 2)
    assert found.stderr == pytest.approx(np.hypot(each[0].stderr, each[1].stderr) / 2)
    for one, two in itertools.permutations(parts):
        assert utility.combined([one, two]).frequencies == pytest.approx(found.frequencies)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (hush.Domain(labels=["park", "zoo"]), "those of spec 2, 1 fewer than those of spec 1"),
        (hush.Domain(labels=["zoo", "park", "inn"]), "those of spec 2, in another order than"),
        (hush.Domain(labels=["park", "zoo", "bar"]), "those of spec 2, called otherwise than"),
        (hush.Domain(labels=["park", "zoo", "inn"], values=[1, 2, 3]), "which amount to other numbers than"),
    ],
)
def test_what_differs_between_domains_is_told(other: hush.Domain, said: str) -> None:
    domains = (hush.Domain(labels=["park", "zoo", "inn"]), other)
    specs = [hush.Spec(hush.GRR(k=each.size, epsilon=1.0), each) for each in domains]
    with pytest.raises(HushError, match=said):
        utility.combined([(spec, spec.simulate([1] * spec.mechanism.k)) for spec in specs])
