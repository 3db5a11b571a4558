"""Files, written whole or not at all."""

from __future__ import annotations

import os
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
from hush.files.batches import evenly, plain
from hush.files.order import Shuffler
from hush.mechanisms.spec import Spec
from hush.people import Domain
from hush.people.columns import all_reports

Writable = Spec | Domain | Aggregate


def write(
    path: str | PathLike[str],
    thing: Writable | npt.NDArray[Any],
    *,
    spec: Spec | None = None,
    kept: Any = None,
    keep_order: bool = False,
    randomness: str = "unknown",
) -> None:
    """Write a file that `hush.read` reads.

    Args:
        path: Where to. The file appears when it is complete.
        thing: A Spec or a Domain, which become JSON; an Aggregate; or an array of reports, which becomes Parquet.
        spec: What the reports are of. Over time, a file holds those of one round.
        kept: Columns that stand beside the reports, in the clear, as an Arrow table or record batch.
        keep_order: Leave the reports in their order, which may tell people's values, and do not shuffle them.
        randomness: Where the reports' randomness came from; say "secure" of `privatize` without `rng`.
    """
    if isinstance(thing, np.ndarray):
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
    rule = "must be a Spec, a Domain, an Aggregate or an array of reports"
    raise ParameterError(message("thing", rule, type(thing), "give e.g. hush.Spec(m, domain)"))


def _write_reports(
    path: Path, reports: npt.NDArray[Any], spec: Spec | None, kept: Any, *, keep_order: bool, randomness: str
) -> None:
    if not isinstance(spec, Spec):
        raise ParameterError(message("spec", "must be given beside reports", _shown(spec), "add spec=hush.Spec(m)"))
    given, dtype = all_reports(reports), spec.mechanism.report_dtype
    if given.ndim != 1 or given.dtype != dtype:
        rule = f"must be records of {spec.mechanism.name()}, one-dimensional"
        got = Unsaid(f"{given.dtype}, shape {given.shape}")
        remedy = "pass what privatize gave; over time, one round of it, reports[:, t]"
        raise ReportError(message("reports", rule, got, remedy))
    order = report_files.AS_READ if keep_order else report_files.SHUFFLED
    with report_files.writing(path, spec, randomness, order) as put, Shuffler(temporary=_folder(path)) as shuffler:
        whole = _rows(given, kept)
        if not keep_order:
            shuffler.add(whole)
        rows = evenly([whole] if keep_order else shuffler, report_files.batch_rows(spec), report_files.BATCH_BYTES)
        for batch in rows:
            beside = batch.select(batch.schema.names[1:]) if kept is not None else None
            put(report_files.reports_of(spec, batch), beside)


def _rows(reports: npt.NDArray[Any], kept: Any) -> Any:
    """Reports and what stands beside them, as one record batch."""
    import pyarrow as pa

    first = report_files.column_of(reports)
    if kept is None:
        return pa.record_batch([first], [report_files.COLUMN])
    beside = plain(kept.combine_chunks().to_batches()[0] if isinstance(kept, pa.Table) else kept)
    names = beside.schema.names
    if beside.num_rows != reports.size or report_files.COLUMN in names or len(set(names)) < len(names):
        rule = f"must have {reports.size} rows, and columns of different names, none of them {report_files.COLUMN!r}"
        got = Unsaid(f"{beside.num_rows} rows, columns {', '.join(names)}")
        raise ParameterError(message("kept", rule, got, "keep one row for each report"))
    return pa.record_batch([first, *beside.columns], [report_files.COLUMN, *names])


def _folder(path: Path) -> Path:
    return Path(os.path.realpath(path)).parent


def _shown(spec: object) -> object:
    return NOTHING if spec is None else type(spec)
