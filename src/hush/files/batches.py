"""Arrow record batches that say nothing beyond their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def plain(batch: Any) -> Any:
    """The cells themselves where codes of a dictionary stand, since a dictionary lists them as the input does."""
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


def evenly(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in batches of so many, but for the last: where a batch ends then tells only how many there are.

    At least one batch comes out where one came in, though it may be empty.
    """
    held: list[Any] = []
    size, empty = 0, True
    for batch in batches:
        rest = batch
        while size + rest.num_rows >= rows:
            yield joined([*held, rest.slice(0, rows - size)])
            rest = rest.slice(rows - size)
            held, size, empty = [], 0, False
        held.append(rest)
        size += rest.num_rows
    if size or (empty and held):
        yield joined(held)


def _plain(kind: Any) -> Any:
    """A type with no dictionary in it, at any depth."""
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
    return pa.list_(inner(kind.value_field)) if pa.types.is_list(kind) else kind
