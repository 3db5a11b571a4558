"""Hush: the whole road of a locally private data collection.

>>> import hush
>>> m = hush.OUE(k=4, epsilon=1.0)
>>> reports = m.privatize([0, 1, 1, 3], rng=hush.seeded(7))
>>> m.estimate(m.aggregate(reports)).frequencies.shape
(4,)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hush import _start, datasets, errors
from hush.errors import HushError
from hush.estimation import Aggregate, Estimate
from hush.guarantee import LDP, ULDP, ApproxLDP
from hush.mechanisms.adaptive import ALH, ASS, ATHE, AUE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import AGRR, GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import ABLH, AOLH, BLH, LH, LHO, OLH
from hush.mechanisms.histogram import AGM, GM, SHE, ServerTHE
from hush.mechanisms.modular import MSS, choose_moduli
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.projective import PGR
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.registry import from_dict, numeric_registry, register, registry
from hush.mechanisms.sketch import CMS, HCMS, RAPPOR
from hush.mechanisms.spec import Spec
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import ASUE, OUE, SUE, THE, UE
from hush.mechanisms.wheel import Wheel
from hush.people import Domain, Population
from hush.randomness import seeded
from hush.utility import uHR, uLH, uRAP, uRR, uSS, uUE, uWheel

if TYPE_CHECKING:
    from hush.files import read, write
    from hush.planning.capri import capacity
    from hush.planning.optimus import budget
    from hush.planning.plan import plan
    from hush.planning.surveys import survey
    from hush.planning.uldp import uldp

__version__ = "0.2.0.dev0"

__all__ = [
    "ABLH",
    "AGM",
    "AGRR",
    "ALH",
    "AOLH",
    "ASS",
    "ASUE",
    "ATHE",
    "AUE",
    "BLH",
    "CMS",
    "GM",
    "GRR",
    "HCMS",
    "HR",
    "LDP",
    "LH",
    "LHO",
    "MSS",
    "OLH",
    "OUE",
    "PGR",
    "RAPPOR",
    "SHE",
    "SS",
    "SUE",
    "THE",
    "UE",
    "ULDP",
    "Aggregate",
    "ApproxLDP",
    "Domain",
    "Duchi",
    "Estimate",
    "FrequencyOracle",
    "HushError",
    "Hybrid",
    "Numeric",
    "Piecewise",
    "Population",
    "PureOracle",
    "ServerTHE",
    "Spec",
    "Wheel",
    "budget",
    "capacity",
    "choose_moduli",
    "datasets",
    "errors",
    "from_dict",
    "numeric_registry",
    "plan",
    "read",
    "register",
    "registry",
    "seeded",
    "survey",
    "uHR",
    "uLH",
    "uRAP",
    "uRR",
    "uSS",
    "uUE",
    "uWheel",
    "uldp",
    "write",
]


def _public(thing: Any) -> Any:
    """A class or function of ours, known by the path that people import it from."""
    if getattr(thing, "__module__", "").startswith("hush."):
        thing.__module__ = __name__
    return thing


for _name in __all__:
    _public(globals().get(_name))

_start.done()

_PACKAGES = {
    "analysis",
    "attacks",
    "audit",
    "collect",
    "engine",
    "estimation",
    "exact",
    "files",
    "longitudinal",
    "mechanisms",
    "multidim",
    "people",
    "planning",
    "reports",
    "testing",
    "utility",
}
_LATER = {
    "budget": "planning.optimus",
    "capacity": "planning.capri",
    "plan": "planning.plan",
    "read": "files",
    "survey": "planning.surveys",
    "uldp": "planning.uldp",
    "write": "files",
}


def __getattr__(name: str) -> Any:
    """The packages, the questions to the planner, and files: imported when first used."""
    if name in _PACKAGES:
        return import_module(f"hush.{name}")
    if name in _LATER:
        return _public(getattr(import_module(f"hush.{_LATER[name]}"), name))
    raise AttributeError(f"module 'hush' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES, *(name for name in globals() if name.startswith("__"))})
