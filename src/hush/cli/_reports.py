"""Report files: Parquet with one fixed-size binary column, and the spec in the file's metadata."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.canonical import pieces
from hush.cli._choose import spec_from
from hush.cli._numeric_spec import AnySpec
from hush.cli._paths import quoted
from hush.cli._tables import readable
from hush.errors import ParameterError, ReportError, SpecError, Unsaid, message
from hush.files import footer
from hush.files.atomic import naming, replacing

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


def batch_rows(spec: AnySpec) -> int:
    """How many reports to hold at a time: enough for all cores, at most 64 MB."""
    return int(np.clip(BATCH_BYTES // spec.mechanism.report_dtype.itemsize, 256, _BATCH_ROWS))


@contextmanager
def writing(path: Path, spec: AnySpec, randomness: str, order: str) -> Iterator[Callable[..., None]]:
    """A report file that appears when it is complete; gives ``write(reports, kept)``, kept being a record batch.

    It says where the randomness came from and in which order its rows are. Whoever writes makes both true.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = spec.mechanism.report_dtype.itemsize
    mark = secrets.token_hex(16)  # stands for the spec, which may have millions of labels
    metadata = {SPEC_KEY: mark, RANDOMNESS_KEY: randomness, ORDER_KEY: order}
    writer: Any = None
    marked = True

    with replacing(path) as part:

        def write(reports: npt.NDArray[Any], kept: Any = None) -> None:
            nonlocal writer, marked
            data = pa.py_buffer(np.ascontiguousarray(reports).view(np.uint8))
            column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(reports), [None, data])
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


def _metadata(path: Path) -> dict[bytes, bytes]:
    with readable(path, "Parquet file of reports"), _opened(path) as file:
        found = file.schema_arrow.metadata or {}
    if SPEC_KEY not in found:
        raise SpecError(
            message(
                "input",
                "must carry a spec in its metadata (hush.spec)",
                quoted(path),
                "write it with `hush privatize`, or name a saved aggregate .hush",
            )
        )
    return dict(found)


def spec_in(path: Path) -> AnySpec:
    """The spec that a report file carries."""
    return spec_from(_metadata(path)[SPEC_KEY], str(path))


def randomness_in(path: Path) -> str:
    """Where the reports' randomness came from: "secure", or the words of a simulation."""
    return _metadata(path).get(RANDOMNESS_KEY, b"unknown").decode(errors="replace")


def row_count(path: Path) -> int:
    """How many reports a file holds."""
    with readable(path, "Parquet file of reports"), _opened(path) as file:
        return int(file.metadata.num_rows)


def reading(path: Path, spec: AnySpec, by: str | None = None) -> Iterator[tuple[npt.NDArray[Any], Any]]:
    """The reports of a file, batch by batch, each with the cells of the column `by` if one is named."""
    import pyarrow as pa

    dtype = spec.mechanism.report_dtype
    with readable(path, "Parquet file of reports"), _opened(path) as file:
        schema = file.schema_arrow
        if by is not None and (by not in schema.names or by == COLUMN):
            kept = ", ".join(name for name in schema.names if name != COLUMN) or "none"
            raise ParameterError(
                message("--by", f"must be a kept column of {path} ({kept})", by, "keep it with `hush privatize --keep`")
            )
        for name in (COLUMN, by):
            if schema.names.count(name) > 1:
                rule, remedy = f"must have one column {name!r}", "rename or remove the others"
                got = Unsaid(f"{schema.names.count(name)} in {path}")
                raise ReportError(message("input", rule, got, remedy))
        if COLUMN not in schema.names or schema.field(COLUMN).type != pa.binary(dtype.itemsize):
            rule = f"must have a column {COLUMN!r} of {dtype.itemsize}-byte binaries"
            raise ReportError(message("input", rule, quoted(path), "write it with `hush privatize`"))
        for batch in file.iter_batches(batch_size=batch_rows(spec), columns=[COLUMN, *([by] if by else [])]):
            cells = batch.column(COLUMN)
            if cells.null_count:
                found = Unsaid(f"{cells.null_count} empty cells in {path}")
                raise ReportError(message("reports", "must not be missing", found, "remove those rows"))
            offset = cells.offset * dtype.itemsize
            reports = np.frombuffer(cells.buffers()[1], dtype, len(cells), offset) if len(cells) else np.zeros(0, dtype)
            yield reports, batch.column(by) if by else None
