"""What one mechanism costs and gives, in plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hush.errors import HushError, ParameterError, message
from hush.files.specs import construct
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.mechanisms.names import full_name
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.settings import chosen, takes

_MOST_WEIGHTS = 1 << 22
_BY_WEIGHTS = {"exact_epsilon": "exact_epsilon", "asr": "asr", "variance": "variances"}
"""What the base class finds by asking for the weight of every output under every value, and the method for it."""


def shown_with(cls: type[FrequencyOracle]) -> dict[str, Any]:
    """The parameters that a mechanism needs, and is shown with unless others are given."""
    needed = takes(cls)
    return {name: value for name, value in cls.shown_with.items() if needed.get(name)}


def row_of(cls: type[FrequencyOracle], shared: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Its numbers by name; "unavailable" or "unknown" say why some are missing."""
    wanted = takes(cls)
    given = {**shared, **shown_with(cls), **extra}
    row: dict[str, Any] = {
        "name": cls.name(),
        "full_name": full_name(cls),
        "family": cls.family,
    }
    try:
        m = construct(cls, {name: value for name, value in given.items() if name in wanted})
    except HushError as error:
        return {**row, "unavailable": str(error)}
    reasons: dict[str, str] = {}

    def told(name: str, ask: Callable[[], Any]) -> Any:
        try:
            _ends(m, name)
            return ask()
        except (HushError, NotImplementedError) as error:
            reasons[name] = str(error) or type(error).__name__
            return None

    row |= {
        "guarantee": None if m.guarantee is None else str(m.guarantee),
        "epsilon": m.epsilon,
        "delta": getattr(m, "delta", None),
        "exact_epsilon": told("exact_epsilon", m.exact_epsilon),
        "p_star": m.p_star if isinstance(m, PureOracle) else None,
        "q_star": m.q_star if isinstance(m, PureOracle) else None,
        "parameters": chosen(m),
        "variance": told("variance", m.variance),
        "asr": told("asr", m.asr),
        "bits": told("bits", lambda: m.bits),
        "bytes": m.report_dtype.itemsize,
    }
    return {**row, "unknown": reasons} if reasons else row


def _ends(m: FrequencyOracle, name: str) -> None:
    """Refuse to start on an enumeration that would not end."""
    if not from_outside(type(m)) or name not in _BY_WEIGHTS:
        return
    method = _BY_WEIGHTS[name]
    if getattr(type(m), method) is not getattr(FrequencyOracle, method):
        return
    weights = m.k * sum(len(m.outputs(public)) for public in m.publics())
    if weights > _MOST_WEIGHTS:
        rule = f"must leave at most {_MOST_WEIGHTS:,} weights to ask for, and here there are {weights:,}"
        raise ParameterError(message("k", rule, m.k, f"use a smaller domain, or give the class its own {method}"))
