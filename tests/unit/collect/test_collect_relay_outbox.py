"""What a relay gathers, holds, drops and seals, over both databases; and what it does with each answer."""

from __future__ import annotations

import gzip
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

import hush
from hush.collect import checking, speaking
from hush.collect.envelope import Envelope, opened
from hush.collect.refusals import Refused
from hush.collect.relay import mirror, mixing, outbox, queue
from hush.collect.relay.forwarding import LONGEST_BACKOFF, Forwarder
from hush.collect.relay.settings import RelaySettings, Rules
from hush.collect.relay.upstream import CollectorAway, Upstream
from hush.collect.service import Service
from hush.collect.store import tables
from hush.collect.store.collections import StoredCollection, changed, found
from hush.collect.store.database import Database
from hush.collect.store.intake import Fate
from hush.errors import ParameterError
from tests.collecting import DAY, SPEC, HandClock, arrival, fold, kept, reports_of
from tests.unit.collect.scripted import answering, hung_up

ID = "ab" * 16
SIZE = SPEC.mechanism.report_dtype.itemsize


def view(**more: Any) -> dict[str, Any]:
    told = {
        "id": ID,
        "name": "visits",
        "status": "open",
        "spec": SPEC.to_dict(),
        "spec_hash": SPEC.hash,
        "period": 0,
        "oldest_period": 0,
        "period_seconds": 86_400,
        "horizon": 2,
        "ends": None,
        "predecessor": None,
        "chain": [ID],
        "public": False,
        "release_floor": 100,
    }
    return {**told, **more}


def mirrored(database: Database, least: int = 10, **more: Any) -> StoredCollection:
    return database.write(
        lambda writing: mirror.begun(writing, view(**more), anyone=True, least=least, now=0.0)
    ).result()


def put(database: Database, row: StoredCollection, size: int, *, period: int = 0, seed: int) -> bytes:
    made = arrival(row.number, reports_of([0] * size, seed=seed), period=period, seed=seed)
    assert kept(database, made) == [Fate.KEPT]
    return made.records


def moved(database: Database, **more: Any) -> StoredCollection:
    return database.write(lambda writing: mirror.refreshed(writing, view(**more))).result()


def sealed(database: Database) -> list[Envelope]:
    with database.reading() as connection:
        rows = connection.execute(sa.select(tables.outgoing.c.content).order_by(tables.outgoing.c.seq))
        return [Envelope.from_bytes(bytes(row[0])) for row in rows]


def told(database: Database) -> dict[str, int]:
    with database.reading() as connection:
        return {fate: n for fate, n in outbox.counted(connection).items() if n}


def single(records: bytes) -> Counter[bytes]:
    return Counter(records[i : i + SIZE] for i in range(0, len(records), SIZE))


def test_periods_are_gathered_apart_and_each_when_there_is_enough(database: Database) -> None:
    row = mirrored(database, period=1)
    first = put(database, row, 6, seed=1) + put(database, row, 4, seed=2)
    put(database, row, 19, period=1, seed=3)
    put(database, row, 9, seed=4)
    assert outbox.step(database, row, Rules(10)) == 0  # it would leave nine
    put(database, row, 1, seed=5)
    assert outbox.step(database, row, Rules(10)) == 10
    (made,) = sealed(database)
    assert (made.collection, made.spec_hash, made.period, made.build) == (ID, SPEC.hash, 0, mixing.BUILD)
    assert single(made.records) == single(first)
    assert told(database) == {"held": 29, "outgoing": 10}
    assert outbox.step(database, row, Rules(10)) == 0


def test_what_went_on_is_known_still_and_kept_no_more(database: Database) -> None:
    row = mirrored(database)
    made = arrival(row.number, reports_of([0] * 10, seed=1), seed=1)
    assert kept(database, made) == [Fate.KEPT]
    outbox.step(database, row, Rules(10), over=True)
    other = arrival(row.number, reports_of([1] * 10, seed=2), seed=1, digest=b"x" * 32)
    assert kept(database, made, other) == [Fate.KNOWN, Fate.CONFLICT]
    with database.reading() as connection:
        assert connection.execute(sa.select(tables.batch.c.records)).scalar_one() is None
    assert told(database) == {"outgoing": 10}


@pytest.mark.parametrize(("send_few", "fate"), [(False, "few"), (True, "outgoing")])
def test_few_wait_until_the_collector_nearly_refuses_them(database: Database, send_few: bool, fate: str) -> None:
    row, rules = mirrored(database), Rules(10, send_few=send_few)
    put(database, row, 3, seed=1)
    for period in (0, 1):  # of a horizon of 2: the collector takes period 0 until 2 is over
        row = moved(database, period=period)
        assert outbox.step(database, row, rules) == 0
        assert told(database) == {"held": 3}
    row = moved(database, period=2)
    late = arrival(row.number, reports_of([0], seed=9), period=0, seed=9)
    assert kept(database, late) == [Fate.PAST]
    assert outbox.step(database, row, rules) == 3
    assert told(database) == {fate: 3}
    database.write(lambda writing: outbox.prune(writing, row)).result()
    with database.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(tables.batch)).scalar_one() == 0


def test_ids_go_only_with_their_period_and_never_with_records_that_wait(database: Database) -> None:
    row = mirrored(database)
    put(database, row, 10, seed=1)
    outbox.step(database, row, Rules(10), over=True)
    put(database, row, 3, seed=2)
    for period, left in ((1, 2), (2, 1)):
        row = moved(database, period=period)
        database.write(lambda writing, row=row: outbox.prune(writing, row)).result()  # type: ignore[misc]
        with database.reading() as connection:
            assert connection.execute(sa.select(sa.func.count()).select_from(tables.batch)).scalar_one() == left
    assert told(database) == {"held": 3, "outgoing": 10}


def test_whole_periods_are_sent_when_they_are_over(database: Database) -> None:
    row, rules = mirrored(database), Rules(10, whole_periods=True)
    put(database, row, 25, seed=1)
    put(database, row, 10, seed=2)
    assert outbox.step(database, row, rules) == 0
    assert outbox.step(database, moved(database, period=1), rules) in (10, 25)  # and the other waits for what is late
    assert outbox.step(database, moved(database, period=2), rules) in (10, 25)
    assert told(database) == {"outgoing": 35}


def test_where_a_report_of_a_whole_period_goes_says_nothing_of_when_it_came(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each of eight envelopes, how many came in the first half is hypergeometric; false alarms have a rate of 1e-9.

    That is the exact law, two-sided, an eighth of the rate for each envelope.
    """
    from scipy.stats import hypergeom

    for module in (outbox, mixing, mirror):
        monkeypatch.setattr(module, "most_records", lambda _: 100)
    row = mirrored(sqlite_database)
    came = [arrival(row.number, reports_of([0], seed=0), seed=i) for i in range(800)]
    timed = [replace(each, records=i.to_bytes(SIZE, "big")) for i, each in enumerate(came)]
    assert kept(sqlite_database, *timed) == [Fate.KEPT] * 800
    over = moved(sqlite_database, period=2)
    assert outbox.step(sqlite_database, over, Rules(10, whole_periods=True)) == 800
    made = sealed(sqlite_database)
    assert [each.number for each in made] == [100] * 8
    law = hypergeom(800, 400, 100)
    for each in made:
        early = sum(n for record, n in single(each.records).items() if int.from_bytes(record, "big") < 400)
        assert law.ppf(1e-9 / 16) <= early <= law.isf(1e-9 / 16)
    assert single(b"".join(each.records for each in made)) == single(b"".join(each.records for each in timed))


def test_reports_of_a_period_that_had_enough_are_never_dropped_as_few(sqlite_database: Database) -> None:
    row, rules = mirrored(sqlite_database), Rules(10)
    for seed in range(19):
        put(sqlite_database, row, 1, seed=seed)
        outbox.step(sqlite_database, row, rules)
    outbox.step(sqlite_database, moved(sqlite_database, period=2), rules)
    assert told(sqlite_database) == {"outgoing": 19}


def test_a_collection_that_ends_is_passed_on_while_the_collector_takes_it(
    service: Service, database: Database, hand: HandClock
) -> None:
    ends = int(hand.now()) + 3 * DAY
    row = mirrored(database, ends=ends, horizon=7)
    service.directory.refresh()
    away = Away()
    made = Forwarder(service, database, away.upstream, Rules(10, whole_periods=True))
    made.views = {ID: view(ends=ends)}
    put(database, row, 12, seed=1)
    put(database, row, 9, period=1, seed=2)
    hand.second = ends - 3601
    checking.timely(service.directory, row, 0)
    hand.forward(1)  # an hour before its end nothing more is taken
    with pytest.raises(Refused, match="must be open"):
        checking.timely(service.directory, row, 0)
    made.gather()
    assert told(database) == {"held": 21}  # some may be on their way to the disk
    hand.forward(1800)
    made.gather()
    assert told(database) == {"outgoing": 12, "few": 9}
    assert mirror.described(view(ends=ends), row, least=10)["ends"] == ends - 3600


def test_a_collection_that_ends_too_soon_is_not_begun_but_one_that_is_known_is(
    database: Database, service: Service
) -> None:
    def begun(now: float, seconds: int) -> StoredCollection:
        told = view(ends=1_000_000, period_seconds=seconds)
        return database.write(lambda w: mirror.begun(w, told, anyone=True, least=10, now=now)).result()

    for now, seconds, margin in ((1_000_000 - 3600, DAY, 3600), (1_000_000 - 60, 60, 60), (2_000_000, 60, 60)):
        with pytest.raises(hush.errors.SpecError, match=f"collections must be ones that end in more than {margin} sec"):
            begun(now, seconds)
    assert begun(1_000_000 - 3601, DAY).ends == 1_000_000 - 3600
    assert begun(2_000_000, DAY).ends == 1_000_000 - 3600  # what it holds must go


def test_a_large_batch_of_a_whole_period_is_mixed_with_others(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of ten envelopes has only records of one batch; by chance less than once in 1e9 times."""
    for module in (outbox, mixing, mirror):
        monkeypatch.setattr(module, "most_records", lambda _: 100)
    row = mirrored(sqlite_database)
    came = [arrival(row.number, reports_of([0] * 100, seed=0), seed=i) for i in range(10)]
    marked = [replace(each, records=i.to_bytes(SIZE, "big") * 100) for i, each in enumerate(came)]
    kept(sqlite_database, *marked)
    over = moved(sqlite_database, period=2)
    assert outbox.step(sqlite_database, over, Rules(10, whole_periods=True)) == 1000
    made = sealed(sqlite_database)
    assert sum(each.number for each in made) == 1000
    assert min(len(single(each.records)) for each in made) > 1


_SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=60)


@settings(max_examples=500, deadline=None)
@given(sizes=_SIZES, least=st.integers(1, 40), most=st.integers(80, 200), taken=st.booleans())
def test_groups_have_enough_each_and_leave_enough_or_nothing(
    sizes: list[int], least: int, most: int, taken: bool
) -> None:
    """Of batches that are smaller than a group; each group then has half of what it may, less one batch."""
    made = list(mixing.groups(np.array(sizes), least=least, most=most, leave=least if taken else 0))
    assert [0, *(each.stop for each in made)][:-1] == [each.start for each in made]
    numbers = [sum(sizes[each]) for each in made]
    left = sum(sizes) - sum(numbers)
    assert all(least <= number < most + least for number in numbers)
    assert len(numbers) == 1 or min(numbers, default=0) > most // 2 - max(sizes) - least or not made
    if taken:
        assert left >= least or not made
        assert left < 2 * least + 2 * max(sizes)
    else:
        assert left == 0 or left == sum(sizes) < least


def test_what_waits_for_a_closed_collection_is_dropped_and_counted(database: Database) -> None:
    row = mirrored(database)
    put(database, row, 25, seed=1)
    outbox.step(database, moved(database, status="closed"), Rules(10))
    assert told(database) == {"ended": 25}


def test_a_relays_store_that_a_collector_counted_is_still_passed_on(service: Service, database: Database) -> None:
    row = mirrored(database)
    records = put(database, row, 12, seed=1)
    service.directory.refresh()
    assert fold(database, service) == 1
    assert outbox.step(database, row, Rules(10), over=True) == 0
    database.write(outbox.renoted).result()
    assert outbox.step(database, row, Rules(10), over=True) == 12
    assert single(sealed(database)[0].records) == single(records)


def test_a_step_that_fails_leaves_everything_as_it_was(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = mirrored(sqlite_database)
    records = put(sqlite_database, row, 12, seed=1)

    def failing(*_: Any) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(outbox, "_emptied", failing)
        with pytest.raises(OSError, match="disk"):
            outbox.step(sqlite_database, row, Rules(10), over=True)
    assert told(sqlite_database) == {"held": 12}
    assert outbox.step(sqlite_database, row, Rules(10), over=True) == 12
    assert single(sealed(sqlite_database)[0].records) == single(records)


@settings(max_examples=200, deadline=None)
@given(number=st.integers(1, 700), most=st.integers(2, 100))
def test_envelopes_hold_at_most_what_they_may_and_at_least_half(number: int, most: int) -> None:
    row = _row()
    records = b"".join(i.to_bytes(SIZE, "little") for i in range(number))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mixing, "most_records", lambda _: most)
        made = mixing.envelopes(row, 3, records)
    sizes = [each.number for each in made]
    assert sum(sizes) == number
    assert max(sizes) <= most
    assert len(sizes) == 1 or min(sizes) >= most // 2
    assert single(b"".join(each.records for each in made)) == single(records)
    assert len({each.batch for each in made}) == len(made)


def _row() -> StoredCollection:
    plain = dict.fromkeys(StoredCollection.__dataclass_fields__)
    return StoredCollection(**{**plain, "id": ID, "spec": SPEC.to_json(), "spec_hash": SPEC.hash})  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [[30, 30, 30], [95, 9], [5] * 30, [1, 99, 1], [200], [9, 200], [100, 100, 9]])
def test_no_batch_is_smaller_than_the_least_and_nothing_is_left_behind(
    sqlite_database: Database, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (outbox, mixing, mirror):
        monkeypatch.setattr(module, "most_records", lambda _: 100)
    row = mirrored(sqlite_database)
    records = b"".join(put(sqlite_database, row, size, seed=i) for i, size in enumerate(sizes))
    assert outbox.step(sqlite_database, row, Rules(10), over=True) == sum(sizes)
    made = sealed(sqlite_database)
    assert all(10 <= each.number <= 100 for each in made)
    assert single(b"".join(each.records for each in made)) == single(records)


def test_a_period_never_goes_back(database: Database) -> None:
    mirrored(database, period=5)
    row = moved(database, period=3)
    assert (row.period, row.pruned_below) == (5, 4)


# What is sent, and what answers.


class Away:
    """A collector that answers as it is told, and keeps what it was sent."""

    def __init__(self, *answers: Callable[[Envelope], httpx.Response]) -> None:
        self.answers, self.bodies = list(answers), list[bytes]()
        self.upstream = Upstream("https://collect.example", "secret", transport=httpx.MockTransport(self._handle))

    def _handle(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == f"/v1/collections/{ID}/batches"
        assert "partial" in request.url.params
        self.bodies.append(request.read())
        return self.answers.pop(0)(Envelope.from_bytes(opened(self.bodies[-1])[1]))


def accepts(sent: Envelope, **more: Any) -> httpx.Response:
    told = {"batch": sent.batch, "period": sent.period, "accepted": sent.number}
    return httpx.Response(200, json={**told, **more})


def problem(reason: str, status: int) -> Callable[[Envelope], httpx.Response]:
    headers = {"Content-Type": "application/problem+json", **({"Retry-After": "7"} if status >= 429 else {})}
    return lambda _: httpx.Response(status, json={"reason": reason, "status": status}, headers=headers)


def broken(_: Envelope) -> httpx.Response:
    raise httpx.ConnectError("nobody is there")


def forwarder(service: Service, database: Database, away: Away) -> Forwarder:
    row = mirrored(database)
    put(database, row, 12, seed=1)
    service.directory.refresh()
    made = Forwarder(service, database, away.upstream, Rules(10))
    made.views = {ID: view()}
    outbox.step(database, row, Rules(10), over=True)
    return made


AGAIN = [
    broken,
    problem("busy", 503),
    problem("token", 401),
    problem("unknown", 404),
    lambda _: httpx.Response(200, text="<html>Sign in to the hotel's network</html>"),
    lambda _: httpx.Response(200, json={}),
    lambda sent: accepts(sent, batch="0" * 32),
    lambda sent: accepts(sent, accepted=sent.number - 1),
    lambda sent: accepts(sent, accepted=sent.number + 1, refused=[]),
    lambda _: httpx.Response(302, headers={"Location": "https://elsewhere.example"}),
    lambda _: httpx.Response(409, json={"reason": "status", "status": 409}),  # but not as a problem
    lambda _: httpx.Response(500, text="oops"),
]


@pytest.mark.parametrize("answer", AGAIN)
def test_the_same_bytes_are_sent_until_they_are_acknowledged(
    service: Service, database: Database, answer: Callable[[Envelope], httpx.Response], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Away(answer, answer, accepts)
    made = forwarder(service, database, away)
    now = [0.0]
    monkeypatch.setattr("hush.collect.relay.forwarding.time.monotonic", lambda: now[0])
    waits = []
    for _ in range(2):
        waits.append(made.send())
        assert waits[-1] > 0
        assert told(database) == {"outgoing": 12}
        tries = len(away.bodies)
        assert made.send() > 0
        assert len(away.bodies) == tries  # not before its time
        now[0] += waits[-1] + 0.001
    assert made.send() == 0.0
    assert told(database) == {"forwarded": 12}
    assert away.bodies[0] == away.bodies[1] == away.bodies[2]
    assert opened(away.bodies[0])[0] == "secret"
    assert all(0.25 <= wait <= LONGEST_BACKOFF + 7 for wait in waits)


def large(_: Envelope) -> httpx.Response:
    return httpx.Response(413, text="<html>413 Request Entity Too Large</html>")


def lost(sent: Envelope) -> httpx.Response:
    raise httpx.ReadTimeout("nobody knows")


def queued(
    service: Service,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    *answers: Callable[[Envelope], httpx.Response],
) -> tuple[Forwarder, Away, Callable[[], float]]:
    """A relay that has an envelope of 12 records and then one of 40; and what sends the next, whenever that is."""
    away = Away(*answers)
    made = forwarder(service, database, away)
    row = service.directory.named(ID)
    put(database, row, 40, seed=2)
    outbox.step(database, row, Rules(10), over=True)
    now = [0.0]
    monkeypatch.setattr("hush.collect.relay.forwarding.time.monotonic", lambda: now[0])

    def send() -> float:
        now[0] += 1000.0
        return made.send()

    return made, away, send


def sizes(away: Away) -> list[int]:
    return [Envelope.from_bytes(opened(each)[1]).number for each in away.bodies]


def test_what_a_relay_has_is_counted(service: Service, database: Database) -> None:
    made = forwarder(service, database, Away(accepts))
    put(database, service.directory.named(ID), 7, seed=3)
    made.gather()
    assert made.stored == 19 * SIZE + 2 * 200
    assert made.send() == 0.0
    made.gather()
    assert made.stored == 7 * SIZE + 2 * 200


@pytest.mark.parametrize("before", [[], [broken]])
def test_what_is_too_large_for_a_proxy_is_sent_in_parts_that_are_large_enough(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch, before: list[Any]
) -> None:
    _, away, send = queued(service, database, monkeypatch, accepts, *before, large, large, accepts, accepts, accepts)
    sent = single(b"".join(each.records for each in sealed(database)))
    send()
    for _ in before:
        assert send() > 0
    assert send() == 0.0
    assert told(database) == {"forwarded": 12, "outgoing": 40}
    assert [each.number for each in sealed(database)] == [20, 20]
    assert send() == 0.0
    assert [each.number for each in sealed(database)] == [20, 10, 10]
    for _ in range(3):
        assert send() == 0.0
    assert told(database) == {"forwarded": 52}
    taken = [Envelope.from_bytes(opened(away.bodies[at])[1]) for at in (0, -3, -2, -1)]
    assert len({each.batch for each in taken}) == 4
    assert single(b"".join(each.records for each in taken)) == sent


def test_one_that_is_too_large_and_cannot_be_cut_keeps_no_other_waiting(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, away, send = queued(service, database, monkeypatch, large, accepts, large, accepts)
    assert send() > 0  # of 12 records, no half has ten
    assert send() == 0.0
    assert told(database) == {"forwarded": 40, "outgoing": 12}
    assert send() > 0
    assert send() == 0.0
    assert told(database) == {"forwarded": 52}
    assert sizes(away) == [12, 40, 12, 12]
    assert away.bodies[0] == away.bodies[2] == away.bodies[3]


def test_what_the_collector_may_have_taken_is_never_cut(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, away, send = queued(service, database, monkeypatch, accepts, lost, large, large, accepts)
    send()
    for _ in range(3):
        assert send() > 0
        assert told(database) == {"forwarded": 12, "outgoing": 40}
    assert send() == 0.0
    assert told(database) == {"forwarded": 52}
    assert sizes(away) == [12, 40, 40, 40, 40]
    assert len({*away.bodies}) == 2


def test_a_relay_that_was_killed_while_it_sent_cuts_nothing(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Envelope) -> httpx.Response:
        raise KeyboardInterrupt

    made, away, send = queued(service, database, monkeypatch, accepts, killed, large, accepts)
    send()
    with pytest.raises(KeyboardInterrupt):
        send()
    again = Forwarder(service, database, away.upstream, Rules(10))
    again.views = made.views
    assert again.send() > 0
    assert told(database) == {"forwarded": 12, "outgoing": 40}
    assert [each.number for each in sealed(database)] == [40]


def another(made: Forwarder, service: Service, database: Database, *answers: Any) -> tuple[Forwarder, Away]:
    """Another relay over the same store."""
    away = Away(*answers)
    other = Forwarder(service, database, away.upstream, Rules(10))
    other.views = made.views
    return other, away


def test_an_envelope_that_another_relay_cuts_is_not_sent_whole(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One relay is about to send when the other is told that it is too large; then the limit is raised."""
    made, away, send = queued(service, database, monkeypatch, accepts, accepts, accepts)
    assert send() == 0.0
    other, others = another(made, service, database, large)
    first, once = queue.first, [1]

    def held_up(*args: Any) -> Any:
        found = first(*args)
        if once:
            once.clear()
            assert other.send() == 0.0
        return found

    monkeypatch.setattr(queue, "first", held_up)
    for _ in range(3):
        assert send() == 0.0
    assert told(database) == {"forwarded": 52}
    assert (sizes(others), sizes(away)) == ([40], [12, 20, 20])


def test_an_envelope_that_two_relays_find_too_large_can_be_cut_later(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While both try it, neither may cut it; once both know that theirs was not taken, whoever tries next does."""
    made, away, send = queued(service, database, monkeypatch, accepts, large, accepts, accepts)
    assert send() == 0.0

    def meanwhile(sent: Envelope) -> httpx.Response:
        assert send() > 0  # the first cannot cut it: this try may come through
        return large(sent)

    other, _ = another(made, service, database, meanwhile)
    assert other.send() == 0.0
    for _ in range(2):
        assert send() == 0.0
    assert told(database) == {"forwarded": 52}
    assert sizes(away) == [12, 40, 20, 20]


@pytest.mark.parametrize("encoding", ["gzip", "br", "x"])
def test_a_relay_unpacks_nothing(service: Service, database: Database, encoding: str) -> None:
    def packed(sent: Envelope) -> httpx.Response:
        plain, head = accepts(sent).content, {"content-encoding": encoding}
        return httpx.Response(200, headers=head, content=gzip.compress(plain) if encoding == "gzip" else plain)

    away = Away(packed)
    assert forwarder(service, database, away).send() > 0
    assert told(database) == {"outgoing": 12}


def test_an_answer_to_a_relay_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that sends a byte now and then, for ever, is given up."""
    monkeypatch.setattr(speaking, "_ANSWER_TIMEOUTS", 0.01)  # while each byte has a hundred times as long
    batch = Envelope(ID, "0" * 64, "1" * 32, 0, "b", 1, b"x")

    def dribble(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not hung_up(connection):
            connection.sendall(b" ")

    with answering(dribble) as url:
        upstream = Upstream(url.partition("/v1/")[0], "secret")
        reply = upstream.send(batch.to_bytes())
        upstream.close()
    assert (reply.state, reply.reason, reply.untaken) == ("waiting", "answer-too-slow", False)


@pytest.mark.parametrize(("reason", "status"), [("status", 409), ("period-past", 410), ("spec", 409)])
def test_what_the_collector_will_never_take_is_counted_and_ends(
    service: Service, database: Database, reason: str, status: int
) -> None:
    made = forwarder(service, database, Away(problem(reason, status)))
    assert made.send() == 0.0
    assert told(database) == {"refused": 12}


def test_single_records_that_are_refused_are_counted(service: Service, database: Database) -> None:
    refused = [{"index": 3, "reason": "record"}]
    away = Away(lambda sent: accepts(sent, accepted=sent.number - 1, refused=refused))
    assert forwarder(service, database, away).send() == 0.0
    assert told(database) == {"forwarded": 11, "refused": 1}


def test_backoff_grows_and_is_jittered(service: Service, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    away = Away(*[broken] * 14)
    made = forwarder(service, database, away)
    now = [0.0]
    monkeypatch.setattr("hush.collect.relay.forwarding.time.monotonic", lambda: now[0])
    waits = []
    for _ in range(14):
        waits.append(made.send())
        now[0] += waits[-1] + 0.001
    for at, wait in enumerate(waits):
        most = min(LONGEST_BACKOFF, 0.5 * 2**at)
        assert most / 2 <= wait <= most
    assert len(set(waits)) == len(waits)
    assert any(a < b for a, b in pairwise(waits))


def test_a_relay_begins_without_its_collector_only_where_it_knows_the_collection(
    service: Service, database: Database
) -> None:
    def nobody(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody is there")

    away = Upstream("https://collect.example", "secret", transport=httpx.MockTransport(nobody))
    made = Forwarder(service, database, away, Rules(10))
    with pytest.raises(CollectorAway):
        made.begin((ID,), anyone=True)
    mirrored(database)
    made.begin((ID,), anyone=False)
    assert made.views == {ID: view()}
    assert made.follow() > 0  # it goes on with what it knows
    assert not made.changed
    with database.reading() as connection:
        assert not found(connection, ID).anyone_submits


def test_one_that_was_stopped_goes_on_when_the_collector_tells_the_same_again(
    service: Service, database: Database
) -> None:
    other = hush.Spec(hush.OLH(k=4, epsilon=3.0))
    answers = [view(), view(spec=other.to_dict(), spec_hash=other.hash), view()]
    key = {"id": "00000000", "role": "relay", "expires": None}
    transport = httpx.MockTransport(
        lambda asked: httpx.Response(200, json=key if asked.url.path.endswith("/key") else answers.pop(0))
    )
    made = Forwarder(service, database, Upstream("https://c.example", "k", transport=transport), Rules(10))
    made.begin((ID,), anyone=True)
    row = service.directory.named(ID)
    for seed in (1, 2):
        put(database, row, 12, seed=seed)
    with pytest.raises(hush.errors.SpecError, match="spec_hash must stay"):
        made.follow()
    made.gather()
    assert told(database) == {"held": 24}
    with pytest.raises(Refused, match="must have the spec that it had"):
        made.holding(ID)
    made.follow()
    made.holding(ID)
    made.gather()
    assert told(database) == {"held": 12, "outgoing": 12}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"collections": ""}, "collections"),
        ({"collections": "abc"}, "collections"),
        ({"key": ""}, "key"),
        ({"least": 1}, "least"),
        ({"least": 0}, "least"),
        ({"few": "keep"}, "few"),
        ({"port": 70_000}, "port"),
    ],
)
def test_settings_that_make_no_relay_are_refused(change: dict[str, Any], said: str) -> None:
    good = {"collector": "https://c.example", "collections": ID, "key": f"hush-relay-00000000-{'secret' * 3}AAAA"}
    assert "secret" not in repr(RelaySettings(**good))
    with pytest.raises(ParameterError, match=f"^{said} must"):
        RelaySettings(**{**good, **change})


@pytest.mark.parametrize(
    "url", ["", "collect.example", "http://collect.example", "ftp://c.example", "https://u:p@c.example", "https://"]
)
def test_a_collector_is_reached_by_https_or_on_this_machine(url: str) -> None:
    with pytest.raises(ParameterError, match="collector must be https"):
        Upstream(url, "secret")


def test_a_status_that_only_the_row_has_is_not_the_collectors(database: Database) -> None:
    row = mirrored(database)
    database.write(lambda writing: changed(writing, row.number, status="closed")).result()
    assert moved(database).status == "open"
