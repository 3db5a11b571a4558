"""The names of all mechanisms, and the way from plain data back to a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from hush.errors import ParameterError, SpecError, message
from hush.mechanisms import chosen
from hush.mechanisms.adaptive import ALH, ASS, ATHE, AUE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import AGRR, GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import ABLH, AOLH, BLH, LH, LHO, OLH
from hush.mechanisms.histogram import AGM, GM, SHE, ServerTHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import ASUE, OUE, SUE, THE, UE
from hush.mechanisms.wheel import Wheel

Class = TypeVar("Class", bound=type[FrequencyOracle])

_BUILT_IN: tuple[type[FrequencyOracle], ...] = (
    GRR, SS, SUE, OUE, UE, BLH, OLH, LH, SHE, THE, ServerTHE, HR, PGR, MSS, Wheel, ASS, AUE, ALH, ATHE,
    AGRR, ASUE, ABLH, AOLH, GM, AGM, LHO,
)  # fmt: skip

_known: dict[str, type[FrequencyOracle]] = {cls.name(): cls for cls in _BUILT_IN}
_unlisted: set[str] = set()


def registry() -> dict[str, type[FrequencyOracle]]:
    """Every registered mechanism by name.

    >>> registry()["OUE"].__name__
    'OUE'
    """
    return {name: cls for name, cls in _known.items() if name not in _unlisted}


def register(cls: Class, *, listed: bool = True) -> Class:
    """Make a mechanism of your own known by name, module:Class; usable as a decorator.

    Args:
        cls: Its class.
        listed: Whether `registry` names it; if not, only specs may (`from_dict`).
    """
    if not (isinstance(cls, type) and issubclass(cls, FrequencyOracle)):
        raise ParameterError(message("mechanism", "must be a subclass of FrequencyOracle", cls, "derive it from one"))
    _known[cls.name()] = cls
    (_unlisted.discard if listed else _unlisted.add)(cls.name())
    return cls


def from_dict(plain: Mapping[str, Any]) -> FrequencyOracle:
    """The mechanism that `to_dict` wrote. Imports nothing: an unknown name is an error.

    >>> from_dict(GRR(k=4, epsilon=1.0).to_dict())
    GRR(k=4, epsilon=1.0)
    """
    if not isinstance(plain, Mapping):
        raise SpecError(message("mechanism", "must be a mapping", type(plain), "pass what to_dict gave"))
    entries = dict(plain)
    name = entries.pop("mechanism", None)
    thresholds = entries.pop("thresholds", None)
    if not isinstance(name, str) or name not in _known:
        raise SpecError(
            message(
                "mechanism",
                f"must be registered (one of {', '.join(_known)})",
                name,
                "import its module and hush.register its class",
            )
        )
    made: FrequencyOracle = chosen.rebuilt(_known[name], name, "mechanism", entries, thresholds)
    return made
