"""Reports and saved aggregates of one collection, from several files, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from hush.errors import NOTHING, ParameterError, SpecError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.files.folding import fold, merge, nothing
from hush.files.paths import distinct, existing, quoted
from hush.files.periods import PERIOD, natural
from hush.files.progress import Progress, unseen
from hush.files.reading import read_aggregate, read_spec
from hush.files.reports import COLUMN, ReportFile, read_reports
from hush.files.specs import of_kind
from hush.mechanisms.spec import Spec
from hush.people.arrow import to_arrow, to_numpy

MOST_GROUPS = 10_000
MOST_NUMBERS = 2_000_000
"""Groups times values that are estimated together: each takes up to 2.5 KB as JSON."""
AGGREGATE = ".hush"
KINDS = ("frequency", "numeric", "multidim", "longitudinal")
"""Collections whose reports are all tallied together."""


@dataclass(frozen=True)
class Collection:
    """What the files hold: one aggregate for each group, or one in all, under the group None.

    Where only the reports of one period were read, `period` names it.
    """

    spec: Spec
    parts: dict[Any, Aggregate]
    randomness: list[str]
    period: str | None = None

    @property
    def total(self) -> Aggregate:
        """All groups together."""
        return reduce(add, self.parts.values())

    @property
    def attributes(self) -> list[str]:
        """What the attributes of tuples are called; none of a single value."""
        several = len(getattr(self.spec.domain, "domains", ()))
        return [self.spec.domain.word(j) for j in range(several)]

    def estimates(self, part: Aggregate) -> dict[str | None, Estimate]:
        """The estimates of a part: by attribute where people hold tuples, else one, under None."""
        found = self.spec.one_round.estimate(part)
        if not self.attributes:
            return {None: found}
        listed = found.values() if isinstance(found, dict) else found
        return dict(zip(self.attributes, listed, strict=True))

    def reports_about(self, part: Aggregate) -> dict[str | None, int]:
        """How many reports of a part are about each attribute; about a single value, all of them."""
        if not self.attributes:
            return {None: part.n}
        return dict(zip(self.attributes, self.spec.one_round.mechanism.reports_about(part), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """What was collected, as plain data."""
        return {
            "spec": self.spec.to_dict(),
            "spec_hash": self.spec.hash,
            "randomness": self.randomness,
            "n": self.total.n,
            **({} if self.period is None else {"period": self.period}),
        }


@dataclass(frozen=True)
class Sources:
    """Files of one spec, to read together: reports, and saved aggregates."""

    spec: Spec
    reports: list[ReportFile]
    saved: list[Path]
    period: str | None = None

    @property
    def has_periods(self) -> bool:
        """Whether all of them are reports that say of which period they are."""
        return not self.saved and bool(self.reports) and all(PERIOD in file.kept for file in self.reports)

    def of_period(self, name: str) -> Sources:
        """The reports of one period alone."""
        if not self.has_periods:
            rule = "must be left out where reports have no periods"
            raise ParameterError(message("period", rule, name, "leave it out"))
        return replace(self, period=name)

    def merged(self, by: str | None = None, *, progress: Progress = unseen) -> Collection:
        """What they hold, in all or for each group of a kept column, in bounded memory."""
        with progress("Reading reports", sum(file.n for file in self.reports)) as advance:
            parts = self._whole(advance) if by is None else self._grouped(by, advance)
        if self.period is not None and not any(Aggregate.from_bytes(part).n for part in parts.values()):
            rule = "must be a period that there are reports of"
            raise ParameterError(message("period", rule, self.period, "leave it out to see which there are"))
        found = {group: self.spec.one_round.check(Aggregate.from_bytes(part)) for group, part in parts.items()}
        randomness = list(dict.fromkeys(file.randomness for file in self.reports))
        ordered = dict(sorted(found.items(), key=lambda part: _order(part[0])))
        return Collection(self.spec, ordered, randomness, self.period)

    def _whole(self, advance: Callable[[float], None]) -> dict[Any, bytes]:
        folded = [fold(self.spec, self._batches(file, None, advance)) for file in self.reports]
        saved = [read_aggregate(path, self.spec).to_bytes() for path in self.saved]
        return {None: merge(self.spec, *folded, *saved)}

    def _batches(self, file: ReportFile, by: str | None, advance: Callable[[float], None]) -> Iterator[Any]:
        """The rows of a file, or those of the one period that is asked for."""
        if self.period is None:
            yield from _watched(file.batches(by), advance)
            return
        import pyarrow.compute as pc

        columns = [COLUMN, *([] if by is None else [by])]
        for batch in _watched(file.batches(by, PERIOD), advance):
            yield batch.filter(pc.equal(batch.column(PERIOD).cast("string"), self.period)).select(columns)

    def _grouped(self, by: str, advance: Callable[[float], None]) -> dict[Any, bytes]:
        values, parts = nothing(self.spec).tally.size, dict[Any, bytes]()
        for file in self.reports:
            for batch in self._batches(file, by, advance):
                for group, members in _groups(batch, by):
                    some = fold(self.spec, members)
                    parts[group] = merge(self.spec, parts[group], some) if group in parts else some
                    _few_enough(len(parts), values, by)
        return parts or {None: merge(self.spec)}


def opened(sources: list[Path], spec_file: Path | None = None, by: str | None = None) -> Sources:
    """Files that can be read together; their one spec is that of a file of its own, or of the reports.

    Args:
        sources: Report files, and saved aggregates (.hush).
        spec_file: A spec, which saved aggregates alone need.
        by: The kept column that will be asked for, which aggregates do not have.
    """
    for path in sources:
        existing("reports", path)
        if by is not None and _is_aggregate(path):
            rule = "needs reports, and an aggregate has lost its columns"
            raise ParameterError(message("by", rule, quoted(path), "leave it out"))
    distinct("reports", sources)
    given = None if spec_file is None else (spec_file, of_kind(read_spec(spec_file, "--spec"), KINDS, str(spec_file)))
    files = []
    for path in (path for path in sources if not _is_aggregate(path)):
        found = read_reports(path)
        given = given or (path, found.spec)
        if found.spec.hash != given[1].hash:
            rule = f"must have the spec of {given[0]} ({given[1].hash[:12]})"
            raise SpecError(message(f"reports {path}", rule, found.spec.hash[:12], "estimate one collection at a time"))
        files.append(replace(found, spec=given[1]))  # once: a spec may have millions of labels
    if given is None:
        rule = "must be given to read a saved aggregate"
        raise ParameterError(message("spec", rule, NOTHING, "name the spec's .json, or a report file"))
    return Sources(given[1], files, [path for path in sources if _is_aggregate(path)])


def collect(sources: list[Path], *, progress: Progress = unseen) -> Collection:
    """Read and merge files of one spec of frequencies."""
    found = opened(sources)
    of_kind(found.spec, ["frequency"], str(sources[0]))
    return found.merged(progress=progress)


def _is_aggregate(path: Path) -> bool:
    return path.suffix.lower() == AGGREGATE


def _watched(batches: Iterable[Any], advance: Callable[[float], None]) -> Iterator[Any]:
    for batch in batches:
        yield batch
        advance(batch.num_rows)


def _groups(batch: Any, by: str) -> Iterator[tuple[Any, Any]]:
    """The rows of each group, None being a missing cell."""
    import pyarrow as pa

    cells = batch.column(by)
    plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    try:
        coded = plain.dictionary_encode()
    except pa.ArrowException:
        raise ParameterError(
            message("by", "must be a column of plain values", Unsaid(f"{plain.type} cells"), "choose another column")
        ) from None
    names = [None if name != name else name for name in coded.dictionary.to_pylist()] + [None]  # NaN is missing too
    codes = to_numpy(coded.indices, len(names) - 1)
    reports = batch.select([COLUMN]).take(to_arrow(np.argsort(codes, kind="stable")))
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    for name, start, end in zip(names, [0, *ends[:-1]], ends, strict=True):
        if end > start:
            yield name, reports.slice(start, end - start)


def _few_enough(groups: int, values: int, by: str) -> None:
    """Refuse more groups than fit the memory, as soon as they are seen: a file of a few kilobytes can name many."""
    most = max(1, min(MOST_GROUPS, MOST_NUMBERS // values))
    if groups > most:
        rule = f"must have at most {most:,} group{'s' * (most > 1)} where each has {values:,} value{'s' * (values > 1)}"
        raise ParameterError(message("by", rule, by, "choose a coarser column, or fewer values"))


def _order(group: Any) -> tuple[bool, bool, Any]:
    """Numbers by size, then texts by letter with the numbers in them by size (g2 before g10), then the missing."""
    number = isinstance(group, (int, float))
    return group is None, not number, group if number else natural(str(group))
