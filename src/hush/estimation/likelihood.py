"""Maximum likelihood by expectation maximisation (iterative Bayesian update).

One step multiplies each frequency by the average, over reports, of how much more likely the report is under that
value than under the current mixture. Rows of likelihoods are made batch by batch and never held together; repeated
reports are counted once with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message

Floats = npt.NDArray[np.float64]
Batches = Callable[[], Iterable[tuple[Floats, Floats]]]


def maximize(batches: Batches, k: int, *, tolerance: float = 1e-8, steps: int = 10_000) -> Floats:
    """The distribution under which the reports are most likely.

    Args:
        batches: Gives (likelihoods of shape (rows, k), multiplicity of each row) afresh at each call; a row may be
            scaled by any positive constant.
        k: Number of values.
        tolerance: Stop when no frequency moves by more than this.
        steps: Give up after so many steps, with an error.
    """
    if not tolerance > 0:
        raise ParameterError(message("tolerance", "must be above 0", tolerance, "use e.g. 1e-8"))
    current = np.full(k, 1.0 / k)
    for _ in range(steps):
        moved = _step(batches, current)
        if np.abs(moved - current).max() <= tolerance:
            return moved
        current = moved
    raise ParameterError(
        message("steps", "must suffice to converge", steps, "raise steps or tolerance, or collect more reports")
    )


def _step(batches: Batches, current: Floats) -> Floats:
    total = np.zeros_like(current)
    n = 0.0
    for likelihoods, multiplicity in batches():
        total += (multiplicity / (likelihoods @ current)) @ likelihoods
        n += float(multiplicity.sum())
    moved = current * total / n
    return np.asarray(moved / moved.sum(), dtype=np.float64)
