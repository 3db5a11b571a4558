"""Utility-optimized local differential privacy (ULDP): only what is sensitive is hidden.

`transform` turns any mechanism over the sensitive values of a domain into one over all of its values; uRR, uRAP, uHR,
uSS, uUE, uLH and uWheel are the known ones by name. All are mechanisms like any other.
"""

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import OLH
from hush.mechanisms.registry import register
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import OUE
from hush.utility.balanced import BalancedLH
from hush.utility.collaborative import Collaboration, collaborate, combined, told_theta
from hush.utility.error import total_error
from hush.utility.named import NamedOracle, uHR, uLH, uRAP, uRR, uSS, uUE, uWheel
from hush.utility.oracle import UtilityOracle
from hush.utility.theory import z_star_by_attack, z_star_by_enumeration
from hush.utility.transform import Transformed, transform

MECHANISMS: tuple[type[NamedOracle], ...] = (uRR, uRAP, uHR, uSS, uUE, uLH, uWheel)
"""The known ones, all registered."""
PLAIN: tuple[type[FrequencyOracle], ...] = (GRR, SS, OUE, OLH, HR)
"""Mechanisms that protect every value, which they are compared with."""

for _each in MECHANISMS:
    register(_each)
for _part in (Transformed, BalancedLH):
    register(_part, listed=False)  # a spec may name them, but k and epsilon do not say which is meant

__all__ = [
    "MECHANISMS",
    "PLAIN",
    "BalancedLH",
    "Collaboration",
    "Transformed",
    "UtilityOracle",
    "collaborate",
    "combined",
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
