"""What jobs and collectors cost on this machine, measured: seconds and bytes of each report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hush
from benchmarks import disk
from benchmarks.collecting import servers, sizes, wrk
from benchmarks.collecting.stores import store
from benchmarks.order import command
from benchmarks.scaling.simulation import Costs, Machines

K = 266
MECHANISM = hush.OLH(k=K, epsilon=1.0)
_CHOSEN = ("--column", "value", "--k", str(K), "--mechanism", "OLH", "--epsilon", "1")
_FEW = 1000
_PART = 1 << 20
_HEADS = 300
"""Bytes of HTTP, TCP and IP around a body, about."""


@dataclass(frozen=True)
class Measured:
    """A command that was run.

    Args:
        seconds: On the clock.
        processor: Of all cores together.
    """

    seconds: float
    processor: float


class Jobs:
    """The commands of a file job, in a folder.

    Args:
        folder: Where files go; they are deleted when they are not needed any more.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._values, self._reports = folder / "values.parquet", folder / "reports.parquet"

    def run(self, rows: int, *, threads: int | None = None) -> dict[str, Measured]:
        """Privatize and estimate so many values, each from a disk that has nothing cached."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        drawing = np.random.default_rng(rows)
        with pq.ParquetWriter(self._values, pa.schema({"value": pa.uint16()})) as writer:
            for start in range(0, rows, _PART):
                some = drawing.integers(0, K, min(_PART, rows - start), np.uint16)
                writer.write_table(pa.table({"value": some}))
        disk.forget(self._values)
        made = _timed(threads, "privatize", self._values, *_CHOSEN, "--json", "-o", self._reports)
        lasting = disk.synced(self._reports)
        disk.forget(self._reports)
        read = _timed(threads, "estimate", self._reports, "--json")
        self.bytes = {"values": self._values.stat().st_size / rows, "reports": self._reports.stat().st_size / rows}
        self._values.unlink()
        self._reports.unlink()
        return {"privatize": Measured(made.seconds + lasting, made.processor), "estimate": read}

    def shortest(self, rows: int, *, threads: int | None = None) -> dict[str, Measured]:
        """The shorter of two runs of each command: others use the machine, too."""
        one, other = self.run(rows, threads=threads), self.run(rows, threads=threads)
        return {name: min(one[name], other[name], key=lambda found: found.seconds) for name in one}

    def machine(self) -> Machines:
        """This one."""
        size, path = 1 << 30, self._folder / "bytes"
        try:
            writes = size / min(disk.written(path, size), disk.written(path, size))
            reads = size / disk.read(path)
        finally:
            path.unlink(missing_ok=True)
        return Machines(cores=len(os.sched_getaffinity(0)), reads=reads, writes=writes)

    def costs(self, rows: int, on: Machines) -> dict[str, Costs]:
        """Each command's costs, of three runs: of few rows, and of so many on one thread and on all.

        What one thread computes is the processor's time; what all of them take is the clock's but for what the disk
        writes, which comes last. What more threads do not make faster is serial; what they do is parallel.
        """
        cores = on.cores
        few, one, all_ = self.shortest(_FEW), self.shortest(rows, threads=1), self.shortest(rows)
        moved = {
            "privatize": (self.bytes["values"] + 1, self.bytes["reports"] + 1),  # rows wait on the disk, a byte each
            "estimate": (self.bytes["reports"], 0.0),
        }
        found = {}
        for name, (reads, writes) in moved.items():
            start = few[name].seconds
            alone = (one[name].processor - few[name].processor) / rows
            together = max(alone / cores, (all_[name].seconds - start) / rows - writes / on.writes)
            parallel = max(0.0, (alone - together) * cores / (cores - 1)) if cores > 1 else alone
            found[name] = Costs(
                start=start,
                serial=max(0.0, alone - parallel),
                parallel=parallel,
                reads=reads,
                writes=writes,
            )
        return found


def _timed(threads: int | None, *words: str | Path) -> Measured:
    before = os.environ.get("HUSH_THREADS")
    if threads is not None:
        os.environ["HUSH_THREADS"] = str(threads)
    try:
        found = command(*words)
    finally:
        if threads is not None:
            os.environ.pop("HUSH_THREADS")
            if before is not None:
                os.environ["HUSH_THREADS"] = before
    return Measured(found["seconds"], found["processor"])


@dataclass(frozen=True)
class Collected:
    """What a report costs a collector.

    Args:
        processor: Seconds of a core: taken, kept and folded.
        kept: Bytes in the store.
        sent: Bytes that come in, heads included.
    """

    processor: float
    kept: float
    sent: float


def collected(reports: int, seconds: float) -> Collected:
    """What reports cost a collector in batches of so many, under load for some seconds."""
    spec = hush.Spec(MECHANISM)
    with store("SQLite") as (where, folder):
        id, key = servers.collection(where, spec)
        sent = servers.batch(id, key, spec, reports)
        empty = sizes.size(where, folder)
        with servers.collector(where) as (url, pid):
            first = wrk.load(url, sent, connections=8, seconds=1)
            before = _spent(pid)
            found = wrk.load(url, sent, connections=64, seconds=seconds)
            spent = _spent(pid) - before
        kept = (sizes.size(where, folder) - empty) / ((first.requests + found.requests) * reports)
    body = len(sent.before) + 16 + len(sent.after)
    return Collected(spent / (found.requests * reports), kept, (body + _HEADS) / reports)


def _spent(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
