"""Numbers between NumPy and Arrow, by their bytes.

Arrow's own ways ask pandas about everything they are given, and to import it takes half a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def to_arrow(numbers: npt.NDArray[Any]) -> Any:
    """An Arrow array of integers or floats; they are not copied."""
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, data])


def records(cells: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The records of an Arrow array of fixed-size binaries, none of them missing; they are not copied."""
    if not len(cells):
        return np.zeros(0, dtype)
    return np.frombuffer(cells.buffers()[1], dtype, len(cells), cells.offset * dtype.itemsize)


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
