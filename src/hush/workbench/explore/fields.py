"""What the fields of report records are for, by their names, and what one byte of each says."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from hush.mechanisms.base import FrequencyOracle
from hush.reports.words import many

_HASH = "of the hash function that the device drew: public, and nothing about the answer"
_MEANINGS = {
    "": "the number of the output that the device sends",
    "subset": "the members of a set that the device sends, in ascending order",
    "number": "the number of the set that the device sends, in the list of all such sets",
    "bits": "one randomized bit for each answer, the first in the lowest place",
    "steps": "one noisy number for each answer, in steps of a fixed grid",
    "a": f"factor {_HASH}",
    "b": f"offset {_HASH}",
    "bucket": "the bucket that the device sends: its answer's more often than another",
    "point": "the point on the ring that the device sends: on its answer's arc more often than elsewhere",
    "member": f"the number {_HASH}",
    "cohort": "the number of the rule by which the device sets bits: public, and nothing about the answer",
    "coefficient": "which coefficient of the sketch the report is about: drawn at random, nothing about the answer",
    "bit": "the sign of that coefficient, randomized: 1 is minus",
    "block": "by which of a few numbers the answer was divided: drawn at random, nothing about the answer",
    "kind": "whether a protected report, a value alone, or both follow",
    "value": "the value, where it is revealed",
}
_REMAINDERS = "remainders that the device sends, in ascending order: its answer's is among them more often than not"
_PLACES = "one randomized bit for each place that answers are hashed to, the first in the lowest place"


def meaning(m: FrequencyOracle, name: str) -> str:
    """What a field is for."""
    if name == "bits" and _by_place(m):
        return _PLACES
    if name == "subset" and "block" in (m.report_dtype.names or ()):
        return _REMAINDERS
    return _MEANINGS.get(name, "a part of the record that this mechanism alone knows")


def said(m: FrequencyOracle, name: str, items: npt.NDArray[Any], item: int, byte: int) -> str:
    """What one byte of a field says.

    Args:
        m: The mechanism.
        name: Of the field.
        items: All numbers of the field.
        item: Of which of them the byte is.
        byte: Which byte of it, the lowest first.
    """
    if name == "bits":
        return _bits(m, int(items[item]), 8 * item)
    if byte:
        return f"byte {byte + 1} of {items.dtype.itemsize} of the number before"
    one = int(items[item])
    part = f", of which this is the lowest of {items.dtype.itemsize} bytes" if items.dtype.itemsize > 1 else ""
    if name == "steps":
        unit = m.thresholds.get("unit")
        worth = f", that is {one / int(unit):+.3g}" if unit else ""
        return f"answer {item}: {one:+,} steps{worth}{part}"
    if name == "subset":
        padding = items.size > 1 and item and not items[item:].any()
        return f"zero, to fill the record{part}" if padding else f"{_ordinal(item)} member: {one:,}{part}"
    if name == "number":
        return f"byte {item + 1} of {items.size} of the number, the lowest first"
    return f"{one:,}{part}"


def _bits(m: FrequencyOracle, byte: int, first: int) -> str:
    """Which answers or places the ones of a byte are for."""
    word, last = ("place", m.width) if _by_place(m) else ("answer", m.k)  # type: ignore[attr-defined]
    there = min(8, last - first)
    ones = [str(first + i) for i in range(there) if byte >> i & 1]
    unused = f"; {many(8 - there, 'bit is', 'bits are')} not used" if there < 8 else ""
    span = f"{word}s {first} to {first + there - 1}" if there > 1 else f"{word} {first}"
    return f"{span}: {'ones for ' + ', '.join(ones) if ones else 'no ones'}{unused}"


def _by_place(m: FrequencyOracle) -> bool:
    """Whether bits are for places that answers are hashed to, and not for the answers themselves."""
    return "width" in m.parameters


def _ordinal(item: int) -> str:
    return {0: "first", 1: "second", 2: "third"}.get(item, f"{item + 1}th")
