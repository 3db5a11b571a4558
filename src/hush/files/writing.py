"""Files, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import atomic
from hush.canonical import canonical
from hush.errors import NOTHING, ParameterError, ReportError, Unsaid, message
from hush.estimation import Aggregate
from hush.files import reports as report_files
from hush.files.batches import evenly, joined, plain
from hush.files.order import Shuffler
from hush.files.paths import here
from hush.mechanisms.spec import Spec
from hush.people import Domain
from hush.people.columns import all_reports
from hush.people.frames import batches_of, is_frame


def write(
    path: str | PathLike[str],
    thing: Any,
    *,
    spec: Spec | None = None,
    kept: Any = None,
    keep_order: bool = False,
    randomness: str = "unknown",
) -> None:
    """Write a file that `hush.read` reads.

    Args:
        path: Where to, on this machine. The file appears when it is complete.
        thing: A Spec or a Domain, which become JSON; an Aggregate; or reports, which become Parquet: an array, or a
            frame of pandas, Polars, Arrow or DuckDB with a column `report` of binaries, whose other columns stand
            beside the reports in the clear.
        spec: What the reports are of. Over time, a file holds those of one round.
        kept: Columns that stand beside an array of reports, in the clear, as a frame with a row for each report.
        keep_order: Leave the reports in their order, which may tell people's values, and do not shuffle them.
        randomness: Where the reports' randomness came from; say "secure" of `privatize` without `rng`.
    """
    here("path", path)
    if isinstance(thing, np.ndarray) or is_frame(thing):
        _write_reports(Path(path), thing, spec, kept, keep_order=keep_order, randomness=randomness)
        return
    for name, given in (("spec", spec), ("kept", kept)):
        if given is not None:
            raise ParameterError(message(name, "must stand beside reports", type(given), "leave it out"))
    atomic.write(Path(path), _content(thing))


def _content(thing: object) -> str | bytes:
    if isinstance(thing, Aggregate):
        return thing.to_bytes()
    if isinstance(thing, Spec):
        return thing.to_json()
    if isinstance(thing, Domain):
        return canonical(thing.to_dict())
    rule = "must be a Spec, a Domain, an Aggregate or an array of reports, or a frame of them"
    raise ParameterError(message("thing", rule, type(thing), "give e.g. hush.Spec(m, domain)"))


def _write_reports(
    path: Path, reports: Any, spec: Spec | None, kept: Any, *, keep_order: bool, randomness: str
) -> None:
    if not isinstance(spec, Spec):
        raise ParameterError(message("spec", "must be given beside reports", _shown(spec), "add spec=hush.Spec(m)"))
    order = report_files.AS_READ if keep_order else report_files.SHUFFLED
    whole = _framed(reports, spec, kept) if is_frame(reports) else iter([_rows(_array(reports, spec), kept)])
    first = next(whole, None)  # so that what cannot be written leaves nothing behind
    batches = [] if first is None else chain([first], whole)
    with report_files.writing(path, spec, randomness, order) as put, Shuffler(temporary=_folder(path)) as shuffler:
        if not keep_order:
            for batch in batches:
                shuffler.add(batch)
        rows = evenly(batches if keep_order else shuffler, report_files.batch_rows(spec), report_files.BATCH_BYTES)
        for batch in rows:
            beside = batch.select(batch.schema.names[1:]) if batch.num_columns > 1 else None
            put(report_files.reports_of(spec, batch), beside)


def _array(reports: Any, spec: Spec) -> npt.NDArray[Any]:
    """Reports of a spec, one after the other."""
    given, dtype = all_reports(reports), spec.mechanism.report_dtype
    if given.ndim != 1 or given.dtype != dtype:
        rule = f"must be records of {spec.mechanism.name()}, one-dimensional"
        got = Unsaid(f"{given.dtype}, shape {given.shape}")
        remedy = "pass what privatize gave; over time, one round of it, reports[:, t]"
        raise ReportError(message("reports", rule, got, remedy))
    return given


def _framed(frame: Any, spec: Spec, kept: Any) -> Iterator[Any]:
    """The rows of a frame, with the reports first."""
    import pyarrow as pa

    if kept is not None:
        rule = "must be left out where a frame has the reports, whose other columns are kept"
        raise ParameterError(message("kept", rule, type(kept), "add its columns to the frame, or pass an array"))
    for batch in batches_of(frame):
        reports = report_files.column_of(report_files.reports_of(spec, batch))
        beside = plain(batch.select([i for i, name in enumerate(batch.schema.names) if name != report_files.COLUMN]))
        _different(beside.schema.names)
        yield pa.record_batch([reports, *beside.columns], [report_files.COLUMN, *beside.schema.names])


def _rows(reports: npt.NDArray[Any], kept: Any) -> Any:
    """Reports and what stands beside them, as one record batch."""
    import pyarrow as pa

    first = report_files.column_of(reports)
    if kept is None:
        return pa.record_batch([first], [report_files.COLUMN])
    if not is_frame(kept):
        rule = "must be a frame: of Arrow, or of a library that hands its rows over as Arrow does"
        raise ParameterError(message("kept", rule, type(kept), "pass e.g. pyarrow.table({'region': regions})"))
    beside = joined([plain(batch) for batch in batches_of(kept)])
    names = beside.schema.names
    if names == [report_files.COLUMN]:
        rule, remedy = f"must be a frame of columns that are not called {names[0]!r}", "pass e.g. frame[['region']]"
        raise ParameterError(message("kept", rule, Unsaid("a column alone, or of that name"), remedy))
    if beside.num_rows != reports.size or report_files.COLUMN in names or len(set(names)) < len(names):
        rule = f"must have {reports.size} rows, and columns of different names, none of them {report_files.COLUMN!r}"
        got = Unsaid(f"{beside.num_rows} rows, columns {', '.join(names)}")
        raise ParameterError(message("kept", rule, got, "keep one row for each report"))
    return pa.record_batch([first, *beside.columns], [report_files.COLUMN, *names])


def _different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        rule = "must have columns of different names"
        raise ParameterError(message("kept", rule, Unsaid(", ".join(names)), "rename some of them"))


def _folder(path: Path) -> Path:
    return Path(os.path.realpath(path)).parent


def _shown(spec: object) -> object:
    return NOTHING if spec is None else type(spec)
