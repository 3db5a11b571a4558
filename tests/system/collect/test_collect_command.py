"""`hush collection` against a real server, and against the same store once that has stopped."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import hush
from tests.system.collect.serving import Running, send, serving
from tests.system.support import answer, refused, run
from tests.waiting import held_port, wait_until

OUE = ["--mechanism", "OUE", "--k", 5, "--epsilon", 2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("collector")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Running]:
    with serving(folder, "--backups", ".", "--address-rate", 0) as running:
        yield running


@pytest.fixture(scope="module")
def at(server: Running, folder: Path) -> list[object]:
    """What names the server."""
    return at_server(server, folder)


def at_server(server: Running, folder: Path) -> list[object]:
    """The options that name a server; its token goes to a file in a folder."""
    (folder / "token").write_text(server.token + "\n")
    return ["--server", server.url, "--token-file", folder / "token"]


def _made(name: str, at: list[object], *options: object) -> dict[str, Any]:
    """A new collection, open to all."""
    asked = ["--name", name, "--n", 100_000, "--open-to-all", *(options or OUE)]
    made: dict[str, Any] = answer("collection", "create", *asked, *at)
    assert made["status"] == "draft"
    opened: dict[str, Any] = answer("collection", "open", made["id"], *at)
    assert opened["status"] == "open"
    return opened


def test_a_collection_from_its_plan_to_its_estimate(server: Running, at: list[object], tmp_path: Path) -> None:
    view = _made("visits", at)
    values = np.arange(3000) % 4
    assert send(server.url, view, values) == 3000
    shown = answer("collection", "show", "visits", *at)
    assert (shown["n"], shown["builds"], shown["target_n"]) == (3000, {"app/1": 3000}, 100_000)
    said = run("collection", "show", view["id"][:6], *at).stdout
    for text in ("visits", "open", "OUE, k=5, 2-LDP", "3,000 of 100,000", "±0.0", "app/1", "Nothing was refused."):
        assert text in said
    assert view["id"] in said
    out = tmp_path / "reports.parquet"
    assert answer("collection", "export", "visits", "-o", out, *at)["id"] == view["id"]
    assert [path.name for path in tmp_path.iterdir()] == ["reports.parquet"]
    told = answer("estimate", out)
    (group,) = told["groups"]
    assert (group["n"], told["spec_hash"]) == (3000, view["spec_hash"])
    direct = httpx.get(f"{server.url}/v1/collections/{view['id']}/estimate", headers=_bearer(server.token)).json()
    assert [row["frequency"] for row in group["estimate"]] == [row["frequency"] for row in direct["estimate"]]
    assert answer("collection", "verify", "visits", *at)["equal"] is True
    assert "Equal" in run("collection", "verify", "visits", *at).stdout
    closed = answer("collection", "close", "visits", *at)
    assert closed["status"] == "closed"
    assert "must be draft, got closed" in refused("collection", "open", "visits", *at)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_the_planner_refuses_says_what_would_do_and_can_be_overruled(at: list[object]) -> None:
    asked = ["--name", "small", "--mechanism", "OUE", "--k", 100, "--epsilon", 1, "--n", 2000, "--error", "2%"]
    id = answer("collection", "create", *asked, *at)["id"]
    said = refused("collection", "open", id, *at)
    assert "at least 35,368 for a margin of 0.02" in said
    assert said.startswith("Error: --n must be at least 35,368")
    assert "or use --epsilon 3.06; make another draft so, or open this one all the same with --force" in said
    enough = answer("collection", "create", *asked[:8], "--n", 35_368, "--error", 0.02, *at)["id"]
    assert answer("collection", "open", enough, *at)["forced"] is False
    assert answer("collection", "open", id, "--force", *at)["forced"] is True
    unsaid = answer("collection", "create", *asked[:8], *at)["id"]
    assert "--n must be given" in refused("collection", "open", unsaid, *at)


@pytest.mark.parametrize(
    "options",
    [
        ["--mechanism", "OUE", "--k", 5],
        ["--mechanism", "uSS", "--k", 9, "--sensitive", "0-3"],
        ["--mechanism", "Duchi", "--low", 0, "--high", 10],
        ["--mechanism", "RSFD", "--column", "a", "--column", "b", "--k", 4],
        ["--mechanism", "LGRR", "--k", 5],
        ["--mechanism", "LSMP", "--column", "a", "--column", "b", "--k", 4],
        ["--mechanism", "Memoized", "--set", "mechanism=OUE", "--k", 5],
    ],
    ids=lambda options: options[1],
)
def test_the_planners_advice_works(at: list[object], options: list[object]) -> None:
    """Whoever does what it says, and changes nothing else, can open the next draft: more people, or the budgets."""
    over_time = options[1] in ("LGRR", "LSMP", "Memoized")
    budgets: dict[str, object] = {"--epsilon-permanent": 0.2} if over_time else {"--epsilon": 0.1}
    if options[1] in ("LGRR", "LSMP"):
        budgets["--epsilon-report"] = 0.1

    def made(n: object, budgets: dict[str, object]) -> str:
        said = [word for pair in budgets.items() for word in pair]
        asked = ["--name", "advised", "--n", n, *options, *said]
        return str(answer("collection", "create", *asked, *at)["id"])

    error = refused("collection", "open", made(10, budgets), *at)
    told = dict(re.findall(r"(--epsilon[-a-z]*) ([0-9.]+[0-9])", error))
    assert told.keys() == budgets.keys(), error
    assert answer("collection", "open", made(10, told), *at)["forced"] is False
    people = re.search(r"expect ([0-9,]+) people", error)
    assert people is not None
    assert answer("collection", "open", made(people[1].replace(",", ""), budgets), *at)["forced"] is False


def test_a_margin_is_one_of_what_is_estimated(at: list[object]) -> None:
    asked = ["collection", "create", "--name", "x", "--n", 1000]
    mean = [*asked, "--mechanism", "Duchi", "--low", 0, "--high", 10, "--epsilon", 1]
    assert "--error must be a number above 0 and at most 1, got 8" in refused(*asked, *OUE, "--error", 8, *at)
    for share in ("5%", "5pp"):
        assert "--error must be a number in the unit of the mean, got a share" in refused(*mean, "--error", share, *at)
    assert "--error must be a number above 0 and at most 10" in refused(*mean, "--error", 11, *at)
    assert answer(*mean, "--error", 5, *at)["wished_error"] == 5
    assert answer(*asked, *OUE, "--error", "5pp", *at)["wished_error"] == 0.05
    error = refused(*asked, *OUE, "--relayed-only", "--horizon", 0, *at)
    assert "--horizon must be at least 1 where only relays submit" in error


def test_a_promise_that_is_not_the_budget_is_explained(at: list[object]) -> None:
    asked = ["collection", "create", "--name", "x", "--epsilon", 1]
    several = ["--column", "a", "--column", "b", "--k", 4]
    said = run(*asked, "--mechanism", "RSFD", *several, *at, columns=200)
    assert "epsilon = 1 is what the paper of RSFD claims; a report loses up to 1.48988" in " ".join(said.stderr.split())
    for other in (["--mechanism", "SMP", *several], ["--mechanism", "OUE", "--k", 4]):
        assert "claims" not in run(*asked, *other, *at).stderr


def test_a_draft_can_be_deleted(at: list[object]) -> None:
    id = answer("collection", "create", "--name", "a slip", *OUE, *at)["id"]
    assert "Deleted the draft" in run("collection", "delete", "a slip", *at).stdout
    assert id not in [each["id"] for each in answer("collection", "list", *at)["collections"]]
    assert "must be draft, got open" in refused("collection", "delete", _made("to stay", at)["id"], *at)


def test_what_may_mean_two_collections_is_not_guessed(at: list[object]) -> None:
    first = answer("collection", "create", "--name", "first", *OUE, *at)["id"]
    other = answer("collection", "create", "--name", first[:8], *OUE, *at)["id"]
    said = refused("collection", "show", first[:8], *at)
    assert f"which means {first[:8]} or {other[:8]}" in said
    assert answer("collection", "show", first, *at)["id"] == first


def test_an_option_comes_before_a_variable(server: Running, at: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_TOKEN", "hush-admin-00000000-nobody")
    assert answer("collection", "list", *at)["collections"]
    where = ["--server", server.url]
    assert "--token must be one that was issued" in refused("collection", "list", *where)
    monkeypatch.setenv("HUSH_TOKEN_FILE", "/nosuch")
    assert answer("collection", "list", *where, "--token", server.token)["collections"]
    both = ["--token", server.token, "--token-file", at[-1]]
    assert "--token must be left out beside --token-file" in refused("collection", "list", *where, *both)
    monkeypatch.delenv("HUSH_TOKEN")
    assert "--token-file must be a file" in refused("collection", "list", *where)


def test_a_broken_release_is_left_out(server: Running, at: list[object]) -> None:
    view = _made("releases", at)
    for build, seed in (("app/1", 1), ("app/2", 2)):
        send(server.url, view, np.zeros(1000, int), build=build, seed=seed)
    left = answer("collection", "exclude", "releases", "--build", "app/2", *at)
    assert (left["n"], left["excluded"]) == (1000, ["app/2"])
    back = answer("collection", "exclude", "releases", "--build", "app/2", "--undo", *at)
    assert (back["n"], back["excluded"]) == (2000, [])
    assert "--build must be one that is left out" in refused(
        "collection", "exclude", "releases", "--build", "app/2", "--undo", *at
    )
    answer("collection", "exclude", "releases", "--build", "app/2", *at)
    assert answer("collection", "verify", "releases", *at)["equal"] is True
    assert left["left_out"] == 1000
    nobody = run("collection", "exclude", "releases", "--build", "nosuch/1", *at)
    assert nobody.exit_code == 0
    assert "no report of nosuch/1 was counted" in " ".join(nobody.stderr.split())
    assert "Builds that reported: app/1" in " ".join(nobody.stderr.split())
    for options in (["--build", ""], [], ["--build", "app/1", "--no-build"]):
        assert "--build must be the name of a client build" in refused(
            "collection", "exclude", "releases", *options, *at
        )
    assert answer("collection", "exclude", "releases", "--no-build", *at)["left_out"] == 0
    assert answer("collection", "show", "releases", *at)["n"] == 1000
    assert "left out     –, app/2, nosuch/1" in run("collection", "show", "releases", *at).stdout


def test_what_was_refused_is_shown_with_its_reason(server: Running, at: list[object]) -> None:
    view = _made("strict", at)
    address = f"{server.url}/v1/collections/{view['id']}/batches"
    assert httpx.post(address, content=b"\0nonsense").status_code == 400
    said = run("collection", "show", "strict", *at).stdout
    assert "malformed" in said
    assert answer("collection", "show", "strict", *at)["refusals"] == {"malformed": 1}


def test_the_next_collection_is_linked_and_keeps_what_is_not_said(at: list[object]) -> None:
    first = _made("monthly", at, *OUE, "--period", "1w", "--horizon", 3, "--public", "--floor", 50)
    other = ["--mechanism", "OLH", "--k", 9, "--epsilon", 1.5, "--name", "monthly, again"]
    then = answer("collection", "succeed", "monthly", *other, *at)
    assert (then["predecessor"], then["chain"]) == (first["id"], [then["id"], first["id"]])
    for name in ("period_seconds", "horizon", "public", "release_floor", "target_n"):
        assert then[name] == first[name]
    assert (then["period_seconds"], then["name"], then["status"]) == (604_800, "monthly, again", "draft")
    assert f"follows      {first['id'][:8]}" in run("collection", "show", then["id"], *at).stdout


def test_specs_of_every_kind_in_the_words_of_privatize(at: list[object], tmp_path: Path) -> None:
    (tmp_path / "towns.txt").write_text("Bern\nBiel\nThun\n", encoding="utf-8")
    over_time = ["--mechanism", "LOSUE", "--k", 4, "--epsilon-permanent", 2, "--epsilon-report", 1]
    several = ["--mechanism", "SMP", "--column", "town", "--column", "age", "--k", "age=9", "--epsilon", 1]
    made = {
        "a mean": ["--mechanism", "Duchi", "--low", 0, "--high", 10, "--epsilon", 1],
        "labels": ["--mechanism", "GRR", "--domain", tmp_path / "towns.txt", "--epsilon", 1],
        "tuples": [*several, "--domain", f"town={tmp_path / 'towns.txt'}"],
        "over time": over_time,
        "sensitive": ["--mechanism", "uSS", "--k", 9, "--epsilon", 1, "--sensitive", "0-3"],
    }
    for name, options in made.items():
        view = answer("collection", "create", "--name", name, *options, *at)
        (tmp_path / "spec.json").write_text(json.dumps(view["spec"]), encoding="utf-8")
        again = answer("collection", "create", "--name", f"{name}, again", "--spec", tmp_path / "spec.json", *at)
        assert again["spec_hash"] == view["spec_hash"] == hush.Spec.from_dict(view["spec"]).hash
        assert name in run("collection", "list", *at).stdout


def test_tokens_are_changed_without_a_gap(server: Running, at: list[object], tmp_path: Path) -> None:
    made = answer("collection", "create", "--name", "keyed", "--n", 10_000, *OUE, *at)
    view = answer("collection", "open", made["id"], *at)
    asked = ["collection", "token", "new", "--role", "ingest", "--collection", "keyed", *at]
    old, new = (answer(*asked, "--label", label)["token"] for label in ("old", "new"))
    plain = run(*asked, "--expires", "90d")
    assert plain.stdout.startswith("hush-ingest-")  # alone, so that it can go to a file
    id = old.split("-")[2]
    answer("collection", "token", "revoke", id, "--after", "1d", *at)
    assert send(server.url, view, [0, 1], key=old) == send(server.url, view, [0, 1], key=new, seed=8) == 2
    listed = {each["id"]: each for each in answer("collection", "token", "list", *at)["tokens"]}
    assert listed[id]["expires"] is not None
    assert "holds no more" in run("collection", "token", "revoke", id, *at).stdout
    with pytest.raises(hush.HushError, match="key must be"):
        send(server.url, view, [0, 1], key=old, seed=9)
    assert send(server.url, view, [0, 1], key=new, seed=10) == 2
    said = run("collection", "token", "list", *at).stdout
    assert "keyed" in said
    assert not any(token.split("-", 3)[3] in said for token in (old, new))
    (tmp_path / "reader").write_text(answer("collection", "token", "new", "--role", "reader", *at)["token"])
    reads = ["--server", server.url, "--token-file", tmp_path / "reader"]
    said = refused("collection", "close", "keyed", *reads)
    assert (
        "--token must be of the role admin, got one of the role reader; use a --token or --token-file that may" in said
    )
    assert "n" not in answer("collection", "show", "keyed", *reads)
    assert "who reads" in run("collection", "show", "keyed", *reads).stdout


def test_deeds_are_written_down(at: list[object]) -> None:
    rows = answer("collection", "deeds", "--limit", 100, *at)["deeds"]
    assert {"create", "open", "token"} <= {row["what"] for row in rows}
    assert "first" in run("collection", "deeds", *at).stdout


def test_what_is_asked_wrongly_is_named_as_it_was_asked(server: Running, at: list[object], tmp_path: Path) -> None:
    assert "--name must be given" in refused("collection", "create", *OUE, *at)
    assert "--mechanism must be given" in refused("collection", "create", "--name", "x", *at)
    asked = ["collection", "create", "--name", "x", *OUE]
    for options, said in {
        ("--period", "0"): "--period must be an integer",
        ("--period", "soon"): "--period must be a number of seconds",
        ("--ends", "2020-01-01"): "UTC, got '2020-01-01'; write e.g. --ends 30d",
        ("--ends", "never"): "--ends must be a date",
        ("--keep", "nothing"): "--keep must be one of reports, aggregates",
        ("--floor", "0"): "--floor must be a whole number of at least 1",
        ("--error", "-1"): "--error must be a number above 0",
        ("--n", "0"): "--n must be a whole number of at least 1",
        ("--horizon", "1", "--horizon", "2"): "--horizon must be given once",
        ("--store", "x.db"): "--store must be left out beside --server",
    }.items():
        assert said in refused(*asked, *options, *at)
    assert "must be the id of a collection" in refused("collection", "show", "nobody", *at)
    assert "unknown" in refused("collection", "show", "0" * 32, *at)
    said = refused("collection", "token", "new", "--role", "king", *at)
    assert "--role must be one of admin, reader, ingest, relay, got 'king'; use e.g. ingest" in said
    said = refused("collection", "token", "new", "--role", "ingest", "--expires", "0d", *at)
    assert "--expires must be at least 1 second, got '0d'; write e.g. --expires 90d" in said
    said = refused("collection", "token", "revoke", "nobody", *at)
    assert "TOKEN-ID must be that of a token" in said
    assert "see `hush collection token list`" in said
    assert "--label must be 1 to 100" in refused("collection", "token", "new", "--role", "ingest", "--label", " ", *at)
    assert "--name must be 1 to 200" in refused(*asked[:2], "--name", " ", *OUE, *at)
    for url in ("http://[::1", "http://127.0.0.1:99999"):
        assert "--server must be an address" in refused("collection", "list", "--server", url, "--token", "x")
    within = ["--server", f"{server.url}/v1", "--token", server.token]
    assert f"leave out the path: {server.url}" in refused("collection", "list", *within)
    elsewhere = ["--server", f"{server.url}/hush", "--token", server.token]
    assert "leave out the path, if there is one" in refused("collection", "list", *elsewhere)
    assert "--token-file must be a file" in refused("collection", "list", "--server", server.url, "--token-file", "no")
    assert "--token must be given" in refused("collection", "list", "--server", server.url)
    wrong = ["--server", server.url, "--token", "hush-admin-00000000-0"]
    assert "--token must be one that was issued" in refused("collection", "list", *wrong)
    with held_port() as port:
        nobody = ["--server", f"http://127.0.0.1:{port}", "--token", "x"]
        assert "--server must be a collector that answers" in refused("collection", "list", *nobody)
    assert "--server must be an address" in refused("collection", "list", "--server", "ftp://x", "--token", "x")
    assert "command must be one of" in refused("collection", "opne", "x")
    missing = tmp_path / "missing.db"
    assert "--store must be a store that is there" in refused("collection", "list", "--store", missing)
    assert not missing.exists()


def test_a_store_is_never_written_twice_backed_up_while_it_runs_and_read_when_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with serving(folder, "--backups", ".", "--address-rate", 0) as server:
        _check_store(folder, server, tmp_path, monkeypatch)


def _check_store(folder: Path, server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = at_server(server, folder)
    monkeypatch.setenv("HUSH_SERVER", server.url)  # which an option comes before
    store = ["--store", folder / "hush-collector.db"]
    said = refused("collection", "list", *store)
    assert f"held by {server.url}" in said
    assert f"add --server {server.url}" in said
    view = _made("lasting", at)
    send(server.url, view, np.zeros(500, int))
    answer("collection", "backup", "-o", "copy.db", *at)
    assert "--output must be a name without folders" in refused("collection", "backup", "-o", "a/b.db", *at)
    assert "stop that server first" in refused("collection", "restore", folder / "copy.db", *store, "--replace")
    wait_until(lambda: not answer("collection", "show", "lasting", *at)["pending"])
    live = answer("collection", "list", *at)["collections"]
    assert server.stop() == 0
    assert answer("collection", "list", *store)["collections"] == live
    assert answer("collection", "show", "lasting", *store)["n"] == 500
    assert answer("collection", "verify", "lasting", *store)["equal"] is True
    assert answer("collection", "close", "lasting", *store)["status"] == "closed"
    restored = ["--store", tmp_path / "restored.db"]
    answer("collection", "restore", folder / "copy.db", *restored)
    again = answer("collection", "show", "lasting", *restored)
    assert (again["n"], again["status"]) == (500, "open")
    assert "in its place with --replace" in refused("collection", "restore", folder / "copy.db", *restored)
    (tmp_path / "broken").write_bytes((folder / "copy.db").read_bytes()[:5000])
    assert "BACKUP must be" in refused("collection", "restore", tmp_path / "broken", *restored, "--replace")
    assert answer("collection", "show", "lasting", *restored)["n"] == 500
    with closing(sqlite3.connect(tmp_path / "restored.db")) as direct:
        direct.execute(
            "UPDATE batch SET records = zeroblob(length(records)) WHERE rowid = (SELECT MAX(rowid) FROM batch)"
        )
        direct.commit()
    differs = run("collection", "verify", "lasting", *restored)
    assert differs.exit_code == 1
    assert "differ" in differs.stdout
    repaired = run("collection", "verify", "lasting", "--repair", *restored)
    assert repaired.exit_code == 0
    assert "Repaired" in repaired.stdout
    assert answer("collection", "verify", "lasting", *restored)["equal"] is True


def test_a_store_in_postgresql(postgres_url: str, tmp_path: Path) -> None:
    with serving(tmp_path, HUSH_STORE=postgres_url, HUSH_BACKUPS=".") as server:
        (tmp_path / "token").write_text(server.token)
        at = ["--server", server.url, "--token-file", tmp_path / "token"]
        view = _made("visits", at)
        assert send(server.url, view, np.zeros(500, int)) == 500
        assert "pg_dump" in refused("collection", "backup", "-o", "copy.db", *at)
        shown = answer("collection", "show", "visits", *at)
        beside = answer("collection", "show", "visits", "--store", postgres_url)
        assert shown["n"] == beside["n"] == 500
    assert "pg_restore" in refused("collection", "restore", tmp_path / "token", "--store", postgres_url)
    assert list(tmp_path.glob("*.db*")) == []
