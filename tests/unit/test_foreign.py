"""Input that used to raise what is no HushError: each has a message with its rule and its remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hush
from hush import errors, longitudinal, multidim
from hush.errors import HushError, ParameterError, SpecError

pytestmark = pytest.mark.boundary

DEEP = "[" * 100_000 + "]" * 100_000
HUGE = 10**400
M = hush.OUE(k=4, epsilon=1.0)
LABELLED = hush.Spec(M, hush.Domain(labels=list("abcd")))
RAGGED: Any = [[1], [2, 3]]
PROTOCOL = longitudinal.LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)


def test_deeply_nested_json() -> None:
    with pytest.raises(SpecError, match=r"^spec must be JSON, got .*; it is nested too deeply$"):
        hush.Spec.from_json(DEEP)
    with pytest.raises(SpecError, match=r"^spec must be JSON, got something else; it is no text, but NoneType$"):
        hush.Spec.from_json(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: hush.OUE(k=4, epsilon=HUGE), "epsilon must be a number from 1e-06 to 40, got 1000"),
        (lambda: hush.OUE(k=4, epsilon=Fraction(HUGE)), "epsilon must be a number from"),
        (lambda: hush.OUE(k=10**5000, epsilon=1.0), "k must be an integer in .*, got an integer of 16610 bits; count"),
        (lambda: hush.UE(k=4, epsilon=1.0, p=HUGE), "p must be a number above 0 and below 1"),
        (lambda: hush.AGRR(k=4, epsilon=1.0, delta=HUGE), "delta must be a number"),
        (lambda: M.variance(HUGE), "n must be above 0"),
        (lambda: hush.Domain(labels=[1, HUGE]), "labels must be strings, finite numbers or integers up to"),
        (lambda: hush.Domain(labels=["a"], other=HUGE), "other must be a label: text or a number"),
        (lambda: hush.Domain(size=2, values=[1, HUGE]), "values must be numbers"),
        (lambda: hush.Duchi(low=0.0, high=HUGE, epsilon=1.0), "high must be a number"),
        (lambda: hush.Duchi(low=0.0, high=1.0, epsilon=1.0).privatize([HUGE]), "values must be numbers"),
        (lambda: M.privatize([HUGE]), "values must be integers"),
        (lambda: M.asr([HUGE, 1, 1, 1]), "prior must be 4 non-negative numbers"),
        (lambda: M.simulate([HUGE, 1, 1, 1]), "counts must be 4 non-negative integers"),
        (lambda: hush.analysis.shuffle.checked_delta(HUGE), "delta must be a number from 0 to 1"),
    ],
)
def test_numbers_beyond_doubles(make: Callable[[], object], said: str) -> None:
    with pytest.raises(HushError, match=f"^{said}"):
        make()


def test_numbers_of_any_kind_are_wishes() -> None:
    wished = hush.plan(k=np.int64(4), n=1000, error=Fraction(1, 8), max_asr=Fraction(9, 10), fakes=Fraction(1, 20))
    assert wished.to_dict() == hush.plan(k=4, n=1000, error=0.125, max_asr=0.9, fakes=0.05).to_dict()
    for name in ("error", "max_asr", "max_epsilon", "delta", "metric", "matters", "n", "targets", "fakes"):
        with pytest.raises(ParameterError, match=f"^{name} must be"):
            hush.plan(**{"k": 4, "n": 1000, name: np.array([0.1, 0.2])})


@pytest.mark.parametrize("q", [np.array([3, 4]), np.array(["closest"] * 2), np.array(3), [3], 3.0])
def test_an_order_is_an_integer(q: Any) -> None:
    with pytest.raises(ParameterError, match=r"^q must be an integer"):
        hush.PGR(k=10, epsilon=1.0, q=q)


@pytest.mark.parametrize(("given", "said"), [(None, "a NoneType"), (5, "a int"), ("x", "a str"), (b"x", "others")])
def test_an_aggregate_is_bytes(given: Any, said: str) -> None:
    with pytest.raises(SpecError, match=f"^aggregate must be bytes written by to_bytes, got {said}; check the file$"):
        hush.Aggregate.from_bytes(given)


@pytest.mark.parametrize("plain", ["ab", ["size"], 5, None, [("size", 3)], b"ab"])
def test_a_domain_is_read_from_a_mapping(plain: Any) -> None:
    with pytest.raises(ParameterError, match=r"^domain must be a mapping, got .*; pass what to_dict gave$"):
        hush.Domain.from_dict(plain)


@pytest.mark.parametrize("labels", [5, 0.5, object(), b"ab", "ab", np.array(7), len])
def test_labels_are_a_list(labels: Any) -> None:
    with pytest.raises(ParameterError, match=r"^labels must be a list of labels, in order, got "):
        hush.Domain(labels=labels)
    with pytest.raises(ParameterError, match=r"^sensitive must be a list, got "):
        hush.Domain(labels=["a", "b"], sensitive=labels)


@pytest.mark.parametrize("odd", [[], {}, np.array([1, 2]), object(), [1, 2], np.zeros(0), ["a"]])
def test_what_is_no_label(odd: Any) -> None:
    with pytest.raises(ParameterError, match=r"^other must be a label"):
        hush.Domain(labels=["a", "b"], other=odd)
    with pytest.raises(ParameterError, match=r"^labels must be strings"):
        hush.Domain(labels=["a", odd], other="b")
    with pytest.raises(ParameterError, match=r"^sensitive must be among"):
        hush.Domain(labels=["a", 1], sensitive=[odd])
    with pytest.raises(ParameterError, match=r"^size must"):
        hush.Domain(labels=["a", "b"], size=odd)


@pytest.mark.parametrize("moduli", [np.array(7), np.array([[7, 11]]), RAGGED, np.array([7.0, 11.0]), 7, "7", {7: 11}])
def test_moduli_are_a_list_of_integers(moduli: Any) -> None:
    with pytest.raises(ParameterError, match="must be a"):
        hush.MSS(k=7, epsilon=1.0, moduli=moduli)
    assert hush.MSS(k=17, epsilon=1.0, moduli=np.array([7, 11], np.uint8)).moduli == (7, 11)  # type: ignore[arg-type]


@pytest.mark.parametrize("sensitive", [[0], [0, 1, 2]])
def test_parameters_become_plain_numbers_however_many_values_are_sensitive(sensitive: list[int]) -> None:
    made: list[hush.FrequencyOracle] = [
        hush.utility.uUE(k=7, epsilon=1.0, p=Fraction(1, 2), sensitive=sensitive),  # type: ignore[arg-type]
        hush.utility.uLH(k=7, epsilon=1.0, g=np.int64(3), sensitive=sensitive),  # type: ignore[arg-type]
        hush.utility.uSS(k=7, epsilon=1.0, omega=np.uint8(1), sensitive=sensitive),  # type: ignore[arg-type]
        hush.utility.uHR(k=7, epsilon=1.0, blocks=np.int32(2), sensitive=sensitive),  # type: ignore[arg-type]
        hush.utility.uWheel(k=7, epsilon=1.0, coverage=np.float32(0.25), sensitive=sensitive),  # type: ignore[arg-type]
    ]
    for m in made:
        assert m.estimate(m.aggregate(m.privatize(np.arange(70) % 7))).n == 70
        assert hush.from_dict(json.loads(json.dumps(m.to_dict()))) == m


@pytest.mark.parametrize("given", [{"p": 1.5}, {"p": "x"}, {"p": np.array([0.5])}])
def test_a_parameter_that_one_sensitive_value_needs_not_is_checked_all_the_same(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="p must be a number above 0 and below 1"):
        hush.utility.uUE(k=7, epsilon=1.0, sensitive=[3], **given)
    with pytest.raises(ParameterError, match="hash must be one of affine, family"):
        hush.utility.uLH(k=7, epsilon=1.0, sensitive=[3], hash="sha256")
    assert hush.utility.uLH(k=7, epsilon=1.0, sensitive=[3]).g is None


@pytest.mark.parametrize(
    "act",
    [
        lambda: M.privatize(RAGGED),
        lambda: hush.Spec(M).privatize(RAGGED),
        lambda: LABELLED.privatize([["a"], ["b", "c"]]),
        lambda: M.simulate(RAGGED),
        lambda: M.log_prob(M.privatize([0, 1]), RAGGED),
        lambda: M.log_prob(RAGGED, 0),
        lambda: M.aggregate([RAGGED]),
        lambda: M.attack(M.privatize([0, 1]), RAGGED),
        lambda: hush.utility.uRR(k=4, epsilon=1.0, sensitive=[0, 1]).privatize(RAGGED),
        lambda: hush.Duchi(low=0.0, high=1.0, epsilon=1.0).privatize(RAGGED),
        lambda: hush.Duchi(low=0.0, high=1.0, epsilon=1.0).variance(1, [0.5], RAGGED),
        lambda: PROTOCOL.collect(RAGGED),
        lambda: PROTOCOL.aggregate(RAGGED),
        lambda: PROTOCOL.sequence_log_prob(PROTOCOL.collect([[0, 1]]), RAGGED),
        lambda: PROTOCOL.history_epsilon(RAGGED, [0, 1]),
        lambda: PROTOCOL.client().report(RAGGED),
        lambda: longitudinal.Repeated(M, 2).collect(RAGGED),
        lambda: multidim.SPL(sizes=(2, 2), epsilon=1.0).privatize(RAGGED),
        lambda: multidim.SPL(sizes=(2, 2), epsilon=1.0).log_prob(RAGGED, [0, 0]),
    ],
)
def test_rows_of_different_lengths(act: Callable[[], object]) -> None:
    with pytest.raises(HushError, match=r"must .*, got .*; "):
        act()


@pytest.mark.parametrize("value", [[1, 2], [0] * 4, [], [[0, 1, 2]], np.zeros((3, 1), int)])
def test_values_beside_reports_are_as_many(value: Any) -> None:
    reports = M.privatize([0, 1, 2])
    with pytest.raises(ParameterError, match="must be one"):
        M.log_prob(reports, value)
    assert (
        M.log_prob(reports, [1]).shape == M.log_prob(reports, 1).shape == M.log_prob(reports, [0, 1, 2]).shape == (3,)
    )


@pytest.mark.parametrize("odd", [np.array([1, 2]), np.zeros(0), [], {}, None, 5, np.zeros(2, [("a", "u1")])])
def test_names_are_names(odd: Any) -> None:
    makers: list[Callable[[], object]] = [
        lambda: hush.LH(k=4, epsilon=1.0, g=2, hash=odd),
        lambda: hush.SS(k=4, epsilon=1.0, code=odd),
        lambda: hush.AUE(k=4, epsilon=1.0, strategy=odd),
        lambda: hush.AUE(k=4, epsilon=1.0, search=odd),
        lambda: hush.utility.uRR(k=4, epsilon=1.0, sensitive=[0, 1], z=odd),
        lambda: hush.ASS(k=4, epsilon=1.0, design=odd),
        lambda: hush.utility.uLH(k=4, epsilon=1.0, sensitive=[0, 1], hash=odd),
        lambda: M.estimate(M.simulate([5] * 4)).project(odd),
    ]
    if odd is not None:  # which chooses what is revealed
        makers.append(lambda: hush.utility.uRR(k=4, epsilon=1.0, sensitive=[0, 1], reveal=odd))
    for make in makers:
        with pytest.raises(ParameterError, match=r"must be .*, got .*; "):
            make()


def changed(plain: dict[str, Any], entry: str) -> dict[str, Any]:
    """A spec without its thresholds, and with a larger budget."""
    return {name: 3.0 if name == entry else x for name, x in plain.items() if name != "thresholds"}


def test_thresholds_are_required() -> None:
    """Without them, a changed budget would go unnoticed."""
    said = r"^thresholds must be written out in a spec of \w+, got nothing; take the original, or write a new one$"
    with pytest.raises(SpecError, match=said):
        hush.from_dict(changed(M.to_dict(), "epsilon"))
    with pytest.raises(SpecError, match=said):
        hush.Spec.from_dict({**hush.Spec(M).to_dict(), "mechanism": changed(M.to_dict(), "epsilon")})
    with pytest.raises(SpecError, match=said):
        hush.from_dict({**M.to_dict(), "thresholds": None})
    with pytest.raises(SpecError, match=said):
        hush.from_dict(changed(hush.Duchi(low=0.0, high=1.0, epsilon=1.0).to_dict(), "epsilon"))
    with pytest.raises(SpecError, match=said):
        hush.from_dict(changed(PROTOCOL.to_dict(), "eps_perm"))
    with pytest.raises(SpecError, match=said):
        hush.from_dict(changed(multidim.SPL(sizes=(2, 2), epsilon=1.0).to_dict(), "epsilon"))


def test_messages_show_any_value() -> None:
    for value in (10**5000, [10**5000], {"a": 10**5000}, Fraction(1, 10**5000), np.array(7), np.ma.masked, DEEP):
        assert errors.message("k", "must be small", value, "use less").startswith("k must be small, got ")


def test_a_name_that_stands_twice_is_refused() -> None:
    """Readers differ in which of the two they take: the one that people see, or the one that is used."""
    text = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(size=3)).to_json()
    with pytest.raises(SpecError, match="a name stands twice"):
        hush.Spec.from_json(text.replace('"epsilon":1', '"epsilon":2,"epsilon":1'))


@pytest.mark.parametrize("claim", [701.0, 1e308, 10**400, float("inf"), float("nan"), -1.0])
def test_claims_beyond_doubles_are_refused(claim: float) -> None:
    with pytest.raises(ParameterError, match="claim must be a number from 0 to 700"):
        hush.audit.run(hush.GRR(k=3, epsilon=1.0), "exact", claim=claim)
    assert hush.audit.run(hush.GRR(k=3, epsilon=1.0), "exact", claim=700.0).verdict == "consistent"
