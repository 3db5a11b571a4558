"""How many collections a search simulates: what the thesis says (section 4.1.6), to stand beside what is counted.

Printed for each method is a number of budgets times N, the runs at one of them; a run costs a collection and its loss.
Two things are read differently. The second form printed for DBS leaves the precision out of the logarithm, as if it
were one; the first has it, and so does this. And DBS runs between its least number and N at a budget, so that its cost
is a range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hush.errors import ParameterError, message
from hush.planning.optimus.bayes import Bayes
from hush.planning.optimus.binary import BS, DBS, RBS
from hush.planning.optimus.found import Method, enough_runs
from hush.planning.optimus.multipass import MPass
from hush.planning.optimus.question import RANGE
from hush.planning.optimus.question import budgets as checked_range


@dataclass(frozen=True)
class Complexity:
    """What a search is said to cost.

    Args:
        budgets: How many budgets are tried.
        least: How many collections are simulated, at least.
        most: At most; the same, but for DBS.
    """

    budgets: float
    least: float
    most: float


def complexity(method: Method, *, epsilon: tuple[float, float] = RANGE, runs: int = 1000) -> Complexity:
    """What the thesis says that a method costs.

    Args:
        method: One of the thesis's, with its parameters, as in `RBS(g=5)`.
        epsilon: The least and the largest budget to consider.
        runs: At a budget; for DBS, at most.

    >>> [round(complexity(each).budgets, 1) for each in (BS(), RBS(), MPass(), Bayes())]
    [11.0, 26.4, 100.0, 40.0]
    >>> complexity(DBS(least=100), runs=1000).least < complexity(DBS(least=100), runs=1000).most
    True
    """
    low, high = checked_range(epsilon, RANGE[1])
    many = enough_runs(runs)
    if isinstance(method, (BS, DBS, RBS)):
        shrinks = 2 * method.g / (2 + method.g) if isinstance(method, RBS) else 2.0
        tried = max(math.log((high - low) / method.precision, shrinks), 0.0)
    elif isinstance(method, MPass):
        tried = (high - low) + (method.passes - 1) * 2 * method.g
    elif isinstance(method, Bayes):
        tried = float(method.initial + method.iterations)
    else:
        rule = "must be BS, RBS, DBS, MPass or Bayes, with or without parameters"
        raise ParameterError(message("method", rule, method, "use e.g. optimus.RBS(g=5)"))
    least = min(method.least, many) if isinstance(method, DBS) else many
    return Complexity(tried, tried * least, tried * many)
