"""Collections of tuples: several attributes from everybody, in one report.

SPL splits the budget, SMP samples an attribute, RSFD and RSRFD sample one and hide it among fakes.
"""

from hush.mechanisms import registry as _registry
from hush.mechanisms.renamed import moved
from hush.mechanisms.spec import Spec
from hush.multidim.amplification import amplified, claim_for
from hush.multidim.attributes import Attributes
from hush.multidim.base import Multidim
from hush.multidim.fake_data import RSFD, RSRFD
from hush.multidim.sampled import SMP
from hush.multidim.split import SPL

for _each in (SPL, SMP, RSFD, RSRFD):
    _registry.register(_each)

__all__ = [
    "RSFD",
    "RSRFD",
    "SMP",
    "SPL",
    "Attributes",
    "Multidim",
    "amplified",
    "claim_for",
]

__getattr__ = moved(
    __name__,
    {
        "from_dict": ("hush.from_dict", lambda: _registry.from_dict),
        "from_json": ("hush.Spec.from_json", lambda: lambda text: Spec.from_json(text).mechanism),
        "registry": ("hush.registry", lambda: lambda: _registry.registry("multidim")),
    },
)
