"""The store: reports of people over time, each made once, charged before it is seen, and written out whole.

A run is one transaction: who asks is counted, charged or refused; reports are made with the answers that are kept; and
the reports wait in the store's outbox. Then they are written to the output, which appears whole, and leave the outbox.
A run that is cut short before it is committed has done nothing. One that is cut short later has made its reports: the
next run for the same output writes those, and makes no others for the same people and periods.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.files import reports as report_files
from hush.files.batches import evenly
from hush.files.clients.account import Account, account
from hush.files.clients.ledgers import Charges, Totals
from hush.files.clients.making import made
from hush.files.clients.rows import PeopleRows, name_of
from hush.files.clients.schema import opened, transaction
from hush.files.clients.staging import Staged, Staging
from hush.files.progress import Progress, unseen
from hush.longitudinal.ledger import amount_of, flush_folder
from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class StoreRun:
    """What a run did.

    Args:
        reports: How many it made.
        left_over: How many more are in the output, that an earlier run had made before it was cut short.
        people: How many people's rows there were.
        passed_over: PeopleRows of people who had reported in that period already, in an earlier run.
        refused: PeopleRows that the limit kept from being reported.
        refused_people: Whose they are.
        again: PeopleRows of people who have several in one period, beyond the first of each; every row is a report.
        periods: The periods of the input, in order.
        totals: What the people of this run have spent, in all collections of the store.
    """

    reports: int
    left_over: int
    people: int
    passed_over: int
    refused: int
    refused_people: int
    again: int
    periods: tuple[str, ...]
    totals: Totals


class ClientStore:
    """What people's devices keep, in a file that one process has at a time.

    Args:
        path: The file; made if it is not there. Left out, everything is kept in memory, and forgotten in the end.

    >>> import tempfile, hush
    >>> from hush.files.clients import rows_of
    >>> folder = tempfile.TemporaryDirectory()
    >>> spec = hush.Spec(hush.longitudinal.LGRR(k=2, epsilon_permanent=2.0, epsilon_report=1.0))
    >>> with ClientStore(f"{folder.name}/clients.hushdb") as store:
    ...     for month in ("2026-01", "2026-02"):
    ...         rows = rows_of(spec, ["ann", "bob"], [0, 1], month)
    ...         told = store.collect(spec, [rows], f"{folder.name}/{month}.parquet")
    ...     store.account(spec, "ann").reports
    2
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._sql = opened(self.path)
        self._key = bytes(self._sql.execute("SELECT key FROM secret").fetchone()[0])

    def __enter__(self) -> ClientStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others have the file."""
        self._sql.close()

    def hashed(self, person: object) -> bytes:
        """What a person is called in the store."""
        return hashlib.blake2b(name_of(person), digest_size=16, key=self._key).digest()

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self._sql.execute("SELECT COUNT(*) FROM person").fetchone()[0])

    def collections(self) -> list[Spec]:
        """The specs of all collections."""
        return [Spec.from_json(text) for (text,) in self._sql.execute("SELECT spec FROM collection ORDER BY id")]

    def account(self, spec: Spec, person: object) -> Account:
        """What one person's reports in a collection come to."""
        found = self._sql.execute(
            "SELECT reports FROM account JOIN collection c ON c.id = collection JOIN person p ON p.id = person "
            "WHERE c.hash = ? AND p.name = ?",
            (spec.hash, self.hashed(person)),
        ).fetchone()
        return account(spec, 0 if found is None else int(found[0]))

    def collect(
        self,
        spec: Spec,
        rows: Iterable[PeopleRows],
        output: str | os.PathLike[str],
        *,
        limit: float | Fraction | str | None = None,
        shuffled: bool = True,
        temporary: Path | None = None,
        progress: Progress = unseen,
        look: Callable[[Any], None] | None = None,
    ) -> StoreRun:
        """Make the reports of all rows, charge them, and write them to a report file with their periods.

        Whoever has reported in a period in an earlier run is passed over in it. Reports of an earlier run for the same
        output that was cut short are written, too.

        Args:
            spec: What makes the reports: of any kind.
            rows: Whose they are, of which period, and what they hold.
            output: The report file; new, unless a run for it was cut short.
            limit: The most that one person may spend, in all collections of the store together, in nats. Whoever
                would exceed it with the rows of a period does not report in it.
            shuffled: Whether the reports are written in a random order, else in that of the rows.
            temporary: A folder for rows that do not fit the memory.
            progress: Hears how many reports are made.
            look: Hears what stands beside the reports in the output, as record batches.
        """
        most = None if limit is None else amount_of("limit", limit)
        target = Path(os.path.realpath(output))
        collection = self._number(spec)
        left_over = self._checked(collection, target)
        with transaction(self._sql):
            if collection is None:
                collection = self._added(spec)
            with Staging(self._sql, collection, self.hashed, spec, temporary, shuffled) as staging:
                for some in rows:
                    staging.add(some)
                charges = Charges(self._sql, collection, most)
                told = charges.charge(staging.periods)
                order = report_files.SHUFFLED if shuffled else report_files.AS_READ
                with progress("Randomizing", staging.rows) as advance:
                    n = self._outbox(spec, collection, target, staging, told.skipped, order, advance)
                totals = charges.totals()
        self._deliver(spec, collection, target, order, look)
        return StoreRun(
            n, left_over, told.people, told.passed_over, told.refused, told.refused_people, told.again,
            staging.in_order(), totals,
        )  # fmt: skip

    def _number(self, spec: Spec) -> int | None:
        found = self._sql.execute("SELECT id FROM collection WHERE hash = ?", [spec.hash]).fetchone()
        return None if found is None else int(found[0])

    def _added(self, spec: Spec) -> int:
        account(spec, 1)  # refuses what cannot be accounted for
        made = self._sql.execute("INSERT INTO collection (hash, spec) VALUES (?, ?)", (spec.hash, spec.to_json()))
        return int(made.lastrowid or 0)

    def _checked(self, collection: int | None, target: Path) -> int:
        """How many reports wait for this output; refuses another one while some wait, and to write over others.

        So does a place where no file can be: nobody is charged for reports that cannot be delivered.
        """
        if not (target.parent.is_dir() and os.access(target.parent, os.W_OK | os.X_OK)):
            rule, remedy = "must be in a folder that is there and takes files", "make it first, or name another"
            raise ParameterError(message("output", rule, Unsaid(repr(str(target))), remedy))
        taken = "SELECT 1 FROM outbox WHERE collection IS NOT ? AND output = ?"
        if self._sql.execute(taken, (collection, str(target))).fetchone():
            rule = "must not be the one that reports of another collection, whose run was cut short, wait for"
            raise ParameterError(message("output", rule, Unsaid(repr(str(target))), "name another"))
        waiting = self._sql.execute("SELECT output, rows FROM outbox WHERE collection IS ?", [collection]).fetchall()
        for where in {where for where, _ in waiting} - {str(target)}:
            rule = "must first be the one of a run that was cut short, whose reports are made and wait for it"
            remedy = f"run that one again, or any other rows, with {where!r}"
            raise ParameterError(message("output", rule, Unsaid(repr(str(target))), remedy))
        if self.path is not None and not waiting and target.exists():
            rule = "must be a new file, since the reports in it are not made again"
            raise ParameterError(message("output", rule, Unsaid(repr(str(target))), "name another"))
        return sum(rows for _, rows in waiting)

    def _outbox(
        self,
        spec: Spec,
        collection: int,
        target: Path,
        staging: Staging,
        skipped: Staged,
        order: str,
        advance: Callable[[float], None],
    ) -> int:
        """Make the reports and put them into the outbox; how many there are."""
        import pyarrow as pa

        n, due = 0, self._waiting_schema(collection)
        parts = evenly(staging.batches(), report_files.batch_rows(spec), report_files.BATCH_BYTES)
        for batch in parts:
            reports = made(spec, self._sql, collection, batch, skipped, staging.names)
            advance(batch.num_rows)
            if not reports.num_rows:
                continue
            reports = reports.replace_schema_metadata({report_files.ORDER_KEY: order})
            if due is not None and not reports.schema.equals(due, check_metadata=True):
                rule = (
                    "must stand beside the reports, in the order, as in the run that was cut short, whose reports wait"
                )
                got = Unsaid("other columns, or another order")
                raise ParameterError(message("kept columns", rule, got, "run with the same --keep and --period"))
            due = reports.schema
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, reports.schema) as stream:
                stream.write_batch(reports)
            self._sql.execute(
                "INSERT INTO outbox (collection, output, rows, batch) VALUES (?, ?, ?, ?)",
                (collection, str(target), reports.num_rows, memoryview(sink.getvalue())),
            )
            n += reports.num_rows
        return n

    def _waiting(self, collection: int) -> Iterator[Any]:
        import pyarrow as pa

        places = self._sql.execute("SELECT id FROM outbox WHERE collection = ? ORDER BY id", [collection]).fetchall()
        for place in places:
            (batch,) = self._sql.execute("SELECT batch FROM outbox WHERE id = ?", place).fetchone()
            yield pa.ipc.open_stream(pa.py_buffer(batch)).read_next_batch()

    def _waiting_schema(self, collection: int) -> Any:
        """The columns of the reports that wait, and their order; None where none do."""
        return next((batch.schema for batch in self._waiting(collection)), None)

    def _deliver(
        self, spec: Spec, collection: int, target: Path, order: str, look: Callable[[Any], None] | None
    ) -> None:
        """Write what waits to the output, in the order it was made in, and forget it when that is in place."""
        schema = self._waiting_schema(collection)
        if schema is not None:
            order = schema.metadata[report_files.ORDER_KEY].decode()
        with report_files.writing(target, spec, "secure", order) as write:
            for batch in self._waiting(collection):
                beside = batch.drop_columns([report_files.COLUMN])
                write(report_files.reports_of(spec, batch), beside if beside.num_columns else None)
                if look is not None and beside.num_columns:
                    look(beside)
        _on_disk(target)
        self._forget(collection)

    def _forget(self, collection: int) -> None:
        with transaction(self._sql):
            self._sql.execute("DELETE FROM outbox WHERE collection = ?", [collection])


def _on_disk(path: Path) -> None:
    """Wait until a file and its name would survive a crash."""
    file = os.open(path, os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    flush_folder(path)
