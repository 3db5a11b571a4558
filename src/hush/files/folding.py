"""The seam of every engine: reports in, aggregates out, as bytes.

Where reports lie, and who reads them, is the engine's; what becomes of them, the spec's. Any way of cutting reports
into batches, folding these anywhere and merging the bytes in any order gives the same bytes. A spec of any kind will
do; over time, what is folded and merged is one round.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

from hush.estimation import Aggregate
from hush.files.reports import reports_of
from hush.mechanisms.spec import Spec


def fold(spec: Spec, batch: Any) -> bytes:
    """The aggregate of the reports in an Arrow record batch, or in several, as bytes.

    Args:
        spec: What the reports are of, of any kind.
        batch: One record batch with a column `report`, as report files have it; or many, one after the other.
    """
    batches: Iterable[Any] = [batch] if hasattr(batch, "schema") else batch
    return spec.one_round.aggregate(reports_of(spec, each) for each in batches).to_bytes()


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
