"""Tuples over time: an attribute drawn for good (LSMP), or all of them with a share of the budget each (LSPL).

Arcolezi et al., "Improving the utility of locally differentially private protocols for longitudinal and
multidimensional frequency estimates" (Digital Communications and Networks 2022): each person draws one attribute once
and reports it by a protocol of two rounds, every time (ALLOMFREE chooses L-GRR or L-OSUE for it). An attribute that
were drawn anew each time would in the end be all of them, each with the whole budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.guarantee import above
from hush.mechanisms.direct import unsigned
from hush.multidim._first_report import FirstLSMP, FirstLSPL
from hush.multidim.chances import uniform
from hush.multidim.over_time import Draw, TuplesOverTime
from hush.multidim.split import share_of
from hush.types import Ints


@dataclass(frozen=True, kw_only=True)
class LSMP(TuplesOverTime):
    """Draw one attribute for good and report it every time, by a protocol over time with the whole budgets.

    Which attribute it is stands in every report. The exact loss is the largest of the attributes'.

    Args:
        sizes: Domain size of each attribute.
        epsilon_permanent: Loss of any number of reports of a tuple that does not change.
        epsilon_report: Loss of one report, below epsilon_permanent.
        protocol: A registered protocol of two rounds, or one for each attribute; "ADP" stands for LGRR or LOSUE,
            whichever has less variance there.
        options: Other parameters of the protocol, such as {"g": 4}.
        chosen: What the protocol of each attribute chose for itself, as a spec has it; chosen when left out.

    >>> LSMP(sizes=(2, 5, 100), epsilon_permanent=2.0, epsilon_report=1.0).protocol
    ('LGRR', 'LGRR', 'LOSUE')
    """

    samples: ClassVar[bool] = True

    @property
    def _budgets(self) -> tuple[float, float]:
        return self.epsilon_permanent, self.epsilon_report

    @cached_property
    def first_report(self) -> FirstLSMP:
        """The law of any one report: that of SMP over the protocols' own first reports."""
        return FirstLSMP(sizes=self.sizes, epsilon=self.epsilon_report, protocols=self.components)

    def _combined(self, losses: Iterable[float]) -> float:
        """The largest: which attribute is reported depends on nobody's values."""
        return max(losses)

    def _speakers(self, n: int, recall: Callable[[Draw], npt.NDArray[Any]], rng: np.random.Generator) -> list[Ints]:
        drawn = recall(lambda new: uniform(new, self.d, rng).astype(unsigned(self.d - 1)))
        return [np.nonzero(drawn == j)[0] for j in range(self.d)]


@dataclass(frozen=True, kw_only=True)
class LSPL(TuplesOverTime):
    """Report every attribute every time, each by a protocol over time with 1/d of both budgets.

    Losses add up over the attributes.

    Args:
        sizes: Domain size of each attribute.
        epsilon_permanent: Loss of any number of reports of a tuple that does not change.
        epsilon_report: Loss of one report, below epsilon_permanent.
        protocol: A registered protocol of two rounds, or one for each attribute; "ADP" stands for LGRR or LOSUE,
            whichever has less variance there.
        options: Other parameters of the protocol, such as {"g": 4}.
        chosen: What the protocol of each attribute chose for itself, as a spec has it; chosen when left out.

    >>> LSPL(sizes=(2, 100), epsilon_permanent=4.0, epsilon_report=2.0).components[0].epsilon_report
    1.0
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.first_report

    @property
    def _budgets(self) -> tuple[float, float]:
        """1/d of both, rounded down so that d of them never exceed the whole."""
        one = share_of(self.epsilon_report, self.d)
        if one < rules.MIN_EPSILON:
            rule = f"must give each of {self.d} attributes {rules.MIN_EPSILON:g} or more"
            raise ParameterError(message("epsilon_report", rule, self.epsilon_report, "choose a larger budget"))
        return share_of(self.epsilon_permanent, self.d), one

    @cached_property
    def first_report(self) -> FirstLSPL:
        """The law of any one report: that of SPL over the protocols' own first reports."""
        return FirstLSPL(sizes=self.sizes, epsilon=self.epsilon_report, protocols=self.components)

    def _combined(self, losses: Iterable[float]) -> float:
        """Their sum."""
        several = list(losses)
        return math.inf if math.inf in several else above(sum(map(Fraction, several), start=Fraction(0)))

    def _speakers(self, n: int, recall: Callable[[Draw], npt.NDArray[Any]], rng: np.random.Generator) -> list[Ints]:
        return [np.arange(n)] * self.d
