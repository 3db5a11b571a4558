"""What an estimated total of amounts is worth, from what a mechanism's forms say of its reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from hush.estimation.consistency import simplex
from hush.estimation.laws import EstimateLaw
from hush.estimation.sums import OfNoise, OfReports, TotalLaw
from hush.mechanisms.forms import Forms
from hush.people.population import apportioned
from hush.types import Floats

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle


def total_law(
    m: FrequencyOracle,
    frequencies: Floats,
    n: int,
    law: EstimateLaw | Callable[[], EstimateLaw | None] | None,
    amounts: Floats,
) -> TotalLaw | None:
    """The law of the total of amounts of which these frequencies were estimated; None where nothing is known.

    Args:
        m: The mechanism.
        frequencies: As they were estimated.
        n: Number of reports.
        law: Theirs, or what computes it.
        amounts: What each value stands for.
    """
    found = m.forms.report_adds(amounts)
    if found is None:
        if type(m.forms).total_law is Forms.total_law:  # which would simulate whole collections
            return None
        known = m.forms.total_law(amounts, apportioned(simplex(frequencies), n))

        def plain(tail: float) -> bool:
            each = law() if callable(law) else law
            return each is not None and bool(each.normal(tail).all())

        return OfNoise(known.variance, plain, known.step)
    spread = np.maximum(found.variance, 0.0)
    middle = float(spread.mean())  # true frequencies add up to one, estimated ones need not
    variance = float(np.clip(middle + frequencies @ (spread - middle), spread.min(), spread.max()))
    doubts = m.forms.report_adds(spread - middle)
    return OfReports(
        total=n * float(frequencies @ amounts),
        n=n,
        amounts=amounts,
        variances=spread,
        variance=n * variance,
        doubt=float("inf") if doubts is None else float(doubts.variance.max()),
        less_one=found.phi_less_one,
        cells=found.cells,
        step=m.forms.total_law(amounts, np.eye(1, m.k, dtype=np.int64)[0]).step,
    )
