"""From what devices sent to what is passed on: gathered by period, permuted, and put into fresh envelopes.

What a device sent is held until there is enough of the same collection and period. Then, in one transaction, the
envelopes to be sent are written and the records that went into them are gone; so whatever ends the process, each record
is in one of the two, and never in both. The id of what a device sent stays until its period is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from hush.collect.relay.mirror import most_records
from hush.collect.relay.mixing import MIXED, envelopes, groups, random_order
from hush.collect.relay.queue import put
from hush.collect.relay.settings import Rules
from hush.collect.store import tables
from hush.collect.store.alone import trying
from hush.collect.store.collections import CLOSED, StoredCollection
from hush.collect.store.database import Database

FORWARDED, FEW, ENDED, REFUSED = "forwarded", "few", "ended", "refused"
FATES = (FORWARDED, FEW, ENDED, REFUSED)
"""What becomes of records: the collector has them; too few came in their period; it closed; it refused them."""
_SOME = 900  # as many as a statement of SQLite may name
_ID_BYTES = 200  # of a batch beside its records, about; numbers that are free count, too, which takes no time to find


def step(database: Database, collection: StoredCollection, rules: Rules, *, over: bool = False) -> int:
    """Gather what there is enough of, and settle what is taken no more; how many records that was.

    While a period is taken, so much of it stays that whatever comes late has company.

    Args:
        database: The relay's own store.
        collection: Whose records are gathered.
        rules: When they are passed on.
        over: Whether nothing of the collection is taken any more, of whatever period.
    """
    with trying(database) as mine:
        if not mine:
            return 0
        with database.reading() as connection:
            waiting = held(connection, collection.number)
        done = 0
        for period, number in sorted(waiting.items()):
            if collection.status == CLOSED:
                done += _dropped(database, collection, period, ENDED)
            elif over or period < collection.pruned_below:
                if number >= rules.least or rules.send_few:
                    done += _gathered(database, collection, period, rules, least=min(number, rules.least), leave=0)
                else:
                    done += _dropped(database, collection, period, FEW)
            elif number >= 2 * rules.least and (period < collection.period or not rules.whole_periods):
                done += _gathered(database, collection, period, rules, least=rules.least, leave=rules.least)
    return done


def held(connection: sa.Connection, number: int) -> dict[int, int]:
    """How many records of a collection wait, by period."""
    b = tables.batch.c
    asked = sa.select(b.period, sa.func.sum(b.accepted)).select_from(_waiting()).where(b.collection == number)
    return {period: int(n) for period, n in connection.execute(asked.group_by(b.period))}


def renoted(connection: sa.Connection) -> None:
    """Note as waiting whatever still has its records: a collector that opened the store may have counted it."""
    connection.execute(
        sa.text(
            "INSERT INTO pending SELECT b.seq FROM batch b JOIN mirror m ON m.collection = b.collection"
            " WHERE b.records IS NOT NULL AND b.seq NOT IN (SELECT seq FROM pending)"
        )
    )


def prune(connection: sa.Connection, collection: StoredCollection) -> None:
    """Forget the ids of periods that are refused, once nothing of them waits."""
    b = tables.batch.c
    over = sa.and_(b.collection == collection.number, b.period < collection.pruned_below, b.records.is_(None))
    connection.execute(sa.delete(tables.batch).where(over))


def sent(connection: sa.Connection, seq: int, collection: int, fates: dict[str, int]) -> None:
    """An envelope is settled: it is gone, and counted once."""
    if connection.execute(sa.delete(tables.outgoing).where(tables.outgoing.c.seq == seq)).rowcount:
        _count(connection, collection, fates)


def counted(connection: sa.Connection, collection: int | None = None) -> dict[str, int]:
    """How many records had each fate, of one collection or of all; and how many wait, or are being sent."""
    r, o, b = tables.relayed.c, tables.outgoing.c, tables.batch.c

    def total(column: Any, of: Any, *more: Any) -> int:
        asked = sa.select(sa.func.coalesce(sa.func.sum(column), 0)).where(*more)
        return int(connection.execute(asked if collection is None else asked.where(of == collection)).scalar_one())

    waits = sa.select(sa.func.coalesce(sa.func.sum(b.accepted), 0)).select_from(_waiting())
    if collection is not None:
        waits = waits.where(b.collection == collection)
    return {
        **{fate: total(r.number, r.collection, r.fate == fate) for fate in FATES},
        "held": int(connection.execute(waits).scalar_one()),
        "outgoing": total(o.number, o.collection),
    }


def stored(connection: sa.Connection, collections: Iterable[StoredCollection]) -> int:
    """Bytes that the store has for the collector, about: of records that wait or are sent, and of ids of batches."""
    b, o = tables.batch.c, tables.outgoing.c
    first, last = connection.execute(sa.select(sa.func.min(b.seq), sa.func.max(b.seq))).one()
    total = 0 if last is None else (last - first + 1) * _ID_BYTES
    for each in collections:
        sealed = sa.select(sa.func.coalesce(sa.func.sum(o.number), 0)).where(o.collection == each.number)
        records = sum(held(connection, each.number).values()) + int(connection.execute(sealed).scalar_one())
        total += records * each.parsed.mechanism.report_dtype.itemsize
    return int(total)


def _gathered(
    database: Database, collection: StoredCollection, period: int, rules: Rules, *, least: int, leave: int
) -> int:
    """Put what waits into envelopes, group by group; how many records these are.

    Of whole periods, which batches go together is drawn: where one goes then has nothing to do with when it came. So
    many go together that the records of each are mixed with those of others, however large it is.
    """
    most = most_records(collection)
    with database.reading() as connection:
        seqs, sizes = _waiting_of(connection, collection.number, period)
    if rules.whole_periods:
        order = random_order(len(seqs))
        seqs, sizes = seqs[order], sizes[order]
        most *= MIXED
    return sum(
        _sealed(database, collection, period, np.sort(seqs[group]).tolist())  # as they stand on the disk: much faster
        for group in groups(sizes, least=least, most=most, leave=leave)
    )


def _sealed(database: Database, collection: StoredCollection, period: int, seqs: list[int]) -> int:
    """Put the records of batches into envelopes; how many these are."""
    with database.reading() as connection:
        made = envelopes(collection, period, b"".join(_records(connection, seqs)))

    def work(writing: sa.Connection) -> None:
        put(writing, collection, made)
        _emptied(writing, seqs)

    database.write(work).result()
    return sum(each.number for each in made)


def _waiting_of(connection: sa.Connection, collection: int, period: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The batches of a period that wait, as they came, and how many records each has."""
    b = tables.batch.c
    asked = sa.select(b.seq, b.accepted).select_from(_waiting()).where(b.collection == collection, b.period == period)
    rows = connection.execute(asked.order_by(b.seq).execution_options(yield_per=10_000))
    flat = np.fromiter(itertools.chain.from_iterable(rows), np.int64).reshape(-1, 2)
    return flat[:, 0], flat[:, 1]


def _records(connection: sa.Connection, seqs: Sequence[int]) -> Iterable[bytes]:
    b = tables.batch.c
    for some in _cut(seqs):
        for row in connection.execute(sa.select(b.records).where(b.seq.in_(some))):
            yield bytes(row.records)


def _dropped(database: Database, collection: StoredCollection, period: int, fate: str) -> int:
    with database.reading() as connection:
        seqs, sizes = _waiting_of(connection, collection.number, period)
    number = int(sizes.sum())

    def work(writing: sa.Connection) -> None:
        _emptied(writing, seqs.tolist())
        _count(writing, collection.number, {fate: number})

    database.write(work).result()
    return number


def _emptied(connection: sa.Connection, seqs: Sequence[int]) -> None:
    """Let the records of these batches go; their ids stay."""
    done = 0
    for some in _cut(seqs):
        done += connection.execute(sa.delete(tables.pending).where(tables.pending.c.seq.in_(some))).rowcount
        connection.execute(sa.update(tables.batch).where(tables.batch.c.seq.in_(some)).values(records=None))
    if done != len(seqs):
        raise RuntimeError("some of these batches were gathered by another process meanwhile")


def _count(connection: sa.Connection, collection: int, fates: dict[str, int]) -> None:
    text = (
        "INSERT INTO relayed (collection, fate, number) VALUES (:collection, :fate, :number)"
        " ON CONFLICT (collection, fate) DO UPDATE SET number = relayed.number + excluded.number"
    )
    rows = [{"collection": collection, "fate": fate, "number": n} for fate, n in sorted(fates.items()) if n]
    if rows:
        connection.execute(sa.text(text), rows)


def _waiting() -> sa.Join:
    return tables.pending.join(tables.batch, tables.pending.c.seq == tables.batch.c.seq)


def _cut(seqs: Sequence[int]) -> Iterable[Sequence[int]]:
    return (seqs[i : i + _SOME] for i in range(0, len(seqs), _SOME))
