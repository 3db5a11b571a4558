"""Collections of tuples: several attributes from everybody, in one report.

SPL splits the budget, SMP samples an attribute, RSFD and RSRFD sample one and hide it among fakes. LSPL and LSMP do
what SPL and SMP do again and again, over time, with answers that each person keeps.
"""

from hush.mechanisms import registry as _registry
from hush.mechanisms.renamed import moved
from hush.mechanisms.spec import Spec
from hush.multidim._first_report import FirstLSMP, FirstLSPL
from hush.multidim.amplification import amplified, claim_for
from hush.multidim.attributes import Attributes
from hush.multidim.base import Multidim
from hush.multidim.fake_data import RSFD, RSRFD
from hush.multidim.kept import LSMP, LSPL
from hush.multidim.over_time import TuplesOverTime
from hush.multidim.sampled import SMP
from hush.multidim.split import SPL

for _each in (SPL, SMP, RSFD, RSRFD, LSMP, LSPL):
    _registry.register(_each)
for _one in (FirstLSMP, FirstLSPL):
    _registry.register(_one, listed=False)  # specs of one round name them

__all__ = [
    "LSMP",
    "LSPL",
    "RSFD",
    "RSRFD",
    "SMP",
    "SPL",
    "Attributes",
    "Multidim",
    "TuplesOverTime",
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
