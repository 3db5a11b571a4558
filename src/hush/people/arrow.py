"""Numbers and records between NumPy and Arrow, by their bytes.

Arrow's own ways ask pandas about everything they are given, and to import it takes half a second. NumPy's own texts of
bytes end at their last byte that is not zero, so records never pass through them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ReportError, Unsaid, message

COLUMN = "report"
"""What the column of reports is called, in files and in frames."""


def to_arrow(numbers: npt.NDArray[Any]) -> Any:
    """An Arrow array of integers or floats; they are not copied."""
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, data])


def is_records(kind: Any, size: int) -> bool:
    """Whether a type of Arrow's holds records of so many bytes, or may: binaries of any length are looked at."""
    import pyarrow as pa

    return kind == pa.binary(size) or _is_any_binary(kind)


def _is_any_binary(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)


def records(cells: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The records of an Arrow array of binaries, as `is_records` allows them; those of a fixed size are not copied."""
    import pyarrow as pa

    if cells.null_count:
        found = Unsaid(f"{cells.null_count} empty cells")
        raise ReportError(message("reports", "must not be missing", found, "remove those rows"))
    if not len(cells):
        return np.zeros(0, dtype)
    if cells.type == pa.binary(dtype.itemsize):
        return np.frombuffer(cells.buffers()[1], dtype, len(cells), cells.offset * dtype.itemsize)
    if pa.types.is_binary_view(cells.type):
        cells = cells.cast(pa.large_binary())
    width = np.int64 if pa.types.is_large_binary(cells.type) else np.int32
    ends = np.frombuffer(cells.buffers()[1], width, len(cells) + 1, cells.offset * np.dtype(width).itemsize)
    odd = np.diff(ends) != dtype.itemsize
    if odd.any():
        at = int(np.argmax(odd))
        got = Unsaid(f"{int(ends[at + 1] - ends[at])} bytes at position {at}")
        rule = f"must have {dtype.itemsize} bytes each"
        raise ReportError(message("reports", rule, got, "read them from a report file, or check their spec"))
    return np.frombuffer(cells.buffers()[2], dtype, len(cells), int(ends[0]))


def records_in(batch: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The records in the column `report` of a record batch, none of which may be missing."""
    import pyarrow as pa

    kind = batch.schema.field(COLUMN).type if batch.schema.names.count(COLUMN) == 1 else None
    if kind == pa.null() and not batch.num_rows:  # pandas knows no types of columns without rows
        return np.zeros(0, dtype)
    if kind is None or not is_records(kind, dtype.itemsize):
        rule = f"must have one column {COLUMN!r} of {dtype.itemsize}-byte binaries"
        kinds = ", ".join(str(each.type) for each in batch.schema)  # and no names, which may be anybody's
        got = Unsaid(f"{batch.num_columns} column{'s' * (batch.num_columns != 1)} ({kinds or 'none'})")
        raise ReportError(message("batch", rule, got, "read it from a report file, or cast the column"))
    return records(batch.column(COLUMN), dtype)


def to_numpy(numbers: Any, missing: float = 0) -> npt.NDArray[Any]:
    """The integers or floats of an Arrow array, with `missing` in place of what it lacks."""
    valid, data = numbers.buffers()
    n, start = len(numbers), numbers.offset
    if n == 0:
        return np.zeros(0, numbers.type.to_pandas_dtype())
    found = np.frombuffer(data, numbers.type.to_pandas_dtype(), n + start)[start:]
    if not numbers.null_count:
        return found
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[start : start + n]
    return np.where(bits, found, found.dtype.type(missing))
