"""Collections of tuples: several attributes from everybody, in one report.

SPL splits the budget, SMP samples an attribute, RSFD and RSRFD sample one and hide it among fakes.
"""

from hush.multidim.amplification import amplified, claim_for
from hush.multidim.base import Multidim
from hush.multidim.fake_data import RSFD, RSRFD
from hush.multidim.sampled import SMP
from hush.multidim.spec import from_dict, from_json, registry
from hush.multidim.split import SPL

__all__ = [
    "RSFD",
    "RSRFD",
    "SMP",
    "SPL",
    "Multidim",
    "amplified",
    "claim_for",
    "from_dict",
    "from_json",
    "registry",
]
