"""People in a table, one a row, with a column for each attribute that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hush.files.cells import CellReaders
from hush.files.progress import Progress, unseen
from hush.files.tables import TableFile
from hush.mechanisms.spec import Spec
from hush.types import Ints

_READ = 1 << 18


def read_tuples(
    path: Path, spec: Spec, columns: Sequence[str], *, clip: bool = False, progress: Progress = unseen
) -> Ints:
    """What people hold, in memory at once: integers of shape (n, d), as a collection of tuples takes them.

    Args:
        path: A .csv, .csv.gz or .parquet file.
        spec: The collection, whose domains say what cells mean.
        columns: One for each attribute, in order.
        clip: Whether numbers beyond the largest value count as it.
        progress: Told of every batch.
    """
    table = TableFile(path, dict.fromkeys(columns, "--people"), _READ, columns)
    cells = CellReaders(spec, columns, clip=clip)
    parts, done = [], 0
    with progress(f"Reading {path.name}", table.size) as advance:
        for batch in table.batches(advance):
            parts.append(cells.values(cells.encode(batch, done + 1)))
            done += batch.num_rows
    return np.concatenate(parts)
