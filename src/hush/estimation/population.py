"""The people that a collection estimated, to plan the next one for."""

from __future__ import annotations

import numpy as np

from hush.estimation.consistency import simplex
from hush.estimation.estimate import Estimate
from hush.people import Population


def estimated(estimate: Estimate) -> Population:
    """As many people as reported, drawn from the estimated frequencies, taken to the nearest ones that can be."""
    shares = simplex(np.asarray(estimate.frequencies, np.float64))
    return Population(shares, estimate.domain, drawn=estimate.n, estimated=True)
