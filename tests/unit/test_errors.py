"""Errors have four parts, as a sentence and as fields."""

from __future__ import annotations

import copy
import pickle

import pytest

import hush
from hush.errors import HushError, Message, ParameterError, message

pytestmark = pytest.mark.boundary


def test_an_error_tells_its_parts() -> None:
    with pytest.raises(ParameterError) as caught:
        hush.OUE(k=1, epsilon=1.0)
    error = caught.value
    assert error.parameter == "k"
    assert error.value == "1"
    assert str(error) == f"{error.parameter} {error.rule}, got {error.value}; {error.remedy}"


def test_an_error_survives_a_process_boundary() -> None:
    error = ParameterError(message("k", "must be an integer", 1.5, "count the values"))
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert str(again) == str(error)
        assert (again.parameter, again.rule, again.value, again.remedy) == (
            "k",
            "must be an integer",
            "1.5",
            error.remedy,
        )


def test_an_error_can_name_what_was_said_elsewhere() -> None:
    error = ParameterError(Message("max_asr", "must be less", "2", "choose"))
    renamed = error.naming("--max-asr")
    assert type(renamed) is ParameterError
    assert str(renamed) == "--max-asr must be less, got 2; choose"
    assert error.parameter == "max_asr"


def test_an_error_without_parts_says_so() -> None:
    plain = HushError("it did not work")
    assert (plain.parameter, plain.rule, plain.value, plain.remedy) == (None, None, None, None)
    assert plain.naming("k") is plain
    assert HushError().parameter is None
