"""Numbers as people write them, in every form of the workbench: none is read as another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("nicegui")

from hush.errors import ParameterError
from hush.workbench.audit.reading import read as read_audit
from hush.workbench.controls.fields import number_in
from hush.workbench.plan.question import Mistakes
from hush.workbench.plan.reading import read as read_plan
from hush.workbench.written import written_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        (".5", 0.5),
        ("-3", -3.0),
        ("1e-3", 1e-3),
        ("20,000", 20_000.0),
        ("1,000,000.25", 1_000_000.25),
        ("1 000 000", 1e6),
        ("1\u202f000", 1e3),
        ("1’000’000", 1e6),
    ],
)
def test_thousands_may_stand_apart(text: str, number: float) -> None:
    assert written_number(text) == number


@pytest.mark.parametrize("text", ["0,5", "1,5", "0,500", "2,00", "1 5", "1_5", "1,00,00", "1,000 000", "", "nan", "٣"])
def test_what_could_be_another_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a number|must have a point before its decimals"):
        written_number(text)


def _field(text: str) -> float:
    found = number_in(text, 0.01, 20, False)
    if isinstance(found, str):
        raise ParameterError(found)
    return found


def _plan(text: str) -> float | None:
    return read_plan({"points": "1", "people": "20,000", "answers": "12", "epsilon": text}).epsilon


def _audit(text: str) -> float:
    found: float = read_audit("epsilon", text, "real")
    return found


@pytest.mark.parametrize("read", [_field, _plan, _audit])
def test_no_form_takes_half_an_epsilon_for_five(read: Callable[[str], float | None]) -> None:
    assert read("0.5") == 0.5
    with pytest.raises((ParameterError, Mistakes), match="must have a point before its decimals"):
        read("0,5")
