"""Arrow record batches that say nothing beyond their cells."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

_CELL = 8
"""Bytes that a cell counts for, beside its text."""


def plain(batch: Any) -> Any:
    """The cells themselves where codes of a dictionary stand, since a dictionary lists them as the input does.

    Views of texts become texts, too, since Arrow cannot put views in another order.
    """
    import pyarrow as pa

    schema = pa.schema([field.with_type(_plain(field.type)) for field in batch.schema], batch.schema.metadata)
    columns = [cells.cast(field.type) for cells, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def joined(batches: Sequence[Any]) -> Any:
    """One batch of the rows of several, at least one."""
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    columns = [pa.concat_arrays([batch.column(i) for batch in batches]) for i in range(batches[0].num_columns)]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)


def evenly(batches: Iterable[Any], rows: int, size: int) -> Iterator[Any]:
    """The same rows in batches of so many, but for the last; of a half, a quarter… of that where cells are long.

    Where a batch ends then tells only of the rows as they come out, and nothing of the batches that came in. At least
    one batch comes out where one came in, though it may be empty.

    Args:
        batches: Of one schema, as `plain` makes them.
        rows: At most so many rows in a batch.
        size: At most so many bytes, unless a single row takes more.
    """
    held: list[Any] = []
    total = 0
    for batch in batches:
        held.append(batch)
        total += batch.num_rows
        if sum(each.num_rows for each in held) >= rows or sum(each.nbytes for each in held) > size:
            held = [(yield from _cut(joined(held), rows, size))]
    if held:
        rest = yield from _cut(joined(held), rows, size)
        if rest.num_rows or not total:
            yield rest


def _cut(batch: Any, rows: int, size: int) -> Generator[Any, None, Any]:
    """Batches of which it is certain that they end there; returns the rows that are left."""
    while some := _first(batch, rows, size):
        yield batch.slice(0, some)
        batch = batch.slice(some)
    return batch


def _first(batch: Any, rows: int, size: int) -> int:
    """How many rows to cut off; none if rows that are still to come might be among them."""
    if batch.num_rows < rows and (batch.num_rows == 0 or _bytes(batch.columns) <= size):
        return 0
    while rows > 1 and (rows > batch.num_rows or _bytes(batch.slice(0, rows).columns) > size):
        rows //= 2
    return rows


def _bytes(columns: Sequence[Any]) -> int:
    """What cells take, by what they hold alone: Arrow's own count depends on how they came together."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for cells in columns:
        kind = cells.type
        total += _CELL * len(cells)
        if isinstance(cells, pa.ExtensionArray):
            total += _bytes([cells.storage])
        elif pa.types.is_struct(kind):
            total += _bytes(cells.flatten())
        elif pa.types.is_map(kind):
            total += _bytes([cells.cast(pa.list_(pa.struct([kind.key_field, kind.item_field]))).flatten()])
        elif pa.types.is_nested(kind):
            total += _bytes([cells.flatten()])
        elif _is_text(kind):
            total += pc.sum(pc.binary_length(cells)).as_py() or 0
    return total


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_one(kind) for is_one in (*texts, pa.types.is_fixed_size_binary))


def _plain(kind: Any) -> Any:
    """A type with no dictionary and no view of texts in it, at any depth."""
    import pyarrow as pa

    def inner(field: Any) -> Any:
        return field.with_type(_plain(field.type))

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([inner(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(inner(kind.key_field), inner(kind.item_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(inner(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(inner(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(inner(kind.value_field))
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind
