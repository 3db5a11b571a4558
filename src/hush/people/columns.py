"""Columns of people's values, as users hold them: lists, arrays, Series, Arrow and masked arrays, iterators.

Everybody in a column gets one report, in its order: nobody may vanish or be counted twice on the way to NumPy. What
messages say of a column tells nothing of its cells, not even their length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from functools import partial
from operator import is_
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, ReportError, Unsaid, message


def column(data: object) -> tuple[Any, bool]:
    """The cells of a column, for NumPy, with None where a value is missing; and whether data are one value alone.

    >>> column(label for label in ["cat", "dog"])
    (['cat', 'dog'], False)
    >>> column("cat")
    (['cat'], True)
    """
    if isinstance(data, (Mapping, Set)):
        rule, got = "must be in an order, which is that of the reports", Unsaid(f"a {type(data).__name__}")
        raise ParameterError(message("values", rule, got, "pass a list or an array"))
    data = streamed(data)
    if isinstance(data, np.ma.MaskedArray):
        return _single(_filled(data))
    if hasattr(data, "as_py"):  # a scalar of Arrow's
        return [data.as_py()], True
    if hasattr(data, "to_pylist") and hasattr(data, "null_count"):  # an array of Arrow's
        return (data.to_pylist() if data.null_count else data.to_numpy(zero_copy_only=False)), False  # type: ignore[attr-defined]
    if hasattr(data, "to_numpy"):  # a Series
        return _single(np.asarray(data.to_numpy()))
    if hasattr(data, "__array__"):
        return _single(np.asarray(data))
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        return [data], True
    listed = data if isinstance(data, (list, tuple)) else list(data)
    hidden = any(map(partial(is_, np.ma.masked), listed))
    return [None if cell is np.ma.masked else cell for cell in listed] if hidden else listed, False


def streamed(data: object) -> object:
    """What is no array of any kind, but hands its rows over as Arrow does, such as a relation of DuckDB: as Arrow's.

    That of a single column is that column.
    """
    if not hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_numpy") or hasattr(data, "__array__"):
        return data
    from hush.people.frames import imported

    found = imported(data)
    table = found.read_all() if hasattr(found, "read_all") else None
    return found if table is None else table.column(0) if table.num_columns == 1 else table


def cells(data: object, name: str = "values") -> npt.NDArray[Any]:
    """The cells of a column, or the one value, as an array; `name` is what messages call it."""
    return as_array(name, column(data)[0])


def as_array(name: str, data: object, dtype: Any = None) -> npt.NDArray[Any]:
    """Data as an array; refused where they make none, as rows of different lengths do."""
    try:
        return np.asarray(data, dtype)
    except (ValueError, TypeError, OverflowError):
        got = Unsaid("rows of different lengths, or something else that is no array")
        raise ParameterError(message(name, "must be an array of plain values", got, "pass one column")) from None


def _single(array: npt.NDArray[Any]) -> tuple[Any, bool]:
    return ([array[()]], True) if array.ndim == 0 else (array, False)


def _filled(data: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[Any]:
    """With None where a masked array hides a cell."""
    hidden = _hidden(data)
    if not hidden.any():
        return np.asarray(data.data)
    whole = np.array(data.data, object)
    whole[hidden] = None
    return whole


def _hidden(data: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[np.bool_]:
    """Which cells are masked; of records, those with any part masked."""
    mask = np.atleast_1d(np.ma.getmaskarray(data))
    if mask.dtype != bool:
        mask = np.logical_or.reduce(np.ascontiguousarray(mask).view(bool).reshape(*mask.shape, -1), axis=-1)
    return np.asarray(mask.reshape(data.shape), bool)


def missing(cell: object) -> bool:
    """Whether a cell holds no value: None, NaN, an infinity, or what pandas and NumPy write for none."""
    if cell is None or cell is np.ma.masked or (isinstance(cell, float) and not math.isfinite(cell)):
        return True
    return type(cell).__name__ in {"NAType", "NaTType"}


def kind(array: npt.NDArray[Any]) -> str:
    """What kind of cells an array has, and never how long the longest of them is.

    >>> kind(np.array(["cat"])), kind(np.array([0.5]))
    ('text', 'float64')
    """
    return {"U": "text", "S": "bytes", "V": "records"}.get(array.dtype.kind, str(array.dtype))


def not_integers(array: npt.NDArray[Any]) -> str:
    """What to say an array holds in place of integers: which cell is missing, or what kind they all are."""
    gaps = [missing(cell) for cell in array.ravel()] if array.dtype.kind in "fO" else []
    if not any(gaps):
        return kind(array)
    at = tuple(int(i) for i in np.unravel_index(gaps.index(True), array.shape))
    return Unsaid(f"a missing one at position {at[0] if len(at) == 1 else at}")


def all_reports(reports: object) -> npt.NDArray[Any]:
    """Reports as an array, none of which is masked: NumPy would count those too."""
    if isinstance(reports, np.ma.MaskedArray) and (hidden := _hidden(reports)).any():
        got = Unsaid(f"a masked one at position {int(np.argmax(hidden))}")
        raise ReportError(message("reports", "must not be masked", got, "leave those out"))
    return as_array("reports", reports)
