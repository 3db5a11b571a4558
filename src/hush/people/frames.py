"""Frames of whatever library, by the Arrow PyCapsule interface: pandas, Polars, Arrow, relations of DuckDB.

Two methods are asked for, `__arrow_c_stream__` and `__arrow_c_array__`, and never which library it is.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.people.arrow import COLUMN, records_in

_SCHEMA = 9 * 8  # bytes of a schema of Arrow's C interface, at most


def is_frame(data: object) -> bool:
    """Whether something hands its rows over as Arrow does."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def batches_of(frame: Any) -> Iterator[Any]:
    """The rows of a frame as Arrow record batches, one after the other; a column alone is the column `report`.

    There is at least one, though it may be empty: libraries hand over none where there are no rows, and with it the
    columns would be lost.

    The index of a frame of pandas is no column: whoever keeps a frame beside reports would keep names with it.
    """
    import pyarrow as pa

    found = imported(frame)
    if isinstance(found, (pa.Array, pa.ChunkedArray)):
        chunks = found.chunks if isinstance(found, pa.ChunkedArray) else [found]
        yield from (pa.record_batch([chunk], [COLUMN]) for chunk in chunks or [pa.nulls(0, found.type)])
        return
    index = _index(found.schema)
    wanted = [i for i, name in enumerate(found.schema.names) if name not in index]
    empty = True
    for batch in [found] if isinstance(found, pa.RecordBatch) else found:
        yield batch.select(wanted)
        empty = False
    if empty:
        yield pa.record_batch([pa.nulls(0, field.type) for field in found.schema], schema=found.schema).select(wanted)


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
    stream = _Stream(frame.__arrow_c_stream__())
    return pa.RecordBatchReader.from_stream(stream) if stream.has_columns else pa.chunked_array(stream)


class _Functions(ctypes.Structure):
    """A stream of Arrow's C interface."""

    _fields_: ClassVar = [
        ("schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        *((name, ctypes.c_void_p) for name in ("next", "error", "release", "own")),
    ]


class _Stream:
    """What a library handed over, which many can do only once.

    Args:
        capsule: Its stream.
    """

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._capsule

    @property
    def has_columns(self) -> bool:
        """Whether it is a frame, and not one column: its schema is looked at, and no row."""
        import pyarrow as pa

        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        address = pointer(self._capsule, b"arrow_array_stream")
        schema = ctypes.create_string_buffer(_SCHEMA)
        if _Functions.from_address(address).schema(address, ctypes.addressof(schema)):
            return True  # whoever reads it says what is wrong
        return pa.types.is_struct(pa.DataType._import_from_c(ctypes.addressof(schema)))


def _index(schema: Any) -> set[str]:
    """The columns of a frame of pandas that are its index."""
    told = (schema.metadata or {}).get(b"pandas")
    named = json.loads(told).get("index_columns", []) if told else []
    return {name for name in named if isinstance(name, str)}
