"""One rule says which label a cell means: for Python and for the command alike."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hush
from hush.errors import DomainError, ParameterError
from hush.people.coding import Coder

DAY = datetime.date(2026, 11, 17)


@pytest.mark.parametrize(
    ("labels", "cell", "place"),
    [
        ([7, 8], "7", 0), ([7, 8], "7.0", 0), ([7, 8], 8.0, 1), ([7, 8], b"8", 1), ([7, 8], Decimal(7), 0),
        (["7", "8"], 7, 0), (["7", "8"], 8.0, 1), (["7", "8"], "7.0", None), (["7", "07"], "07", 1),
        (["7", "7.0"], 7, None), (["7", "7.0"], "7.0", 1), (["7", 7], "7", 0), (["7", 7], 7, 1), ([0.5, 1], "0.5", 0),
        (["no", "True"], True, 1), (["no", "true"], "TRUE", 1), (["true", "TRUE"], True, None), ([0, 1], True, 1),
        (["0", "1"], False, 0), (["false", 0], False, 0), ([0, 1], "true", None),
        (["2026-11-17", "x"], DAY, 0), (["x", "1.50"], Decimal("1.50"), 1), (["cat", "dog"], b"dog", 1),
        (["cat", "dog"], "Dog", None), (["cat", "dog"], " dog", None), (["nan", "x"], float("nan"), None),
    ],
)  # fmt: skip
def test_what_a_cell_means(labels: list[Any], cell: object, place: int | None) -> None:
    domain = hush.Domain(labels=labels)
    assert domain.find(cell) == place
    assert Coder(domain, "v").code(cell) == (-1 if place is None else place)
    if place is None:
        with pytest.raises(DomainError, match=r"labels, got another one at position 1;"):
            domain.encode([labels[0], cell])
    else:
        assert domain.encode([labels[0], cell]).tolist() == [0, place]


@pytest.mark.parametrize(("cell", "place"), [(2, 2), ("2", 2), (2.0, 2), ("2.0", 2), (b"1", 1), (True, 1), ("3", None)])
def test_without_labels_a_cell_means_the_integer_that_it_reads_as(cell: object, place: int | None) -> None:
    domain = hush.Domain(size=3)
    assert domain.find(cell) == place
    if place is None:
        with pytest.raises(DomainError, match=r"must lie in 0\.\.2, got another one at position 1;"):
            domain.encode(["0", cell])
    else:
        assert domain.encode([0, cell]).tolist() == [0, place]


@pytest.mark.parametrize(
    ("given", "found"),
    [([0.5], "'float64'"), (["CANARY"], "'text'"), ([None], "a missing one at position 0")],
)
def test_what_reads_as_no_integer_is_refused_unsaid(given: Any, found: str) -> None:
    with pytest.raises(ParameterError, match=rf"^values must be integers, got {found};") as caught:
        hush.Domain(size=3).encode(given)
    assert "CANARY" not in str(caught.value)


def test_a_truth_value_is_no_number_beside_one() -> None:
    assert hush.Domain(labels=["true", "false", 1]).encode([True, 1, 1.0, False]).tolist() == [0, 2, 2, 1]
    assert hush.Domain(labels=["yes", "no", 1, 0]).encode(np.array([True, False])).tolist() == [2, 3]


@given(st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=20, unique=True))
def test_numbers_and_their_texts_are_the_same_people(numbers: list[int]) -> None:
    texts = [str(number) for number in numbers]
    due = list(range(len(numbers)))
    for labels in (numbers, texts):
        domain = hush.Domain(labels=labels)
        for column in (numbers, texts, pd.Series(numbers), np.array(texts), pa.array(numbers)):
            assert domain.encode(column).tolist() == due


def test_python_and_the_command_send_the_same_reports(tmp_path: Path) -> None:
    """At this budget a report is its value, but for one in 10^16."""
    from tests.system.support import run, write_csv

    spec = hush.Spec(hush.GRR(k=3, epsilon=40.0), hush.Domain(labels=[7, 8, "none"], other="none"))
    hush.write(tmp_path / "spec.json", spec)
    cells = ["7", "8.0", "", "x", "7"]
    table = write_csv(tmp_path / "people.csv", {"v": cells, "w": ["."] * 5})
    out = tmp_path / "r.parquet"
    done = run("privatize", table, "--column", "v", "--spec", tmp_path / "spec.json", "--keep-order", "-o", out)
    assert done.exit_code == 0, done.output
    assert hush.read(out).reports().tolist() == spec.privatize(cells).tolist() == [0, 1, 2, 2, 0]  # type: ignore[union-attr]
