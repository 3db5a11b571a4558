"""The law of the estimated total of a population."""

from __future__ import annotations

from hush.analysis.totals import Law
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.planning.capri.population import Population


def law(m: FrequencyOracle | Numeric, people: Population) -> Law:
    """The law of the estimated total of a population.

    It is exact for every mechanism here but MSS, hashing being taken as ideal; `kind` tells. MSS's is that of a
    first-order term, right but for one part in n. A mechanism of your own is enumerated; where its outputs are too
    many, or randomness is public, the law is taken as normal, with a variance from simulated collections, unless its
    forms have a `total_law` of their own.
    """
    if not isinstance(m, (FrequencyOracle, Numeric)):
        raise ParameterError(message("mechanism", "must be a mechanism", m, "pass e.g. hush.OUE(k=4, epsilon=1.0)"))
    return m.forms.total_law(people.amounts, people.counts)
