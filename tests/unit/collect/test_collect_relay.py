"""A relay before a real collector: what passes, what does not, and in which order."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import sqlalchemy as sa

import hush
from hush.collect.clock import Clock
from hush.collect.envelope import Envelope, body
from hush.collect.relay import mixing, outbox
from hush.collect.relay.app import fates
from hush.collect.service import Service
from hush.collect.store import tables
from hush.collect.store.database import Database
from hush.errors import ParameterError, SpecError
from tests.collectors import Opened, Served, in_thread, opened
from tests.relays import Relayed
from tests.relays import in_thread as relay_in_thread
from tests.waiting import wait_until

LEAST = 40


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with in_thread(tmp_path_factory.mktemp("collector")) as running:
        yield running


@pytest.fixture
def one(served: Served) -> Opened:
    return opened(served, relayed_only=True)


@pytest.fixture
def relayed(served: Served, one: Opened, tmp_path: Path) -> Iterator[Relayed]:
    with relay_in_thread(tmp_path, served, [one.id], least=LEAST) as running:
        yield running


def stays(one: Opened, relayed: Relayed) -> None:
    """Send just as much as stays behind, so that all that was sent before goes on."""
    assert relayed.send(one, [0] * LEAST).status_code == 200


def came(served: Served) -> list[sa.Row[tuple[bytes, str, bytes, int]]]:
    """The batches that the collector has."""
    assert served.server is not None
    b = tables.batch.c
    with served.server.database.reading() as connection:
        return list(connection.execute(sa.select(b.id, b.build, b.records, b.accepted).order_by(b.seq)).all())


def n(served: Served, one: Opened) -> int:
    return int(served.ask("GET", one.path).json()["n"])


def sent_records(one: Opened, values: list[int], seed: int) -> bytes:
    return Envelope.from_bytes(one.envelope(values, seed=seed)).records


def test_keys_builds_ids_boundaries_and_order_do_not_pass(served: Served, one: Opened, relayed: Relayed) -> None:
    sizes = [7, 1, 12, LEAST - 20]
    told = [relayed.send(one, [i % 4] * size, seed=i).json() for i, size in enumerate(sizes)]
    assert [each["accepted"] for each in told] == sizes
    stays(one, relayed)
    wait_until(lambda: n(served, one) == LEAST)
    batch = came(served)[-1]
    assert (batch.accepted, batch.build) == (LEAST, mixing.BUILD)
    assert bytes(batch.id).hex() not in {each["batch"] for each in told}
    due = b"".join(sent_records(one, [i % 4] * size, i) for i, size in enumerate(sizes))
    size = one.spec.mechanism.report_dtype.itemsize
    arrived = [bytes(batch.records)[i : i + size] for i in range(0, len(due), size)]
    given = [due[i : i + size] for i in range(0, len(due), size)]
    assert Counter(arrived) == Counter(given)
    assert arrived != given  # equal by chance once in 40! times


def test_fewer_than_the_least_wait_and_no_fewer_stay_behind(served: Served, one: Opened, relayed: Relayed) -> None:
    batches = len(came(served))
    for size in (LEAST, LEAST - 1):
        assert relayed.send(one, [1] * size).status_code == 200
    assert relayed.server is not None
    wait_until(lambda: fates(relayed.server.database)["held"] == 2 * LEAST - 1)  # type: ignore[union-attr]
    assert n(served, one) == 0
    assert relayed.send(one, [1]).status_code == 200
    wait_until(lambda: n(served, one) == LEAST)
    assert fates(relayed.server.database)["held"] == LEAST
    assert len(came(served)) == batches + 1


def test_what_is_sent_again_counts_once(served: Served, one: Opened, relayed: Relayed) -> None:
    content = body(relayed.key, one.envelope([2] * LEAST))
    answers = [httpx.post(relayed.address(one), content=content).json() for _ in range(3)]
    stays(one, relayed)
    wait_until(lambda: n(served, one) == LEAST)
    answers.append(httpx.post(relayed.address(one), content=content).json())  # of records that have gone on
    assert answers == [answers[0]] * 4
    other = one.envelope([3] * LEAST, batch=answers[0]["batch"])
    assert httpx.post(relayed.address(one), content=body(relayed.key, other)).status_code == 409
    stays(one, relayed)
    wait_until(lambda: n(served, one) == 2 * LEAST)


def test_a_malformed_record_is_refused_at_the_relay(served: Served, one: Opened, relayed: Relayed) -> None:
    good = Envelope.from_bytes(one.envelope([0] * 5))
    worst = good.records[: 2 * good.size] + b"\xff" * good.size + good.records[3 * good.size :]
    bad = Envelope(one.id, one.spec.hash, good.batch, 0, "t/1", good.size, worst).to_bytes()
    answer = httpx.post(relayed.address(one), content=body(relayed.key, bad))
    assert (answer.status_code, answer.json()["reason"], answer.json()["index"]) == (422, "record", 2)
    assert relayed.server is not None
    wait_until(lambda: relayed.server.service.refusals(one.id).get("record", 0) >= 1)  # type: ignore[union-attr]


def test_who_may_submit_is_the_relays_to_say(one: Opened, relayed: Relayed) -> None:
    answer = httpx.post(relayed.address(one), content=body("", one.envelope([0])))
    assert (answer.status_code, answer.json()["reason"]) == (401, "token")
    direct = httpx.post(one.address, content=body(one.key, one.envelope([0])))
    assert (direct.status_code, direct.json()["reason"]) == (401, "token")


def test_the_view_is_the_collectors_with_the_relays_keys(one: Opened, relayed: Relayed) -> None:
    theirs = httpx.get(f"{one.url}{one.path}").json()
    mine = httpx.get(f"{relayed.url}{one.path}").json()
    same = ("id", "name", "status", "spec", "spec_hash", "period", "chain", "predecessor", "period_seconds", "ends")
    assert {name: mine[name] for name in same} == {name: theirs[name] for name in same}
    assert mine["relay"] == {"least": LEAST}
    assert mine["needs_key"]
    assert not mine["relayed_only"]
    assert httpx.get(f"{relayed.url}/v1/collections/{'0' * 32}").status_code == 404


def test_a_large_spec_is_passed_on_as_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To write it anew for each who asks would let strangers keep a relay from its work."""
    domain = hush.Domain(labels=[f"{at:030d}" for at in range(5000)])
    spec, written = hush.Spec(hush.OLH(k=5000, epsilon=2.0), domain), list[int]()
    encode = json.JSONEncoder.encode

    def noted(self: json.JSONEncoder, o: Any) -> str:
        text = encode(self, o)
        if threading.current_thread().name == "hush-server":  # which answers; what follows the collector reads its spec
            written.append(len(text))
        return text

    (tmp_path / "collector").mkdir()
    with in_thread(tmp_path / "collector") as collector:
        large = opened(collector, spec=spec)
        with relay_in_thread(tmp_path, collector, [large.id], least=LEAST) as relayed:
            monkeypatch.setattr(json.JSONEncoder, "encode", noted)
            shown = httpx.get(f"{relayed.url}{large.path}")
            monkeypatch.undo()
    assert shown.json()["spec"] == json.loads(spec.to_json())
    assert len(shown.content) > 150_000
    assert max(written) < 2000


def test_a_relay_takes_no_more_than_its_store_may_have(served: Served, one: Opened, tmp_path: Path) -> None:
    """Devices are told to come back, and it takes batches again once the collector has some."""
    with relay_in_thread(tmp_path, served, [one.id], least=1000, most_stored=2000) as relayed:
        assert relayed.server is not None
        taken = 0
        while (answer := relayed.send(one, [0] * 20)).status_code == 200:
            taken += 20
            assert taken <= 200
        assert answer.status_code == 503
        assert answer.json()["reason"] == "busy"
        assert answer.headers["retry-after"] == "30"
        told = httpx.get(f"{relayed.url}/metrics").text
        # The relay may have looked again since, and batches that it has stored count a little less than on arrival.
        assert float(told.partition("\nhush_relay_bytes_stored ")[2].split()[0]) > 0.9 * 2000
        store = relayed.server.database
        for table in (tables.pending, tables.batch):  # as what was passed on, and whose period is over
            store.write(lambda writing, table=table: writing.execute(sa.delete(table))).result()
        wait_until(lambda: relayed.send(one, [0] * 20).status_code == 200)
    assert taken >= 40


def test_other_routes_are_not_there(one: Opened, relayed: Relayed) -> None:
    for path in ("/v1/collections", f"{one.path}/estimate", "/v1/tokens", f"{one.path}/export"):
        assert httpx.get(f"{relayed.url}{path}").status_code == 404
    assert httpx.get(f"{relayed.url}/readyz").status_code == 200
    assert "hush_relay_reports_forwarded" in httpx.get(f"{relayed.url}/metrics").text


def test_what_became_of_reports_is_counted_once_for_all_measures(
    relayed: Relayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, counted = [], outbox.counted
    monkeypatch.setattr(outbox, "counted", lambda connection: asked.append(1) or counted(connection))
    assert "\nhush_relay_reports_held 0.0\n" in httpx.get(f"{relayed.url}/metrics").text
    assert len(asked) == 1


def test_the_shuffled_guarantee_is_that_of_the_least(served: Served, one: Opened, relayed: Relayed) -> None:
    for _ in range(2):
        stays(one, relayed)
    wait_until(lambda: n(served, one) > 0)
    told = served.ask("GET", one.path).json()["shuffled"]
    assert told["batch"] == LEAST
    assert "shuffled" not in httpx.get(f"{one.url}{one.path}").json()


def test_a_store_of_a_collector_is_refused(served: Served, one: Opened, tmp_path: Path) -> None:
    assert served.server is not None
    copy = tmp_path / "copy.db"
    served.server.service.backup(copy)
    with (
        pytest.raises(SpecError, match="store must be the relay's own"),
        relay_in_thread(tmp_path, served, [one.id], store=str(copy)),
    ):
        pass


def test_a_least_that_no_batch_can_hold_is_refused(served: Served, one: Opened, tmp_path: Path) -> None:
    with (
        pytest.raises(SpecError, match="least must be at most 50000"),
        relay_in_thread(tmp_path, served, [one.id], least=50_001),
    ):
        pass


def test_a_horizon_of_nothing_is_refused(served: Served, tmp_path: Path) -> None:
    asked = {"spec": hush.Spec(hush.OLH(k=4, epsilon=2.0)).to_dict(), "name": "visits", "relayed_only": True}
    made = served.ask("POST", "/v1/collections", json={**asked, "horizon": 0})
    assert (made.status_code, made.json()["parameter"]) == (422, "horizon")
    short = opened(served, horizon=0)
    with pytest.raises(SpecError, match="horizon must be at least 1"), relay_in_thread(tmp_path, served, [short.id]):
        pass


def test_a_collection_that_ends_before_anything_could_be_sent_is_refused(served: Served, tmp_path: Path) -> None:
    soon = opened(served, relayed_only=True, ends=int(time.time()) + 3000)
    with pytest.raises(SpecError, match="end in more than 3600 seconds"), relay_in_thread(tmp_path, served, [soon.id]):
        pass


def test_a_key_that_the_collector_does_not_take_is_found_before_anything_is_acknowledged(
    served: Served, one: Opened, tmp_path: Path
) -> None:
    other = served.token("relay", collection=opened(served).id)
    for key in (f"hush-relay-00000000-{'A' * 22}", other):
        with pytest.raises(ParameterError) as told, relay_in_thread(tmp_path, served, [one.id], key=key):
            pass
        assert told.value.parameter == "key"
        assert key not in str(told.value)


def test_a_relay_whose_key_was_taken_back_takes_nothing_more(served: Served, tmp_path: Path) -> None:
    mine = opened(served, period_seconds=5, horizon=1000)
    key = served.token("relay", collection=mine.id)
    with relay_in_thread(tmp_path, served, [mine.id], least=LEAST, key=key) as relayed:
        assert relayed.send(mine, [0] * 3).status_code == 200
        assert served.ask("DELETE", f"/v1/tokens/{key.split('-')[2]}").status_code == 204
        wait_until(lambda: httpx.get(f"{relayed.url}/readyz").status_code == 503)
        assert relayed.send(mine, [0] * 3).json()["reason"] == "store"  # so that devices keep it
        assert relayed.server is not None
        assert fates(relayed.server.database)["held"] == 3


def test_a_spec_that_the_collector_changed_is_noticed(served: Served, tmp_path: Path) -> None:
    mine = opened(served, period_seconds=1, horizon=1000)
    assert served.server is not None
    with relay_in_thread(tmp_path, served, [mine.id], least=LEAST) as relayed:
        assert relayed.send(mine, [0] * 3).status_code == 200
        other = hush.Spec(hush.OLH(k=4, epsilon=3.0))
        values = {"spec": other.to_json(), "spec_hash": other.hash}
        change = sa.update(tables.collection).where(tables.collection.c.id == mine.id).values(**values)
        served.server.database.write(lambda connection: connection.execute(change)).result()
        served.server.service.directory.refresh()
        wait_until(lambda: httpx.get(f"{relayed.url}/readyz").status_code == 503)
        assert relayed.send(mine, [0] * 3).json()["reason"] == "store"  # so that devices keep it
        assert relayed.server is not None
        assert fates(relayed.server.database)["held"] == 3
    with (
        pytest.raises(SpecError, match="spec_hash must stay"),
        relay_in_thread(tmp_path, served, [mine.id], least=LEAST),
    ):
        pass


def test_a_view_that_does_not_hold_together_is_refused(served: Served, one: Opened) -> None:
    from hush.collect.relay.mirror import checked

    view = httpx.get(f"{one.url}{one.path}").json()
    assert checked(view, one.id) == view
    wrong = [
        ({"spec_hash": "0" * 64}, "hash"),
        ({"id": "0" * 32}, "public view"),
        ({"status": "ajar"}, "public view"),
        ({"period": -1}, "period"),
        ({"period": True}, "period"),
        ({"horizon": "7"}, "horizon"),
        ({"chain": ["x"]}, "chain"),
        ({"spec": {}}, "spec"),
        ({"ends": "tomorrow"}, "end"),
    ]
    for change, said in wrong:
        with pytest.raises(SpecError, match=said):
            checked({**view, **change}, one.id)
    for other in (None, [], "view", {}):
        with pytest.raises(SpecError):
            checked(json.loads(json.dumps(other)), one.id)


def test_every_order_of_three_records_is_equally_likely() -> None:
    """By chi-square with 5 degrees of freedom; false alarms have a rate of 1e-9."""
    from scipy.stats import chi2

    runs = 6000
    seen = Counter(mixing.permuted(b"\x00\x01\x02", 1) for _ in range(runs))
    assert len(seen) == 6
    counts = np.array(list(seen.values()))
    assert ((counts - runs / 6) ** 2 / (runs / 6)).sum() < chi2.isf(1e-9, 5)


def test_a_batch_that_was_taken_but_not_noted_is_sent_again_and_counts_once(
    served: Served, one: Opened, relayed: Relayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hush.collect.server.chores.LONGEST_WAIT", 0.05)
    failing, noted = [OSError("the disk is gone")] * 2, outbox.sent

    def sent(*given: Any) -> None:
        if failing:
            raise failing.pop()
        noted(*given)

    monkeypatch.setattr(outbox, "sent", sent)
    for _ in range(2):
        stays(one, relayed)
    assert relayed.server is not None
    wait_until(lambda: not failing and fates(relayed.server.database)["outgoing"] == 0)  # type: ignore[union-attr]
    assert n(served, one) == LEAST


def test_a_key_that_another_process_takes_back_ends_at_a_relay_too(
    served: Served, one: Opened, postgres_url: str, tmp_path: Path
) -> None:
    with relay_in_thread(tmp_path, served, [one.id], store=postgres_url) as relayed:
        assert relayed.send(one, [0]).status_code == 200
        other = Database(postgres_url)
        Service(other, Clock()).revoke(relayed.key.split("-")[2], who="command line")
        other.close()
        wait_until(lambda: relayed.send(one, [0]).status_code == 401)


def test_few_of_a_period_that_goes_by_are_dropped_and_no_more_of_it_is_taken(served: Served, tmp_path: Path) -> None:
    mine = opened(served, relayed_only=True, period_seconds=1, horizon=1)
    with relay_in_thread(tmp_path, served, [mine.id], least=LEAST) as relayed:
        assert relayed.server is not None

        def taken() -> bool:
            period = httpx.get(f"{relayed.url}{mine.path}").json()["period"]
            return relayed.send(mine, [0] * 3, period=period).status_code == 200

        wait_until(taken)  # a period may end in between
        wait_until(lambda: fates(relayed.server.database)["few"] == 3)  # type: ignore[union-attr]
        late = relayed.send(mine, [0] * 3, period=0)
        assert (late.status_code, late.json()["reason"]) == (410, "period-past")
    assert n(served, mine) == 0
