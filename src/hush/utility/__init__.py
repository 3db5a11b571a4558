"""Utility-optimized local differential privacy (ULDP): only what is sensitive is hidden.

`transform` turns any mechanism over the sensitive values of a domain into one over all of its values; uRR, uRAP, uHR,
uSS, uUE, uLH and uWheel are the known ones by name. All are mechanisms like any other.
"""

from hush.mechanisms._base import FrequencyOracle
from hush.utility._oracle import UtilityOracle
from hush.utility.balanced import BalancedLH
from hush.utility.collaborative import Collaboration, collaborate, combined, told_theta
from hush.utility.error import total_error
from hush.utility.named import uHR, uLH, uRAP, uRR, uSS, uUE, uWheel
from hush.utility.theory import z_star_by_attack, z_star_by_enumeration
from hush.utility.transform import Transformed, transform

MECHANISMS: tuple[type[FrequencyOracle], ...] = (uRR, uRAP, uHR, uSS, uUE, uLH, uWheel, Transformed, BalancedLH)
"""All that a spec may name: `hush.register` makes each of them known to `hush.from_dict`."""

__all__ = [
    "MECHANISMS",
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
