"""Arrow IPC streams, read to their end: one that was cut between two messages looks like a shorter one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""What stands after the last message of a stream that was closed."""


class ArrowStream:
    """The record batches of a stream.

    Args:
        reader: Arrow's.
        source: What it reads from, at the end of the schema.
    """

    def __init__(self, reader: Any, source: Any) -> None:
        self.schema, self._reader, self._source = reader.schema, reader, source

    def __iter__(self) -> Iterator[Any]:
        """All of them; an end without the mark of one is an error, since rows, and with them people, may be missing."""
        import pyarrow as pa

        before = self._source.tell()
        for batch in self._reader:
            before = self._source.tell()
            yield batch
        after = self._source.tell()
        self._source.seek(max(after - len(_END), 0))
        if after - before < len(_END) or self._source.read(len(_END)) != _END:  # cells may look like the mark, too
            raise pa.ArrowInvalid("it has no end-of-stream mark: it was cut short, or its writer was never closed")


@contextmanager
def stream(place: Any) -> Iterator[ArrowStream]:
    """A stream at a `FilePlace`."""
    import pyarrow as pa

    with place.open() as source, pa.ipc.open_stream(source) as reader:
        yield ArrowStream(reader, source)
