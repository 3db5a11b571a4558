"""Frames of whatever library, by the Arrow PyCapsule interface: pandas, Polars, Arrow, relations of DuckDB.

Two methods are asked for, `__arrow_c_stream__` and `__arrow_c_array__`, and never which library it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.people.arrow import COLUMN, records_in


def is_frame(data: object) -> bool:
    """Whether something hands its rows over as Arrow does."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def batches_of(frame: Any) -> Iterator[Any]:
    """The rows of a frame as Arrow record batches, one after the other; a column alone is the column `report`.

    The index of a frame of pandas is no column: whoever keeps a frame beside reports would keep names with it.
    """
    import pyarrow as pa

    found = imported(frame)
    if isinstance(found, (pa.Array, pa.ChunkedArray)):
        whole = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
        yield from (pa.record_batch([chunk], [COLUMN]) for chunk in whole.chunks)
        return
    index = _index(found.schema)
    for batch in [found] if isinstance(found, pa.RecordBatch) else found:
        yield batch.select([i for i, name in enumerate(batch.schema.names) if name not in index])


def without_rows(frame: Any) -> Any:
    """A record batch with the columns of a frame and none of its rows; libraries hand over no batch where none are."""
    import pyarrow as pa

    schema = imported(frame).schema
    columns = [i for i, name in enumerate(schema.names) if name not in _index(schema)]
    return pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema).select(columns)


def report_arrays(reports: Any, dtype: np.dtype[Any]) -> Any:
    """Reports as arrays, where a frame or a column holds them, or some of many parts; what is neither stays as it is.

    Args:
        reports: A frame with a column `report`, a column of binaries, arrays, or several of these one after the other.
        dtype: Of a report.
    """
    if is_frame(reports) and not isinstance(reports, np.ndarray):
        return (records_in(batch, dtype) for batch in batches_of(reports))
    if isinstance(reports, (np.ndarray, np.generic, str, bytes)) or not isinstance(reports, Iterable):
        return reports
    return _each(reports, dtype)


def _each(parts: Iterable[Any], dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    for part in parts:
        yield from report_arrays(part, dtype) if is_frame(part) else [part]


def imported(frame: Any) -> Any:
    """A frame as a record batch or a reader of them; a column as an array."""
    import pyarrow as pa

    if isinstance(frame, (pa.RecordBatch, pa.RecordBatchReader, pa.Array, pa.ChunkedArray)):
        return frame
    if isinstance(frame, pa.Table):
        return frame.to_reader()
    if not hasattr(frame, "__arrow_c_stream__"):
        found = pa.array(frame)
        return pa.RecordBatch.from_struct_array(found) if pa.types.is_struct(found.type) else found
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except pa.ArrowInvalid:  # a column
        return pa.chunked_array(frame)


def _index(schema: Any) -> set[str]:
    """The columns of a frame of pandas that are its index."""
    told = (schema.metadata or {}).get(b"pandas")
    named = json.loads(told).get("index_columns", []) if told else []
    return {name for name in named if isinstance(name, str)}
