"""All reports of a dataset, folded by an engine and merged."""

from __future__ import annotations

from typing import Any

from hush.engine import local
from hush.engine.jobs import Engine, Job
from hush.engine.pieces import pieces
from hush.errors import ParameterError, message
from hush.estimation import Aggregate
from hush.files.collections import Collection
from hush.files.datasets import ReportDataset
from hush.files.folding import merge
from hush.files.periods import natural
from hush.files.progress import Progress, unseen
from hush.files.saved import read_aggregate


def merged(
    dataset: ReportDataset, by: str | None = None, progress: Progress = unseen, engine: Engine | None = None
) -> Collection:
    """What the files of a dataset hold, in all or for each group, in bounded memory.

    Args:
        dataset: Files of one spec, and the period that is asked for.
        by: The kept column whose groups are wanted.
        progress: Told how many reports were read.
        engine: Who folds the pieces; left out, `hush.engine.local.run`.
    """
    spec, job = dataset.spec, Job(spec=dataset.spec, by=by, period=dataset.period)
    cut = pieces(dataset.files)
    with progress("Reading reports", sum(piece.rows for piece in cut)) as advance:
        parts = job.merge((engine or local.run)(job, cut, advance))
    if dataset.saved:
        saved = [read_aggregate(place, spec).to_bytes() for place in dataset.saved]
        parts = {None: merge(spec, *parts.values(), *saved)}
    found = {group: Aggregate.from_bytes(part) for group, part in (parts or {None: merge(spec)}).items()}
    if dataset.period is not None and not any(part.n for part in found.values()):
        rule = "must be a period that there are reports of"
        raise ParameterError(message("period", rule, dataset.period, "leave it out to see which there are"))
    checked = {group: spec.one_round.check(found[group]) for group in sorted(found, key=_order)}
    return Collection(spec, checked, dataset.randomness, dataset.period)


def _order(group: Any) -> tuple[bool, bool, Any, str]:
    """Numbers by size, then texts by letter with the numbers in them by size (g2 before g10), then the missing."""
    number = isinstance(group, (int, float))
    return group is None, not number, group if number else natural(str(group)), repr(group)
