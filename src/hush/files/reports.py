"""Report files: Parquet with one fixed-size binary column, and the spec in the file's metadata."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.atomic import naming, replacing
from hush.canonical import pieces
from hush.errors import ParameterError, ReportError, SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.files import footer
from hush.files.paths import quoted
from hush.files.specs import spec_from
from hush.files.tables import readable
from hush.mechanisms.spec import Spec
from hush.people.arrow import records

COLUMN = "report"
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
_KIND = "Parquet file of reports"


def batch_rows(spec: Spec) -> int:
    """How many reports to hold at a time: enough for all cores, at most 64 MB."""
    return int(np.clip(BATCH_BYTES // spec.mechanism.report_dtype.itemsize, 256, _BATCH_ROWS))


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


def _opened(path: Path) -> Any:
    """A file whose pages are verified, and whose spec may be as long as the file itself."""
    import pyarrow.parquet as pq

    longest = max(path.stat().st_size, 1 << 20)
    return pq.ParquetFile(
        path, pre_buffer=False, page_checksum_verification=True, thrift_string_size_limit=min(longest, footer.MOST)
    )


@dataclass(frozen=True)
class ReportFile:
    """A Parquet file of reports.

    Args:
        path: Where it lies.
        spec: What its reports are of; over time, they are those of one round.
        n: How many reports it holds.
        randomness: Where their randomness came from: "secure", the words of a simulation, or "unknown".
        order: Of its rows: "shuffled", "input" where they are in the order of the people, or "unknown".
        kept: The columns that stand beside the reports, in the clear.
    """

    path: Path
    spec: Spec
    n: int
    randomness: str
    order: str
    kept: tuple[str, ...]

    def batches(self, *kept: str | None) -> Iterator[Any]:
        """Arrow record batches of the column `report`, and of the kept columns that are named, in bounded memory."""
        import pyarrow as pa

        size = self.spec.mechanism.report_dtype.itemsize
        with readable(self.path, _KIND), _opened(self.path) as file:
            schema = file.schema_arrow
            wanted = list(dict.fromkeys(name for name in kept if name is not None))
            for by in (name for name in wanted if name not in self.kept):
                rule = f"must be a kept column of {self.path} ({', '.join(self.kept) or 'none'})"
                raise ParameterError(message("--by", rule, by, "keep it with `hush privatize --keep`"))
            for name in (COLUMN, *wanted):
                if schema.names.count(name) > 1:
                    rule, remedy = f"must have one column {name!r}", "rename or remove the others"
                    got = Unsaid(f"{schema.names.count(name)} in {self.path}")
                    raise ReportError(message("input", rule, got, remedy))
            if COLUMN not in schema.names or schema.field(COLUMN).type != pa.binary(size):
                rule = f"must have a column {COLUMN!r} of {size}-byte binaries"
                raise ReportError(message("input", rule, quoted(self.path), "write it with `hush privatize`"))
            yield from file.iter_batches(batch_size=batch_rows(self.spec), columns=[COLUMN, *wanted])

    def reports(self) -> npt.NDArray[Any]:
        """All reports, in memory at once."""
        parts = [reports_of(self.spec, batch) for batch in self.batches()]
        return np.concatenate(parts) if parts else np.zeros(0, self.spec.mechanism.report_dtype)

    def aggregate(self) -> Aggregate:
        """The tally of all reports, in bounded memory."""
        return self.spec.one_round.aggregate(reports_of(self.spec, batch) for batch in self.batches())


def read_reports(path: Path) -> ReportFile:
    """What a report file says of itself; its reports are read when they are asked for."""
    with readable(path, _KIND), _opened(path) as file:
        found, names, n = dict(file.schema_arrow.metadata or {}), file.schema_arrow.names, file.metadata.num_rows
    if SPEC_KEY not in found:
        raise SpecError(
            message(
                "input",
                "must carry a spec in its metadata (hush.spec)",
                quoted(path),
                "write it with `hush privatize`, or name a saved aggregate .hush",
            )
        )
    randomness, order = (found.get(key, b"unknown").decode(errors="replace") for key in (RANDOMNESS_KEY, ORDER_KEY))
    kept = tuple(name for name in names if name != COLUMN)
    return ReportFile(path, spec_from(found[SPEC_KEY], str(path)), int(n), randomness, order, kept)


def column_of(reports: npt.NDArray[Any]) -> Any:
    """Reports as an Arrow array of fixed-size binaries; they are not copied."""
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(reports).view(np.uint8))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(reports.dtype.itemsize), len(reports), [None, data])


def reports_of(spec: Spec, batch: Any) -> npt.NDArray[Any]:
    """The reports in the column `report` of a record batch, none of which may be missing; they are not copied."""
    import pyarrow as pa

    dtype = spec.mechanism.report_dtype
    if batch.schema.names.count(COLUMN) != 1 or batch.schema.field(COLUMN).type != pa.binary(dtype.itemsize):
        rule = f"must have one column {COLUMN!r} of {dtype.itemsize}-byte binaries"
        got = Unsaid(f"the columns {', '.join(f'{each.name} ({each.type})' for each in batch.schema)}")
        raise ReportError(message("batch", rule, got, "read it from a report file, or cast the column"))
    cells = batch.column(COLUMN)
    if cells.null_count:
        found = Unsaid(f"{cells.null_count} empty cells")
        raise ReportError(message("reports", "must not be missing", found, "remove those rows"))
    return records(cells, dtype)
