"""Ray Datasets of reports: folded batch by batch, where the batches are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from hush.estimation import Aggregate
from hush.files.folding import fold as fold_batches
from hush.files.folding import merge
from hush.mechanisms.spec import Spec

_TOGETHER = 64  # aggregates that are held before they are merged
_COLUMN = "aggregate"


def fold(spec: Spec, dataset: Any) -> Aggregate:
    """The aggregate of all reports of a Ray Dataset, which is read as a stream and never held as a whole.

    Args:
        spec: What the reports are of.
        dataset: With a column `report`, such as `ray.data.read_parquet` of report files gives.
    """

    def folded(table: Any) -> dict[str, Any]:
        import numpy as np

        return {_COLUMN: np.array([fold_batches(spec, table.to_batches())], object)}

    found = dataset.map_batches(folded, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)
    parts: Iterator[bytes] = (row[_COLUMN] for row in found.iter_rows())
    whole = merge(spec)
    while some := list(islice(parts, _TOGETHER)):
        whole = merge(spec, whole, *some)
    return Aggregate.from_bytes(whole)
