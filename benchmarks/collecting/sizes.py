"""What batches take on the disk beside their records, in both stores, once they are folded."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import sqlalchemy as sa

import hush
from benchmarks import report
from benchmarks.collecting import servers
from benchmarks.collecting.stores import store
from hush.collect.clock import Clock
from hush.collect.service import Service
from hush.collect.store import folding
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, keep

_GROUP = 50


def table(quick: bool) -> report.Table:
    """Batches of one report and of a thousand."""
    spec = hush.Spec(hush.OLH(k=266, epsilon=1.0))
    record = spec.mechanism.report_dtype.itemsize
    made = report.Table(
        f"What a batch takes on the disk: OLH, records of {record} bytes",
        ("store", "reports in a batch", "batches", "bytes a batch", "beside its records"),
        note="Tables and indexes, everything folded, the log written back.",
    )
    for name in ("SQLite", "PostgreSQL"):
        for reports, batches in ((1, 2_000), (1000, 200)) if quick else ((1, 20_000), (1000, 2_000)):
            with store(name) as (where, folder):
                each = _bytes(where, folder, spec, reports, batches) / batches
            made.add(name, f"{reports:,}", f"{batches:,}", f"{each:,.0f}", f"{each - reports * record:,.0f}")
    return made


def _bytes(where: str, folder: Path, spec: hush.Spec, reports: int, batches: int) -> int:
    id, _ = servers.collection(where, spec)
    before = size(where, folder)
    database = Database(where)
    try:
        service = Service(database, Clock())
        number = service.directory.named(id).number
        records = spec.privatize(np.arange(reports) % 266).tobytes()
        for _ in range(0, batches, _GROUP):
            group = [
                Arrival(number, 0, "load/1", secrets.token_bytes(16), secrets.token_bytes(32), reports, records)
                for _ in range(_GROUP)
            ]
            database.at_once(lambda connection, group=group: keep(connection, group)).result()  # type: ignore[misc]
        while folding.step(database, service.directory.numbered).batches:
            pass
    finally:
        database.close()
    return size(where, folder) - before


def size(where: str, folder: Path) -> int:
    """Bytes of a store: all files of SQLite, or PostgreSQL's table of batches with its indexes."""
    if "://" not in where:
        return sum(file.stat().st_size for file in folder.glob("store.db*"))
    engine = sa.create_engine(where.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        asked = "SELECT pg_total_relation_size('batch')"
        found = int(connection.execute(sa.text(asked)).scalar_one())
    engine.dispose()
    return found
