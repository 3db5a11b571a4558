"""Any report as numbers, each under a path: what an event can be about.

The path of a number says where in the report it stands: () is the report itself, (3,) its fourth item, ("seed",) its
field, key or attribute of that name. Collections also have ("length",) and, if their items are few, ("has", item).
"""

from __future__ import annotations

import numbers
import reprlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from enum import Enum
from itertools import islice
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hush.types import Reports

Path = tuple[str | int, ...]
Numbers = npt.NDArray[Any]

ABSENT = -1e300
"""Stands for a number that a report does not have, or that is none."""

MOST_PATHS = 4096
_MOST_ITEMS = 4096  # of one report, read one by one
_MOST_DEEP = 12
_MOST_MEMBERS = 256  # values that membership is told of
_MOST_FIELDS = 64  # of a record that is packed
_FIELD = "report"  # names the items of a report that is a plain vector; those of another list are #0, #1, ...


class Unreadable(ValueError):
    """A report that says nothing about itself."""


class ReportTable(Protocol):
    """Reports of one chunk, read path by path."""

    size: int

    def paths(self) -> list[Path]:
        """Where there are numbers."""

    def column(self, path: Path) -> Numbers:
        """The number at this path in every report: integers or floats."""

    def shown(self, row: int) -> str:
        """One report, as a short text."""


def pack(reports: Sequence[Any]) -> Reports:
    """Reports as an array, one entry each: of records of numbers if they are all alike, else of objects."""
    kinds = {type(report) for report in reports}
    if any(issubclass(kind, Iterator) for kind in kinds):
        reports = [list(islice(r, _MOST_ITEMS)) if isinstance(r, Iterator) else r for r in reports]
        kinds = {type(report) for report in reports}
    numeric = all(issubclass(kind, (bool, int, float, np.bool_, np.integer, np.floating)) for kind in kinds)
    if numeric or kinds == {np.ndarray} or kinds <= {list, tuple}:
        array = _array(reports)
        if array is not None:
            return vectors(compact(array))
    if kinds <= {list, tuple} or kinds == {dict}:
        record = _record(reports, kinds == {dict})
        if record is not None:
            return record
    return _objects(reports)


def _array(reports: Sequence[Any]) -> Numbers | None:
    """Numbers or vectors of one length; None if they are something else, or integers that a double cannot hold."""
    try:
        array = np.array(reports)
    except ValueError:  # of different lengths
        return None
    if array.dtype.kind == "f" and np.abs(array[np.isfinite(array)]).max(initial=0.0) >= 2**53:
        return None
    return array if array.dtype.kind in "biuf" else None


def _record(reports: Sequence[Any], named: bool) -> Reports | None:
    """Lists of one length, or dictionaries with the same keys, item by item; None if some item is no number."""
    items = list(reports[0]) if named else list(range(len(reports[0])))
    alike = all(list(r) == items if named else len(r) == len(items) for r in reports)
    names = [str(item) if named else f"#{item}" for item in items]
    if not (alike and 0 < len(items) <= _MOST_FIELDS and all(names) and all(isinstance(i, (str, int)) for i in items)):
        return None
    parts = [pack([report[item] for report in reports]) for item in items]
    if len(set(names)) < len(names) or any(part.dtype == object for part in parts):
        return None
    whole = np.empty(len(reports), np.dtype([(name, part.dtype) for name, part in zip(names, parts, strict=True)]))
    for name, part in zip(names, parts, strict=True):
        whole[name] = part
    return whole


def compact(array: Numbers) -> Numbers:
    """Integers in as few bytes as they need."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    return array.astype(np.result_type(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())), copy=False)


def joined(parts: list[Reports]) -> Reports:
    """Reports of several packs in one, as objects if they are not alike."""
    if len(parts) == 1:
        return parts[0]
    shapes = {None if part.dtype == object else (part.dtype.names, _widths(part)) for part in parts}
    if len(shapes) == 1:
        return np.concatenate(parts)
    return _objects([report for part in parts for report in _listed_reports(part)])


def _widths(part: Reports) -> tuple[tuple[int, ...], ...]:
    return tuple(part.dtype[name].shape for name in part.dtype.names or ())


def _listed_reports(part: Reports) -> list[Any]:
    """Reports as objects again."""
    return [_restored(report) for report in part]


def _restored(report: Any) -> Any:
    names = getattr(report.dtype, "names", None) if isinstance(report, np.generic) else None
    if names is None:
        return report.tolist() if isinstance(report, (np.generic, np.ndarray)) else report
    if names == (_FIELD,):
        return report[_FIELD].tolist()
    items = {name: _restored(report[name]) for name in names}
    return list(items.values()) if names[0].startswith("#") else items


def vectors(array: Numbers) -> Reports:
    """An array whose first axis counts reports, as records."""
    if array.ndim <= 1 or array.dtype.names is not None:
        return array
    flat = np.ascontiguousarray(array.reshape(len(array), -1))
    if flat.shape[1] == 0:
        return np.zeros(len(array))
    return flat.view(np.dtype([(_FIELD, flat.dtype, (flat.shape[1],))])).reshape(len(array))


def _objects(reports: Sequence[Any]) -> Reports:
    return np.fromiter(reports, object, len(reports))


def table(reports: Reports, k: int, more: Mapping[str, Callable[[int], Numbers]] | None = None) -> ReportTable:
    """Reports to be read.

    Args:
        reports: What `pack` or a mechanism gives.
        k: Number of values.
        more: Numbers by value under another name, such as whether a report supports it.
    """
    blocks = None if reports.dtype == object else _blocks(reports, ())
    return Flattened(reports, k) if blocks is None else Packed(reports, blocks, k, more or {})


def some(k: int, most: int) -> list[int]:
    """All of 0..k-1, or the first and the last of them if they are many."""
    return list(range(k)) if k <= most else [*range(most // 2), *range(k - most // 2, k)]


def _blocks(array: Numbers, prefix: Path) -> dict[Path, Numbers] | None:
    """The numbers in records, by field; None if some are no numbers."""
    if array.dtype.names is None:
        return {prefix: array} if array.dtype.kind in "biuf" else None
    found: dict[Path, Numbers] = {}
    for name in array.dtype.names:
        inner: Path = () if name == _FIELD else (int(name[1:]) if name.startswith("#") else name,)
        inside = _blocks(array[name], prefix + inner)
        if inside is None:
            return None
        found |= inside
    return found


class Packed:
    """Reports that are records of numbers."""

    def __init__(
        self, reports: Reports, blocks: dict[Path, Numbers], k: int, more: Mapping[str, Callable[[int], Numbers]]
    ) -> None:
        self.size = len(reports)
        self._reports, self._more, self._k = reports, more, k
        self._blocks = {at: b if b.ndim == 1 else b.reshape(self.size, -1) for at, b in blocks.items()}

    def paths(self) -> list[Path]:
        """Every number, membership where items are values, and what was named besides."""
        found: list[Path] = []
        for prefix, block in self._blocks.items():
            if block.ndim == 1:
                found.append(prefix)
                continue
            found += [(*prefix, at) for at in some(block.shape[1], MOST_PATHS)]
            if _subset(block, self._k):
                found += [(*prefix, "has", value) for value in some(self._k, _MOST_MEMBERS)]
        found += [(name, value) for name in self._more for value in some(self._k, _MOST_MEMBERS)]
        return found[: 2 * MOST_PATHS]

    def column(self, path: Path) -> Numbers:
        """The numbers at this path."""
        if path in self._blocks and self._blocks[path].ndim == 1:
            return self._blocks[path]
        prefix, last = path[:-1], path[-1] if path else ""
        if len(path) == 2 and path[0] in self._more and isinstance(last, int):
            return self._more[str(path[0])](last)
        block = self._blocks.get(prefix)
        if block is not None and block.ndim == 2:
            if isinstance(last, int):
                return block[:, last] if last < block.shape[1] else np.full(self.size, ABSENT)
            if last == "length":
                return np.full(self.size, block.shape[1])
        if prefix and prefix[-1] == "has":
            held = self._blocks.get(prefix[:-1])
            return np.zeros(self.size) if held is None or held.ndim == 1 else (held == last).any(axis=1)
        return np.full(self.size, ABSENT)

    def shown(self, row: int) -> str:
        """One report, as a short text."""
        return reprlib.repr(_restored(self._reports[row]))


def _subset(block: Numbers, k: int) -> bool:
    """Whether rows list values rather than hold a bit each."""
    whole = block.dtype.kind in "iu" and block.size > 0 and 2 <= block.shape[1] <= k
    return whole and bool(1 < block.max() < k and block.min() >= 0)


class Flattened:
    """Reports of any kind, each taken apart by itself."""

    def __init__(self, reports: Reports, k: int) -> None:
        self.size = len(reports)
        self._reports = reports
        self._rows: list[dict[Path, float | int]] = []
        for report in reports:
            row: dict[Path, float | int] = {}
            _take(report, (), row, k, 0)
            self._rows.append(row)

    def paths(self) -> list[Path]:
        """The paths that occur, the most frequent ones if there are too many."""
        seen = Counter(path for row in self._rows for path in row)
        return sorted((path for path, _ in seen.most_common(MOST_PATHS)), key=lambda path: [str(part) for part in path])

    def column(self, path: Path) -> Numbers:
        """The numbers at this path."""
        absent = 0 if len(path) > 1 and path[-2] == "has" else ABSENT
        return np.array([row.get(path, absent) for row in self._rows])

    def shown(self, row: int) -> str:
        """One report, as a short text."""
        return reprlib.repr(self._reports[row])


def _take(thing: Any, at: Path, row: dict[Path, float | int], k: int, deep: int) -> None:
    """Put every number of a thing into the row."""
    if deep > _MOST_DEEP or len(row) > _MOST_ITEMS:
        row[(*at, "rest")] = zlib.crc32(repr(thing).encode())
    elif thing is None:
        row[(*at, "none")] = 1
    elif isinstance(thing, (np.generic, np.ndarray)) and thing.dtype.names is None:
        _take(thing.tolist(), at, row, k, deep + 1)
    elif isinstance(thing, np.void):
        _named({name: thing[name] for name in thing.dtype.names or ()}, at, row, k, deep)
    elif isinstance(thing, Enum):
        _text(thing.name.encode(), at, row)
    elif isinstance(thing, numbers.Number):
        _number(thing, at, row)
    elif isinstance(thing, str):
        _text(thing.encode("utf-8", "surrogatepass"), at, row)
    elif isinstance(thing, (bytes, bytearray, memoryview)):
        _text(bytes(thing), at, row)
    elif isinstance(thing, Mapping):
        _named(thing, at, row, k, deep)
    elif isinstance(thing, Set):
        row[(*at, "length")] = len(thing)
        row.update({(*at, "has", _token(item)): 1 for item in islice(thing, _MOST_ITEMS)})
    elif isinstance(thing, Iterable) and not isinstance(thing, type):
        _listed(list(islice(thing, _MOST_ITEMS)), at, row, k, deep)
    else:
        _object(thing, at, row, k, deep)


def _number(thing: Any, at: Path, row: dict[Path, float | int]) -> None:
    if isinstance(thing, numbers.Integral):
        whole = int(thing)
        if abs(whole) < 1 << 63:
            row[at] = whole
        else:
            row[(*at, "size")], row[(*at, "low")] = whole.bit_length(), whole & ((1 << 63) - 1)
    elif isinstance(thing, numbers.Complex) and not isinstance(thing, numbers.Real):
        row[(*at, "real")], row[(*at, "imag")] = float(thing.real), float(thing.imag)
    else:
        row[at] = float(thing)


def _text(text: bytes, at: Path, row: dict[Path, float | int]) -> None:
    row[(*at, "length")], row[(*at, "hash")] = len(text), zlib.crc32(text)
    row.update({(*at, i): letter for i, letter in enumerate(text[:_MOST_MEMBERS])})


def _listed(items: list[Any], at: Path, row: dict[Path, float | int], k: int, deep: int) -> None:
    row[(*at, "length")] = len(items)
    for i, item in enumerate(items):
        _take(item, (*at, i), row, k, deep + 1)
    plain = (item for item in items if isinstance(item, (int, float, np.integer, np.floating)))
    row.update({(*at, "has", int(item)): 1 for item in plain if 0 <= item < k and item == int(item)})


def _named(things: Mapping[Any, Any], at: Path, row: dict[Path, float | int], k: int, deep: int) -> None:
    row[(*at, "length")] = len(things)
    for name in islice(things, _MOST_ITEMS):
        _take(things[name], (*at, _token(name)), row, k, deep + 1)


def _object(thing: Any, at: Path, row: dict[Path, float | int], k: int, deep: int) -> None:
    """By attributes; else by what it says of itself."""
    slots = [name for cls in type(thing).__mro__ for name in _as_names(getattr(cls, "__slots__", ()))]
    inside = {
        **getattr(thing, "__dict__", {}),
        **{name: getattr(thing, name) for name in slots if hasattr(thing, name)},
    }
    if inside:
        row[(*at, "type")] = zlib.crc32(type(thing).__qualname__.encode())
        _named(inside, at, row, k, deep)
        return
    said = repr(thing)
    if " at 0x" in said:
        raise Unreadable(f"a {type(thing).__name__} without attributes")
    _text(said.encode(), at, row)


def _as_names(slots: str | Iterable[str]) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else slots


def _token(item: Any) -> str | int:
    """An item of a set, or a key, as part of a path."""
    plain = isinstance(item, (int, np.integer)) and not isinstance(item, bool)
    return int(item) if plain else item if isinstance(item, str) else repr(item)


def finite(column: Numbers) -> npt.NDArray[np.float64]:
    """As doubles, with numbers in place of those that are none."""
    return np.nan_to_num(np.asarray(column, np.float64), nan=ABSENT, posinf=-ABSENT, neginf=2 * ABSENT)


def spell(path: Path) -> str:
    """A path in words.

    >>> spell(()), spell((3,)), spell(("subset", 2)), spell(("has", 5))
    ('the report', 'item 3', 'subset[2]', 'membership of 5')
    """
    if "has" in path[:-1]:
        return f"membership of {path[-1]}"
    if not path:
        return "the report"
    first = f"item {path[0]}" if isinstance(path[0], int) else path[0]
    return first + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[1:])
