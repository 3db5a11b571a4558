"""Oracles that a survey may be built from: registered ones that need nothing but the values and the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hush.guarantee import LDP
from hush.mechanisms.adaptive import Adaptive
from hush.mechanisms.forms import companion_of
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes


def usual_oracles(sizes: Sequence[int]) -> Iterator[str]:
    """Names of pure oracles that take k and epsilon alone, promise pure privacy, and are worth a look at these sizes.

    Those that choose a parameter against attackers, at the price of variance, are left out, and so are whole
    histograms of noise.

    >>> {"GRR", "OUE", "SS"} <= set(usual_oracles((4, 9)))
    True
    """
    for name, cls in registry().items():
        needed = {each for each, must in takes(cls).items() if must}
        if not issubclass(cls, PureOracle) or issubclass(cls, Adaptive) or needed != {"k", "epsilon"}:
            continue
        one = cls(k=2, epsilon=1.0)
        bulky = one.forms.vectors(np.zeros(0, one.report_dtype)) is not None  # a number for each value
        if not bulky and isinstance(one.guarantee, LDP) and all(companion_of(cls).planned(k) for k in sizes):
            yield name
