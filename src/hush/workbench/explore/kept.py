"""Numbers of the mechanisms whose closed forms take long, computed beforehand for every position of the sliders.

A change of a slider is to be answered at once. Most mechanisms are measured in less than a millisecond; a few search
for parameters or sum long series. `python -m hush.workbench.explore` computes these anew, and tests hold what is kept
against what the mechanisms say.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.workbench.explore.numbers import UnitNumbers, computed, made
from hush.workbench.explore.positions import EPSILONS, SIZES

SLOW = ("SHE", "ServerTHE", "MSS", "CMS", "RAPPOR", "AGM")
"""Those that take more than a few milliseconds somewhere; `python -m benchmarks workbench` tells."""

DIGITS = 6
"""That are kept of a number."""

_FILE = "kept.json"
_NUMBERS = ("variance", "asr", "gain")


def kept(name: str, k: int, epsilon: float) -> UnitNumbers | None:
    """The numbers of a slow mechanism at a position of the sliders; None where none are kept, or it does not exist."""
    at = _places().get((k, epsilon))
    found = _tables().get(name)
    if at is None or found is None or found["bits"][at] is None:
        return None
    rest: dict[str, Any] = {each: found[each][at] for each in (*_NUMBERS, "bits", "size")}
    return UnitNumbers(parameters=found["choices"][found["choice"][at]], **rest)


def ready(name: str, k: int, epsilon: float) -> FrequencyOracle:
    """A mechanism by name, with what it is known to choose where that is kept; else it searches."""
    found = kept(name, k, epsilon)
    return made(name, k, epsilon, None if found is None else found.parameters)


def is_position(k: int, epsilon: float) -> bool:
    """Whether the sliders can stand there."""
    return (k, epsilon) in _places()


@cache
def _places() -> dict[tuple[int, float], int]:
    return {pair: i for i, pair in enumerate((k, epsilon) for k in SIZES for epsilon in EPSILONS)}


@cache
def _tables() -> dict[str, dict[str, Any]]:
    text = resources.files("hush.workbench.explore").joinpath(_FILE).read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def write(folder: Path) -> Path:
    """Compute everything anew, which takes minutes, and write it beside this file."""
    path = folder / _FILE
    lines = (f"{json.dumps(name)}:{json.dumps(_table(name), separators=(',', ':'))}" for name in SLOW)
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    return path


def _table(name: str) -> dict[str, Any]:
    """The numbers of one mechanism, a list each over all positions, with null where it is not defined."""
    choices: list[dict[str, Any]] = []
    columns: dict[str, list[Any]] = {each: [] for each in (*_NUMBERS, "bits", "size", "choice")}
    for k, epsilon in _places():
        try:
            found = computed(name, k, epsilon)
        except HushError:
            for column in columns.values():
                column.append(None)
            continue
        own = json.loads(json.dumps(dict(found.parameters)))
        if own not in choices:
            choices.append(own)
        for each in _NUMBERS:
            columns[each].append(float(f"{getattr(found, each):.{DIGITS}g}"))
        for each, value in {"bits": found.bits, "size": found.size, "choice": choices.index(own)}.items():
            columns[each].append(value)
    return {**columns, "choices": choices}
