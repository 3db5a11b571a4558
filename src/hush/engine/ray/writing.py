"""Reports of a table of people, randomized by a cluster into a folder that appears whole.

A retried task is a privacy hazard: two attempts could leave two independent reports of one person. Three things keep it
from being one. What a task draws follows from its key, so another attempt makes the same reports. Every attempt writes
a file of its own, in a hidden folder. And the driver alone decides: of each bucket, it gives one attempt that answered
its name, deletes all others, and only then renames the folder, in one step, to what was asked for.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from itertools import count
from pathlib import Path

import hush
from hush.atomic import hidden, naming, refuse_leftovers
from hush.engine.ray import tasks as on_workers
from hush.engine.ray.cluster import RayCluster
from hush.engine.ray.gathering import Gathered
from hush.engine.ray.keys import JobKeys
from hush.engine.ray.scattering import Dealt, cut, groups_of
from hush.errors import ParameterError, Unsaid, message
from hush.files.kept import Groups
from hush.files.paths import quoted
from hush.files.progress import Progress, unseen
from hush.files.randomizing import Rows, Written

_MOST = 512  # pieces, and buckets: each piece has a part for each bucket
_BUCKET = 1 << 26  # bytes of a bucket, about
_CELL = 16  # bytes of a kept cell, about
_PART = "part-{:05d}.parquet"
_PARTS = ".parts"  # how the hidden folder's name ends
_TRIES, _PAUSE = 10, 0.2


def privatize(cluster: RayCluster, rows: Rows, output: Path, *, progress: Progress = unseen) -> Written:
    """Randomize all rows of some tables into a folder of report files.

    Args:
        cluster: Who works.
        rows: The tables, in places that all nodes reach, and what becomes of them.
        output: A folder that does not exist yet, on a filesystem that all nodes share.
        progress: Told of every piece and of every file.
    """
    keys, pieces = JobKeys(), cut(rows, _MOST)
    buckets = _buckets(rows, sum(piece.count for piece in pieces), cluster.cores)
    seal, number = keys.of("seal"), count()
    with _appearing(output) as folder, cluster.ending() as begun:
        scatter = cluster.remote(on_workers.scattered, num_returns=1 + buckets)
        gather = cluster.remote(on_workers.gathered)
        parts = [
            scatter.remote(hush.__version__, piece, buckets, keys.of("piece", next(number)), seal) for piece in pieces
        ]
        begun += [told for told, *_ in parts]
        held: list[Dealt] = []
        with progress("Randomizing", sum(piece.count for piece in pieces) or 1) as advance:
            for told in cluster.done(told for told, *_ in parts):
                held.append(told)
                advance(told.count)
        _one_type(held)
        spec = cluster.ray.put(rows.spec)
        files = [
            gather.remote(
                hush.__version__, spec, str(folder), keys.of("bucket", b), seal, *(each[1 + b] for each in parts)
            )
            for b in range(buckets)
        ]
        begun += files
        with progress("Writing", buckets) as advance:
            for _ in cluster.done(files):
                advance(1)
        written = [cluster.got(file) for file in files]
        begun.clear()
        _settle(folder, written, sum(each.count for each in held))
    return _summed(held, seal)


def _buckets(rows: Rows, n: int, cores: int) -> int:
    """So many that each fits the memory, and that all cores have some to write, if there is enough to write."""
    width = rows.spec.mechanism.report_dtype.itemsize + _CELL * len(rows.kept)
    wanted = max(-(-n * width // _BUCKET), min(2 * cores, n >> 16))
    return max(1, min(wanted, _MOST))


@contextmanager
def _appearing(output: Path) -> Iterator[Path]:
    """A hidden folder that takes its place when all went well, and vanishes otherwise."""
    target = Path(os.path.abspath(output))
    _free(target)
    folder = hidden(target, _PARTS)
    with naming(output):
        folder.mkdir()
    try:
        yield folder
        with naming(output):
            folder.rename(target)
        _sweep(target, [])  # an attempt that nobody heard of may have had a file open
    except BaseException:
        _removed(folder)
        raise


def _free(target: Path) -> None:
    """Refuse a place that is taken, or where an attempt was cut short, whose reports must not stay beside new ones."""
    if target.name in ("-", ""):
        raise ParameterError(message("--output", "must be the name of a folder", target.name, "name a new one"))
    if target.is_symlink():  # which a folder cannot take the place of
        rule = "must be no link, where a cluster writes"
        raise ParameterError(message("--output", rule, quoted(target), "name the folder that it leads to"))
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        rule = "must be a folder that does not exist yet, where a cluster writes"
        raise ParameterError(message("--output", rule, quoted(target), "name another place"))
    if not target.parent.is_dir():
        rule = "must lie in a folder that exists, on a filesystem that all nodes share"
        raise ParameterError(message("--output", rule, quoted(target), f"make {target.parent} first"))
    refuse_leftovers("--output", target, _PARTS)


def _settle(folder: Path, files: Sequence[Gathered], rows: int) -> None:
    """Give one attempt of each bucket its name, and delete all others; every row must have one report."""
    for i, file in enumerate(files):
        path = folder / file.name
        if not path.is_file() or path.stat().st_size != file.size:
            rule, remedy = "must lie on a filesystem that all nodes share", "name a folder there"
            raise ParameterError(message("--output", rule, Unsaid(f"no {file.name} of a node in {folder}"), remedy))
        path.rename(folder / _PART.format(i))
    _sweep(folder, [_PART.format(i) for i in range(len(files))])
    total = sum(file.rows for file in files)
    if total != rows:
        rule = "must have one report for each row"
        raise ParameterError(message("output", rule, Unsaid(f"{total:,} reports of {rows:,} rows"), "report this"))


def _sweep(folder: Path, names: Sequence[str]) -> None:
    """Delete what no answer named: all that is there but these, or all that is hidden, if none are given."""
    for path in folder.iterdir():
        if path.name not in names and (names or path.name.startswith(".")):
            with suppress(OSError):
                path.unlink()


def _removed(folder: Path) -> None:
    """Delete a folder into which an attempt that is being ended may still write."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_PAUSE)


def _one_type(held: Sequence[Dealt]) -> None:
    """Refuse kept cells that are of one type here and of another there: they could not stand in one column."""
    for each in held:
        for name, kind in each.kept.items():
            if kind != held[0].kept[name]:
                rule, got = "must be of one type in all files", Unsaid(f"{name}: {held[0].kept[name]} and {kind}")
                raise ParameterError(message("--keep", rule, got, "write the files alike"))


def _summed(held: Sequence[Dealt], seal: bytes) -> Written:
    """What all pieces held, in numbers."""

    def total(cells: Sequence[dict[str, int]]) -> dict[str, int]:
        return {name: sum(each[name] for each in cells) for name in cells[0]}

    n = sum(each.count for each in held)
    return Written(
        n,
        n,
        reduce(Groups.with_all, (groups_of(each, seal) for each in held)).smallest,
        total([each.unmatched for each in held]),
        total([each.missing for each in held]),
        total([each.clipped for each in held]),
        sum(each.blank for each in held),
    )
