"""The rules that collections of tuples and the truth about them obey."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.attacks.outcome import one_each
from hush.errors import ParameterError, message
from hush.multidim import Multidim, checks
from hush.types import Ints


def collection(m: object) -> None:
    """Refuse what is not a collection of tuples."""
    if not isinstance(m, Multidim):
        rule, remedy = "must be a collection of tuples", "pass e.g. SMP(sizes=(2, 5), epsilon=1.0)"
        raise ParameterError(message("m", rule, type(m), remedy))


def counted_tuples(m: Multidim, tuples: npt.ArrayLike, n: int) -> Ints:
    """The truth about each of n people: tuples."""
    checked = checks.tuples(np.asarray(tuples), m.sizes)
    one_each("tuples", len(checked), n)
    return checked
