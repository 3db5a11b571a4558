"""What the fields of the page ask, and what they may not."""

from __future__ import annotations

from typing import Any

import pytest

import hush
from hush.errors import HushError, ParameterError
from hush.workbench.audit.address import methods_of, way_of, written
from hush.workbench.audit.question import MOST_SPEC, AuditQuestion, from_fields
from hush.workbench.audit.reading import needed, read
from hush.workbench.audit.targets import mechanism_of, target_of

TERMS = {"trials": "1000", "alpha": "0.01"}
CODE = {**TERMS, "target": "tests.unit.workbench.audited_code:honest", "k": "4", "claim": "1"}


def spec() -> str:
    return hush.Spec(hush.OLH(k=10, epsilon=1.0)).to_json()


def test_fields_are_read_as_people_write_them() -> None:
    assert read("k", " 10,000 ", "whole") == 10_000
    assert read("k", 16.0, "whole") == 16
    assert read("k", "", "whole") is None
    assert read("moduli", "[7, 11 13]", "list") == [7, 11, 13]
    assert needed("epsilon", 0.5, "real") == 0.5


@pytest.mark.parametrize(("said", "kind"), [("1.5", "whole"), ("many", "whole"), ("nan", "real"), ("1;x", "list")])
def test_what_is_no_number_is_refused_with_an_example(said: str, kind: str) -> None:
    with pytest.raises(ParameterError, match=r"write e\.g\.") as told:
        read("k", said, kind)
    assert told.value.parameter == "k"


def test_a_needed_field_that_is_empty_is_named() -> None:
    with pytest.raises(ParameterError, match="k must be given, got nothing") as told:
        from_fields("mechanism", {**TERMS, "epsilon": "1"}, name="GRR")
    assert told.value.parameter == "k"


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"trials": "10"}, "trials"),
        ({"trials": "1" + "0" * 12}, "trials"),
        ({"alpha": "1"}, "alpha"),
        ({"seed": "-1"}, "seed"),
    ],
)
def test_terms_are_checked(said: dict[str, str], wrong: str) -> None:
    with pytest.raises(ParameterError) as told:
        from_fields("mechanism", {"k": "4", "epsilon": "1", **TERMS, **said}, name="GRR")
    assert told.value.parameter == wrong


def test_methods_and_names_must_be_known() -> None:
    with pytest.raises(ParameterError, match="methods must be one of"):
        AuditQuestion(way="mechanism", name="GRR", methods=("luck",))
    with pytest.raises(ParameterError, match="mechanism must be one of"):
        from_fields("mechanism", TERMS, name="os:system")
    with pytest.raises(ParameterError, match="bug must be one of"):
        from_fields("bug", TERMS, name="GRR")


def test_a_question_survives_as_plain_data() -> None:
    asked = from_fields("mechanism", {"k": "4", "epsilon": "1", **TERMS, "seed": "7"}, ["exact"], name="GRR")
    assert AuditQuestion.from_dict(asked.to_dict()) == asked


def test_a_spec_is_read_and_says_what_is_wrong_with_it() -> None:
    asked = from_fields("spec", {**TERMS, "spec": spec()})
    assert mechanism_of(asked) == hush.OLH(k=10, epsilon=1.0)
    with pytest.raises(HushError, match="must be JSON"):
        mechanism_of(from_fields("spec", {**TERMS, "spec": "OLH"}))
    with pytest.raises(HushError, match="hush runs no code a file names"):
        mechanism_of(from_fields("spec", {**TERMS, "spec": spec().replace('"OLH"', '"os:path"')}))


def test_a_spec_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(ParameterError, match="spec must be at most"):
        from_fields("spec", {**TERMS, "spec": "x" * (MOST_SPEC + 1)})


def test_code_is_refused_unless_it_is_allowed_whatever_the_question_says() -> None:
    asked = from_fields("code", CODE)
    for refused in (lambda: asked.allowed(False), lambda: target_of(asked, code=False)):
        with pytest.raises(ParameterError, match="started without --allow-code") as told:
            refused()
        assert told.value.parameter == "target"
    assert target_of(asked, code=True).name == CODE["target"]


def test_code_must_say_what_it_takes_and_promises() -> None:
    lacking: list[tuple[str, dict[str, Any]]] = [
        ("claim", {"claim": ""}),
        ("k", {"k": ""}),
        ("k", {"low": "0", "high": "1"}),
        ("high", {"k": "", "low": "0"}),
        ("rounds", {"k": "", "sizes": "2, 3", "rounds": "3"}),
    ]
    for wrong, said in lacking:
        with pytest.raises(ParameterError) as told:
            target_of(from_fields("code", {**CODE, **said}), code=True)
        assert told.value.parameter == wrong, said


def test_a_protocol_over_time_needs_its_number_of_reports() -> None:
    protocol = hush.longitudinal.LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    text = hush.Spec(protocol).to_json()
    with pytest.raises(ParameterError, match="rounds must be given for LGRR"):
        target_of(from_fields("spec", {**TERMS, "spec": text}), code=False)
    assert target_of(from_fields("spec", {**TERMS, "spec": text, "rounds": "3"}), code=False).unit == (
        "3 reports of one person"
    )


def test_an_address_asks_the_same() -> None:
    fields = {"sizes": "2, 5", "epsilon": "1.5", **TERMS, "claim": "1", "seed": "7"}
    asked = from_fields("mechanism", fields, ["exact", "attack"], name="RSFD")
    query = written(asked)
    again = from_fields(way_of(query, code=False), query, sorted(methods_of(query)), name=query["name"])
    assert again.parameters == asked.parameters
    assert ({*again.methods}, again.trials, again.claim, again.seed) == ({"exact", "attack"}, 1000, 1.0, 7)


def test_an_address_cannot_choose_code_where_none_may_run() -> None:
    query = written(from_fields("code", CODE))
    assert way_of(query, code=False) == "mechanism"
    assert way_of(query, code=True) == "code"
    assert way_of({"way": "else"}, code=True) == "mechanism"


def test_a_way_that_is_not_offered_is_refused() -> None:
    with pytest.raises(ParameterError, match="way must be one of"):
        from_fields("", TERMS)
