"""Files of one collection, read together: reports and saved aggregates, few or many, on any filesystem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import NOTHING, ParameterError, SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.files.collections import KINDS, Collection
from hush.files.listing import AGGREGATE, listed
from hush.files.paths import quoted
from hush.files.periods import PERIOD
from hush.files.places import FilePlace, Source
from hush.files.progress import Progress, unseen
from hush.files.reports import ReportFile, read_reports
from hush.files.saved import read_spec
from hush.files.specs import of_kind
from hush.kernels import chunks
from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class ReportDataset:
    """Files of one spec, to read together.

    Args:
        spec: What all of them are of.
        files: Those with reports.
        saved: Those with aggregates.
        period: Only the reports of this period count; None for all.
    """

    spec: Spec
    files: tuple[ReportFile, ...]
    saved: tuple[FilePlace, ...] = ()
    period: str | None = None

    @property
    def n(self) -> int:
        """How many reports the files hold; those in saved aggregates are counted when these are read."""
        return sum(file.n for file in self.files)

    @property
    def places(self) -> list[FilePlace]:
        """Where all of the files lie."""
        return [*(file.path for file in self.files), *self.saved]

    @property
    def randomness(self) -> list[str]:
        """Where the reports' randomness came from, each word once."""
        return list(dict.fromkeys(file.randomness for file in self.files))

    @property
    def kept(self) -> tuple[str, ...]:
        """What stands beside the reports of all files, in the clear: columns, and what the names of folders say."""
        first = self.files[0].kept if self.files else ()
        return tuple(name for name in first if all(name in file.kept for file in self.files))

    @property
    def has_periods(self) -> bool:
        """Whether all of them are reports that say of which period they are."""
        return not self.saved and bool(self.files) and PERIOD in self.kept

    def of_period(self, name: str) -> ReportDataset:
        """The reports of one period alone."""
        if not self.has_periods:
            rule = "must be left out where reports have no periods"
            raise ParameterError(message("period", rule, name, "leave it out"))
        return replace(self, period=name)

    def batches(self, *kept: str) -> Iterator[Any]:
        """Arrow record batches of the column `report`, and of the kept columns that are named, file by file."""
        for file in self.files:
            yield from file.batches(*kept)

    def reports(self) -> npt.NDArray[Any]:
        """All reports of the files, in memory at once."""
        return np.concatenate([np.zeros(0, self.spec.mechanism.report_dtype), *(file.reports() for file in self.files)])

    def aggregate(self, *, engine: Any = None) -> Aggregate:
        """The tally of all reports and saved aggregates, in bounded memory.

        Args:
            engine: Who reads (see `hush.engine`); left out, all cores of this machine.
        """
        return self.merged(engine=engine).total

    def merged(self, by: str | None = None, *, progress: Progress = unseen, engine: Any = None) -> Collection:
        """What they hold, in all or for each group, in bounded memory.

        Args:
            by: The kept column whose groups are wanted; what names of folders say costs nothing.
            progress: Told how many reports were read.
            engine: Who reads (see `hush.engine`); left out, all cores of this machine.
        """
        if by is not None:
            self._has(by)
        found: Collection = import_module("hush.engine").merged(self, by, progress, engine)  # which lies below
        return found

    def _has(self, by: str) -> None:
        """Refuse groups that some files know nothing of."""
        if self.saved:
            rule = "needs reports, and an aggregate has lost its columns"
            raise ParameterError(message("by", rule, quoted(self.saved[0]), "leave it out"))
        for file in self.files:
            file.check_kept(by)


def opened(
    sources: Source | Iterable[Source],
    spec: Spec | Path | None = None,
    by: str | None = None,
    *,
    filesystem: Any = None,
) -> ReportDataset:
    """Files that can be read together; their one spec is that which is given, or that of the reports.

    Args:
        sources: Report files and saved aggregates (.hush): paths, URIs, folders, patterns.
        spec: A spec or its file, which saved aggregates alone need, and reports that carry none.
        by: The kept column that will be asked for, which aggregates do not have.
        filesystem: Of `pyarrow.fs` or of fsspec, where the sources lie; left out, URIs say so themselves.
    """
    places = listed(sources, filesystem)
    saved = tuple(place for place in places if place.suffix == AGGREGATE)
    if by is not None and saved:
        rule = "needs reports, and an aggregate has lost its columns"
        raise ParameterError(message("by", rule, quoted(saved[0]), "leave it out"))
    files = [place for place in places if place.suffix != AGGREGATE]
    known, where = spec, "the spec that is given"
    if isinstance(spec, Path):
        known, where = of_kind(read_spec(spec, "--spec"), KINDS, str(spec)), str(spec)
    if known is None and files:
        known, where = read_reports(files[0]).spec, str(files[0])
    if not isinstance(known, Spec):
        rule = "must be given to read a saved aggregate"
        raise ParameterError(message("spec", rule, NOTHING, "name the spec's .json, or a report file"))
    found = chunks.each(len(files), 1, lambda i, _: read_reports(files[i], known))
    for file in found:
        if file.spec.hash != known.hash:
            rule = f"must have the spec of {where} ({known.hash[:12]})"
            remedy = "estimate one collection at a time"
            raise SpecError(message(f"reports {file.path}", rule, file.spec.hash[:12], remedy))
    _alike(found)
    return ReportDataset(known, tuple(replace(file, spec=known) for file in found), saved)


def collect(sources: Source | Iterable[Source], *, progress: Progress = unseen) -> Collection:
    """Read and merge files of one spec of frequencies."""
    found = opened(sources)
    of_kind(found.spec, ["frequency"], str(sources))
    return found.merged(progress=progress)


def _alike(files: Sequence[ReportFile]) -> None:
    """Refuse files in folders that name different columns: rows of some would be in no group."""
    for file in files:
        first, here = ({name for name, _ in each.path.values} for each in (files[0], file))
        if first != here:
            rule = f"must lie in folders that name the same columns as those of {files[0].path} ({_named(first)})"
            remedy = "name files of one layout at a time"
            raise ParameterError(message(f"reports {file.path}", rule, Unsaid(_named(here)), remedy))


def _named(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
