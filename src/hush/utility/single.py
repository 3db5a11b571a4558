"""One sensitive value: the base mechanism that has nothing to hide among the sensitive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ReportError, message
from hush.estimation.bounds import CERTAIN, Term, Terms
from hush.estimation.laws import EstimateLaw, Supports
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms
from hush.types import Floats, Ints, Reports, Values
from hush.utility.forms import SingleForms


@dataclass(frozen=True, kw_only=True)
class Single(FrequencyOracle):
    """A domain of one value: every report is the same. All that protects it is that others report it in disguise.

    >>> Single(epsilon=1.0).privatize([0, 0]).tolist()
    [0, 0]
    """

    k: int = 1

    companion: ClassVar[type[Forms]] = SingleForms
    family: ClassVar[str] = "direct"
    tight: ClassVar[bool] = False
    sufficient: ClassVar[bool] = True

    def __post_init__(self) -> None:
        remedy = "leave it out: with more values use another mechanism"
        self._set(k=rules.integer("k", self.k, 1, 1, remedy), epsilon=rules.epsilon(self.epsilon))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """A zero."""
        return np.dtype("u1")

    @property
    def bits(self) -> int:
        """None are needed."""
        return 0

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        """Zeros."""
        return np.zeros(values.size, np.uint8)

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        """Every report supports the value."""
        return np.ones(reports.size, np.bool_)

    def tally(self, reports: Reports) -> Ints:
        """How many reports there are."""
        if reports.size and reports.any():
            raise ReportError(message("reports", "must be zero", int(reports.max()), "check their spec"))
        return np.array([reports.size], np.int64)

    def decode(self, tally: Ints, n: int) -> Floats:
        """All hold it."""
        return np.asarray(tally / n, np.float64)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Nothing varies."""
        return np.zeros(1)

    def terms(self) -> Terms:
        """A report says one, whoever sent it; nobody holds another value."""
        return Terms(CERTAIN, Term(0.0, 1.0, 0.0), math.inf)

    def law(self, tally: Ints, n: int) -> EstimateLaw:
        """Nothing varies."""
        return Supports(tally, n, 1.0, 0.0)

    def outputs(self, public: Any = None) -> Reports:
        """One."""
        return np.zeros(1, np.uint8)

    def weight(self, report: Any, value: int) -> int:
        """Certain."""
        return 1

    def exact_epsilon(self) -> float:
        """There is no other value to be told from."""
        return 0.0

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """It is known."""
        return 1.0

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return counts.copy()
