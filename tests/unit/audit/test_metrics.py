"""Claims that grow with a distance: exact losses for each unit against enumeration, and audits that hold them."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

import hush
from hush.audit import CallableTarget, Claim, NumberInputs, SequenceTarget, TupleInputs, run
from hush.audit.inputs import Values
from hush.audit.metrics import METRICS, metric_of
from hush.errors import HushError, ParameterError
from hush.exact.enumeration import enumerated
from hush.longitudinal import Repeated
from hush.multidim import RSFD, SPL

TABLE = np.abs(np.subtract.outer(np.arange(5) ** 2, np.arange(5) ** 2)).astype(float)


@pytest.mark.parametrize(
    ("name", "inputs", "pair", "expected"),
    [
        ("absolute", Values(9), (1, 8), 7.0),
        ("cyclic", Values(9), (1, 8), 2.0),
        ("hamming", Values(9), (1, 8), 1.0),
        ("absolute", TupleInputs((4, 6)), (0, 23), 8.0),
        ("euclidean", TupleInputs((4, 5)), (0, 19), 5.0),
        ("hamming", TupleInputs((4, 6)), (0, 5), 1.0),
        ("absolute", NumberInputs(0.0, 10.0), (0, 256), 10.0),
    ],
)
def test_distances(name: str, inputs: object, pair: tuple[int, int], expected: float) -> None:
    assert metric_of(name).between(inputs, *pair) == pytest.approx(expected)  # type: ignore[arg-type]


def test_a_function_or_a_table_is_a_metric() -> None:
    assert metric_of(lambda x, y: 3.0).between(Values(4), 0, 1) == 3.0
    assert metric_of(TABLE).between(Values(5), 1, 4) == 15.0


@pytest.mark.parametrize("bad", ["nonsense", 3.0, None, [[1.0, 2.0]], [["a", "b"], ["c", "d"]], math.nan])
def test_what_is_no_metric_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="metric"):
        metric_of(bad)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_distances_must_be_positive_and_finite(value: float) -> None:
    with pytest.raises(ParameterError, match="metric"):
        metric_of(lambda x, y: value).between(Values(3), 0, 1)


def test_distances_must_be_the_same_both_ways() -> None:
    with pytest.raises(ParameterError, match="both ways"):
        metric_of(lambda x, y: 1.0 + x).between(Values(3), 0, 1)


def test_a_ring_needs_values_and_a_table_all_of_them() -> None:
    with pytest.raises(ParameterError, match="metric"):
        metric_of("cyclic").between(NumberInputs(0.0, 1.0), 0, 1)
    with pytest.raises(ParameterError, match="metric"):
        metric_of(TABLE).between(Values(9), 0, 8)


@pytest.mark.parametrize("given", [{"delta": 0.1}, {"kind": "ULDP"}])
def test_a_metric_stands_beside_an_epsilon_alone(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="metric"):
        Claim(1.0, metric="absolute", **given)  # type: ignore[arg-type]


def brute(m: hush.GRR, metric: object) -> float:
    """Every pair and every output, by integers."""
    found = 0.0
    for listing in enumerated(m):
        for u, v in itertools.permutations(range(m.k), 2):
            most = max(row[u] / row[v] for row in listing.weights)
            found = max(found, math.log(most) / metric_of(metric).between(Values(m.k), u, v))
    return found


@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "HR"])
@pytest.mark.parametrize("metric", ["absolute", "cyclic", "hamming", TABLE], ids=["absolute", "cyclic", "hamming", "t"])
def test_the_exact_loss_for_each_unit_by_enumeration(name: str, metric: object) -> None:
    m = hush.registry()[name](k=5, epsilon=1.2)
    found = run(m, "exact", claim=Claim(1.0, metric=metric))
    assert found.epsilon_lower == pytest.approx(brute(m, metric), rel=1e-9)
    assert found.witness is not None
    apart = metric_of(metric).between(Values(5), found.witness.first, found.witness.second)
    assert found.witness.distance == apart
    assert found.verdict == ("violation" if found.epsilon_lower > 1 else "consistent")
    assert found.unit == "one report for each unit of distance"


@pytest.mark.parametrize("name", ["OUE", "OLH", "SUE"])
def test_the_closest_values_lose_most_where_outputs_cannot_be_listed(name: str) -> None:
    m = hush.registry()[name](k=60, epsilon=1.0)
    found = run(m, "exact", claim=Claim(1.0, metric=lambda x, y: 0.5 * abs(x - y)))
    assert found.epsilon_lower == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("cls", [hush.Duchi, hush.Piecewise])
def test_numbers_lose_what_their_law_changes(cls: type) -> None:
    """Against the largest log-ratio of near numbers, which comes close from below."""
    m = cls(low=0.0, high=4.0, epsilon=1.0, steps=16)
    found = run(m, "exact", claim=Claim(100.0, metric="absolute")).epsilon_lower
    at = np.linspace(0, 4, 16 * 64 + 1)
    law = m.forms.chances(at)
    near = float(np.abs(np.diff(np.log(law), axis=1)).max()) / (at[1] - at[0])
    assert 0.97 * found < near <= found * (1 + 1e-9)
    for x, y in ((0.0, 4.0), (0.3, 2.9), (1.0, 1.25)):
        ratio = np.abs(np.diff(np.log(m.forms.chances(np.array([x, y]))), axis=1)).max()
        assert ratio <= found * abs(x - y) * (1 + 1e-9)


def test_tuples_by_how_many_attributes_differ() -> None:
    split = run(SPL(sizes=(2, 3), epsilon=2.0), "exact", claim=Claim(1.0, metric="hamming"))
    assert split.epsilon_lower == pytest.approx(1.0, rel=1e-9)
    m = RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR")
    fakes = run(m, "exact", claim=Claim(1.0, metric="hamming"))
    assert fakes.epsilon_lower == pytest.approx(max(m.exact_epsilon(1), m.exact_epsilon(2) / 2), rel=1e-9)
    assert fakes.verdict == "violation"


def test_a_distance_of_one_is_plain_privacy() -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    terms = {"trials": 20_000, "pair": (0, 1), "rng": hush.seeded(7)}
    plain = run(m, claim=1.0, **terms)
    unit = run(m, claim=Claim(1.0, metric=lambda x, y: 1.0), **{**terms, "rng": hush.seeded(7)})
    assert unit.epsilon_lower == plain.epsilon_lower
    assert unit.verdict == plain.verdict


def rounded(epsilon: float, k: int = 9):
    """Report a value near one's own: twice epsilon for each unit at most, at the ends half of it."""

    def report(value: int) -> int:
        return random.choices(range(k), [math.exp(-epsilon * abs(value - y)) for y in range(k)])[0]

    return report


def test_foreign_code_that_keeps_its_claim() -> None:
    """Its loss for each unit is 0.5 to 1 by the normalization; an alpha of 10⁻⁹."""
    target = CallableTarget(rounded(0.5), k=9, claim=Claim(1.0, metric="absolute"))
    found = run(target, "classifier", trials=20_000, alpha=1e-9, rng=hush.seeded(7))
    assert not found.violated
    assert 0.4 < found.epsilon_lower < 1.0
    assert found.witness is not None
    assert found.witness.distance == abs(found.witness.first - found.witness.second)


def test_foreign_code_that_breaks_it() -> None:
    target = CallableTarget(rounded(0.5), k=9, claim=Claim(0.25, metric="absolute"))
    found = run(target, "classifier", trials=20_000, alpha=1e-6, rng=hush.seeded(7))
    assert found.verdict == "violation"
    told = found.to_dict()
    assert told["metric"] == "absolute"
    assert told["witness"]["distance"] > 0
    assert "apart" in str(found.witness)
    assert "for each unit of absolute distance" in found.statement


def test_the_pair_is_the_one_that_loses_most_for_its_distance() -> None:
    found = run(hush.OUE(k=6, epsilon=1.0), claim=Claim(1.0, metric="absolute"), trials=40_000, rng=hush.seeded(7))
    assert found.witness is not None
    assert found.witness.distance == 1.0
    assert found.verdict == "consistent"
    steep = hush.Piecewise(low=0.0, high=4.0, epsilon=1.0, steps=32)
    broken = run(steep, claim=Claim(1.0, metric="absolute"), trials=40_000, alpha=1e-6, rng=hush.seeded(7))
    assert broken.verdict == "violation"


def test_what_cannot_be_held_against_a_distance_is_refused() -> None:
    claim = Claim(1.0, metric="absolute")
    with pytest.raises(HushError, match="metric"):
        run(hush.GRR(k=4, epsilon=1.0), "pools", claim=claim, trials=1000)
    with pytest.raises(HushError, match="exact"):
        run(SequenceTarget(Repeated(hush.GRR(k=4, epsilon=1.0), 2)), "exact", claim=claim)
    with pytest.raises(HushError, match="exact"):
        run(hush.uRR(k=4, epsilon=1.0, sensitive=(0, 1)), "exact", claim=claim)
    with pytest.raises(HushError, match="exact"):
        run(hush.MSS(k=3000, epsilon=1.0), "exact", claim=claim)


def test_every_name_has_a_distance() -> None:
    assert set(METRICS) == {"absolute", "cyclic", "euclidean", "hamming"}


@pytest.mark.parametrize(
    ("name", "distance"), [("hamming", 3.0), ("absolute", 6.0), ("euclidean", math.sqrt(12)), ("cyclic", 6.0)]
)
def test_values_in_several_rounds_are_as_far_apart_as_histories(name: str, distance: float) -> None:
    rounds = SequenceTarget(Repeated(hush.GRR(k=5, epsilon=1.0), 3))
    assert Claim(1.0, metric=name).between(rounds.inputs, 1, 3) == pytest.approx(distance)
    if name != "cyclic":
        two = SequenceTarget(Repeated(hush.GRR(k=5, epsilon=1.0), 3), histories=((1, 1, 1), (3, 3, 3)))
        assert Claim(1.0, metric=name).between(two.inputs, 0, 1) == pytest.approx(distance)


def test_fresh_reports_keep_their_loss_for_each_round_that_differs() -> None:
    """False alarm 0.01: three reports lose three, and values that do not change differ in three rounds."""
    rounds = SequenceTarget(Repeated(hush.OUE(k=5, epsilon=1.0), 3))
    found = run(rounds, claim=Claim(1.0, metric="hamming"), trials=5000, rng=hush.seeded(7))
    assert not found.violated
    assert found.witness is not None
    assert found.witness.distance == 3
    assert run(rounds, claim=Claim(0.5, metric="hamming"), trials=5000, rng=hush.seeded(7)).violated


def test_a_table_is_looked_up_by_value_in_any_number_of_rounds() -> None:
    rounds = SequenceTarget(Repeated(hush.GRR(k=2, epsilon=1.0), 3))
    assert Claim(1.0, metric=[[0, 7], [7, 0]]).between(rounds.inputs, 0, 1) == 7
