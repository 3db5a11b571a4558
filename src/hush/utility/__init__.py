"""Utility-optimized local differential privacy (ULDP): only what is sensitive is hidden.

`transform` turns any mechanism over the sensitive values of a domain into one over all of its values; uRR, uRAP, uHR,
uSS, uUE, uLH and uWheel are the known ones by name. All are mechanisms like any other. `IDUE` has a budget for every
value instead.
"""

from hush.guarantee import MinIDLDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import AGRR, GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import ABLH, AOLH, OLH
from hush.mechanisms.registry import register
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import ASUE, OUE
from hush.utility.balanced import BalancedLH
from hush.utility.by_budget.mechanism import IDUE
from hush.utility.by_class import Classes, classes
from hush.utility.collaborative import Collaboration, collaborate, told_theta
from hush.utility.combining import combined, followed
from hush.utility.error import total_error
from hush.utility.named import NamedOracle, uHR, uLH, uRAP, uRR, uSS, uUE, uWheel
from hush.utility.oracle import UtilityOracle
from hush.utility.theory import z_star_by_attack, z_star_by_enumeration
from hush.utility.transform import Transformed, transform

MECHANISMS: tuple[type[NamedOracle], ...] = (uRR, uRAP, uHR, uSS, uUE, uLH, uWheel)
"""The known ones, all registered."""
PLAIN: tuple[type[FrequencyOracle], ...] = (GRR, SS, OUE, OLH, HR)
"""Mechanisms that protect every value, which they are compared with."""
APPROXIMATE: tuple[type[FrequencyOracle], ...] = (AGRR, ASUE, ABLH, AOLH)
"""Those with a delta that `transform` takes."""

for _each in MECHANISMS:
    register(_each)
for _part in (Transformed, BalancedLH, IDUE):
    register(_part, listed=False)  # a spec may name them, but k and epsilon do not say which is meant

__all__ = [
    "APPROXIMATE",
    "IDUE",
    "MECHANISMS",
    "PLAIN",
    "BalancedLH",
    "Classes",
    "Collaboration",
    "MinIDLDP",
    "Transformed",
    "UtilityOracle",
    "classes",
    "collaborate",
    "combined",
    "followed",
    "told_theta",
    "total_error",
    "transform",
    "uHR",
    "uLH",
    "uRAP",
    "uRR",
    "uSS",
    "uUE",
    "uWheel",
    "z_star_by_attack",
    "z_star_by_enumeration",
]
