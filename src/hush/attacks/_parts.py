"""Which reports about tuples say something about an attribute, and what."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hush.attacks.outcome import one_each
from hush.errors import ParameterError, message
from hush.multidim import SMP, Multidim, checks
from hush.multidim._beside import SideBySide
from hush.types import Ints, Reports


def collection(m: object) -> None:
    """Refuse what is not a collection of tuples."""
    if not isinstance(m, Multidim):
        rule, remedy = "must be a collection of tuples", "pass e.g. SMP(sizes=(2, 5), epsilon=1.0)"
        raise ParameterError(message("m", rule, type(m), remedy))


def parts(m: Multidim, reports: Reports) -> Iterator[tuple[Ints, Reports]]:
    """For each attribute, the rows that have a part for it, and those parts."""
    if isinstance(m, SMP):
        for j in range(m.d):
            yield m._about(reports, j)
    elif isinstance(m, SideBySide):
        for name in m._fields:
            yield np.arange(reports.size), np.ascontiguousarray(reports[name])
    else:
        rule, remedy = "must be a known collection of tuples", "pass SPL, SMP, RSFD or RSRFD"
        raise ParameterError(message("m", rule, type(m), remedy))


def counted_tuples(m: Multidim, tuples: npt.ArrayLike, n: int) -> Ints:
    """The truth about each of n people: tuples."""
    checked = checks.tuples(np.asarray(tuples), m.sizes)
    one_each("tuples", len(checked), n)
    return checked
