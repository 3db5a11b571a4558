"""Reports and saved aggregates of one collection, from several files, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from hush.cli import _console, _reports
from hush.cli._choose import agree, read_spec
from hush.cli._numeric_spec import AnySpec, NumericSpec, described, of_frequencies
from hush.cli._paths import distinct, existing, quoted
from hush.cli._usage import NOTHING
from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.mechanisms.spec import Spec
from hush.reports.words import many

MOST_GROUPS = 10_000
MOST_NUMBERS = 2_000_000
"""Groups times values that are estimated together: each takes up to 2.5 KB as JSON."""
AGGREGATE = ".hush"

Kind = TypeVar("Kind", Spec, NumericSpec)


@dataclass(frozen=True)
class Collection(Generic[Kind]):
    """What the files hold: one aggregate for each group, or one in all, under the group None."""

    spec: Kind
    parts: dict[Any, Aggregate]
    randomness: list[str]

    @property
    def total(self) -> Aggregate:
        """All groups together."""
        return reduce(add, self.parts.values())

    @property
    def title(self) -> str:
        """The collection in a few words."""
        return f"{described(self.spec)}, {many(self.total.n, 'report', 'reports')}"

    def to_dict(self) -> dict[str, Any]:
        """What was collected, as plain data."""
        return {
            "spec": self.spec.to_dict(),
            "spec_hash": self.spec.hash,
            "randomness": self.randomness,
            "n": self.total.n,
        }


def collect(
    sources: list[Path], spec_file: Path | None, by: str | None, mechanism: str | None = None, *, quiet: bool
) -> Collection[Spec]:
    """Read and merge files of one spec of frequencies, which must name the mechanism if one is given."""
    spec = of_frequencies(common_spec(sources, spec_file, by, mechanism), str(spec_file or sources[0]))
    return merged(sources, spec, by, quiet=quiet)


def common_spec(sources: list[Path], spec_file: Path | None, by: str | None, mechanism: str | None) -> AnySpec:
    """The one spec of files that can be read together."""
    for path in sources:
        existing("reports", path)
        if by is not None and _is_aggregate(path):
            rule = "needs reports, and an aggregate has lost its columns"
            raise ParameterError(message("--by", rule, quoted(path), "leave --by out"))
    distinct("reports", sources)
    spec = _shared(sources, spec_file)
    agree(mechanism, spec, str(spec_file or next(path for path in sources if not _is_aggregate(path))))
    return spec


def merged(sources: list[Path], spec: Kind, by: str | None, *, quiet: bool) -> Collection[Kind]:
    """What files of one spec hold."""
    parts: dict[Any, Aggregate] = {} if by is not None else {None: spec.aggregate(iter(()))}
    files = [path for path in sources if not _is_aggregate(path)]
    total = sum(_reports.row_count(path) for path in files)
    with _console.progress("Reading reports", total, quiet=quiet) as advance:
        for path in files:
            for reports, cells in _reports.reading(path, spec, by):
                for group, members in _groups(reports, cells):
                    some = spec.aggregate(members)
                    parts[group] = parts[group] + some if group in parts else some
                    _few_enough(len(parts), some.tally.size, by)
                advance(reports.size)
    for path in sources:
        if _is_aggregate(path):
            parts[None] = parts[None] + _saved(path, spec)
    parts = parts or {None: spec.aggregate(iter(()))}
    randomness = dict.fromkeys(_reports.randomness_in(path) for path in files)
    return Collection(spec, dict(sorted(parts.items(), key=lambda part: _order(part[0]))), list(randomness))


def _shared(sources: list[Path], spec_file: Path | None) -> AnySpec:
    given = None if spec_file is None else (spec_file, read_spec(spec_file))
    for path in (path for path in sources if not _is_aggregate(path)):
        found = _reports.spec_in(path)
        if given is None:
            given = path, found
        elif found.hash != given[1].hash:
            rule = f"must have the spec of {given[0]} ({given[1].hash[:12]})"
            raise SpecError(message(f"reports {path}", rule, found.hash[:12], "estimate one collection at a time"))
    if given is None:
        raise ParameterError(
            message(
                "--spec", "must be given to read a saved aggregate", NOTHING, "name the spec's .json, or a report file"
            )
        )
    return given[1]


def _is_aggregate(path: Path) -> bool:
    return path.suffix.lower() == AGGREGATE


def _saved(path: Path, spec: AnySpec) -> Aggregate:
    try:
        found = Aggregate.from_bytes(path.read_bytes())
        if found.spec_hash == spec.hash:
            return spec.check(found)
    except SpecError as error:
        raise SpecError(f"{path} cannot be used: {error}") from None
    rule = f"must come from the spec {spec.hash[:12]}"
    raise SpecError(message(f"aggregate {path}", rule, found.spec_hash[:12], "name the spec that made its reports"))


def _groups(reports: npt.NDArray[Any], cells: Any) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
    """The reports of each group, None being a missing cell."""
    if cells is None:
        yield None, reports
        return
    import pyarrow as pa

    plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    try:
        coded = plain.dictionary_encode()
    except pa.ArrowException:
        raise ParameterError(
            message("--by", "must be a column of plain values", Unsaid(f"{plain.type} cells"), "choose another column")
        ) from None
    names = [None if name != name else name for name in coded.dictionary.to_pylist()] + [None]  # NaN is missing too
    codes = coded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    for name, start, end in zip(names, [0, *ends[:-1]], ends, strict=True):
        if end > start:
            yield name, reports[order[start:end]]


def _few_enough(groups: int, values: int, by: str | None) -> None:
    """Refuse more groups than fit the memory, as soon as they are seen: a file of a few kilobytes can name many."""
    most = max(1, min(MOST_GROUPS, MOST_NUMBERS // values))
    if groups > most:
        rule = f"must have at most {many(most, 'group', 'groups')} where each has {many(values, 'value', 'values')}"
        raise ParameterError(message("--by", rule, by, "choose a coarser column, or fewer values"))


def _order(group: Any) -> tuple[bool, bool, Any]:
    """Numbers by size, then texts by letter with the numbers in them by size (g2 before g10), then the missing."""
    number = isinstance(group, (int, float))
    return group is None, not number, group if number else _natural(str(group))


def _natural(text: str) -> list[tuple[int, str]]:
    """Pieces to sort by: a run of digits by its length without leading zeros, then all by letter."""
    pieces = re.split(r"([0-9]+)", text)
    return [
        (len(each.lstrip("0")) if i % 2 else 0, each.lstrip("0") if i % 2 else each) for i, each in enumerate(pieces)
    ]
