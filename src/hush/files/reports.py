"""Report files: a column of fixed-size binaries, and the spec in the file's metadata; written as Parquet."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from hush.atomic import PART, naming, refuse_leftovers, replacing
from hush.canonical import pieces
from hush.errors import NOTHING, ParameterError, ReportError, SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.files import footer, forms
from hush.files.forms import ARROW, PARQUET, STREAM, Contents, contents, form_of, refuse
from hush.files.paths import quoted
from hush.files.places import FilePlace, Source, place_of
from hush.files.specs import spec_from
from hush.files.tables import readable
from hush.mechanisms.spec import Spec
from hush.people import arrow
from hush.people.arrow import is_records, records_in

COLUMN = arrow.COLUMN

SPEC_KEY = b"hush.spec"
RANDOMNESS_KEY = b"hush.randomness"
ORDER_KEY = b"hush.order"
SHUFFLED = "shuffled"
"""The order of a file whose rows are a multiset: a uniform one, independent of the input's."""
AS_READ = "input"
"""The order of a file whose rows are aligned with the input's."""
BATCH_BYTES = 1 << 26
"""What is held of a file at a time, about, be it reports or kept cells."""
_BATCH_ROWS = 1 << 18
_KINDS = {PARQUET: "Parquet file of reports", ARROW: "Arrow file of reports", STREAM: "Arrow stream of reports"}


def batch_rows(spec: Spec) -> int:
    """How many reports to hold at a time: enough for all cores, at most 64 MB."""
    return int(np.clip(BATCH_BYTES // spec.mechanism.report_dtype.itemsize, 256, _BATCH_ROWS))


def _held_rows(spec: Spec) -> int:
    """How many reports each thread holds while files are read: as many as are tallied together, at most 16 MB."""
    return int(np.clip(BATCH_BYTES // 4 // spec.mechanism.report_dtype.itemsize, 256, _BATCH_ROWS))


@contextmanager
def writing(path: Path, spec: Spec, randomness: str, order: str) -> Iterator[Callable[..., None]]:
    """A report file that appears when it is complete; gives ``write(reports, kept)``, kept being a record batch.

    It says where the randomness came from and in which order its rows are. Whoever writes makes both true.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    mark = secrets.token_hex(16)  # stands for the spec, which may have millions of labels
    metadata = {SPEC_KEY: mark, RANDOMNESS_KEY: randomness, ORDER_KEY: order}
    writer: Any = None
    marked = True

    with naming(path):
        refuse_leftovers("output", Path(os.path.realpath(path)), PART)
    with replacing(path) as part:

        def write(reports: npt.NDArray[Any], kept: Any = None) -> None:
            nonlocal writer, marked
            column = column_of(reports)
            names = [COLUMN, *([] if kept is None else kept.schema.names)]
            arrays = [column, *([] if kept is None else kept.columns)]
            schema = pa.schema([pa.field(n, a.type, nullable=n != COLUMN) for n, a in zip(names, arrays, strict=True)])
            if writer is None:
                marked = all(map(_survives, schema.types))
                own = None if marked else {**metadata, SPEC_KEY: spec.to_json()}  # beside which Arrow reads no other
                packing = {name: "NONE" if name == COLUMN else "ZSTD" for name in names}
                writer = pq.ParquetWriter(
                    part,
                    schema.with_metadata(own),
                    compression=packing,
                    use_dictionary=names[1:],
                    write_statistics=names[1:],  # the least and the greatest of random records are of no use
                    write_page_checksum=True,
                    store_schema=not marked,
                )
                if marked:
                    writer.add_key_value_metadata(metadata)
            with naming(path):
                writer.write_batch(pa.record_batch(arrays, schema=schema))

        try:
            yield write
            if writer is None:
                write(np.zeros(0, spec.mechanism.report_dtype))
        finally:
            if writer is not None:
                with naming(path):
                    writer.close()
        if marked:
            with naming(path):
                footer.fill(part, mark.encode(), [piece.encode() for piece in pieces(spec.to_dict())])


def _survives(kind: Any) -> bool:
    """Whether a type is Parquet's, too, so that Arrow need not store its own schema, with all metadata once more."""
    import pyarrow as pa

    known = (pa.types.is_string, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_date32)
    return any(is_one(kind) for is_one in (*known, pa.types.is_fixed_size_binary))


@dataclass(frozen=True)
class ReportFile:
    """A file of reports, in Parquet or in Arrow's own formats.

    Args:
        path: Where it lies.
        spec: What its reports are of; over time, they are those of one round.
        rows: How many reports it holds; None of a stream, which says so only when it is read.
        randomness: Where their randomness came from: "secure", the words of a simulation, or "unknown".
        order: Of its rows: "shuffled", "input" where they are in the order of the people, or "unknown".
        columns: Those that stand beside the reports, in the clear.
        form: `hush.files.forms` has them.
        sizes: The rows of each row group or record batch, about.
    """

    path: FilePlace
    spec: Spec
    rows: int | None
    randomness: str
    order: str
    columns: tuple[str, ...]
    form: str = PARQUET
    sizes: tuple[int, ...] = ()

    @cached_property
    def n(self) -> int:
        """How many reports it holds; a stream is read to count them."""
        return sum(batch.num_rows for batch in self.batches()) if self.rows is None else self.rows

    @property
    def kept(self) -> tuple[str, ...]:
        """What stands beside the reports, in the clear: columns, and what the names of folders say."""
        return tuple(dict.fromkeys([*self.columns, *(name for name, _ in self.path.values)]))

    def batches(self, *kept: str | None) -> Iterator[Any]:
        """Arrow record batches of the column `report`, and of the kept columns that are named, in bounded memory."""
        wanted = list(dict.fromkeys(name for name in kept if name is not None))
        self.check_kept(*wanted)
        for batch in read_batches(self.path, self.form, None, self.spec, wanted):
            yield batch.select([COLUMN, *wanted])

    def check_kept(self, *names: str) -> None:
        """Refuse columns that it does not keep."""
        for by in (name for name in names if name not in self.kept):
            rule = f"must be a kept column of {self.path} ({', '.join(self.kept) or 'none'})"
            raise ParameterError(message("--by", rule, by, "keep it with `hush privatize --keep`"))
        for name in names:
            if self.columns.count(name) > 1:
                _several(self.path, name, self.columns.count(name))

    def reports(self) -> npt.NDArray[Any]:
        """All reports, in memory at once."""
        parts = [reports_of(self.spec, batch) for batch in self.batches()]
        return np.concatenate(parts) if parts else np.zeros(0, self.spec.mechanism.report_dtype)

    def aggregate(self) -> Aggregate:
        """The tally of all reports, on all cores and in bounded memory."""
        from hush.files.datasets import ReportDataset

        return ReportDataset(self.spec, (self,)).aggregate()


def read_batches(
    place: FilePlace, form: str, units: range | None, spec: Spec, kept: Sequence[str] = ()
) -> Iterator[Any]:
    """Record batches of reports, and of columns beside them, of which folders may say some.

    Args:
        place: The file.
        form: Of it.
        units: Which row groups or record batches; None for all of them.
        spec: What the reports are of.
        kept: Which columns beside them.
    """
    import pyarrow as pa

    said = dict(place.values)
    columns = [COLUMN, *(name for name in kept if name not in said)]
    with readable(place, _KINDS[form]):
        for batch in forms.batches(place, form, units, columns, _held_rows(spec)):
            for name in (name for name in kept if name in said):
                batch = batch.append_column(name, pa.repeat(pa.scalar(said[name], pa.string()), batch.num_rows))
            yield batch


def read_reports(path: Source | FilePlace, spec: Spec | None = None) -> ReportFile:
    """What a report file says of itself; its reports are read when they are asked for.

    Args:
        path: Where it lies.
        spec: What its reports are of, if it does not say so itself; one that has these very bytes is not read again.
    """
    place = path if isinstance(path, FilePlace) else place_of(path)
    form = form_of(place)
    if form is None:
        raise refuse(place)
    with readable(place, _KINDS[form]):
        found = contents(place, form, [name for name, _ in place.values])
    said, names = found.metadata, found.schema.names
    own = _spec_of(said.get(SPEC_KEY), place, spec)
    _check_column(place, found.schema, own)
    _check_folders(place, found)
    randomness, order = (said.get(key, b"unknown").decode(errors="replace") for key in (RANDOMNESS_KEY, ORDER_KEY))
    kept = tuple(name for name in names if name != COLUMN)
    return ReportFile(place, own, found.rows, randomness, order, kept, form, found.sizes)


def _spec_of(text: bytes | None, place: FilePlace, known: Spec | None) -> Spec:
    """The spec in some metadata; many files have the same one, which may have millions of labels."""
    if text is None and known is None:
        raise SpecError(
            message(
                "input",
                "must carry a spec in its metadata (hush.spec)",
                quoted(place),
                "write it with `hush privatize`, name its spec, or name a saved aggregate .hush",
            )
        )
    if known is not None and (text is None or hashlib.sha256(text).hexdigest() == known.hash):
        return known
    return spec_from(text or b"", str(place))


def _check_column(place: FilePlace, schema: Any, spec: Spec) -> None:
    """Refuse a file without a column of reports, or with several."""
    if schema.names.count(COLUMN) > 1:
        _several(place, COLUMN, schema.names.count(COLUMN))
    size, has_one = spec.mechanism.report_dtype.itemsize, COLUMN in schema.names
    if not has_one or not is_records(schema.field(COLUMN).type, size):
        rule = f"must have a column {COLUMN!r} of {size}-byte binaries, as {spec.mechanism.name()} has"
        got = Unsaid(f"{schema.field(COLUMN).type if has_one else 'none'} in {quoted(place)}")
        remedy = "check that it is of this spec" if has_one else "write it with `hush privatize`"
        raise ReportError(message("input", rule, got, remedy))


def _check_folders(place: FilePlace, found: Contents) -> None:
    """Refuse a file whose own column says something else than the folder that it lies in."""
    import pyarrow as pa

    for name, cell in place.values:
        if name not in found.schema.names or found.rows == 0:
            continue
        is_flag = cell is not None and pa.types.is_boolean(found.schema.field(name).type)
        if found.constants.get(name, NOTHING) != (str(cell).lower() if is_flag else cell):
            rule = f"must be {cell} in all rows of a file in the folder {name}={cell}"
            got = Unsaid(f"something else, or no statistics of it, in {quoted(place)}")
            raise ReportError(
                message(f"the column {name!r}", rule, got, "move the file, or leave the column out of it")
            )


def _several(place: FilePlace, name: str, times: int) -> NoReturn:
    rule, remedy = f"must have one column {name!r}", "rename or remove the others"
    raise ReportError(message("input", rule, Unsaid(f"{times} in {place}"), remedy))


def column_of(reports: npt.NDArray[Any]) -> Any:
    """Reports as an Arrow array of fixed-size binaries; they are not copied."""
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(reports).view(np.uint8))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(reports.dtype.itemsize), len(reports), [None, data])


def reports_of(spec: Spec, batch: Any) -> npt.NDArray[Any]:
    """The reports in the column `report` of a record batch, none of which may be missing; they are not copied.

    Binaries of any length will do, as other engines hand them over, if each has that of a report.
    """
    return records_in(batch, spec.mechanism.report_dtype)
