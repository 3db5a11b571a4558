"""The routes of the interface: what they do, what they answer, and in which shape they refuse."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

import hush
from hush.collect import answers
from hush.collect.managing import CollectionSettings
from hush.collect.refusals import REASONS
from hush.collect.server.access import Need
from hush.collect.server.health import Health
from hush.collect.server.models import NewCollection, NewToken, Successor
from hush.collect.tokens import ROLES
from hush.estimation import Aggregate
from tests.collectors import SPEC, Opened, Served, in_thread, opened
from tests.waiting import wait_until

SAFE = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("api")
    (folder / "copies").mkdir()
    with in_thread(folder, backups=folder / "copies") as made:
        yield made


@pytest.fixture(scope="module")
def one(served: Served) -> Opened:
    return opened(served)


def refused(answer: httpx.Response, code: str, **more: Any) -> dict[str, Any]:
    """The problem of an answer, which must be a whole one."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem: dict[str, Any] = answer.json()
    assert problem["reason"] == code, problem
    reason = REASONS[code]
    assert problem["status"] == answer.status_code == reason.status
    assert problem["title"] == reason.title
    assert problem["type"] == f"urn:hush:problem:{code}"
    assert ("retry-after" in answer.headers) == (reason.retry is not None)
    if code != "internal":
        assert problem["parameter"]
        assert problem["remedy"]
    assert {name: problem.get(name) for name in more} == more
    return problem


# What they do.


def test_a_collection_lives(served: Served) -> None:
    asked = {"spec": SPEC.to_dict(), "name": "a life", "target_n": 1_000_000, "release_floor": 5}
    made = served.ask("POST", "/v1/collections", json=asked)
    assert made.status_code == 201
    id = made.json()["id"]
    assert made.json()["status"] == "draft"
    assert made.json()["release_floor"] == 5
    path = f"/v1/collections/{id}"
    assert served.ask("POST", f"{path}/open").json()["status"] == "open"
    shown = served.ask("GET", path, token="")
    assert shown.json()["spec"] == hush.Spec.from_dict(SPEC.to_dict()).to_dict()
    assert "n" not in shown.json()
    whole = served.ask("GET", path).json()
    assert whole["n"] == 0
    assert whole["target_n"] == 1_000_000
    assert served.ask("POST", f"{path}/close").json()["status"] == "closed"
    refused(served.ask("POST", f"{path}/close"), "status")
    after = served.ask("POST", f"{path}/succeed", json={"spec": SPEC.to_dict(), "target_n": 5})
    assert after.status_code == 201
    assert after.json()["name"] == "a life"
    assert after.json()["release_floor"] == 5
    assert after.json()["chain"] == [after.json()["id"], id]
    refused(served.ask("POST", f"/v1/collections/{after.json()['id']}/open"), "plan")
    forced = served.ask("POST", f"/v1/collections/{after.json()['id']}/open", json={"force": True})
    assert forced.json()["forced"] is True
    ids = [each["id"] for each in served.ask("GET", "/v1/collections").json()]
    assert ids.index(id) < ids.index(after.json()["id"])
    deeds = served.ask("GET", "/v1/deeds").json()
    assert served.ask("GET", "/v1/deeds", params={"limit": 1}).json() == deeds[:1]
    assert [(each["what"], each["who"]) for each in deeds[:2]] == [("open", "tests"), ("create", "tests")]


def test_what_was_sent_is_estimated_exported_verified_and_excluded(served: Served) -> None:
    one = opened(served)
    values = [0, 1, 2, 3, 0, 0]
    assert served.send(one, one.body(values)).json()["accepted"] == 6
    told = served.settled(one, 6)
    reports = one.spec.privatize(values, rng=hush.seeded(1))
    direct = one.spec.one_round.aggregate(iter([reports]))
    assert served.ask("GET", f"{one.path}/aggregate").content == direct.to_bytes()
    assert Aggregate.from_bytes(served.ask("GET", f"{one.path}/aggregate", params={"period": 1}).content).n == 0
    assert told["level"] == 0.95
    assert served.ask("GET", f"{one.path}/estimate", params={"level": 0.5}).json()["level"] == 0.5
    assert served.ask("GET", f"{one.path}/estimate", params={"period": 0}).json()["n"] == 6
    exported = served.ask("GET", f"{one.path}/export")
    assert exported.headers["content-type"] == "application/vnd.apache.parquet"
    assert pq.read_table(io.BytesIO(exported.content)).num_rows == 6
    assert served.ask("POST", f"{one.path}/verify").json()["equal"] is True
    found = served.ask("POST", f"{one.path}/verify", json={"repair": True}).json()
    assert (found["equal"], found["repaired"]) == (True, False)
    after = served.ask("POST", f"{one.path}/exclude", json={"build": "t/1"}).json()
    assert after["excluded"] == ["t/1"]
    assert after["n"] == 0


def test_tokens_are_issued_listed_and_taken_back(served: Served) -> None:
    token = served.token("reader")
    id = token.split("-")[2]
    listed = served.ask("GET", "/v1/tokens")
    assert id in {each["id"] for each in listed.json()}
    assert token not in listed.text
    assert served.ask("GET", "/v1/collections", token=token).status_code == 200
    assert served.ask("DELETE", f"/v1/tokens/{id}").status_code == 204
    refused(served.ask("GET", "/v1/collections", token=token), "token")
    refused(served.ask("DELETE", f"/v1/tokens/{id}"), "unknown", parameter="token_id")


def test_a_backup_goes_into_the_allowed_folder_alone(served: Served, tmp_path: Path) -> None:
    assert served.ask("POST", "/v1/backup", json={"name": "monday.db"}).json() == {"name": "monday.db"}
    assert served.server is not None
    folder = served.server.settings.backups
    assert folder is not None
    assert (folder / "monday.db").stat().st_size > 0
    refused(served.ask("POST", "/v1/backup", json={"name": "monday.db"}), "parameter", parameter="name")
    for name in ("../a.db", "a/b", "/etc/a", ".hidden", "", "a\x00b"):
        refused(served.ask("POST", "/v1/backup", json={"name": name}), "parameter", parameter="name")
    with in_thread(tmp_path) as other:
        refused(other.ask("POST", "/v1/backup", json={"name": "a.db"}), "forbidden")


def test_a_reader_sees_what_it_may_read(served: Served, one: Opened) -> None:
    opened(served)
    everything = served.ask("GET", "/v1/collections", token=served.token("reader")).json()
    assert len(everything) > 1
    assert "refusals" not in everything[0]
    bound = served.ask("GET", "/v1/collections", token=served.token("reader", collection=one.id)).json()
    assert [each["id"] for each in bound] == [one.id]
    assert served.ask("GET", f"{one.path}/estimate", token=served.token("reader", collection=one.id)).status_code == 200


def test_what_is_public_is_public_above_the_floor(served: Served) -> None:
    one = opened(served, public=True, release_floor=5)
    served.send(one, one.body([0, 1, 2, 3]))
    served.settled(one, 4)
    for what in ("estimate", "aggregate"):
        refused(served.ask("GET", f"{one.path}/{what}", token=""), "forbidden", parameter="n")
    served.send(one, one.body([0]))
    served.settled(one, 5)
    for what in ("estimate", "aggregate"):
        assert served.ask("GET", f"{one.path}/{what}", token="").status_code == 200
        assert served.ask("GET", f"{one.path}/{what}", token=served.token("ingest")).status_code == 200
        refused(served.ask("GET", f"{one.path}/{what}", token="", params={"period": 1}), "forbidden", parameter="n")


def test_what_strangers_ask_for_is_estimated_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    one = opened(served, public=True, release_floor=5)
    assert served.server is not None
    service = served.server.service
    estimate, times = service.estimate, []

    def counted(*args: Any, **more: Any) -> dict[str, Any]:
        times.append(args)
        return estimate(*args, **more)

    monkeypatch.setattr(service, "estimate", counted)
    served.send(one, one.body([0] * 4))
    _until_folded(served, one, 4)
    refused(served.ask("GET", f"{one.path}/estimate", token=""), "forbidden")
    assert times == []  # there is nothing to tell
    for n in (8, 12):
        served.send(one, one.body([0] * 4))
        _until_folded(served, one, n)
        shown = [served.ask("GET", f"{one.path}/estimate", token="").json() for _ in range(4)]
        assert [each["n"] for each in shown] == [n] * 4
    assert len(times) == 2


def _until_folded(served: Served, one: Opened, n: int) -> None:
    def folded() -> bool:
        shown = served.ask("GET", one.path).json()
        return not shown["pending"] and int(shown["n"]) >= n

    wait_until(folded)


def test_no_reader_is_held_while_something_is_estimated(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    one = opened(served)
    assert served.server is not None
    database, estimated, held = served.server.database, answers.estimated, []

    def noted(*args: Any, **more: Any) -> dict[str, Any]:
        held.append(threading.current_thread())
        return estimated(*args, **more)

    reading = database.reading

    @contextmanager
    def watched() -> Iterator[Any]:
        with reading() as connection:
            before = held.count(threading.current_thread())
            yield connection
            assert held.count(threading.current_thread()) == before

    monkeypatch.setattr(answers, "estimated", noted)
    monkeypatch.setattr(database, "reading", watched)
    assert served.ask("GET", f"{one.path}/estimate").status_code == 200
    assert len(held) == 1


def test_anyone_sees_what_the_service_shows(served: Served, one: Opened) -> None:
    assert served.server is not None
    assert served.ask("GET", one.path, token="").json() == served.server.service.show(one.id, whole=False)
    assert (
        served.ask("GET", one.path, token=served.token("reader")).json() == served.ask("GET", one.path, token="").json()
    )


def test_over_time_only_periods_above_the_floor_are_public(served: Served) -> None:
    one = opened(
        served,
        spec=hush.Spec(hush.longitudinal.LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)),
        public=True,
        release_floor=3,
    )
    served.send(one, one.body([0, 1]))
    whole = served.settled(one, 2)
    assert [each["n"] for each in whole["groups"]] == [2]
    refused(served.ask("GET", f"{one.path}/estimate", token=""), "forbidden")
    served.send(one, one.body([0, 1]))
    served.settled(one, 4)
    public = served.ask("GET", f"{one.path}/estimate", token="").json()
    assert [each["n"] for each in public["groups"]] == [4]
    refused(served.ask("GET", f"{one.path}/aggregate"), "parameter", parameter="period")


def test_models_ask_for_what_the_service_takes() -> None:
    assert set(NewCollection.model_fields) == {*CollectionSettings.__dataclass_fields__, "spec"}
    assert set(Successor.model_fields) == set(NewCollection.model_fields) - {"predecessor"}
    for name, each in CollectionSettings.__dataclass_fields__.items():
        if name != "name":
            assert NewCollection.model_fields[name].default == each.default, name
    assert set(NewToken.model_json_schema()["properties"]["role"]["enum"]) == set(ROLES)


# How they refuse.


@pytest.mark.parametrize(
    ("content", "code", "parameter"),
    [
        (b"", "malformed", "body"), (b"{", "malformed", "body"), (b"[]", "malformed", "body"),
        (b"\xff", "malformed", "body"),
        (b"null", "malformed", "body"), (b"1", "malformed", "body"),
        (b"[" * 100_000, "malformed", "body"),
        (b'{"name": "a"}', "parameter", "spec"),
        (b'{"name": "a", "spec": {}}', "parameter", "spec"),
        (b'{"name": "a", "spec": {"hush": 1e999}}', "parameter", "spec"),
        (b'{"name": "a", "spec": {"hush": "\\ud800"}}', "parameter", "spec"),
        (b'{"name": "", "spec": {}}', "parameter", "name"),
        (b'{"name": "\\u0000", "spec": {}}', "parameter", "name"),
        (b'{"name": "\\ud800", "spec": {}}', "parameter", "name"),
        (b'{"name": "a", "spec": {}, "target_n": 0}', "parameter", "target_n"),
        (b'{"name": "a", "spec": {}, "target_n": "1"}', "parameter", "target_n"),
        (b'{"name": "a", "spec": {}, "target_n": 1' + b"0" * 40 + b"}", "parameter", "target_n"),
        (b'{"name": "a", "spec": {}, "target_n": 1' + b"0" * 5000 + b"}", "malformed", "body"),
        (b'{"name": "a", "spec": {}, "wished_error": NaN}', "parameter", "wished_error"),
        (b'{"name": "a", "spec": {}, "wished_error": -1}', "parameter", "wished_error"),
        (b'{"name": "a", "spec": {}, "period_seconds": 0}', "parameter", "period_seconds"),
        (b'{"name": "a", "spec": {}, "keep": "all"}', "parameter", "keep"),
        (b'{"name": "a", "spec": {}, "more": 1}', "parameter", "more"),
        (b'{"name": "a", "spec": {}, "predecessor": "x"}', "parameter", "predecessor"),
    ],
)  # fmt: skip
def test_bodies_that_are_wrong_are_refused_by_name(served: Served, content: bytes, code: str, parameter: str) -> None:
    answer = served.ask("POST", "/v1/collections", content=content, headers={"Content-Type": "application/json"})
    refused(answer, code, parameter=parameter)


def test_a_wrong_value_is_not_repeated(served: Served) -> None:
    answer = served.ask("POST", "/v1/tokens", json={"role": "SECRETVALUE", "label": "SECRETVALUE"})
    refused(answer, "parameter", parameter="role")
    assert "SECRETVALUE" not in answer.text


@pytest.mark.parametrize(
    "query", ["period=-1", "period=x", "period=2147483648", "level=0", "level=1", "level=nan", "level=inf"]
)
def test_parameters_that_are_wrong_are_refused_by_name(served: Served, one: Opened, query: str) -> None:
    refused(served.ask("GET", f"{one.path}/estimate?{query}"), "parameter", parameter=query.split("=")[0])


def test_what_is_not_there(served: Served) -> None:
    refused(served.ask("GET", "/nowhere"), "unknown", parameter="address")
    refused(served.ask("GET", "/v1/collections/"), "unknown", parameter="address")
    refused(served.ask("GET", f"/v1/collections/{'0' * 32}", token=""), "unknown", parameter="collection")
    refused(served.ask("POST", f"/v1/collections/{'0' * 32}/open"), "unknown")
    refused(served.ask("POST", f"/v1/collections/{'0' * 32}/batches", content=b"x"), "unknown")
    gone = served.ask("DELETE", "/v1/collections")
    refused(gone, "method")
    assert {"GET", "POST"} & set(gone.headers["allow"].split(", "))


def test_what_nobody_expected_is_told_as_nothing_but_that(
    served: Served, one: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*args: Any, **more: Any) -> Any:
        raise RuntimeError("a secret of the server")

    assert served.server is not None
    monkeypatch.setattr(served.server.service, "estimate", failing)
    monkeypatch.setattr("hush.collect.checking.read", failing)
    for answer in (served.ask("GET", f"{one.path}/estimate?level=0.87"), served.send(one, one.body([0]))):
        refused(answer, "internal")
        assert "secret" not in answer.text
        assert SAFE.items() <= dict(answer.headers).items()
    assert sum(record.message == "a request failed" for record in caplog.records) == 2


def test_a_body_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with in_thread(tmp_path, most_request=2000, most_body=3000) as served:
        answer = served.ask("POST", "/v1/collections", json={"name": "a" * 3000})
        refused(answer, "too-large", parameter="body")
        one = Opened("0" * 32, "", served.url)
        refused(served.send(one, b"x" * 4000), "unknown")
        one = opened(served)
        refused(served.send(one, b"x" * 4000), "too-large")
        refused(served.ask("POST", "/v1/collections", token="", json={"name": "a" * 3000}), "token")


def test_rates_by_address_and_by_key(tmp_path: Path) -> None:
    with in_thread(tmp_path, address_rate=0.01, address_burst=12, key_rate=0.01, key_burst=2) as served:
        one = opened(served)  # three requests
        sent = one.body([0])
        assert [served.send(one, sent).status_code for _ in range(2)] == [200, 200]
        slow = served.send(one, sent)
        assert refused(slow, "rate", parameter="batches of this key")
        assert int(slow.headers["retry-after"]) >= 99
        answers = [served.ask("GET", one.path) for _ in range(10)]
        assert {answer.status_code for answer in answers} == {200, 429}
        refused(answers[-1], "rate", parameter="requests")
        assert served.ask("GET", "/healthz").status_code == 200


@pytest.mark.parametrize(
    ("asked", "detail"),
    [
        ({"role": "admin"}, "label must be given, got nothing; see /openapi.json"),
        ({"role": "admin", "label": "a", "b": 1}, "b must be left out, got another value; see /openapi.json"),
        (
            {"role": "a", "label": "a"},
            "role must be 'admin', 'reader', 'ingest' or 'relay', got another value; see /openapi.json",
        ),
        ({"role": "admin", "label": ""}, "label must have at least 1 character, got another value; see /openapi.json"),
        (
            {"role": "admin", "label": "a", "seconds": 0},
            "seconds must be greater than or equal to 1, got another value; see /openapi.json",
        ),
    ],
)  # fmt: skip
def test_what_is_said_has_four_parts(served: Served, asked: dict[str, Any], detail: str) -> None:
    assert refused(served.ask("POST", "/v1/tokens", json=asked), "parameter")["detail"] == detail


# Headers.


def test_every_answer_is_safe_and_only_what_is_public_is_cached(served: Served, one: Opened) -> None:
    public = {one.path: "public, max-age=5", "/openapi.json": "public, max-age=60"}
    for path in (one.path, "/openapi.json", "/healthz", "/nowhere", "/v1/tokens", f"{one.path}/estimate"):
        answer = served.ask("GET", path, token="")
        assert SAFE.items() <= dict(answer.headers).items(), path
        assert answer.headers["cache-control"] == public.get(path, "no-store")
        assert "server" not in answer.headers
        assert "strict-transport-security" not in answer.headers
    assert served.ask("GET", one.path).headers["cache-control"] == "no-store"
    assert "Authorization" in served.ask("GET", one.path).headers["vary"]


PREFLIGHT = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}


def test_pages_may_submit_and_fetch_the_spec_and_nothing_else(served: Served, one: Opened) -> None:
    for path, method in ((f"{one.path}/batches", "POST"), (one.path, "GET")):
        answer = served.ask("OPTIONS", path, token="", headers={**PREFLIGHT, "Access-Control-Request-Method": method})
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["access-control-allow-methods"] == method
        assert answer.headers["access-control-allow-headers"] == "Content-Type"
        assert "access-control-allow-credentials" not in answer.headers
    sent = served.send(one, one.body([0]), headers={"Origin": "https://page.example", "Content-Type": "text/plain"})
    assert sent.headers["access-control-allow-origin"] == "*"
    assert served.send(one, b"").headers["access-control-allow-origin"] == "*"
    for path in ("/v1/collections", f"{one.path}/estimate", f"{one.path}/open", "/v1/tokens", "/metrics", "/nowhere"):
        answer = served.ask("OPTIONS", path, token="", headers=PREFLIGHT)
        refused(answer, "unknown" if path == "/nowhere" else "method")
        plain = served.ask("GET", path, headers={"Origin": "https://page.example"})
        for each in (answer, plain):
            assert not [name for name in each.headers if name.startswith("access-control")]


def test_pages_of_other_origins_than_the_allowed_may_nothing(tmp_path: Path) -> None:
    with in_thread(tmp_path, origins="https://page.example") as served:
        one = opened(served)
        path = f"{one.path}/batches"
        mine = served.ask("OPTIONS", path, token="", headers=PREFLIGHT)
        assert mine.headers["access-control-allow-origin"] == "https://page.example"
        assert mine.headers["vary"] == "Origin"
        other = served.ask("OPTIONS", path, token="", headers={**PREFLIGHT, "Origin": "https://other.example"})
        sent = served.send(one, one.body([0]), headers={"Origin": "https://other.example"})
        for each in (other, sent):
            assert not [name for name in each.headers if name.startswith("access-control")]
            assert each.headers["vary"] == "Origin"


# For whoever watches.


def test_measures_have_no_ids(served: Served, one: Opened) -> None:
    served.send(one, one.body([0, 1]))
    served.send(one, b"")
    served.settled(one, 2)
    shown = served.ask("GET", "/metrics", token="")
    assert shown.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in (
        'hush_requests_total{code="200",route="/v1/collections/{id}/batches"}',
        'hush_refusals_total{reason="malformed"}',
        "hush_reports_accepted_total", 'hush_batches_total{fate="kept"}', "hush_group_batches_count",
        "hush_commit_seconds_sum", "hush_bytes_waiting 0.0", "hush_bytes_in_flight 0.0", "hush_batches_pending",
        "hush_fold_seconds_count", "hush_listeners 0.0",
    ):  # fmt: skip
        assert f"\n{name}" in shown.text, name
    assert "_created" not in shown.text  # when something happened first
    for each in served.ask("GET", "/v1/collections").json():
        assert each["id"] not in shown.text
        assert f'"{each["name"]}"' not in shown.text


def test_refusals_are_counted_where_they_belong(served: Served) -> None:
    one, other = opened(served), opened(served)
    for _ in range(3):
        served.send(one, b"")
    served.send(one, other.body([0]))
    assert served.ask("GET", f"{one.path}/refusals").json() == {"malformed": 3, "token": 1}
    assert served.ask("GET", f"{other.path}/refusals").json() == {}
    assert served.ask("GET", one.path).json()["refusals"] == {"malformed": 3, "token": 1}


def test_a_server_is_ready_while_its_store_and_its_chores_are_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hush.collect.server.health._FRESH_SECONDS", -1.0)
    with in_thread(tmp_path) as served:
        assert served.ask("GET", "/readyz", token="").json() == {"status": "ready"}

        def broken(*args: Any) -> Any:
            raise OSError("the disk is gone")

        assert served.server is not None
        with monkeypatch.context() as patch:
            patch.setattr(served.server.database, "write", broken)
            problem = refused(served.ask("GET", "/readyz", token=""), "store")
            assert "written" in problem["detail"]
            assert served.ask("GET", "/healthz", token="").status_code == 200
        with monkeypatch.context() as patch:
            patch.setattr(served.server.database, "reading", broken)
            assert "read" in refused(served.ask("GET", "/readyz", token=""), "store")["detail"]
        # folding may have failed meanwhile, and is tried again
        wait_until(lambda: served.ask("GET", "/readyz", token="").status_code == 200)


def test_the_document_names_every_route_and_its_refusals(served: Served) -> None:
    document = json.loads(served.ask("GET", "/openapi.json", token="").text)
    submit = document["paths"]["/v1/collections/{id}/batches"]["post"]
    assert set(submit["requestBody"]["content"]) == {"application/octet-stream", "text/plain", "application/json"}
    assert {each["name"] for each in submit["parameters"]} == {"id", "partial"}
    statuses = {"200", "400", "401", "403", "404", "408", "409", "410", "413", "422", "429", "500", "503"}
    assert set(submit["responses"]) == statuses
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["x-needs"] in {need.value for need in Need}, (method, path)
            for status, told in operation["responses"].items():
                if int(status) >= 400:
                    assert list(told["content"]) == ["application/problem+json"], (method, path, status)
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_measures_are_looked_at_so_often_and_health_always(tmp_path: Path) -> None:
    with in_thread(tmp_path, address_rate=0.01, address_burst=3) as served:
        shown = [served.ask("GET", "/metrics", token="").status_code for _ in range(5)]
        assert shown == [200, 200, 200, 429, 429]
        assert {served.ask("GET", "/healthz", token="").status_code for _ in range(9)} == {200}
        assert {served.ask("GET", "/readyz", token="").status_code for _ in range(9)} == {200}


def test_what_is_pending_is_counted_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times, now = list[float](), [1e9]
    monkeypatch.setattr(Health, "_count", lambda self: times.append(now[0]) or 7.0)
    monkeypatch.setattr("hush.collect.server.health.time", SimpleNamespace(monotonic=lambda: now[0]))
    with in_thread(tmp_path) as served:
        for later in (0.0, 0.9, 0.2):
            now[0] += later
            for _ in range(5):
                told = served.ask("GET", "/metrics", token="")
                assert told.status_code == 200
                assert "\nhush_batches_pending 7.0\n" in told.text
    assert times == [1e9, now[0]]
