"""Kinds of arrays, by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Complexes = npt.NDArray[np.complex128]

Values = npt.NDArray[np.int64]
"""What people hold, as numbers 0..k-1."""

Reports = npt.NDArray[Any]
"""What people send: records of their mechanism's `report_dtype`."""
