"""Ray beside as many threads of one machine, at the same work, in turns.

Both count chunks of an audit, and fold report files. What is compared is the speed-up over one thread, once all kernels
are loaded; and for a job of about a minute the whole of it, with Ray's own start, its workers' and its end.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hush
from benchmarks import report, timing
from hush.engine.ray import RayCluster, connect
from hush.kernels import chunks
from hush.kernels.workers import THREADS, Workers

LEAST_SHARE, MOST_OVERHEAD = 0.9, 0.2
CHUNKS = {"GRR": 4096, "OLH": 1024, "SS": 512}
MINUTE, LONG_ENOUGH = 60.0, 2.0


def run(quick: bool) -> list[report.Table]:
    """Speed-ups, then a whole job."""
    with connect() as cluster:
        tables = [_speed(cluster, quick)]
    return [*tables, _whole(quick)]


@contextmanager
def _threads(number: int) -> Iterator[None]:
    known = os.environ.get("HUSH_THREADS")
    os.environ["HUSH_THREADS"] = str(number)
    try:
        yield
    finally:
        os.environ.pop("HUSH_THREADS")
        os.environ |= {} if known is None else {"HUSH_THREADS": known}


def _audit(m: Any, number: int, engine: Workers, threads: int) -> None:
    with _threads(threads):
        hush.audit.run(m, "attack", trials=number * 65_536, rng=hush.seeded(7), engine=engine)


def _speed(cluster: RayCluster, quick: bool) -> report.Table:
    cores = chunks.threads()
    table = report.Table(
        f"Ray beside {cores} threads, warm",
        ("work", "one thread", f"{cores} threads", f"Ray, {cores} workers", "speed-up", "on Ray", "share"),
        note=f"Shortest of turns in which each has its go; at least {LEAST_SHARE:.0%} of the threads' speed-up, where "
        f"these take {LONG_ENOUGH:g} s or more: what is done in less, Ray asks a tenth of a second for.",
    )
    works: dict[str, Callable[[Any, int], Any]] = {}
    for name, number in CHUNKS.items():
        m, some = hush.registry()[name](k=100, epsilon=1.0), number // (16 if quick else 1)
        works[f"audit of {name}, {2 * some * 65_536:,} reports"] = lambda engine, threads, m=m, some=some: _audit(
            m, some, engine or THREADS, threads
        )
    with tempfile.TemporaryDirectory() as folder:
        n = 4_000_000 if quick else 40_000_000
        works[f"fold of {n:,} reports of OLH"] = _folding(Path(folder), n)
        for what, work in report.progress(list(works.items()), "ray"):
            tries = [lambda w=work: w(None, 1), lambda w=work: w(None, cores), lambda w=work: w(cluster, cores)]
            tries[2]()  # workers load their kernels
            one, many, far = timing.best(tries, 2 if quick else 3)
            share = many / far
            table.add(
                what,
                *(f"{each:.2f} s" for each in (one, many, far)),
                f"{one / many:.2f}",
                f"{one / far:.2f}",
                f"{share:.0%}",
                missed="" if share >= LEAST_SHARE or many < LONG_ENOUGH else f"{share:.0%} of the speed-up",
                seconds={"one": one, "threads": many, "ray": far},
            )
    return table


def _folding(folder: Path, n: int) -> Callable[[Any, int], Any]:
    from hush.engine import opened

    spec, step = hush.Spec(hush.OLH(k=266, epsilon=1.0)), 2_000_000
    for i in range(0, n, step):
        values = hush.seeded([7, i]).integers(266, size=step)
        hush.write(folder / f"{i}.parquet", spec.privatize(values), spec=spec, keep_order=True, randomness="secure")
    found = opened([folder])

    def fold(engine: Any, threads: int) -> None:
        with _threads(threads):
            found.aggregate(engine=engine)

    return fold


def _whole(quick: bool) -> report.Table:
    """A job of a minute, from the first moment of Ray to its last."""
    table = report.Table(
        "A whole audit, Ray's start and end included",
        ("work", "threads", "Ray", "overhead"),
        note=f"At most {MOST_OVERHEAD:.0%} for jobs of a minute and more.",
    )
    cores, m = chunks.threads(), hush.OLH(k=100, epsilon=1.0)
    _audit(m, 64, THREADS, cores)
    each = timing.seconds(lambda: _audit(m, 256, THREADS, cores)) / 256
    number = max(64, int((5.0 if quick else 1.1 * MINUTE) / each))

    def far() -> None:
        with connect() as cluster:
            _audit(m, number, cluster, cores)

    here, there = timing.best([lambda: _audit(m, number, THREADS, cores), far], 1)
    over = there / here - 1
    missed = "" if over <= MOST_OVERHEAD or quick else f"{over:.0%} overhead"
    what = f"audit of OLH, {2 * number * 65_536:,} reports"
    table.add(what, f"{here:.1f} s", f"{there:.1f} s", f"{over:+.0%}", missed=missed, seconds=[here, there])
    return table
