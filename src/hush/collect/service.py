"""What can be done with collections: the routes of the server and the command without one both call this.

Everything comes as plain data and goes as plain data; what cannot be done is `Refused`. Whatever changes a collection
or a token leaves a deed, written in the same transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from hush.collect import answers, exporting, managing, tokens, views
from hush.collect.clock import Clock
from hush.collect.directory import Directory
from hush.collect.envelope import LONGEST_BUILD, new_id
from hush.collect.managing import refusing
from hush.collect.refusals import REASONS, Refused
from hush.collect.store import aggregates, backups, collections, deeds, rebuilding, retention, tables
from hush.collect.store.alone import alone
from hush.collect.store.collections import CLOSED, DRAFT, OPEN, StoredCollection
from hush.collect.store.database import Database
from hush.collect.store.refusing import RefusalCounts, counted
from hush.errors import Message, Unsaid, message
from hush.rules import integer

T = TypeVar("T")
Rows = list[dict[str, Any]]


class Service:
    """Collections, tokens, estimates and the rest, over one store.

    Args:
        database: The store, whose tables are there.
        clock: What tells the period.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self.directory = Directory(database, clock)
        self._refusals = RefusalCounts(database)

    def stop(self) -> None:
        """Write what waits; the store stays open."""
        with _storing():
            self._refusals.close()

    def create(self, *, spec: Any, who: str, **settings: Any) -> dict[str, Any]:
        """A new collection, a draft.

        Args:
            spec: As `Spec.to_dict` gives it.
            who: The label of the token, or "command line".
            settings: See `managing.CollectionSettings`.
        """
        parsed, chosen = managing.spec_of(spec), managing.settings(settings, self._clock.now())
        with refusing():
            managing.check_error(parsed, chosen.wished_error)
        if chosen.predecessor is not None:
            self.directory.named(chosen.predecessor)
        values = {
            **chosen.row(),
            "id": new_id(),
            "spec": parsed.to_json(),
            "spec_hash": parsed.hash,
            "status": DRAFT,
            "forced": False,
            "period": 0,
            "pruned_below": 0,
            "forgotten_below": 0,
        }

        def work(connection: sa.Connection) -> StoredCollection:
            if chosen.predecessor is not None:
                collections.found(connection, chosen.predecessor)  # which may have been deleted meanwhile
            made = collections.inserted(connection, **values)
            self._note(connection, "create", who, made.id, name=made.name, predecessor=made.predecessor)
            return made

        return self.show(self._changed(work).id, whole=True)

    def succeed(self, id: str, *, spec: Any, who: str, **settings: Any) -> dict[str, Any]:
        """A new draft that follows a collection; what is not said is as it was there."""
        found = self.directory.named(id)
        before = managing.settings_of(found)
        kinds = {one.mechanism.kind == "numeric" for one in (managing.spec_of(spec), found.parsed)}
        if len(kinds) > 1:  # a margin of a frequency says nothing of a mean, and the other way round
            before["wished_error"] = None
        return self.create(spec=spec, who=who, **{**before, **settings, "predecessor": id})

    def open(self, id: str, *, force: bool = False, began: int | None = None, who: str) -> dict[str, Any]:
        """Let a draft take batches, if it can give what was asked for, or if forced.

        Args:
            id: Of the collection.
            force: Although it cannot.
            began: The second since 1970 at which its period 0 began, so that its periods are those of another
                collector's; left out, now.
            who: Who asked for it.
        """
        from hush.collect import opening

        drafted, now = self.directory.named(id), int(self._clock.now())
        begun = managing.begun(drafted, now if began is None else began, now)
        with refusing():
            verdict = opening.verdict(drafted.parsed, target_n=drafted.target_n, wished_error=drafted.wished_error)
        if not verdict.fits and not force:
            said, more = verdict.said, "make another draft so, or open this one all the same with force=True"
            raise Refused("plan", Message(said.parameter, said.rule, said.value, f"{said.remedy}; {more}"))

        def work(connection: sa.Connection) -> StoredCollection:
            self._of_status(connection, id, DRAFT)
            self._note(connection, "open", who, id, forced=not verdict.fits)
            return collections.changed(connection, drafted.number, status=OPEN, forced=not verdict.fits, **begun)

        self._changed(work)
        return self.show(id, whole=True)

    def close(self, id: str, *, who: str) -> dict[str, Any]:
        """Let an open collection take no more batches."""

        def work(connection: sa.Connection) -> StoredCollection:
            found = self._of_status(connection, id, OPEN)
            self._note(connection, "close", who, id)
            return collections.changed(connection, found.number, status=CLOSED)

        self._changed(work)
        return self.show(id, whole=True)

    def delete(self, id: str, *, who: str) -> None:
        """Let a draft go, with its keys: nobody has reported to it, and nothing may follow it."""

        def work(connection: sa.Connection) -> None:
            found = self._of_status(connection, id, DRAFT)
            if collections.followed(connection, id):
                rule, got = "must be followed by none", Unsaid("one that another draft or collection follows")
                raise Refused("status", message("collection", rule, got, "delete that one first, if it is a draft"))
            self._note(connection, "delete", who, id, name=found.name, predecessor=found.predecessor)
            collections.deleted(connection, found.number)

        with _storing():
            self._refusals.flush()  # what waits goes by its number, too
        self._changed(work)

    def list(self) -> Rows:
        """The whole view of every collection, the oldest first."""
        every = self.directory.all()
        with self._refusals.waiting() as waiting, self._reading() as connection:
            more = views.whole(connection, every, waiting)
        return [{**self._public(each), **more[each.number]} for each in every]

    def show(self, id: str, *, whole: bool) -> dict[str, Any]:
        """A collection, as anyone may see it, or whole."""
        found = self.directory.named(id)
        if not whole:
            return self._public(found)
        with self._refusals.waiting() as waiting, self._reading() as connection:
            more = views.whole(connection, [found], waiting)
        return {**self._public(found), **more[found.number]}

    def shown(self, id: str) -> bytes:
        """What anyone may see of a collection, as JSON: its spec goes out as it is kept, since it may be large."""
        found = self.directory.named(id)
        return views.encoded(views.described(self.directory, found, self._handed_out(found)), found)

    def exclude(self, id: str, build: str, *, undo: bool = False, who: str) -> dict[str, Any]:
        """Drop all reports of a client build from the aggregates, now and later; or let them count again.

        Where they are dropped, `left_out` is how many there were.

        Args:
            id: Of the collection.
            build: What the client calls itself.
            undo: Let it count again, with all that it sent meanwhile, where the reports are kept.
            who: Who asked for it.
        """
        found = self.directory.named(id)
        if not isinstance(build, str) or len(build) > LONGEST_BUILD:
            rule, got = "must be the name of a client build", Unsaid("something else")
            raise Refused("parameter", message("build", rule, got, "see the builds of `hush collection show`"))

        def work(connection: sa.Connection) -> int:
            left_out = rebuilding.exclude(connection, found.number, build)
            self._note(connection, "exclude", who, id, build=build, reports=left_out)
            return left_out

        def noted(connection: sa.Connection) -> None:
            self._note(connection, "include", who, id, build=build)

        with _storing(), alone(self._database):
            if undo:
                rebuilding.included(self._database, partial(self.directory.seen, id=id), build, noted)
                more = {}
            else:
                more = {"left_out": self._changed(work)}
        return {**self.show(id, whole=True), **more}

    def verify(self, id: str, *, repair: bool = False, who: str) -> dict[str, Any]:
        """Fold all kept reports again and compare with the aggregates: equal, or what differs.

        Args:
            id: Of the collection.
            repair: Make the aggregates that differ those of the kept reports; what is told is what was found before.
            who: Who asked for it.
        """
        with self._reading() as connection:
            told = rebuilding.compared(connection, self.directory.seen(connection, id))
        mended = repair and not told["equal"]
        if mended:
            with _storing(), alone(self._database):
                for period in sorted({each["period"] for each in told["differences"]}):
                    rebuilding.repaired(self._database, partial(self.directory.seen, id=id), period)
        more = {"repaired": mended} if repair else {}
        self._changed(lambda connection: self._note(connection, deeds.VERIFY, who, id, equal=told["equal"], **more))
        return {"id": id, **told, **more}

    def estimate(self, id: str, *, period: int | None = None, level: float = 0.95) -> dict[str, Any]:
        """What is estimated so far, of one period or of all together; over time, of each period."""
        found = self.directory.named(id)
        with self._reading() as connection:
            parts = answers.parts_of(connection, found, period=period)
        return answers.estimated(found, parts, period=period, level=level)

    def state(self, id: str) -> aggregates.State:
        """What changes whenever an estimate does."""
        found = self.directory.named(id)
        with self._reading() as connection:
            return aggregates.state(connection, found)

    def aggregate(self, id: str, *, period: int | None = None) -> bytes:
        """The aggregate, as `hush estimate` reads it."""
        found = self.directory.named(id)
        with self._reading() as connection:
            return answers.aggregated(connection, found, period=period)

    def periods(self, id: str) -> Rows:
        """The periods that there are reports of: how many count, how many wait to be counted, whether it is over.

        Of a period that is over nothing is taken any more.
        """
        self.directory.named(id)
        self._changed(partial(retention.advanced, id=id, now=self._clock.now()))
        with self._reading() as connection:
            return views.periods(connection, self.directory.seen(connection, id))

    def export(self, id: str, folder: str | Path, *, period: int | None = None) -> dict[str, Any]:
        """All kept reports as a Parquet file in a folder, in an order that tells nothing, with their periods.

        Args:
            id: Of the collection.
            folder: Where to.
            period: Only those of this one.
        """
        with refusing(), self._reading() as connection:
            return exporting.exported(connection, self.directory.seen(connection, id), Path(folder), period=period)

    def issue_token(
        self, role: str, *, label: str, collection: str | None = None, seconds: int | None = None, who: str
    ) -> str:
        """A new token: this is the only time that it is seen.

        Args:
            role: "admin", "reader", "ingest" or "relay".
            label: What people call it.
            collection: The id of the one that it is for; left out, all.
            seconds: How long it holds; left out, until it is taken back.
            who: Who asked for it.
        """
        with refusing():
            managing.check_token(role, label, seconds)
        number = None if collection is None else self.directory.named(collection).number
        expires = None if seconds is None else int(self._clock.now()) + seconds

        def work(connection: sa.Connection) -> str:
            self._note(connection, "token", who, collection, role=role, label=label)
            return tokens.issued(connection, role, label=label, collection=number, expires=expires)

        return self._changed(work)

    def tokens(self) -> Rows:
        """All tokens, without their secrets."""
        told = []
        for each in self.directory.tokens.known.values():
            plain = {name: value for name, value in asdict(each).items() if name != "digest"}
            of = each.collection
            told.append({**plain, "collection": None if of is None else self.directory.numbered(of).id})
        return told

    def revoke(self, token_id: str, *, who: str, after: int = 0) -> None:
        """Take a token back, at once or after so many seconds, in which a new one can take its place."""
        with refusing():
            integer("after", after, 0, managing.LONGEST_TOKEN, "use 0 for at once")
        known = self.directory.tokens.known.get(token_id)
        if known is None:
            rule, got = "must be that of a token", Unsaid("an unknown one")
            raise Refused("unknown", message("token_id", rule, got, "see the list of tokens"))
        end = int(self._clock.now()) + after
        expires = end if known.expires is None else min(end, known.expires)
        mine = tables.token.c.id == token_id

        def work(connection: sa.Connection) -> None:
            if after:
                connection.execute(sa.update(tables.token).where(mine).values(expires=expires))
            else:
                connection.execute(sa.delete(tables.token).where(mine))
            self._note(connection, "revoke", who, None, label=known.label, role=known.role, after=after)

        self._changed(work)

    def refusals(self, id: str | None = None) -> dict[str, int]:
        """How often something was refused, by reason; of one collection, or of all and none."""
        number = None if id is None else self.directory.named(id).number
        with self._refusals.waiting() as waiting, self._reading() as connection:
            found = counted(connection, number)
        total: Counter[str] = Counter()
        for (of, reason), n in (found + waiting).items():
            if number in (None, of):
                total[reason] += n
        return dict(sorted(total.items()))

    def count_refusals(self, more: Counter[tuple[str | None, str]]) -> None:
        """Count refusals, by the collection's id, None where there is none, and the reason's code."""
        counts: Counter[tuple[int, str]] = Counter()
        for (id, reason), n in more.items():
            counts[self.directory.number(id or ""), REASONS[reason].code] += n
        self._refusals.add(counts)

    def deeds(self, limit: int = 100) -> Rows:
        """What administrators did, the latest first."""
        with refusing():
            integer("limit", limit, 1, deeds.MOST_LISTED, "ask for fewer")
        with self._reading() as connection:
            return deeds.listed(connection, limit)

    def maintain(self) -> None:
        """Hand out periods durably, refuse those beyond the horizon, forget what is kept no longer."""
        with _storing():
            self.directory.refresh()
            now = self._clock.now()
            self._database.write(self._expire).result()
            for id in [each.id for each in self.directory.all() if each.began is not None]:
                self._database.write(partial(retention.advanced, id=id, now=now)).result()
                with alone(self._database):
                    while self._database.write(partial(retention.forgotten, id=id)).result() == retention.MOST_ROWS:
                        pass
            self.directory.refresh()

    def backup(self, path: str | Path) -> None:
        """A consistent copy of an SQLite store, while it runs."""
        with refusing(), _storing():
            backups.copied(self._database, Path(path))

    def _expire(self, connection: sa.Connection) -> None:
        for label in tokens.expired(connection, self._clock.now()):
            deeds.note(connection, "expire", who=retention.END, now=self._clock.now(), label=label)

    def _public(self, collection: StoredCollection) -> dict[str, Any]:
        return views.public(self.directory, collection, self._handed_out(collection))

    def _handed_out(self, collection: StoredCollection) -> int:
        """The present period, once it is in the store; the one before where that cannot be written now."""
        now = self.directory.period(collection)
        if now == collection.period or collection.status != OPEN:
            return collection.period
        try:
            return self._changed(lambda connection: retention.handed_out(connection, collection.number, now))
        except Refused:
            return collection.period

    def _of_status(self, connection: sa.Connection, id: str, status: str) -> StoredCollection:
        found = collections.found(connection, id)
        if found.status != status:
            rule, got = f"must be {status}", Unsaid(found.status)
            raise Refused("status", message("collection", rule, got, "see `hush collection show`"))
        return found

    def _note(self, connection: sa.Connection, what: str, who: str, id: str | None, **more: Any) -> None:
        deeds.note(connection, what, who=who, now=self._clock.now(), collection=id, **more)

    def _changed(self, work: Callable[[sa.Connection], T]) -> T:
        with _storing():
            done = self._database.write(work).result()
            self.directory.refresh()
            return done

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with _storing(), self._database.reading() as connection:
            yield connection


@contextmanager
def _storing() -> Iterator[None]:
    """Say what a failing store means to whoever asked."""
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        rule, got = "must be readable and writable", Unsaid(type(error).__name__)
        raise Refused("store", message("store", rule, got, "try again in a while")) from error
