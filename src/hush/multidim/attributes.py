"""What several attributes are called: a domain for each, and the names of the columns that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from hush.errors import HushError, ParameterError, SpecError, Unsaid, message
from hush.people.columns import as_array, column, streamed
from hush.people.domain import Domain
from hush.types import Ints

Each = TypeVar("Each")


@dataclass(frozen=True)
class Attributes:
    """The domains of several attributes, in order.

    Args:
        domains: One for each attribute.
        names: What each attribute is called, where they have names: what goes in by name comes out by name.

    >>> both = Attributes((Domain(labels=["f", "m"]), Domain(size=3)), ("sex", "age"))
    >>> both.encode({"age": [0, 2], "sex": ["m", "f"]})[0].tolist()
    [[1, 0], [0, 2]]
    """

    domains: tuple[Domain, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, given: object) -> Attributes:
        """Domains by name, or in a list."""
        if isinstance(given, Attributes):
            return given
        listed = given.values() if isinstance(given, Mapping) else given
        domains = tuple(listed) if isinstance(listed, Iterable) else ()
        if not domains or not all(isinstance(each, Domain) for each in domains):
            rule = "must be domains, one for each attribute: a mapping of names to them, or a list"
            got = Unsaid(f"a {type(given).__name__}")
            raise SpecError(message("domain", rule, got, "write e.g. {'age': hush.Domain(size=8), …}"))
        return cls(domains, _names(given) if isinstance(given, Mapping) else None)

    @property
    def plain(self) -> bool:
        """Whether it tells no more than the sizes."""
        return self.names is None and all(each == Domain(size=each.size) for each in self.domains)

    def word(self, j: int) -> str:
        """What an attribute is called in messages."""
        return f"attribute {j}" if self.names is None else self.names[j]

    def by_name(self, parts: Sequence[Each]) -> dict[str, Each] | tuple[Each, ...]:
        """What there is of each attribute: by name where they have names, else in order."""
        return tuple(parts) if self.names is None else dict(zip(self.names, parts, strict=True))

    def encode(self, data: object) -> tuple[Ints, bool]:
        """Labels as indices, one row a person; and whether they are those of one person alone.

        Args:
            data: Columns by name (a mapping, a table of pandas, Polars, Arrow or DuckDB; others that it has are not
                looked at); or rows with a label for each attribute, in order.
        """
        columns, single = self._columns(data)
        codes = []
        for j, (domain, cells) in enumerate(zip(self.domains, columns, strict=True)):
            try:
                codes.append(domain.encode(cells))
            except HushError as error:
                raise error.naming(self.word(j)) from None
        if len({part.size for part in codes}) > 1:
            rule, got = "must have a label of each attribute for everybody", Unsaid("columns of different lengths")
            raise ParameterError(message("values", rule, got, "fill them up"))
        return np.stack(codes, axis=1), single

    def _columns(self, data: Any) -> tuple[list[Any], bool]:
        data = streamed(data)
        there = _columns_of(data)
        if self.names is None or there is None:
            return self._rows(data)
        for name in self.names:
            if name not in there:
                rule, got = f"must have a column {name!r}", Unsaid(f"{len(there)} others")
                raise ParameterError(message("values", rule, got, "name its columns as the spec does"))
        columns, alone = zip(*(column(data[name]) for name in self.names), strict=True)
        return list(columns), all(alone)

    def _rows(self, data: object) -> tuple[list[Any], bool]:
        given, d = column(data)[0], len(self.domains)
        array = given if isinstance(given, np.ndarray) else as_array("values", given, object)
        ragged = array.ndim == 1 and any(isinstance(cell, (list, tuple)) for cell in array)
        single = array.shape == (d,) and not ragged
        rows = array[None] if single else array
        if rows.size == 0 and rows.ndim == 1:
            rows = rows.reshape(0, d)
        if rows.ndim != 2 or rows.shape[1] != d:
            rule, got = f"must have {d} labels a row, one for each attribute", Unsaid(f"shape {array.shape}")
            raise ParameterError(message("values", rule, got, "pass rows, or columns by name where the spec has names"))
        return list(rows.T), single

    def to_list(self) -> list[dict[str, Any]]:
        """Plain data, in order: canonical JSON sorts the names of a mapping."""
        told = [{} if self.names is None else {"name": name} for name in self.names or self.domains]
        return [{**name, "domain": domain.to_dict()} for name, domain in zip(told, self.domains, strict=True)]

    @classmethod
    def from_list(cls, plain: object) -> Attributes:
        """The attributes that `to_list` wrote."""
        entries = plain if isinstance(plain, list) and all(isinstance(each, Mapping) for each in plain) else []
        keys = {frozenset(each) for each in entries}
        if keys not in ({frozenset({"domain"})}, {frozenset({"domain", "name"})}):
            rule = "must be a list of domains, each with a name or none with one"
            raise SpecError(message("attributes", rule, type(plain), "write the spec with to_json"))
        domains = [Domain.from_dict(each["domain"]) for each in entries]
        if "name" not in entries[0]:
            return cls(tuple(domains))
        return cls(tuple(domains), _names([each["name"] for each in entries]))


def _names(given: Iterable[Any]) -> tuple[str, ...]:
    names = tuple(given)
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise SpecError(message("names", "must be distinct texts", list(names), "use the columns' own"))
    return names


def _columns_of(data: Any) -> list[Any] | None:
    """The names of the columns of a table; None for what is none."""
    for told in ("column_names", "columns"):
        if hasattr(data, told):
            return list(getattr(data, told))
    return list(data) if isinstance(data, Mapping) else None
