"""Who may do what: every role on every route that there is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute

import hush
from hush.collect.server.access import Need
from tests.collecting import HandClock
from tests.collectors import Opened, Served, in_thread, opened

WHO = ("nobody", "stranger", "admin", "reader", "ingest", "relay", "admin of it", "reader of it", "admin of other",
       "reader of other")  # fmt: skip
"""Nobody has no token, a stranger one that was never issued; the last ones' are for a single collection."""
YES, NO, WHO_ARE_YOU = 200, 403, 401
OPEN_TO_ALL = (YES, WHO_ARE_YOU, YES, YES, YES, YES, YES, YES, YES, YES)
ADMINS_ALONE = (WHO_ARE_YOU, WHO_ARE_YOU, YES, NO, NO, NO, YES, NO, NO, NO)
ADMINS_OF_ALL = (WHO_ARE_YOU, WHO_ARE_YOU, YES, NO, NO, NO, NO, NO, NO, NO)
READERS = (WHO_ARE_YOU, WHO_ARE_YOU, YES, YES, NO, NO, YES, YES, NO, NO)
SUBMITTERS = (WHO_ARE_YOU, WHO_ARE_YOU, NO, NO, YES, YES, NO, NO, NO, NO)
LISTS = (WHO_ARE_YOU, WHO_ARE_YOU, YES, YES, NO, NO, YES, YES, YES, YES)
TABLE = {
    ("GET", "/healthz"): OPEN_TO_ALL,
    ("GET", "/readyz"): OPEN_TO_ALL,
    ("GET", "/metrics"): OPEN_TO_ALL,
    ("GET", "/openapi.json"): OPEN_TO_ALL,
    ("GET", "/client"): OPEN_TO_ALL,
    ("GET", "/client/{version}/{file}"): OPEN_TO_ALL,
    ("GET", "/demo"): OPEN_TO_ALL,
    ("GET", "/demo/{file}"): OPEN_TO_ALL,
    ("GET", "/v1/collections/{id}"): OPEN_TO_ALL,
    ("POST", "/v1/collections/{id}/batches"): (YES,) * 10,  # the key stands in the body
    ("GET", "/v1/collections"): LISTS,
    ("GET", "/v1/collections/{id}/estimate"): READERS,
    ("GET", "/v1/collections/{id}/aggregate"): READERS,
    ("GET", "/v1/collections/{id}/live"): READERS,
    ("POST", "/v1/collections/{id}/open"): ADMINS_ALONE,
    ("POST", "/v1/collections/{id}/close"): ADMINS_ALONE,
    ("POST", "/v1/collections/{id}/exclude"): ADMINS_ALONE,
    ("POST", "/v1/collections/{id}/verify"): ADMINS_ALONE,
    ("GET", "/v1/collections/{id}/export"): ADMINS_ALONE,
    ("GET", "/v1/collections/{id}/periods"): ADMINS_ALONE,
    ("GET", "/v1/collections/{id}/refusals"): ADMINS_ALONE,
    ("GET", "/v1/collections/{id}/key"): SUBMITTERS,
    ("DELETE", "/v1/collections/{id}"): ADMINS_OF_ALL,
    ("POST", "/v1/collections"): ADMINS_OF_ALL,
    ("POST", "/v1/collections/{id}/succeed"): ADMINS_OF_ALL,
    ("GET", "/v1/deeds"): ADMINS_OF_ALL,
    ("GET", "/v1/tokens"): ADMINS_OF_ALL,
    ("POST", "/v1/tokens"): ADMINS_OF_ALL,
    ("DELETE", "/v1/tokens/{token_id}"): ADMINS_OF_ALL,
    ("POST", "/v1/backup"): ADMINS_OF_ALL,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("access")
    with in_thread(folder, backups=folder, most_listeners=0) as made:
        yield made


@pytest.fixture(scope="module")
def one(served: Served) -> Opened:
    return opened(served)


@pytest.fixture(scope="module")
def tokens(served: Served, one: Opened) -> dict[str, str]:
    other = opened(served).id
    made = {"nobody": "", "stranger": "hush-admin-01234567-AAAAAAAAAAAAAAAAAAAAAA"}
    for who in WHO[2:]:
        role, _, of = who.partition(" of ")
        bound = {"it": {"collection": one.id}, "other": {"collection": other}}.get(of, {})
        made[who] = served.token(role, **bound)
    return made


def routes(served: Served) -> dict[tuple[str, str], APIRoute]:
    """All routes of the application."""
    assert served.server is not None
    every = served.server.gate.api.routes
    assert all(isinstance(route, APIRoute) for route in every)
    return {(method, route.path): route for route in every for method in route.methods}  # type: ignore[attr-defined]


def test_the_table_has_every_route(served: Served) -> None:
    assert set(routes(served)) == set(TABLE)


def test_every_route_says_what_it_needs(served: Served) -> None:
    for key, route in routes(served).items():
        need = Need((route.openapi_extra or {})["x-needs"])
        expected = {
            OPEN_TO_ALL: Need.NOTHING, READERS: Need.READER, LISTS: Need.READER, ADMINS_ALONE: Need.ADMIN,
            ADMINS_OF_ALL: Need.OPERATOR, SUBMITTERS: Need.SUBMITTER,
        }.get(TABLE[key])  # fmt: skip
        assert need is (Need.KEY if key[1].endswith("/batches") else expected), key


@pytest.mark.parametrize(("method", "path"), TABLE)
def test_every_role_on_every_route(served: Served, one: Opened, tokens: dict[str, str], method: str, path: str) -> None:
    """Whoever may is not refused for who it is; what is asked is not whole, so that nothing changes."""
    got = {}
    for who in WHO:
        at = path.format(id=one.id, token_id="ffffffff", version=hush.__version__, file="hush.js")
        body = {"content": one.body([0])} if path.endswith("/batches") else {"json": {"nothing": 1}}
        more = body if method == "POST" else {}
        if path.endswith(("/close", "/verify")) and TABLE[method, path][WHO.index(who)] == YES:
            at = path.format(id="0" * 32) if who == "admin" else at
            if who != "admin":
                continue  # it would be done
        got[who] = served.ask(method, at, token=tokens[who], **more).status_code
    for who, status in got.items():
        expected = TABLE[method, path][WHO.index(who)]
        if expected == YES:
            assert status not in (401, 403), (who, status)
            assert status in (200, 404, 409, 422, 503), (who, status)
        else:
            assert status == expected, (who, status)


def test_a_wrong_token_is_refused_even_where_none_is_needed(served: Served, one: Opened) -> None:
    for given in ("Bearer", "Basic dXNlcjpwYXNz", "hush-admin", f"Bearer {served.admin}x", "Bearer \xff"):
        answer = served.http.get(one.path, headers=[(b"Authorization", given.encode("latin-1"))])
        assert answer.status_code == 401, given
        assert answer.headers["www-authenticate"] == "Bearer"
    assert served.http.get(one.path, headers={"Authorization": f"bearer {served.admin}"}).json()["target_n"]


def test_tokens_are_changed_without_a_gap(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The old one holds for the time that was said, beside the new one, and then no more."""
    hand = HandClock()
    with in_thread(tmp_path_factory.mktemp("rotation"), clock=hand) as served:
        one = opened(served)
        old = one.key
        new = served.token("ingest", collection=one.id)
        sent = {key: one.body([0], key=key, batch=f"{i:032x}") for i, key in enumerate((old, new))}
        assert served.ask("DELETE", f"/v1/tokens/{old.split('-')[2]}", params={"after": 3600}).status_code == 204
        hand.second += 3599
        assert [served.send(one, sent[key]).status_code for key in (old, new)] == [200, 200]
        hand.second += 2
        assert [served.send(one, sent[key]).status_code for key in (old, new)] == [401, 200]
        same = one.body([0], key=new, batch=f"{0:032x}")
        assert served.send(one, same).json()["accepted"] == 1  # the same batch, with the new key
        short = served.token("reader", seconds=10)
        assert served.ask("GET", f"{one.path}/estimate", token=short).status_code == 200
        hand.second += 11
        assert served.ask("GET", f"{one.path}/estimate", token=short).status_code == 401
