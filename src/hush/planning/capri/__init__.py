"""CAPRI: the smallest budget with which a total of private amounts is told from a capacity.

From "Optimized privacy budget selection for LDP" (a thesis; chapters 4 and 6), with exact probabilities where it
simulates: see `hush.analysis.capacity`.
"""

from __future__ import annotations

from hush.analysis.totals import Law
from hush.mechanisms.renamed import moved
from hush.planning.capri.answer import CapacityAnswer, Evidence, Truth
from hush.planning.capri.exposure import Exposure, exposure
from hush.planning.capri.laws import law
from hush.planning.capri.means import OnlyMean
from hush.planning.capri.population import Population, only_mean, population
from hush.planning.capri.question import exceeds
from hush.planning.capri.rounds import Step, estimated, first_round, first_rounds, over_time
from hush.planning.capri.select import METHODS, capacity

__all__ = [
    "METHODS",
    "CapacityAnswer",
    "Evidence",
    "Exposure",
    "Law",
    "OnlyMean",
    "Population",
    "Step",
    "Truth",
    "capacity",
    "estimated",
    "exceeds",
    "exposure",
    "first_round",
    "first_rounds",
    "law",
    "only_mean",
    "over_time",
    "population",
]

__getattr__ = moved(__name__, {"Answer": ("CapacityAnswer", lambda: CapacityAnswer)})
