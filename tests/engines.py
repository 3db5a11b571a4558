"""What every engine must count alike: specs of several kinds and sizes, and reports, awkward ones among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import hush
from hush.errors import ReportError
from hush.multidim import SMP

SPECS = {
    "GRR": hush.Spec(hush.GRR(k=300, epsilon=1.0)),
    "OUE, k=10": hush.Spec(hush.OUE(k=10, epsilon=1.0)),
    "OUE, k=17": hush.Spec(hush.OUE(k=17, epsilon=1.0)),
    "OLH": hush.Spec(hush.OLH(k=17, epsilon=1.0)),
    "SS": hush.Spec(hush.SS(k=17, epsilon=1.0)),
    "HR": hush.Spec(hush.HR(k=17, epsilon=1.0)),
    "a mean": hush.Spec(hush.Duchi(low=0.0, high=16.0, epsilon=1.0)),
    "tuples": hush.Spec(SMP(sizes=(3, 17), epsilon=1.0)),
}


def reports(spec: hush.Spec, n: int, seed: int = 3) -> npt.NDArray[Any]:
    """So many reports; where a record of zero bytes alone is one, every third is that."""
    rng = np.random.default_rng(seed)
    values: Any = rng.integers(0, min(17, getattr(spec.mechanism, "k", 17)), n)
    if spec.mechanism.kind == "multidim":
        values = np.stack([values % 3, values], axis=1)
    made = spec.privatize(values.astype(float) if spec.mechanism.kind == "numeric" else values, rng=hush.seeded(seed))
    zero = np.zeros(1, made.dtype)
    try:
        spec.mechanism.validate(zero)
    except ReportError:
        return made
    made[::3] = zero[0]
    return made


def parts(spec: hush.Spec, n: int) -> list[npt.NDArray[Any]]:
    """The same reports in several parts, the last of which has none."""
    whole = reports(spec, n)
    return [whole[: n // 3], whole[n // 3 :], whole[:0]]
