"""The values that people may hold, and the names they go by.

A mechanism knows only k, the number of values. A domain adds labels, an `other` that absorbs unknown and missing
values on the device, which values are sensitive, and numbers where values mean amounts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.people.columns import as_array, cells, column, missing, not_integers
from hush.people.index import Index
from hush.people.labels import Reader, number, whole
from hush.types import Floats

Label = str | int | float
"""What a value goes by."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, init=False)
class Domain:
    """A finite domain. Which value a cell means, `hush.people.labels` says; it is one rule everywhere.

    Args:
        size: Number of values; enough when values are already 0..size-1.
        labels: Distinct names, strings or numbers; their order is the order of the estimate.
        other: A label that absorbs every unknown or missing value; added at the end when `labels` lacks it.
        sensitive: The values that need protection: labels, or indices where labels are not numbers; all when left out.
        values: One finite number per value, where values are amounts.

    >>> d = Domain(labels=["cat", "dog"], other="other")
    >>> d.encode(["dog", "axolotl", None]).tolist()
    [1, 2, 2]
    >>> d.size
    3
    """

    size: int
    labels: tuple[Label, ...] | None
    other: Label | None
    sensitive: tuple[int, ...] | None
    values: tuple[float, ...] | None

    def __init__(
        self,
        size: int | None = None,
        *,
        labels: Sequence[Label] | None = None,
        other: Label | None = None,
        sensitive: Iterable[Label] | None = None,
        values: Sequence[float] | None = None,
    ) -> None:
        names = _names(labels, other)
        count = len(names) if names is not None else size
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 2:
            raise ParameterError(message("size", "must be an integer of at least 2", count, "name at least two values"))
        if size is not None and not (isinstance(size, (int, np.integer)) and size == count):
            raise ParameterError(message("size", f"must equal the {count} labels", size, "leave size out"))
        put = object.__setattr__
        put(self, "size", int(count))
        put(self, "labels", names)
        put(self, "other", other)
        if names is not None:
            put(self, "_index", _distinct_names(names))
        put(self, "sensitive", _sensitive(sensitive, int(count), self._index))
        put(self, "values", _numbers(values, int(count)))

    def __len__(self) -> int:
        return self.size

    @cached_property
    def _index(self) -> Index | None:
        return None if self.labels is None else Index(self.labels)

    def place(self, label: Label) -> int | None:
        """The index of a label; None where it is not one of the domain's."""
        return None if self._index is None else self._index.place(label)

    def find(self, cell: object) -> int | None:
        """The index of the value that a cell means (see `hush.people.labels`); None where it means none of them.

        >>> Domain(labels=[7, 8]).find("7"), Domain(labels=["7", "8"]).find(8.0), Domain(size=3).find("2")
        (0, 1, 2)
        """
        if missing(cell):
            return None
        if self._reader is not None:
            return self._reader.place(cell)
        place = whole(cell)
        return place if place is not None and 0 <= place < self.size else None

    def encode(self, data: object) -> npt.NDArray[np.int64]:
        """Turn labels (an array, a list, a Series) into indices 0..size-1, each by what it means (see `find`)."""
        given, single = column(data)
        if self.labels is None and not single and _are_integers(given):
            return integers(given, self.size)
        array = as_array("values", given, object)
        if single or array.ndim != 1:
            shape = () if single else array.shape
            raise ParameterError(message("values", "must be one-dimensional", shape, "pass one column"))
        items = [_cell(item, at) for at, item in enumerate(array)]
        codes = {item: self._code(item) for item in set(items)}
        found = np.fromiter((codes[item] for item in items), np.int64, len(items))
        if (found < 0).any():
            self._refuse(given, items, int(found.argmin()))
        return found

    @cached_property
    def _reader(self) -> Reader | None:
        return None if self._index is None else Reader(self._index)

    def _code(self, item: object) -> int:
        """The index of what a cell means, that of `other`, or -1."""
        found = self.find(item.value if isinstance(item, _Truth) else item)
        if found is None and self.other is not None:
            found = self.place(self.other)
        return -1 if found is None else found

    def _refuse(self, given: object, items: list[Any], at: int) -> None:
        """Say where the first stranger stands, and never who that is."""
        rule = f"must be among the domain's {self.size} labels"
        remedy = "add the label to the domain, or give the domain other='other'"
        if self.labels is None:
            if whole(items[at]) is None:
                integers(given, self.size)
            rule, remedy = f"must lie in 0..{self.size - 1}", "check k, or name labels in a Domain"
        raise DomainError(message("values", rule, Unsaid(f"another one at position {at}"), remedy))

    def decode(self, codes: npt.ArrayLike) -> list[Label]:
        """Turn indices back into labels."""
        return [self.label(int(i)) for i in integers(codes, self.size)]

    def label(self, index: int) -> Label:
        """The label of one index; the index itself when the domain has no labels."""
        return index if self.labels is None else self.labels[index]

    @property
    def amounts(self) -> Floats:
        """What each value adds to a total: its number, else what its label reads as, else 0, 1, 2, ...

        >>> Domain(labels=["10", 20]).amounts.tolist()
        [10.0, 20.0]
        """
        if self.values is not None:
            return np.array(self.values, np.float64)
        if self.labels is None:
            return np.arange(self.size, dtype=np.float64)
        read = [number(label) for label in self.labels]
        if None in read:
            rule = "must have values that are amounts: labels that are numbers, or values of its own"
            raise ParameterError(message("domain", rule, self.labels, "give the domain values=[...], one number each"))
        return np.array(read, np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is absent is left out, so that equal domains have equal dicts."""
        whole: dict[str, Any] = {"size": self.size}
        for name in ("labels", "sensitive", "values"):
            part = getattr(self, name)
            if part is not None:
                whole[name] = list(part)
        if self.other is not None:
            whole["other"] = self.other
        return whole

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Domain:
        """The domain that `to_dict` wrote, which names sensitive values by their indices."""
        if not isinstance(plain, Mapping):
            raise ParameterError(message("domain", "must be a mapping", type(plain), "pass what to_dict gave"))
        try:
            entries = dict(plain)
            if not (isinstance(entries.get("labels"), list) and isinstance(entries.get("sensitive"), list)):
                return cls(**entries)
            sensitive = entries.pop("sensitive")
            whole = cls(**entries)
            named = [whole.label(i) if type(i) is int and 0 <= i < whole.size else i for i in sensitive]
            object.__setattr__(whole, "sensitive", _sensitive(named, whole.size, whole._index))
            return whole
        except TypeError:
            remedy = "check its entries: size, labels, other, sensitive and values"
            raise ParameterError(message("domain", "must be what to_dict gives", type(plain), remedy)) from None


def integers(data: object, size: int) -> npt.NDArray[np.int64]:
    """Check that data are integers in 0..size-1, and give them as int64.

    >>> integers([0, 2], 3).tolist()
    [0, 2]
    """
    array = cells(data)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise ParameterError(
            message(
                "values",
                "must be integers",
                not_integers(array),
                "for labels or missing values give the spec a Domain with labels",
            )
        )
    if array.ndim != 1:
        raise ParameterError(message("values", "must be one-dimensional", array.shape, "pass one column"))
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < size):
        at = int(np.nonzero((array < 0) | (array >= size))[0][0])
        raise DomainError(
            message(
                "values",
                f"must lie in 0..{size - 1}",
                Unsaid(f"another one at position {at}"),
                "check k, or name labels in a Domain",
            )
        )
    return array.astype(np.int64, copy=False)


def _names(labels: Sequence[Label] | None, other: Label | None) -> tuple[Label, ...] | None:
    if labels is None:
        if other is not None:
            raise ParameterError(message("other", "needs labels beside it", other, "name the labels of the domain"))
        return None
    names = _listed("labels", "must be a list of labels, in order", labels, ordered=True)
    if other is not None and not _travels(other):
        raise ParameterError(message("other", "must be a label: text or a number", type(other), "use e.g. 'other'"))
    for i, name in enumerate(names):
        if not _travels(name):
            rule = "must be strings, finite numbers or integers up to 2^53"
            raise ParameterError(message("labels", rule, Unsaid(f"something else at position {i}"), "rename it"))
    if other is not None and other not in names:
        names.append(other)
    return tuple(names)


def _listed(name: str, rule: str, given: object, *, ordered: bool = False) -> list[Any]:
    """The members of a list or an array, NumPy's numbers and texts as plain ones; a set has no order."""
    try:
        if isinstance(given, (str, bytes)) or (ordered and isinstance(given, Set)):
            raise TypeError
        return [item.item() if isinstance(item, np.generic) else item for item in given]  # type: ignore[attr-defined]
    except TypeError:
        raise ParameterError(message(name, rule, type(given), "put each of them in a list")) from None


def _distinct_names(names: tuple[Label, ...]) -> Index:
    """Where each label stands, once all are known to differ."""
    index = Index(names)
    if (twice := index.repeated()) is not None:
        got = Unsaid(f"the same at positions {twice[0]} and {twice[1]}")
        raise ParameterError(message("labels", "must be distinct", got, "remove the repetition"))
    return index


def _sensitive(named: Iterable[Label] | None, size: int, index: Index | None) -> tuple[int, ...] | None:
    """Indices of what is named: a label is itself, and a number that cannot be one is an index."""
    if named is None:
        return None
    chosen = _listed("sensitive", "must be a list", named)
    if not chosen:
        raise ParameterError(message("sensitive", "must name at least one value", chosen, "leave it out for all"))
    numbered = index is not None and any(not isinstance(label, str) for label in index.items)
    found = []
    for item in chosen:
        place: object = item
        if isinstance(item, str) or (numbered and _travels(item)):
            place = None if index is None else index.place(item)
        if isinstance(item, bool) or not isinstance(place, int) or not 0 <= place < size:
            rule = f"must be values in 0..{size - 1}" if index is None else f"must be among the {size} labels"
            raise ParameterError(message("sensitive", rule, item, "check k" if index is None else "check its spelling"))
        found.append(place)
    return tuple(sorted(set(found)))


def _numbers(values: Sequence[float] | None, size: int) -> tuple[float, ...] | None:
    if values is None:
        return None
    listed = _listed("values", "must be a list of numbers, in order", values, ordered=True)
    try:
        numbers = tuple(float(v) for v in listed)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(message("values", "must be numbers", type(values), "give one for each value")) from None
    if len(numbers) != size:
        raise ParameterError(message("values", f"must be {size} numbers", len(numbers), "give one for each value"))
    for at, v in enumerate(numbers):
        if not math.isfinite(v):
            got = Unsaid(f"{v} at position {at}")
            raise ParameterError(message("values", "must be finite numbers", got, "replace NaN and infinities"))
    return numbers


def _travels(label: object) -> bool:
    """Whether a label survives JSON: text that UTF-8 can hold, or a number that a double can."""
    if isinstance(label, str):
        return label.isascii() or _SURROGATE.search(label) is None
    if isinstance(label, bool) or not isinstance(label, (int, float)):
        return False
    return math.isfinite(label) if isinstance(label, float) else abs(label) <= 2**53


class _Truth(NamedTuple):
    """A truth value, which Python would take for 1 or 0."""

    value: bool


def _are_integers(given: object) -> bool:
    array = as_array("values", given)
    return array.dtype.kind in "iub" or array.size == 0


def _cell(item: object, at: int) -> object:
    """What a cell says: what is missing is None."""
    plain = item.item() if isinstance(item, np.generic) else item
    if missing(plain):
        return None
    if isinstance(plain, bool):
        return _Truth(plain)
    try:
        hash(plain)
        one = isinstance(plain, (str, bytes)) or not isinstance(plain, Collection)
    except TypeError:
        one = False
    if not one:
        where = Unsaid(f"something else at position {at}")
        raise ParameterError(message("values", "must be labels", where, "pass strings or numbers")) from None
    return plain
