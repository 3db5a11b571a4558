"""A cell means the same however its column comes: as texts, as codes of a dictionary, as integers; and in any batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hush
from hush.errors import DomainError
from hush.people.coding import Coder, Likeness

LABELS = hush.Domain(labels=["a", "b", "7", "other"], other="other")
CELLS = ["a", "b", None, "7", "7.0", "x", " a ", "", "A", "a"] * 50


def forms(cells: list[Any]) -> dict[str, Any]:
    """The same cells, as Arrow may have them; a dictionary with cells that nobody holds, and small codes."""
    plain = pa.array(cells, pa.string())
    codes = plain.dictionary_encode()
    more = pa.concat_arrays([pa.array(["nobody", None]), codes.dictionary])
    moved = pa.array([None if i is None else i + 2 for i in codes.indices.to_pylist()], pa.int8())
    return {
        "text": plain,
        "long": plain.cast(pa.large_string()),
        "bytes": plain.cast(pa.binary()),
        "coded": codes,
        "wider": pa.DictionaryArray.from_arrays(moved, more),
        "slice": pa.concat_arrays([pa.array(["b"] * 3), plain]).dictionary_encode().slice(3),
    }


@pytest.mark.parametrize("alike", [Likeness(), Likeness(strip=True, ignore_case=True)])
def test_all_forms_of_a_column_mean_the_same(alike: Likeness) -> None:
    expected = None
    for cells in forms(CELLS).values():
        coder = Coder(LABELS, "c", alike=alike)
        values = np.concatenate([coder.encode(cells.slice(start, 7), 1) for start in range(0, len(cells), 7)])
        found = values.tolist(), coder.missing, coder.unmatched
        expected = found if expected is None else expected
        assert found == expected
    assert expected is not None
    one_by_one = [LABELS.find(cell if cell is None else alike(cell)) for cell in CELLS]
    assert expected[0] == [3 if each is None else each for each in one_by_one]


@pytest.mark.parametrize("form", ["text", "coded", "wider"])
def test_only_cells_that_somebody_holds_are_strangers(form: str) -> None:
    domain = hush.Domain(labels=["a", "b"])
    coder = Coder(domain, "c")
    assert coder.encode(forms(["a", "b", "a"])[form], 1).tolist() == [0, 1, 0]
    with pytest.raises(DomainError, match="row 12 must be one of the domain's 2 labels"):
        coder.encode(forms(["a", "b", "x"])[form], 10)


@pytest.mark.parametrize("kind", ["uint8", "int16", "int64", "uint64"])
def test_integers_are_the_values(kind: str) -> None:
    coder = Coder(hush.Domain(size=100), "c")
    assert coder.encode(pa.array([0, 99, 5], kind).slice(1), 1).tolist() == [99, 5]
    with pytest.raises(DomainError, match=r"row 2 must be an integer in 0\.\.99"):
        coder.encode(pa.array([0, 100], kind), 1)
    with pytest.raises(DomainError, match=r"row 2 .* a missing value"):
        coder.encode(pa.array([0, None], kind), 1)
    if kind.startswith("i"):
        with pytest.raises(DomainError, match="row 1"):
            coder.encode(pa.array([-1, 0], kind), 1)
    clipping = Coder(hush.Domain(size=100), "c", clip=True)
    assert clipping.encode(pa.array([0, 120, 99], kind), 1).tolist() == [0, 99, 99]
    assert clipping.encode(pa.array([1, 2], kind), 1).tolist() == [1, 2]
    assert clipping.clipped == 1


def test_nested_cells_are_refused() -> None:
    coder = Coder(LABELS, "c")
    for cells in (pa.array([["a"]]), pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([["a"]]))):
        with pytest.raises(hush.errors.ParameterError, match="column c must hold plain values"):
            coder.encode(cells, 1)


def test_no_cells() -> None:
    for cells in forms([]).values():
        assert Coder(LABELS, "c").encode(cells, 1).tolist() == []
