"""Forms become collections that a real collector takes, and what is wrong is told beside its field."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hush
from hush.collect.refusals import Refused
from hush.collect.remote import Remote
from hush.mechanisms.registry import registry
from hush.workbench.collections import choices
from hush.workbench.collections.drafts import LONGEST_SPEC, FormError, SpecForm, spec_in, wishes_in
from hush.workbench.collections.promises import spec_of
from hush.workbench.collections.verdicts import advice
from tests.collectors import in_thread

PLACES = "museum\npark\n\n pool \nhome"
FORMS = {
    "values": (SpecForm(answers=PLACES, numbers={"epsilon": 1.0}), "OUE", 4),
    "a size": (SpecForm(answers="17", mechanism="GRR", numbers={"epsilon": 1.0}), "GRR", 17),
    "other": (SpecForm(answers=PLACES, other="elsewhere", numbers={"epsilon": 1.0}), "OUE", 5),
    "sensitive": (SpecForm(answers=PLACES, mechanism="uSS", sensitive="pool", numbers={"epsilon": 1.0}), "uSS", 4),
    "settings": (SpecForm(answers=PLACES, mechanism="LH", numbers={"epsilon": 1.0}, settings="g = 3"), "LH", 4),
    "delta": (SpecForm(answers=PLACES, mechanism="GM", numbers={"epsilon": 1.0, "delta": 1e-6}), "GM", 4),
    "over time": (
        SpecForm(
            kind="longitudinal",
            mechanism="LOSUE",
            answers=PLACES,
            numbers={"epsilon_permanent": 2.0, "epsilon_report": 1.0},
        ),
        "LOSUE",
        4,
    ),
}


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    with in_thread(tmp_path_factory.mktemp("collector")) as served, Remote(served.url, served.admin) as made:
        yield made


@pytest.mark.parametrize("case", FORMS)
def test_a_form_makes_a_collection_that_the_collector_takes(collector: Remote, case: str) -> None:
    form, name, k = FORMS[case]
    spec = spec_in(form)
    made = collector.create(spec=spec.to_dict(), **wishes_in({"name": case, "target_n": 10**9}, spec))
    kept = spec_of(made)
    assert kept is not None
    assert kept.hash == spec.hash == made["spec_hash"]
    assert (kept.mechanism.name(), getattr(kept.mechanism, "k", None)) == (name, k)
    assert collector.open(made["id"])["status"] == "open"


def test_a_form_of_a_mean_and_of_several_questions(collector: Remote) -> None:
    mean = spec_in(SpecForm(kind="numeric", mechanism="Piecewise", numbers={"low": 0.0, "high": 9.0, "epsilon": 1.0}))
    assert (mean.mechanism.low, mean.mechanism.high) == (0.0, 9.0)
    text = "sex: f, m\nage: young, middle, old"
    several = spec_in(SpecForm(kind="multidim", mechanism="SMP", attributes=text, numbers={"epsilon": 1.0}))
    assert several.mechanism.sizes == (2, 3)
    assert several.domain.names == ("sex", "age")
    for spec in (mean, several):
        assert collector.create(spec=spec.to_dict(), name="x", target_n=9)["spec_hash"] == spec.hash


def test_sensitive_answers_are_those_that_were_named() -> None:
    spec = spec_in(FORMS["sensitive"][0])
    assert spec.domain.sensitive == (2,)
    assert spec.mechanism.guarantee.sensitive == (2,)


def test_a_pasted_spec_counts_before_all_else() -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=0.5))
    assert spec_in(SpecForm(pasted=f"\n{spec.to_json()}\n", mechanism="no such")).hash == spec.hash


BROKEN = {
    "nothing": (SpecForm(), {"answers", "epsilon"}),
    "one answer": (SpecForm(answers="park", numbers={"epsilon": 1.0}), {"answers"}),
    "twice": (SpecForm(answers="park\npark", numbers={"epsilon": 1.0}), {"answers"}),
    "epsilon": (SpecForm(answers=PLACES, numbers={"epsilon": 0.0}), {"epsilon"}),
    "no mechanism": (SpecForm(answers=PLACES, mechanism="Magic"), {"mechanism"}),
    "needs a spec": (SpecForm(kind="longitudinal", mechanism="Memoized"), {"mechanism"}),
    "no such answer": (
        SpecForm(answers=PLACES, mechanism="uSS", sensitive="zoo", numbers={"epsilon": 1.0}),
        {"sensitive"},
    ),
    "other of a number": (SpecForm(answers="9", other="rest", numbers={"epsilon": 1.0}), {"other"}),
    "no setting": (SpecForm(answers=PLACES, numbers={"epsilon": 1.0}, settings="g"), {"settings"}),
    "unknown setting": (SpecForm(answers=PLACES, numbers={"epsilon": 1.0}, settings="g=2"), {"settings"}),
    "needs a setting": (SpecForm(answers=PLACES, mechanism="LH", numbers={"epsilon": 1.0}), {"settings"}),
    "wrong setting": (
        SpecForm(answers=PLACES, mechanism="LH", numbers={"epsilon": 1.0}, settings="g=1"),
        {"settings"},
    ),
    "low above high": (
        SpecForm(kind="numeric", mechanism="Duchi", numbers={"low": 9.0, "high": 1.0, "epsilon": 1.0}),
        {"high", "low"},
    ),
    "budgets": (
        SpecForm(
            kind="longitudinal",
            mechanism="LGRR",
            answers=PLACES,
            numbers={"epsilon_permanent": 1.0, "epsilon_report": 2.0},
        ),
        {"epsilon_report", "epsilon_permanent"},
    ),
    "a line without a colon": (
        SpecForm(kind="multidim", mechanism="SMP", attributes="sex f, m", numbers={"epsilon": 1.0}),
        {"attributes"},
    ),
    "a name twice": (
        SpecForm(kind="multidim", mechanism="SMP", attributes="a: f, m\na: x, y", numbers={"epsilon": 1.0}),
        {"attributes"},
    ),
    "no JSON": (SpecForm(pasted="{"), {"spec"}),
    "no spec": (SpecForm(pasted="[1, 2]"), {"spec"}),
    "too long": (SpecForm(pasted="x" * (LONGEST_SPEC + 1)), {"spec"}),
    "code": (SpecForm(pasted='{"hush": 1, "mechanism": {"mechanism": "os:system"}}'), {"spec"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_told_beside_its_field(case: str) -> None:
    form, fields = BROKEN[case]
    with pytest.raises(FormError) as error:
        spec_in(form)
    assert {*error.value.fields} & fields
    assert {*error.value.fields} <= fields
    for told in error.value.fields.values():
        assert told.endswith(".")
        assert told[0].isupper()
        assert len(told) < 400


def test_thresholds_that_were_changed_are_refused() -> None:
    text = hush.Spec(hush.OUE(k=4, epsilon=1.0)).to_json().replace('"9223372036854775808"', '"9999999999999999999"')
    with pytest.raises(FormError, match="thresholds must be those that its parameters give"):
        spec_in(SpecForm(pasted=text))


WISHES = {
    "name": {"name": "  "},
    "target_n": {"name": "x", "target_n": 0},
    "wished_error": {"name": "x", "wished_error": 2.0},
    "ends": {"name": "x", "ends": "2001-01-01"},
    "keep_days": {"name": "x", "keep_days": 0},
    "horizon": {"name": "x", "relayed_only": True, "horizon": 0},
    "release_floor": {"name": "x", "public": True, "release_floor": 0},
}


@pytest.mark.parametrize("field", WISHES)
def test_wishes_are_checked_as_the_collector_does(collector: Remote, field: str) -> None:
    spec = spec_in(FORMS["values"][0])
    with pytest.raises(FormError) as error:
        wishes_in(WISHES[field], spec)
    assert [*error.value.fields] == [field]
    if field not in ("name", "ends"):
        with pytest.raises(Refused) as refused:
            collector.create(spec=spec.to_dict(), **WISHES[field])
        assert refused.value.parameter == field


def test_what_is_empty_is_left_out_and_a_day_is_a_second() -> None:
    spec = spec_in(FORMS["values"][0])
    given = {"name": " outings ", "ends": "2100-01-01", "keep_days": None, "target_n": 5, "keep": ""}
    assert wishes_in(given, spec) == {"name": "outings", "ends": 4_102_444_800, "target_n": 5}
    with pytest.raises(FormError, match="Ends must be a day"):
        wishes_in({"name": "x", "ends": "soon"}, spec)


@pytest.mark.parametrize("kind", choices.KINDS)
def test_all_that_is_offered_can_be_asked_for_by_the_fields_that_are_shown(kind: str) -> None:
    names = choices.offered(kind)
    assert choices.USUAL[kind] in names
    assert {*names} <= {*registry(kind)}
    for name in names:
        wanted = choices.wanted(kind, name)
        assert wanted.needed <= {*wanted.fields}
        assert wanted.needed_settings <= {*wanted.settings}
        assert not wanted.needed_settings & {"mechanism", "priors"}


# What the planner says.


def test_a_refusal_says_what_would_do_and_both_remedies_open(collector: Remote) -> None:
    spec = spec_in(FORMS["values"][0])
    wishes = {"target_n": 500, "wished_error": 0.08, "public": True, "horizon": 3, "keep_days": 30}
    made = collector.create(spec=spec.to_dict(), name="too few", **wishes)
    with pytest.raises(Refused) as refused:
        collector.open(made["id"])
    assert refused.value.reason.code == "plan"
    told = advice(made, str(refused.value))
    assert not told.fits
    assert told.words.startswith("From 500 people, expect a margin of ±16.8 points (95 %). ±8 points was asked for")
    for number in ("2,211", "1.9"):
        assert number in str(refused.value)
        assert number in told.words
    assert [each.words for each in told.remedies] == ["Expect 2,211 people instead", "Use ε = 1.9 instead"]
    for remedy in told.remedies:
        other = collector.create(spec=remedy.spec.to_dict(), **remedy.wishes)
        assert {name: other[name] for name in ("public", "horizon", "keep_days", "name")} == {
            **{name: wishes[name] for name in ("public", "horizon", "keep_days")},
            "name": "too few",
        }
        assert advice(other).fits
        assert collector.open(other["id"])["forced"] is False
    assert collector.open(made["id"], force=True)["forced"] is True


def test_without_a_number_of_people_the_planner_asks_for_it(collector: Remote) -> None:
    made = collector.create(spec=spec_in(FORMS["values"][0]).to_dict(), name="how many")
    told = advice(made)
    assert not told.fits
    assert "how many people are expected" in told.words
    (remedy,) = told.remedies
    again = collector.create(spec=remedy.spec.to_dict(), **remedy.wishes)
    assert collector.open(again["id"])["status"] == "open"


def test_a_mechanism_that_is_not_known_here_is_told_in_the_collectors_words() -> None:
    view = {"spec": {"mechanism": {"mechanism": "mine:Own"}}, "target_n": 5, "wished_error": None}
    assert advice(view, "target_n must be more").words == "target_n must be more"


def test_a_mean_and_budgets_over_time_are_told_in_their_own_words(collector: Remote) -> None:
    mean = spec_in(SpecForm(kind="numeric", mechanism="Duchi", numbers={"low": 0.0, "high": 9.0, "epsilon": 0.1}))
    told = advice(collector.create(spec=mean.to_dict(), name="mean", target_n=10, wished_error=0.5))
    assert "±0.5 was asked for" in told.words
    assert "points" not in told.words
    over = spec_in(FORMS["over time"][0])
    told = advice(collector.create(spec=over.to_dict(), name="time", target_n=10))
    assert "what an average answer's share is" in told.words
    assert " and " in told.remedies[1].words  # two budgets
