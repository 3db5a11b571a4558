"""One spec for mechanisms of every kind: labels go in and come out, and what was written is read."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import hush
from hush import longitudinal, multidim
from hush.errors import DomainError, ParameterError, SpecError

SEXES = hush.Domain(labels=["f", "m"])
AGES = hush.Domain(labels=["young", "old", "other"], other="other")
BOTH = multidim.SPL(sizes=(2, 3), epsilon=4.0)
KEPT = longitudinal.LGRR(k=3, epsilon_permanent=3.0, epsilon_report=2.0)
MEAN = hush.Duchi(low=0.0, high=10.0, epsilon=2.0, steps=10)
NAMED = hush.Spec(BOTH, {"sex": SEXES, "age": AGES})
LISTED = hush.Spec(BOTH, [SEXES, AGES])
OVER_TIME = hush.Spec(KEPT, AGES)
SPECS = [hush.Spec(hush.OUE(k=3, epsilon=1.0), AGES), hush.Spec(MEAN), hush.Spec(BOTH), NAMED, LISTED, hush.Spec(KEPT)]
SPECS.append(OVER_TIME)


@pytest.mark.parametrize("spec", SPECS, ids=range(len(SPECS)))
def test_every_kind_travels(spec: hush.Spec) -> None:
    text = spec.to_json()
    assert hush.Spec.from_json(text) == spec == pickle.loads(pickle.dumps(spec))
    assert hush.Spec.from_json(text).to_json() == text
    assert hush.from_dict(json.loads(json.dumps(spec.mechanism.to_dict()))) == spec.mechanism


def test_labels_are_part_of_the_hash() -> None:
    assert len({spec.hash for spec in SPECS}) == len(SPECS)
    assert hush.Spec(KEPT).hash == KEPT.spec_hash
    assert hush.Spec(BOTH).hash == hush.Spec(BOTH, [hush.Domain(size=2), hush.Domain(size=3)]).hash == BOTH.spec_hash
    assert hush.Spec(MEAN).hash == MEAN.spec_hash
    assert {json.loads(spec.to_json()).get("hush") for spec in (NAMED, LISTED, OVER_TIME)} == {2}


def test_order_of_attributes_survives_canonical_json() -> None:
    swapped = hush.Spec(multidim.SPL(sizes=(3, 2), epsilon=4.0), {"b": AGES, "a": SEXES})
    assert hush.Spec.from_json(swapped.to_json()).domain.names == ("b", "a")


@pytest.mark.parametrize(
    "change",
    [
        {"hush": 3},
        {"hush": None},
        {"hush": 1},  # of tuples with labels, which version 1 has not
        {"more": 1},
        {"attributes": []},
        {"attributes": None},
        {"attributes": [{"domain": {"size": 2}}, {"domain": {"size": 3}}]},  # which is written in version 1
        {"attributes": [{"domain": {"size": 2}, "name": "a"}, {"domain": {"size": 3}}]},
        {"attributes": [{"domain": {"size": 2}, "name": "a"}, {"domain": {"size": 3}, "name": "a"}]},
        {"attributes": [{"domain": {"size": 2}, "name": "a"}, {"domain": {"size": 3}, "name": 4}]},
        {"attributes": [{"domain": {"size": 3}, "name": "a"}, {"domain": {"size": 2}, "name": "b"}]},
        {"mechanism": KEPT.to_dict()},
        {"mechanism": MEAN.to_dict()},
    ],
)
def test_what_no_spec_was_written_as_is_refused(change: dict[str, Any]) -> None:
    plain = {**NAMED.to_dict(), **change}
    with pytest.raises(SpecError):
        hush.Spec.from_dict(plain)


def test_a_mechanism_alone_is_a_spec_only_where_it_was_written_so() -> None:
    for m in (hush.OUE(k=3, epsilon=1.0), BOTH):
        with pytest.raises(SpecError, match="another shape than that of"):
            hush.Spec.from_dict(m.to_dict())
    plain = hush.Spec(KEPT).to_dict()
    with pytest.raises(SpecError, match="another shape"):
        hush.Spec.from_dict({"hush": 2, "mechanism": plain, "domain": {"size": 3}})  # no labels: written alone


# Means.


def test_a_spec_of_means() -> None:
    spec = hush.Spec(MEAN)
    aggregate = spec.aggregate(spec.privatize([1.0, 9.0], rng=hush.seeded(1)))
    assert spec.check(aggregate) == aggregate == MEAN.aggregate(MEAN.privatize([1.0, 9.0], rng=hush.seeded(1)))
    assert spec.estimate(aggregate) == MEAN.estimate(aggregate)
    assert spec.privatize(3.0).shape == ()
    assert spec.simulate([1.0, 9.0], rng=hush.seeded(1)) == aggregate == MEAN.simulate([1.0, 9.0], rng=hush.seeded(1))
    with pytest.raises(SpecError, match=r"^domain must be left out"):
        hush.Spec(MEAN, hush.Domain(size=11))


# Tuples.


def test_tuples_go_in_and_come_out_by_name() -> None:
    people = {"id": [7, 8, 9], "age": ["old", "young", None], "sex": ["m", "f", "m"]}
    reports = NAMED.privatize(people, rng=hush.seeded(1))
    assert np.array_equal(reports, BOTH.privatize([[1, 1], [0, 0], [1, 2]], rng=hush.seeded(1)))
    rows = [("m", "old"), ("f", "young"), ("m", "unheard of")]
    for spec in (NAMED, LISTED):
        assert np.array_equal(spec.privatize(rows, rng=hush.seeded(1)), reports)
        assert np.array_equal(spec.privatize(np.array(rows), rng=hush.seeded(1)), reports)
        assert spec.privatize(rows[0]).shape == ()
    assert NAMED.privatize({"sex": "m", "age": "old"}).shape == ()
    aggregate = NAMED.aggregate(reports)
    assert NAMED.simulate(people, rng=hush.seeded(1)) == NAMED.check(aggregate) == aggregate
    found = NAMED.estimate(aggregate)
    assert list(found) == ["sex", "age"]
    assert found["age"].domain == AGES
    plain = BOTH.estimate(BOTH.aggregate(reports))
    assert np.array_equal(found["age"].frequencies, plain[1].frequencies)
    assert [each.domain for each in LISTED.estimate(LISTED.aggregate(reports))] == [SEXES, AGES]
    with pytest.raises(SpecError):
        NAMED.estimate(LISTED.aggregate(reports))
    assert BOTH.simulate([[1, 1], [0, 0], [1, 2]], rng=hush.seeded(1)) == BOTH.aggregate(reports)


def test_tables_of_other_programs() -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    people = {"age": ["old", "young"], "x": [1, 2], "sex": ["m", "f"]}
    due = NAMED.privatize(people, rng=hush.seeded(1))
    for table in (pd.DataFrame(people), pa.table(people)):
        assert np.array_equal(NAMED.privatize(table, rng=hush.seeded(1)), due)


@pytest.mark.parametrize(
    ("people", "error", "said"),
    [
        ({"sex": ["m"]}, ParameterError, "values must have a column 'age', got 1 others"),
        ({"sex": ["m"], "age": ["old", "old"]}, ParameterError, "values must have a label of each attribute"),
        ({"sex": ["x"], "age": ["old"]}, DomainError, "sex must be among the domain's 2 labels"),
        ([("m", "old", "more")], ParameterError, "values must have 2 labels a row"),
        (["m", "old", "more"], ParameterError, "values must have 2 labels a row"),
        ([("m", "old"), ("f",)], ParameterError, "values must have 2 labels a row"),
    ],
)
def test_tuples_that_do_not_fit(people: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=f"^{said}"):
        NAMED.privatize(people)


def test_nobody_gives_no_reports() -> None:
    assert NAMED.privatize([]).size == NAMED.privatize({"sex": [], "age": []}).size == 0


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (SEXES, "domain must be domains, one for each attribute"),
        ([SEXES], "domains must be 2, one for each attribute"),
        ([AGES, SEXES], "the domain of attribute 0 must have k=2 values"),
        ({"a": SEXES, "b": SEXES}, "the domain of b must have k=3 values"),
        ({"a": SEXES, "": AGES}, "names must be distinct texts"),
        ([SEXES, 3], "domain must be domains"),
        (4, "domain must be domains"),
    ],
)
def test_domains_that_do_not_fit(domain: Any, said: str) -> None:
    with pytest.raises(SpecError, match=f"^{said}"):
        hush.Spec(BOTH, domain)


# Values over time.


def test_a_spec_over_time() -> None:
    histories = [["young", "old"], ["other", None]]
    reports = OVER_TIME.privatize(histories, rng=hush.seeded(1))
    assert np.array_equal(reports, KEPT.collect([[0, 1], [2, 2]], rng=hush.seeded(1)))
    aggregates = OVER_TIME.aggregate(reports)
    assert OVER_TIME.check(aggregates) == aggregates == OVER_TIME.simulate(histories, rng=hush.seeded(1))
    assert {each.spec_hash for each in aggregates} == {hush.Spec(KEPT.first_report, AGES).hash}
    assert [each.domain for each in OVER_TIME.estimate(aggregates)] == [AGES, AGES]
    with pytest.raises(SpecError):
        OVER_TIME.estimate(KEPT.aggregate(reports))
    plain = hush.Spec(KEPT)
    assert plain.aggregate(reports) == KEPT.aggregate(reports)


def test_a_client_that_takes_labels() -> None:
    client, bare = OVER_TIME.client(rng=hush.seeded(1)), KEPT.client(rng=hush.seeded(1))
    assert client.report("old") == bare.report(1)
    assert client.report("unheard of") == bare.report(2)
    assert client.state == {**bare.state, "protocol": OVER_TIME.hash}
    for again in (OVER_TIME.client(state=client.state), pickle.loads(pickle.dumps(client))):
        again.report("old")
        assert again.state == client.state
    with pytest.raises(DomainError):
        hush.Spec(KEPT, hush.Domain(labels=["a", "b", "c"])).client().report("d")


def test_answers_are_not_given_to_other_labels() -> None:
    state = OVER_TIME.client().state
    turned = hush.Spec(KEPT, hush.Domain(labels=["old", "young", "other"], other="other"))
    for other in (turned.client, KEPT.client):
        with pytest.raises(SpecError, match=r"^state must come from a client of this protocol"):
            other(state=state)


def test_only_a_spec_over_time_has_clients() -> None:
    with pytest.raises(SpecError, match=r"^mechanism must be of the kind longitudinal for client"):
        NAMED.client()
    with pytest.raises(SpecError, match=r"^mechanism must be of the kind frequency for maximum_likelihood"):
        hush.Spec(MEAN).maximum_likelihood(np.zeros(1, MEAN.report_dtype))


# One registry.


def test_registry_by_kind() -> None:
    kinds = {kind: hush.registry(kind=kind) for kind in ("frequency", "numeric", "multidim", "longitudinal")}
    assert kinds["frequency"] == hush.registry()
    assert hush.registry(kind=None) == {name: cls for each in kinds.values() for name, cls in each.items()}
    assert sum(map(len, kinds.values())) == len(hush.registry(kind=None))
    for kind, known in kinds.items():
        assert {cls.kind for cls in known.values()} == {kind}
    assert "Transformed" not in kinds["frequency"]
    with pytest.raises(ParameterError, match=r"^kind must be one of frequency, numeric, multidim, longitudinal"):
        hush.registry(kind="means")


class OwnTuples(multidim.RSFD):
    """A user's own."""


class OwnProtocol(longitudinal.LGRR):
    """A user's own."""


def test_own_mechanisms_of_every_kind() -> None:
    hush.register(OwnTuples)
    hush.register(OwnProtocol)
    assert OwnTuples.name() == f"{__name__}:OwnTuples"
    assert OwnProtocol.name() == "OwnProtocol"  # which stored states go by
    for m in (OwnTuples(sizes=(2, 2), epsilon=1.0), OwnProtocol(k=3, epsilon_permanent=2.0, epsilon_report=1.0)):
        assert hush.from_dict(m.to_dict()) == m
        assert hush.registry(kind=m.kind)[m.name()] is type(m)


def test_a_name_is_taken_once() -> None:
    own = type("LGRR", (longitudinal.LGRR,), {"__module__": "elsewhere"})
    with pytest.raises(ParameterError, match=r"^mechanism must have a name of its own, got LGRR"):
        hush.register(own)


@pytest.mark.parametrize("plain", [{"protocol": "OUE"}, {"mechanism": "LGRR"}, {"protocol": None}, {}, None, "OUE"])
def test_from_dict_refuses_what_it_does_not_know(plain: Any) -> None:
    with pytest.raises(SpecError):
        hush.from_dict(plain)


# Names of version 0.1.


def test_old_names_warn() -> None:
    aggregate = MEAN.aggregate(MEAN.privatize([3.0]))
    with pytest.warns(DeprecationWarning, match="estimate_mean is now estimate"):
        assert MEAN.estimate_mean(aggregate) == MEAN.estimate(aggregate)
    with pytest.warns(DeprecationWarning, match="numeric_registry"):
        assert hush.numeric_registry() == hush.registry("numeric")
    with pytest.warns(DeprecationWarning, match="to_json"):
        text = BOTH.to_json()
    with pytest.warns(DeprecationWarning, match="hush.multidim.from_json is now hush.Spec.from_json"):
        assert multidim.from_json(text) == BOTH
    with pytest.warns(DeprecationWarning, match="hush.longitudinal.from_dict is now hush.from_dict"):
        assert longitudinal.from_dict(KEPT.to_dict()) == KEPT
    with pytest.warns(DeprecationWarning, match="PROTOCOLS"):
        assert hush.registry("longitudinal") == longitudinal.PROTOCOLS
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = multidim.nothing


def test_old_words_for_losses_warn() -> None:
    with pytest.warns(DeprecationWarning, match=r"^eps_(perm|1) of LGRR is now epsilon_(permanent|report);") as heard:
        old = longitudinal.LGRR(k=3, eps_perm=3.0, eps_1=2.0)  # type: ignore[call-arg]
    assert old == KEPT
    assert {each.filename for each in heard} == {__file__}
    for name in ("permanent", "report", "worst", "states", "fresh"):
        word = {"permanent": "perm", "report": "1"}.get(name, name)
        with pytest.warns(DeprecationWarning, match=f"eps_{word} is now epsilon_{name}") as heard:
            assert getattr(KEPT, f"eps_{word}") == getattr(KEPT, f"epsilon_{name}")
        assert heard[0].filename == __file__
    with pytest.raises(AttributeError, match="'LGRR' object has no attribute 'eps'"):
        _ = KEPT.eps
    with pytest.raises(ParameterError):
        longitudinal.LGRR(k=3, eps_perm=3.0, epsilon_permanent=3.0, epsilon_report=2.0)  # type: ignore[call-arg]


def test_specs_keep_their_keys() -> None:
    assert {"eps_perm", "eps_1"} < KEPT.to_dict().keys()
    assert "eps_perm" in KEPT.first_report.to_dict()
    for plain in (KEPT.to_dict(), {**KEPT.to_dict(), "eps_perm": None}):
        with pytest.raises(SpecError, match=r"^epsilon_permanent must have the name that specs have for it"):
            hush.from_dict({**plain, "epsilon_permanent": 3.0})
