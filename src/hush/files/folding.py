"""The seam of every engine: reports in, aggregates out, as bytes.

Where reports lie, and who reads them, is the engine's; what becomes of them, the spec's. Any way of cutting reports
into batches, folding these anywhere and merging the bytes in any order gives the same bytes. A spec of any kind will
do; over time, what is folded and merged is one round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

from hush.errors import ReportError, message
from hush.estimation import Aggregate
from hush.mechanisms.spec import Spec
from hush.people.frames import is_frame


def fold(spec: Spec, batch: Any) -> bytes:
    """The aggregate of the reports in an Arrow record batch or in any frame, or in several, as bytes.

    Args:
        spec: What the reports are of, of any kind.
        batch: A record batch with a column `report`, as report files have it; or a frame of another library, which
            hands its rows over as Arrow does; or many, one after the other.
    """
    found: Aggregate = spec.one_round.aggregate(batch if is_frame(batch) else _frames(batch))
    return found.to_bytes()


def _frames(batches: Iterable[Any]) -> Iterator[Any]:
    for each in batches:
        if not is_frame(each):
            rule, remedy = "must be Arrow record batches, or frames", "tally arrays with spec.aggregate"
            raise ReportError(message("batch", rule, type(each), remedy))
        yield each


def merge(spec: Spec, *parts: bytes) -> bytes:
    """The aggregate of all reports of some aggregates; of none, that of no reports.

    Args:
        spec: What the reports are of.
        parts: Whoever folded them: a part of another spec, or one that no reports give, is refused.
    """
    return reduce(add, (spec.one_round.check(Aggregate.from_bytes(part)) for part in parts), nothing(spec)).to_bytes()


def nothing(spec: Spec) -> Aggregate:
    """The aggregate of no reports."""
    return spec.one_round.aggregate(iter(()))
