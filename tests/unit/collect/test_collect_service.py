"""Collections from a draft to the end, as the server and the command have them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import hush
from hush.collect import clock
from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store import rebuilding, refusing, tables
from hush.collect.store.database import Database
from hush.engine import opened
from hush.files.estimates import EstimateSettings, as_dict, results_of
from tests.collecting import DAY, SPEC, HandClock, fold, opened_one, send
from tests.waiting import wait_until

MEAN = hush.Spec(hush.Piecewise(low=0.0, high=10.0, epsilon=1.0))


def test_a_collection_is_drafted_opened_and_closed(service: Service) -> None:
    made = service.create(spec=SPEC.to_dict(), name="visits", target_n=100_000, who="ada")
    assert made["status"] == "draft"
    assert made["spec_hash"] == SPEC.hash
    id = made["id"]
    assert service.open(id, who="ada")["status"] == "open"
    with pytest.raises(Refused, match="must be draft") as refused:
        service.open(id, who="ada")
    assert refused.value.reason.code == "status"
    assert service.close(id, who="bob")["status"] == "closed"
    assert [(each["who"], each["what"]) for each in service.deeds()] == [
        ("bob", "close"), ("ada", "open"), ("ada", "create"),
    ]  # fmt: skip


def test_what_would_drown_is_not_opened_unless_forced(service: Service) -> None:
    made = service.create(spec=SPEC.to_dict(), name="visits", target_n=3, who="ada")
    with pytest.raises(Refused) as refused:
        service.open(made["id"], who="ada")
    assert refused.value.reason.code == "plan"
    assert service.show(made["id"], whole=False)["status"] == "draft"
    assert service.open(made["id"], force=True, who="ada")["forced"]


def test_estimates_are_those_of_the_reports(service: Service, database: Database, tmp_path: Path) -> None:
    id = opened_one(service)
    reports = SPEC.privatize([0] * 300 + [1] * 100, rng=hush.seeded(7))
    send(service, database, id, reports[:150])
    send(service, database, id, reports[150:], build="b/2")
    fold(database, service)
    told = service.estimate(id)
    direct = SPEC.estimate(SPEC.aggregate(reports))
    assert [row["frequency"] for row in told["estimate"]] == direct.frequencies.tolist()
    assert service.aggregate(id) == SPEC.aggregate(reports).to_bytes()
    path = service.export(id, tmp_path)["path"]
    collection = opened([Path(path)]).merged()
    settings = EstimateSettings(0.95, False, None)
    assert as_dict(collection, results_of(collection, settings), None, settings) == told
    assert service.show(id, whole=True)["builds"] == {"a/1": 150, "b/2": 250}
    assert service.verify(id, who="ada") == {"id": id, "equal": True, "n": 400, "forgotten": 0, "differences": []}


def test_an_empty_collection_has_no_estimate(service: Service) -> None:
    id = opened_one(service)
    told = service.estimate(id)
    assert (told["n"], told["estimate"]) == (0, None)


def test_a_build_that_is_excluded_counts_no_more(service: Service, database: Database) -> None:
    id = opened_one(service)
    good, bad = SPEC.privatize([0] * 50, rng=hush.seeded(1)), SPEC.privatize([1] * 60, rng=hush.seeded(2))
    send(service, database, id, good)
    send(service, database, id, bad, build="bad/1")
    fold(database, service)
    whole = service.exclude(id, "bad/1", who="ada")
    assert (whole["n"], whole["excluded"], whole["left_out"]) == (50, ["bad/1"], 60)
    assert service.exclude(id, "nobody/1", who="ada")["left_out"] == 0
    assert [row["detail"] for row in service.deeds(2)] == [
        {"build": "nobody/1", "reports": 0}, {"build": "bad/1", "reports": 60},
    ]  # fmt: skip
    send(service, database, id, bad[:30], build="bad/1")
    fold(database, service)
    assert service.aggregate(id) == SPEC.aggregate(good).to_bytes()
    assert service.verify(id, who="ada")["equal"]


def test_what_is_not_counted_yet_is_left_out_too(service: Service, database: Database) -> None:
    id = opened_one(service)
    send(service, database, id, SPEC.privatize([1] * 60, rng=hush.seeded(2)), build="bad/1")
    whole = service.exclude(id, "bad/1", who="ada")
    assert (whole["n"], whole["left_out"]) == (0, 60)
    assert service.exclude(id, "bad/1", who="ada")["left_out"] == 0


def test_a_draft_is_deleted_and_nothing_else(service: Service, database: Database) -> None:
    """With all that goes by its number, which the next collection may have."""
    first = service.create(spec=SPEC.to_dict(), name="visits", who="ada")["id"]
    draft = service.succeed(first, spec=SPEC.to_dict(), who="ada")["id"]
    key = service.issue_token("ingest", label="of the draft", collection=draft, who="ada")
    service.exclude(draft, "bad/1", who="ada")
    service.count_refusals(Counter({(draft, "status"): 3}))
    with pytest.raises(Refused) as followed:
        service.delete(first, who="ada")
    assert (followed.value.reason.code, followed.value.rule) == ("status", "must be followed by none")
    service.delete(draft, who="ada")
    assert [each["id"] for each in service.list()] == [first]
    assert service.directory.tokens.holder(key, 0.0) is None
    with pytest.raises(Refused) as gone:
        service.delete(draft, who="ada")
    assert gone.value.reason.code == "unknown"
    (deed, *_) = service.deeds()
    assert (deed["what"], deed["who"], deed["collection"]) == ("delete", "ada", draft)
    assert deed["detail"] == {"name": "visits", "predecessor": first}
    again = service.create(spec=SPEC.to_dict(), name="the next", who="ada")
    assert (again["refusals"], again["excluded"]) == ({}, [])
    closed = opened_one(service)
    service.close(closed, who="ada")
    for id in (closed, opened_one(service)):
        with pytest.raises(Refused) as refused:
            service.delete(id, who="ada")
        assert (refused.value.reason.code, refused.value.rule) == ("status", "must be draft")


def test_a_margin_does_not_pass_from_shares_to_a_mean(service: Service) -> None:
    first = service.create(spec=SPEC.to_dict(), name="visits", wished_error=0.08, who="ada")
    assert service.succeed(first["id"], spec=SPEC.to_dict(), who="ada")["wished_error"] == 0.08
    assert service.succeed(first["id"], spec=MEAN.to_dict(), who="ada")["wished_error"] is None
    told = service.succeed(first["id"], spec=MEAN.to_dict(), wished_error=2.5, who="ada")
    assert told["wished_error"] == 2.5


def test_a_build_that_was_excluded_can_count_again(service: Service, database: Database, hand: HandClock) -> None:
    """With what it sent before and meanwhile, in every period; and what is pending then is folded once."""
    id = opened_one(service)
    good, bad = SPEC.privatize([0] * 50, rng=hush.seeded(1)), SPEC.privatize([1] * 60, rng=hush.seeded(2))
    send(service, database, id, good)
    send(service, database, id, bad[:20], build="bad/1")
    fold(database, service)
    service.exclude(id, "bad/1", who="ada")
    hand.forward(DAY)
    service.maintain()
    send(service, database, id, bad[20:40], build="bad/1", period=1)
    fold(database, service)
    send(service, database, id, bad[40:], build="bad/1", period=1)
    whole = service.exclude(id, "bad/1", undo=True, who="bob")
    assert (whole["n"], whole["excluded"]) == (110, [])
    assert service.aggregate(id) == SPEC.aggregate(np.concatenate([good, bad[:40]])).to_bytes()
    fold(database, service)
    assert service.aggregate(id) == SPEC.aggregate(np.concatenate([good, bad])).to_bytes()
    assert service.verify(id, who="ada")["equal"]
    assert [each["what"] for each in service.deeds(3)][1:] == ["include", "exclude"]
    with pytest.raises(Refused, match="build must be one that is left out"):
        service.exclude(id, "bad/1", undo=True, who="ada")


def test_a_build_counts_again_with_what_another_process_folds_meanwhile(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is the one that changes aggregates may lose that: what is folded then is not left out."""
    id = opened_one(service)
    bad, rebuilt, times = SPEC.privatize([1] * 60, rng=hush.seeded(2)), rebuilding.rebuilt, list[None]()
    send(service, database, id, bad[:20], build="bad/1")
    fold(database, service)
    service.exclude(id, "bad/1", who="ada")

    def slow(*args: Any, **more: Any) -> Any:
        found = rebuilt(*args, **more)
        times.append(None)
        if len(times) == 1:
            send(service, database, id, bad[20:], build="bad/1")
            database.write(lambda writing: writing.execute(sa.delete(tables.pending))).result()  # as one that folds it
        return found

    monkeypatch.setattr(rebuilding, "rebuilt", slow)
    service.exclude(id, "bad/1", undo=True, who="ada")
    assert len(times) == 2
    assert service.aggregate(id) == SPEC.aggregate(bad).to_bytes()


def test_a_build_stays_excluded_where_its_reports_are_not_kept(
    service: Service, database: Database, hand: HandClock
) -> None:
    sums, days = opened_one(service, keep="aggregates"), opened_one(service, horizon=0, keep_days=1)
    for id in (sums, days):
        send(service, database, id, SPEC.privatize([1] * 60, rng=hush.seeded(2)), build="bad/1")
        fold(database, service)
        service.exclude(id, "bad/1", who="ada")
    with pytest.raises(Refused, match="must still have all its reports, got one that keeps aggregates only") as told:
        service.exclude(sums, "bad/1", undo=True, who="ada")
    assert told.value.reason.code == "status"
    hand.forward(3 * DAY)
    service.maintain()
    with pytest.raises(Refused, match="must still have all its reports, got one that has forgotten some"):
        service.exclude(days, "bad/1", undo=True, who="ada")
    for id in (sums, days):
        whole = service.show(id, whole=True)
        assert (whole["n"], whole["excluded"]) == (0, ["bad/1"])


def test_refusals_are_counted(service: Service, database: Database) -> None:
    id = opened_one(service)
    service.count_refusals(Counter({(id, "record"): 3, (None, "unknown"): 2, ("0" * 32, "unknown"): 1}))
    assert service.refusals(id) == {"record": 3}
    assert service.refusals() == {"record": 3, "unknown": 3}
    service.stop()
    again = Service(database, service.directory.clock)
    assert again.refusals() == {"record": 3, "unknown": 3}
    assert again.show(id, whole=True)["refusals"] == {"record": 3}


class Held:
    """A lock that says so when it is asked for while others have it."""

    def __init__(self, lock: threading.Lock, asked: Callable[[], None]) -> None:
        self._lock, self._asked = lock, asked

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._asked()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_refusals_count_once_while_they_are_written(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = opened_one(service)
    service.count_refusals(Counter({(id, "record"): 3}))
    begun, may_go_on, honest = threading.Event(), threading.Event(), database.write

    def slow(work: Any) -> Any:
        begun.set()
        assert may_go_on.wait(60)
        return honest(work)

    monkeypatch.setattr(database, "write", slow)
    told: list[dict[str, int]] = []
    writing = threading.Thread(target=service._refusals.flush)
    asking = threading.Thread(target=lambda: told.append(service.refusals(id)))
    writing.start()
    assert begun.wait(60)
    monkeypatch.setattr(service._refusals, "_writing", Held(service._refusals._writing, may_go_on.set))
    asking.start()
    writing.join()
    asking.join()
    assert told == [{"record": 3}]


def test_a_spec_that_is_known_is_not_read_again(service: Service, database: Database) -> None:
    """Several collectors look at the store every second, and a spec may be megabytes."""
    id = opened_one(service)
    before = service.directory.named(id)
    parsed = before.parsed
    database.write(lambda connection: connection.execute(sa.text("UPDATE collection SET spec = 'unread'"))).result()
    service.directory.refresh()
    after = service.directory.named(id)
    assert after is not before
    assert after.spec is before.spec
    assert after.parsed is parsed
    assert Service(database, service.directory.clock).directory.named(id).spec == "unread"


def test_time_goes_by_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"boot": 5.0}
    monkeypatch.setattr(clock, "_BOOT", 7)
    monkeypatch.setattr("time.clock_gettime", lambda which: {7: seconds["boot"]}[which])
    made = clock.Clock(wall=lambda: 1000.0)
    seconds["boot"] += 3600
    assert made.now() == 4600.0


def test_an_expired_token_stays_so_whatever_the_clock_says_later(service: Service, hand: HandClock) -> None:
    token = service.issue_token("admin", label="short", seconds=60, who="ada")
    kept = service.issue_token("admin", label="long", seconds=DAY, who="ada")
    hand.forward(61)
    service.maintain()
    hand.forward(-1000)  # a server that is started before its machine knows the time
    assert service.directory.tokens.holder(token, hand.now()) is None
    assert service.directory.tokens.holder(kept, hand.now()) is not None
    assert [(each["what"], each["who"], each["detail"]) for each in service.deeds(1)] == [
        ("expire", "its end", {"label": "short"})
    ]


def test_tokens_are_issued_listed_and_taken_back(service: Service, hand: HandClock) -> None:
    id = opened_one(service)
    token = service.issue_token("ingest", label="shop", collection=id, seconds=60, who="ada")
    holder = service.directory.tokens.holder(token, hand.second)
    assert holder is not None
    assert service.tokens() == [
        {"id": holder.id, "role": "ingest", "collection": id, "label": "shop", "expires": int(hand.second) + 60}
    ]
    service.revoke(holder.id, who="ada", after=10)
    assert service.directory.tokens.holder(token, hand.second + 9) is not None
    assert service.directory.tokens.holder(token, hand.second + 10) is None
    service.revoke(holder.id, who="ada")
    assert service.tokens() == []


def test_a_collection_follows_another(service: Service) -> None:
    first = opened_one(service, horizon=3)
    other = hush.Spec(hush.OLH(k=4, epsilon=1.0))
    second = service.succeed(first, spec=other.to_dict(), who="ada")
    third = service.succeed(second["id"], spec=other.to_dict(), who="ada", name="third", horizon=9)
    assert second["horizon"] == 3
    assert third["chain"] == [third["id"], second["id"], first]
    assert (third["predecessor"], third["name"], third["horizon"]) == (second["id"], "third", 9)


def test_periods_are_handed_out_and_never_go_back(service: Service, hand: HandClock, database: Database) -> None:
    id = opened_one(service)
    assert service.show(id, whole=False)["period"] == 0
    hand.forward(3 * DAY)
    assert service.show(id, whole=False)["period"] == 3
    hand.forward(-2 * DAY)
    again = Service(database, hand)
    assert again.show(id, whole=False)["period"] == 3


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": 7}, "name"),
        ({"target_n": 0}, "target_n"),
        ({"target_n": 1.5}, "target_n"),
        ({"target_n": True}, "target_n"),
        ({"target_n": 1 << 70}, "target_n"),
        ({"wished_error": 0.0}, "wished_error"),
        ({"wished_error": float("nan")}, "wished_error"),
        ({"wished_error": float("inf")}, "wished_error"),
        ({"wished_error": "small"}, "wished_error"),
        ({"wished_error": 8.0}, "wished_error"),
        ({"wished_error": 10.5, "spec": MEAN.to_dict()}, "wished_error"),
        ({"relayed_only": True, "horizon": 0}, "horizon"),
        ({"ends": 5}, "ends"),
        ({"ends": -1}, "ends"),
        ({"period_seconds": 0}, "period_seconds"),
        ({"period_seconds": 1 << 40}, "period_seconds"),
        ({"horizon": -1}, "horizon"),
        ({"horizon": None}, "horizon"),
        ({"keep": "everything"}, "keep"),
        ({"keep_days": 0}, "keep_days"),
        ({"anyone_submits": "yes"}, "anyone_submits"),
        ({"public": 1}, "public"),
        ({"release_floor": 0}, "release_floor"),
        ({"spec": None}, "spec"),
        ({"spec": []}, "spec"),
        ({"spec": {}}, "spec"),
        ({"spec": {"mechanism": "os:system"}}, "spec"),
        ({"spec": {**SPEC.to_dict(), "hush": 99}}, "spec"),
        ({"spec": {"x": float("nan")}}, "spec"),
    ],
)
def test_what_breaks_a_rule_is_refused_and_leaves_nothing(
    sqlite_database: Database, hand: HandClock, wrong: dict[str, object], parameter: str
) -> None:
    service = Service(sqlite_database, hand)
    given: dict[str, object] = {"spec": SPEC.to_dict(), "name": "visits", **wrong}
    with pytest.raises(Refused) as refused:
        service.create(who="tests", **given)
    assert (refused.value.reason.code, refused.value.parameter) == ("parameter", parameter)
    assert refused.value.remedy
    assert service.list() == []
    assert service.deeds() == []


def test_an_unknown_collection_token_or_role_is_refused(service: Service) -> None:
    nobody = "0" * 32
    for ask in (
        lambda: service.show(nobody, whole=True),
        lambda: service.open(nobody, who="tests"),
        lambda: service.create(spec=SPEC.to_dict(), name="x", predecessor=nobody, who="tests"),
        lambda: service.succeed(nobody, spec=SPEC.to_dict(), who="tests"),
        lambda: service.issue_token("ingest", label="x", collection=nobody, who="tests"),
        lambda: service.revoke("00000000", who="tests"),
        lambda: service.refusals(nobody),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.reason.code == "unknown"
    for ask in (
        lambda: service.issue_token("king", label="x", who="tests"),
        lambda: service.issue_token("admin", label="", who="tests"),
        lambda: service.issue_token("admin", label=" ", who="tests"),
        lambda: service.issue_token("admin", label="x", seconds=0, who="tests"),
        lambda: service.deeds(0),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.reason.code == "parameter"


def test_a_token_is_kept_as_its_digest_alone(service: Service, database: Database) -> None:
    token = service.issue_token("admin", label="first", who="tests")
    with database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM token").all()
        told = connection.exec_driver_sql("SELECT * FROM deed").all()
    secret = token.split("-", 3)[3]
    assert secret not in f"{rows}{told}"
    assert len(rows) == 1


def test_refusals_are_in_the_store_without_being_asked_for(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusing, "LATEST", 0.02)
    service.count_refusals(Counter({(None, "malformed"): 5}))

    def kept() -> bool:
        with database.reading() as connection:
            return connection.exec_driver_sql("SELECT sum(number) FROM refusal").scalar_one() == 5

    wait_until(kept)
    with service._refusals.waiting() as waiting:
        assert waiting == {}
    assert service.refusals() == {"malformed": 5}


def test_refusals_that_cannot_be_written_wait(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise sa.exc.OperationalError("", {}, Exception("disk full"))

    with monkeypatch.context() as patched:
        patched.setattr(refusing, "added", failing)
        service.count_refusals(Counter({(None, "busy"): 2}))
        with pytest.raises(sa.exc.OperationalError):
            service._refusals.flush()
        service.count_refusals(Counter({(None, "busy"): 1}))
        assert service.refusals() == {"busy": 3}
    service.stop()
    assert Service(database, service.directory.clock).refusals() == {"busy": 3}


def test_what_is_known_never_goes_back(service: Service, database: Database) -> None:
    """Two threads read the store again and again while tokens are taken back: none is known afterwards."""
    stop = threading.Event()

    def refresh() -> None:
        while not stop.is_set():
            service.directory.refresh()

    others = [threading.Thread(target=refresh) for _ in range(2)]
    for each in others:
        each.start()
    try:
        for _ in range(20):
            token = service.issue_token("reader", label="x", who="tests")
            assert service.directory.tokens.holder(token, 0.0) is not None
            service.revoke(token.split("-")[2], who="tests")
            assert service.directory.tokens.holder(token, 0.0) is None
    finally:
        stop.set()
        for each in others:
            each.join()
