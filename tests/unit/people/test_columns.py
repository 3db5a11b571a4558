"""Whatever a column comes in, everybody in it gets one report, and who has no value is missing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hush
from hush.errors import DomainError, HushError, ParameterError, ReportError
from hush.longitudinal import LGRR, Repeated
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.multidim import SPL
from hush.utility import uRR

pytestmark = pytest.mark.boundary

PETS = hush.Spec(hush.GRR(k=3, epsilon=40.0), hush.Domain(labels=["cat", "dog"], other="other"))  # nearly the truth
STRICT = hush.Domain(labels=["cat", "dog"])
CODES = hush.GRR(k=3, epsilon=1.0)
HIDDEN = np.ma.array(["dog", "cat", "dog"], mask=[False, True, False])


class Stored:
    """A column that can only be walked through."""

    def __iter__(self) -> Any:
        yield from ["dog", "nobody's", "cat"]


@pytest.mark.parametrize(
    "given",
    [
        (pet for pet in ["dog", "nobody's", "cat"]),
        iter(["dog", "nobody's", "cat"]),
        map(str, ["dog", "nobody's", "cat"]),
        {1: "dog", 2: None, 3: "cat"}.values(),
        deque(["dog", np.nan, "cat"]),
        Stored(),
        np.array([b"dog", b"nobody's", b"cat"]),
        [b"dog", b"\xff\xfe", "cat"],
        np.ma.array(["dog", "cat", "cat"], mask=[False, True, False]),
        ["dog", np.ma.masked, "cat"],
        list(np.ma.array(["dog", "cat", "cat"], mask=[False, True, False])),
        pa.array(["dog", None, "cat"]),
        pa.array(["dog", "nobody's", "cat"]),
        pa.array([b"dog", None, b"cat"]),
        pa.array(["dog", None, "cat"]).dictionary_encode(),
        pa.chunked_array([["dog", None], ["cat"]]),
        pd.Series(["dog", None, "cat"]),
        pd.Series(["dog", None, "cat"], dtype="string"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_one_report_for_everybody(given: Any) -> None:
    assert PETS.privatize(given).tolist() == [1, 2, 0]


def test_nobody_gives_no_report() -> None:
    for given in ([], iter(()), np.ma.array([], object), pa.array([], pa.string()), pd.Series([], dtype=object)):
        assert PETS.privatize(given).shape == (0,)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("dog", 1),
        (b"dog", 1),
        (np.bytes_(b"dog"), 1),
        (np.array("dog"), 1),
        (pa.scalar("dog"), 1),
        (None, 2),
        (np.ma.masked, 2),
        (np.ma.array("dog", mask=True), 2),
        (pa.scalar(None, pa.string()), 2),
    ],
    ids=str,
)
def test_one_value_gives_one_report(given: Any, code: int) -> None:
    assert PETS.privatize(given) == code


def test_who_is_missing_is_refused_by_position_where_nothing_absorbs_them() -> None:
    for given in (HIDDEN, pa.array(["dog", None]), ["dog", np.ma.masked]):
        with pytest.raises(DomainError, match="another one at position 1;"):
            STRICT.encode(given)


@pytest.mark.parametrize(
    "given",
    [
        np.ma.array([0, 2, 1], mask=[False, True, False]),
        [0, np.ma.masked, 1],
        pa.array([0, None, 1]),
        pd.Series([0, None, 1]),
        pd.Series([0, None, 1], dtype="Int64"),
        [0, None, 1],
    ],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize(
    "privatize",
    [
        CODES.privatize,
        hush.Spec(CODES).privatize,
        uRR(k=3, epsilon=1.0, sensitive=[0]).privatize,
        Duchi(low=0, high=2, epsilon=1.0).privatize,
        Piecewise(low=0, high=2, epsilon=1.0).privatize,
        Hybrid(low=0, high=2, epsilon=1.0).privatize,
        Duchi(low=0, high=2, epsilon=1.0).clip,
    ],
    ids=["mechanism", "spec", "utility", "Duchi", "Piecewise", "Hybrid", "clip"],
)
def test_mechanisms_of_numbers_refuse_whoever_is_missing(privatize: Callable[[Any], Any], given: Any) -> None:
    with pytest.raises(ParameterError, match="one at position 1;"):
        privatize(given)


def test_masks_that_hide_nobody_change_nothing() -> None:
    open_to_all = np.ma.array([0, 2, 1], mask=[False] * 3)
    assert (
        CODES.privatize(open_to_all, rng=hush.seeded(7)).tolist()
        == CODES.privatize([0, 2, 1], rng=hush.seeded(7)).tolist()
    )
    assert CODES.privatize(iter([0, 1, 2])).shape == (3,)
    assert Duchi(low=0, high=1, epsilon=1.0).privatize(x / 2 for x in range(3)).shape == (3,)


def test_a_number_that_is_hidden_is_no_number() -> None:
    for given in (np.ma.masked, np.ma.array(0.5, mask=True), None):
        with pytest.raises(ParameterError, match="position 0"):
            Duchi(low=0, high=1, epsilon=1.0).privatize(given)
    with pytest.raises(ParameterError, match="position 2"):
        Duchi(low=0, high=1, epsilon=1.0).privatize([0.5, "1", "one"])


def test_tuples_and_histories_refuse_whoever_is_missing() -> None:
    table = np.ma.array([[0, 1], [1, 2]], mask=[[False, False], [True, False]])
    spl = SPL(sizes=[2, 3], epsilon=1.0)
    with pytest.raises(ParameterError, match=r"tuples must be integers, got a missing one at position \(1, 0\)"):
        spl.privatize(table)
    with pytest.raises(ParameterError, match=r"a missing one at position \(0, 0\)"):
        spl.privatize(table[1])
    assert spl.privatize(row for row in [(0, 1), (1, 2), (1, 0)]).shape == (3,)
    over_time = LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0)
    for protocol in (over_time, Repeated(CODES, 2)):
        with pytest.raises(ParameterError, match="a missing one at position 2"):
            protocol.collect(table)
    with pytest.raises(ParameterError, match="a missing one at position 0"):
        over_time.client().report(np.ma.array(1, mask=True))
    with pytest.raises(ParameterError, match="one-dimensional"):
        over_time.client().report([1, 2])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "m", [CODES, hush.OLH(k=3, epsilon=1.0), Duchi(low=0, high=2, epsilon=1.0), SPL(sizes=[2, 3], epsilon=1.0)], ids=str
)
def test_masked_reports_are_not_counted(m: Any) -> None:
    reports = m.privatize([[0, 1], [1, 2], [1, 1]] if isinstance(m, SPL) else [0, 1, 2])
    hidden = np.ma.array(reports, mask=[False, True, False])
    for given in (hidden, iter([hidden]), list(hidden)):
        with pytest.raises(ReportError, match="reports must not be masked"):
            m.aggregate(given)
    assert m.aggregate(reports[[0, 2]]).n == 2
    assert m.aggregate(np.ma.array(reports)).n == 3


def test_masked_counts_are_refused() -> None:
    with pytest.raises(ParameterError, match="counts must be 3 non-negative integers"):
        CODES.simulate(np.ma.array([5, 5, 5], mask=[False, True, False]))


def test_what_has_no_order_is_refused() -> None:
    for given in ({"dog", "cat"}, frozenset({"dog"}), {"dog": 1}, {"dog": 1}.keys()):
        for act in (PETS.privatize, CODES.privatize, Duchi(low=0, high=1, epsilon=1.0).privatize):
            with pytest.raises(ParameterError, match="values must be in an order"):
                act(given)


def test_cells_that_hold_several_things_are_refused() -> None:
    for cell in (("dog", 3), ["dog"], {"dog": 1}, np.array(["dog", "cat"]), frozenset({"dog"})):
        listed = np.empty(2, object)
        listed[0], listed[1] = "cat", cell
        with pytest.raises(ParameterError, match="something else at position 1"):
            PETS.privatize(listed)
    for table in (pa.table({"pet": ["dog", "cat"]}), pd.DataFrame({"pet": ["dog", "cat"]})):
        with pytest.raises(HushError, match="one-dimensional"):
            PETS.privatize(table)
