"""The parameters that a mechanism takes, and those it has chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from hush.mechanisms.adaptive import Adaptive
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.chosen import Chosen, unsaid

SHARED = ("k", "epsilon", "delta")
"""What most mechanisms take."""


def takes(cls: type[Any]) -> dict[str, bool]:
    """The parameters that people set, and whether each is needed.

    What a mechanism like OLH or AUE is there to choose is not among them, though its spec has it.
    """
    own = cls.choice if issubclass(cls, Chosen) else None
    return {name: needed for name, needed in tells(cls).items() if name != own}


def tells(cls: type[Any]) -> dict[str, bool]:
    """The parameters that a spec tells: what people set, and what it chose; and whether each is needed."""
    absent = dataclasses.MISSING
    known = (f for f in dataclasses.fields(cls) if f.init)
    return {f.name: f.default is absent and f.default_factory is absent for f in known}


def told(cls: type[Any], entries: Mapping[str, Any], thresholds: object) -> dict[str, Any]:
    """The parameters in a spec, with what one of version 0.1 left unsaid."""
    return {**entries, **unsaid(cls, entries, thresholds)}


def chosen(m: FrequencyOracle) -> dict[str, Any]:
    """Its own parameters, those that it chooses for itself included; a p that is just p* is not repeated.

    What tells an adaptive mechanism how to choose is left out where it was not changed: the choice itself is shown.
    """
    usual = {f.name: f.default for f in dataclasses.fields(Adaptive)} if isinstance(m, Adaptive) else {}
    silent = {f.name for f in dataclasses.fields(m) if f.init} - m.parameters.keys()  # at its default, and not told
    kept = [f for f in dataclasses.fields(m) if f.repr and f.name not in {*SHARED, *silent}]
    own = {f.name: (getattr(m, f.name), f.init) for f in kept}
    return {
        name: value
        for name, (value, given) in own.items()
        if (given or name != "p") and (name not in usual or value != usual[name])
    }
