"""What can be chosen to audit is read off the classes, and every first choice can be made."""

from __future__ import annotations

import pytest

import hush
from hush.mechanisms.settings import takes
from hush.workbench.audit import choices
from hush.workbench.audit.question import from_fields
from hush.workbench.audit.targets import target_of

TERMS = {"trials": "1000", "alpha": "0.01"}


def test_every_mechanism_of_frequencies_and_means_is_offered() -> None:
    assert {*hush.registry(), *hush.registry("numeric")} <= {*choices.mechanisms()}


def test_what_needs_more_than_numbers_and_words_is_left_to_specs() -> None:
    assert {"RSRFD", "Memoized", "LSMP", "LSPL"}.isdisjoint(choices.mechanisms())


@pytest.mark.parametrize("name", choices.mechanisms())
def test_a_mechanism_can_be_made_from_what_its_fields_hold_at_first(name: str) -> None:
    choice = choices.mechanisms()[name]
    target = target_of(from_fields("mechanism", {**choice.first, **TERMS}, name=name), code=False)
    assert target.name.startswith(name)
    assert choice.about
    needed = {field.name for field in choice.fields if field.needed} - {"rounds"}
    assert needed == {each for each, must in takes(hush.registry(None)[name]).items() if must}


@pytest.mark.parametrize("name", choices.bugs())
def test_a_bug_loses_more_than_it_claims(name: str) -> None:
    choice = choices.bugs()[name]
    target = target_of(from_fields("bug", {**choice.first, **TERMS}, name=name), code=False)
    assert target.claim is not None
    assert target.mechanism.true_epsilon() > target.claim.epsilon
    assert choices.module_of(name) == f"hush.testing.museum:{name}"


def test_bugs_that_keep_their_promise_are_no_violations_to_see() -> None:
    assert {"ClippedEstimate", "OptimisticVariance"}.isdisjoint(choices.bugs())
    assert {"ShiftByOne", "LastBitUnprotected"} <= {*choices.bugs()}


def test_fields_are_described_by_the_docstrings() -> None:
    fields = {field.name: field for field in choices.mechanisms()["LH"].fields}
    assert fields["g"].help.startswith("Number of buckets")
    assert (fields["g"].kind, fields["g"].needed, fields["hash"].needed) == ("whole", True, False)
