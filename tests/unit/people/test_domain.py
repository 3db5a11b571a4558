"""Labels go in and come back; unknown and missing values go to `other`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hush
from hush.errors import DomainError, ParameterError, SpecError

pytestmark = [pytest.mark.processor, pytest.mark.boundary]

ANIMALS = hush.Domain(labels=["cat", "dog", "axolotl"])


@given(st.lists(st.text(max_size=8), min_size=2, max_size=20, unique=True), st.data())
def test_encode_and_decode_are_inverse(labels: list[str], data: st.DataObject) -> None:
    domain = hush.Domain(labels=labels)
    column = data.draw(st.lists(st.sampled_from(labels), max_size=30))
    assert domain.decode(domain.encode(column)) == column
    assert hush.Domain.from_dict(json.loads(json.dumps(domain.to_dict()))) == domain


def test_columns_of_many_kinds() -> None:
    for column in (
        ["dog", "cat"],
        ("dog", "cat"),
        np.array(["dog", "cat"]),
        pd.Series(["dog", "cat"]),
        pd.Series(["dog", "cat"], dtype="category"),
        pd.Series(["dog", "cat"], dtype="string"),
    ):
        assert ANIMALS.encode(column).tolist() == [1, 0]
    assert ANIMALS.encode([]).tolist() == []


def test_other_absorbs_unknown_and_missing() -> None:
    domain = hush.Domain(labels=["cat", "dog"], other="other")
    column = pd.Series(["cat", None, "emu", np.nan, "dog", "other"])
    assert domain.encode(column).tolist() == [0, 2, 2, 2, 1, 2]
    assert domain.encode(pd.array(["cat", pd.NA], dtype="string")).tolist() == [0, 2]
    assert hush.Domain(labels=["cat", "other", "dog"], other="other").size == 3


@pytest.mark.parametrize("bad", ["emu", None, float("nan"), 3, ""])
def test_without_other_a_stranger_is_an_error_that_does_not_repeat_the_value(bad: object) -> None:
    with pytest.raises(DomainError, match=r"3 labels, got another one at position 1; add the label") as caught:
        ANIMALS.encode(["cat", bad])
    assert "emu" not in str(caught.value)


@pytest.mark.parametrize("huge", [10**400, -(10**400)], ids=["positive", "negative"])
def test_an_integer_beyond_floats_is_a_stranger(huge: int) -> None:
    assert hush.Domain(size=3).find(huge) is None
    with pytest.raises(DomainError):
        hush.Domain(size=3).encode([0, 1, huge])


def test_numbers_as_labels() -> None:
    domain = hush.Domain(labels=[10, 20, 30], values=[10, 20, 30])
    assert domain.encode(np.array([30, 10])).tolist() == [2, 0]
    assert domain.encode(np.array([30.0, 10.0])).tolist() == [2, 0]
    assert domain.values == (10.0, 20.0, 30.0)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: hush.Domain(), "size"),
        (lambda: hush.Domain(1), "size"),
        (lambda: hush.Domain(2.0), "size"),
        (lambda: hush.Domain(labels=["a"]), "size"),
        (lambda: hush.Domain(3, labels=["a", "b"]), "size"),
        (lambda: hush.Domain(labels=["a", "a"]), "labels"),
        (lambda: hush.Domain(labels=["a", None]), "labels"),
        (lambda: hush.Domain(labels=["a", float("nan")]), "labels"),
        (lambda: hush.Domain(labels=[2**60, 1]), "labels"),
        (lambda: hush.Domain(labels=["a", "\ud800"]), "labels"),
        (lambda: hush.Domain(labels=[True, False]), "labels"),
        (lambda: hush.Domain(2, values=["x", "y"]), "values"),
        (lambda: hush.Domain(3, other="x"), "other"),
        (lambda: hush.Domain(3, sensitive=[]), "sensitive"),
        (lambda: hush.Domain(3, sensitive=[3]), "sensitive"),
        (lambda: hush.Domain(3, sensitive=["a"]), "sensitive"),
        (lambda: hush.Domain(3, sensitive=1), "sensitive"),  # type: ignore[arg-type]
        (lambda: hush.Domain(3, sensitive=[True, False, False]), "sensitive"),
        (lambda: hush.Domain(labels=["a", "b"], sensitive=["c"]), "sensitive"),
        (lambda: hush.Domain(labels=[10, 11], sensitive=[0]), "sensitive"),
        (lambda: hush.Domain(3, values=[1, 2]), "values"),
        (lambda: hush.Domain(2, values=[1, float("inf")]), "values must be finite numbers, got inf at position"),
        (lambda: hush.Domain.from_dict({"size": 3, "colour": 1}), "domain"),
    ],
)
def test_bad_domains(make: object, parameter: str) -> None:
    with pytest.raises((ParameterError, DomainError), match=f"^{parameter} "):
        make()  # type: ignore[operator]


def test_labels_may_say_what_is_sensitive() -> None:
    assert hush.Domain(labels=["a", "b", "c"], sensitive=["c", "a"]).sensitive == (0, 2)
    assert hush.Domain(labels=["a", "b", "c"], sensitive=[1]).sensitive == (1,)
    numbered = hush.Domain(labels=[2, 1, 0], sensitive=[0])  # a label that is a number means itself
    assert numbered.sensitive == (2,)
    assert hush.Domain.from_dict(numbered.to_dict()) == numbered


def test_sensitive_values_are_sorted_and_travel() -> None:
    domain = hush.Domain(25, sensitive=range(9, -1, -1))
    assert domain.sensitive == tuple(range(10))
    assert hush.Domain.from_dict(domain.to_dict()) == domain


def test_spec_takes_labels_series_and_one_scalar() -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=20.0), ANIMALS)
    for column in (["dog", "cat"], pd.Series(["dog", "cat"])):
        assert spec.privatize(column, rng=hush.seeded(1)).tolist() == [1, 0]
    assert int(spec.privatize("axolotl", rng=hush.seeded(1))) == 2
    assert int(spec.mechanism.privatize(1, rng=hush.seeded(1))) == 1
    estimate = spec.estimate(spec.aggregate(spec.privatize(["dog"] * 50)))
    assert estimate.labels == ["cat", "dog", "axolotl"]
    assert estimate.rows()[1]["label"] == "dog"


def test_spec_hash_depends_on_everything_that_matters() -> None:
    base = hush.Spec(hush.OUE(k=3, epsilon=1.0), ANIMALS)
    others = [
        hush.Spec(hush.OUE(k=3, epsilon=1.0)),
        hush.Spec(hush.OUE(k=3, epsilon=1.0 + 1e-12), ANIMALS),
        hush.Spec(hush.SUE(k=3, epsilon=1.0), ANIMALS),
        hush.Spec(hush.OUE(k=3, epsilon=1.0), hush.Domain(labels=["dog", "cat", "axolotl"])),
        hush.Spec(hush.UE(k=3, epsilon=1.0, p=0.5), ANIMALS),
    ]
    assert len({base.hash, *(spec.hash for spec in others)}) == 6
    assert hush.Spec.from_json(base.to_json()).hash == base.hash
    assert hush.Spec.from_json(json.dumps(json.loads(base.to_json()), indent=4)).hash == base.hash


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "nonsense",
        '{"hush": 2, "mechanism": {}, "domain": {}}',
        '{"hush": 1, "mechanism": 3, "domain": {}}',
    ],
)
def test_bad_specs(text: str) -> None:
    with pytest.raises(SpecError):
        hush.Spec.from_json(text)


def test_a_spec_never_imports_code_and_never_changes_thresholds() -> None:
    plain = hush.GRR(k=3, epsilon=1.0).to_dict()
    with pytest.raises(SpecError, match="must be registered"):
        hush.from_dict({**plain, "mechanism": "os:system"})
    with pytest.raises(SpecError, match="thresholds must be"):
        hush.from_dict({**plain, "thresholds": {"keep": "12345"}})
    with pytest.raises(SpecError, match="must have the parameters"):
        hush.from_dict({**plain, "colour": 1})
    with pytest.raises(ParameterError):
        hush.from_dict({**plain, "epsilon": -1})


@pytest.mark.parametrize(
    "m",
    [
        hush.uSS(k=9, epsilon=1.0, sensitive=range(4), omega=np.int64(2)),
        hush.uUE(k=9, epsilon=1.0, sensitive=range(4), p=np.float32(0.5)),  # type: ignore[arg-type]
        hush.uLH(k=9, epsilon=1.0, sensitive=range(4), g=np.int64(4)),
        hush.uLH(k=9, epsilon=1.0, sensitive=range(4), g=np.int64(3), z="balanced"),
        hush.uWheel(k=9, epsilon=1.0, sensitive=range(4), coverage=np.float32(0.25)),  # type: ignore[arg-type]
        hush.uHR(k=9, epsilon=1.0, sensitive=range(4), blocks=np.int64(2)),
        hush.AUE(k=9, epsilon=1.0, w_asr=np.float32(0.5)),  # type: ignore[arg-type]
        hush.OLH(k=9, epsilon=1.0, g=np.int64(4)),
        hush.AGM(k=9, epsilon=1.0, delta=1e-5, scale=np.float32(9.0)),  # type: ignore[arg-type]
    ],
    ids=lambda m: m.name(),
)
def test_numbers_of_numpy_travel_as_plain_ones(m: hush.FrequencyOracle) -> None:
    spec = hush.Spec(m)
    assert hush.Spec.from_json(spec.to_json()) == spec


def test_a_domain_of_another_size_is_refused() -> None:
    with pytest.raises(SpecError, match="k=4"):
        hush.Spec(hush.GRR(k=4, epsilon=1.0), ANIMALS)


def test_register_refuses_what_is_no_mechanism() -> None:
    for bad in (int, "GRR", None):
        with pytest.raises(ParameterError, match="subclass of FrequencyOracle"):
            hush.register(bad)  # type: ignore[type-var]


def test_maximum_likelihood_of_a_spec_keeps_the_labels() -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=1.0), ANIMALS)
    aggregate = spec.simulate([50, 30, 20], rng=hush.seeded(1))
    assert spec.maximum_likelihood(aggregate).labels == ["cat", "dog", "axolotl"]
    with pytest.raises(SpecError):
        spec.maximum_likelihood(spec.mechanism.simulate([1, 1, 1]))


@pytest.mark.parametrize(
    "change",
    [
        {"domain": 3},
        {"domain": None},
        {"domain": {"labels": 3}},
        {"domain": {"size": 3, "sensitive": "a"}},
        {"mechanism": {"mechanism": ["GRR"]}},
        {"mechanism": {"mechanism": "GRR", "k": 3, "epsilon": 1.0, "thresholds": 5}},
    ],
)
def test_misshapen_specs_raise_nothing_but_our_errors(change: dict[str, object]) -> None:
    plain = hush.Spec(hush.GRR(k=3, epsilon=1.0)).to_dict()
    with pytest.raises(hush.HushError):
        hush.Spec.from_dict({**plain, **change})


@pytest.mark.parametrize("entries", [{"labels": {"cat", "dog"}}, {"size": 2, "values": {1.0, 2.0}}])
def test_what_has_no_order_is_refused(entries: dict[str, Any]) -> None:
    """A set comes in another order in another process, and a report would mean another label there."""
    with pytest.raises(ParameterError, match=r"must be a list of .*, in order, got <class 'set'>"):
        hush.Domain(**entries)


def test_numbers_that_are_none_are_not_repeated() -> None:
    for values in ([[0, 123457], [1, 0]], [0.0, float("inf")]):
        with pytest.raises(ParameterError, match=r"^values must be") as caught:
            hush.Domain(size=2, values=values)  # type: ignore[arg-type]
        assert "123457" not in str(caught.value)
