"""The names of all mechanisms of every kind, and the way from plain data back to a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

from hush import rules
from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.mechanisms import chosen
from hush.mechanisms.adaptive import ALH, ASS, ATHE, AUE
from hush.mechanisms.collected import Collected
from hush.mechanisms.direct import AGRR, GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import ABLH, AOLH, BLH, LH, LHO, OLH
from hush.mechanisms.histogram import AGM, GM, SHE, ServerTHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.mechanisms.projective import PGR
from hush.mechanisms.renamed import deprecated
from hush.mechanisms.sketch import CMS, HCMS, RAPPOR
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import ASUE, OUE, SUE, THE, UE
from hush.mechanisms.wheel import Wheel

Class = TypeVar("Class", bound=type[Collected])

KINDS = ("frequency", "numeric", "multidim", "longitudinal")
_LATER = ("multidim", "longitudinal")  # packages that register their own, imported when first asked for

_BUILT_IN: tuple[type[Collected], ...] = (
    GRR, SS, SUE, OUE, UE, BLH, OLH, LH, SHE, THE, ServerTHE, HR, PGR, MSS, Wheel, CMS, HCMS, RAPPOR, ASS,
    AUE, ALH, ATHE, AGRR, ASUE, ABLH, AOLH, GM, AGM, LHO, Duchi, Piecewise, Hybrid,
)  # fmt: skip

_known: dict[str, type[Collected]] = {cls.name(): cls for cls in _BUILT_IN}
_unlisted: set[str] = set()


def registry(kind: str | None = "frequency") -> dict[str, type[Any]]:
    """Every registered mechanism of a kind, by name.

    Args:
        kind: "frequency", "numeric" (means), "multidim" (tuples) or "longitudinal" (values over time); None for all.

    >>> registry()["OUE"].__name__
    'OUE'
    >>> list(registry(kind="numeric"))
    ['Duchi', 'Piecewise', 'Hybrid']
    """
    if kind is not None:
        rules.named("kind", kind, KINDS, "leave it out for mechanisms of frequencies, or pass None for all")
    if kind is None or kind in _LATER:
        _load()
    return {name: cls for name, cls in _known.items() if kind in (None, cls.kind) and name not in _unlisted}


def numeric_registry() -> dict[str, type[Any]]:
    """What `registry(kind="numeric")` gives: its name in version 0.1."""
    deprecated("hush.numeric_registry()", 'hush.registry(kind="numeric")')
    return registry("numeric")


def _load() -> None:
    for package in _LATER:
        import_module(f"hush.{package}")


def register(cls: Class, *, listed: bool = True) -> Class:
    """Make a mechanism of your own known by name, module:Class; usable as a decorator.

    Args:
        cls: Its class, of any kind.
        listed: Whether `registry` names it; if not, only specs may (`from_dict`).
    """
    if not (isinstance(cls, type) and issubclass(cls, Collected) and hasattr(cls, "kind")):
        rule = "must be a subclass of FrequencyOracle, Numeric, Multidim or Longitudinal"
        raise ParameterError(message("mechanism", rule, cls, "derive it from one"))
    name = cls.name()
    there = _known.get(name, cls)
    if (there.__module__, there.__qualname__) != (cls.__module__, cls.__qualname__):
        rule, got = "must have a name of its own", f"{name}, which is {there.__module__}:{there.__qualname__}"
        raise ParameterError(message("mechanism", rule, Unsaid(got), "rename the class"))
    _known[name] = cls
    (_unlisted.discard if listed else _unlisted.add)(name)
    return cls


def from_dict(plain: Mapping[str, Any]) -> Any:
    """The mechanism that `to_dict` wrote, of any kind. An unknown name is an error: no module of others is imported.

    >>> from_dict(GRR(k=4, epsilon=1.0).to_dict())
    GRR(k=4, epsilon=1.0)
    """
    if not isinstance(plain, Mapping):
        raise SpecError(message("mechanism", "must be a mapping", type(plain), "pass what to_dict gave"))
    entries = dict(plain)
    word = "protocol" if "protocol" in entries else "mechanism"
    name, thresholds = entries.pop(word, None), entries.pop("thresholds", None)
    if word == "protocol":
        _load()
    if not isinstance(name, str) or name not in _known or _known[name].word != word:
        names = ", ".join(each for each, cls in _known.items() if cls.word == word)
        remedy = "import its module and hush.register its class"
        raise SpecError(message(word, f"must be registered (one of {names})", name, remedy))
    return chosen.rebuilt(_known[name], name, word, _known[name]._read(entries), thresholds)
