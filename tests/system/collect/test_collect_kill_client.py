"""A client that is killed again and again; `python -m tests.kill_client` is the long run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hush.collect.client.home import FILE
from tests import kill_client

pytestmark = [pytest.mark.nightly, pytest.mark.slow]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    folder = tmp_path_factory.mktemp("killed")
    return folder, kill_client.run(folder, 10, 3)


def judged(folder: Path) -> dict[str, int]:
    return kill_client.judged(str(folder / "store.db"), folder / "home", folder / "receipts.txt")


def test_a_killed_client_spends_once_and_loses_nothing(killed: tuple[Path, dict[str, int]]) -> None:
    folder, found = killed
    assert found["kills"] == 10
    assert sum(found[way] for way in kill_client.WAYS) == 10
    assert found["reports"] > found["batches"] > 20
    assert judged(folder).items() <= found.items()


def test_with_fresh_noise_nothing_is_drawn_again(tmp_path: Path) -> None:
    found = kill_client.run(tmp_path, 6, 4, kill_client.FRESH)
    assert found["kills"] == 6
    assert found["reports"] > found["batches"] > 10


def test_the_judge_sees_that_a_batch_is_not_what_was_kept(killed: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    folder = copied(killed[0], tmp_path)
    changed(folder / "store.db", "UPDATE batch SET records = zeroblob(length(records)) WHERE seq = 1")
    with pytest.raises(AssertionError, match="not what was first kept"):
        judged(folder)


def changed(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as sql, sql:
        assert sql.execute(statement).rowcount > 0
    sql.close()


@pytest.mark.parametrize(
    ("file", "statement", "undone", "said"),
    [
        ("store.db", "UPDATE batch SET accepted = accepted + 1 WHERE seq = (SELECT MAX(seq) FROM batch)",
         "UPDATE batch SET accepted = accepted - 1 WHERE seq = (SELECT MAX(seq) FROM batch)", None),
        ("store.db", "UPDATE batch SET id = zeroblob(16) WHERE seq = 1", None, "acknowledged batches are lost"),
    ],
    ids=["another number", "another batch"],
)  # fmt: skip
def test_the_judge_sees_what_is_wrong_in_the_server(
    file: str, statement: str, undone: str | None, said: str | None, killed: tuple[Path, dict[str, int]], tmp_path: Path
) -> None:
    folder = copied(killed[0], tmp_path)
    changed(folder / file, statement)
    with pytest.raises(AssertionError, match=said):
        judged(folder)
    if undone is not None:
        changed(folder / file, undone)
        judged(folder)


def test_the_judge_sees_two_answers_of_one_period(killed: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    folder = copied(killed[0], tmp_path)
    log = folder / "receipts.txt"
    person, period, _, _ = next(kill_client.receipts(log))
    others = (batch for whose, _, batch, _ in kill_client.receipts(log) if whose != person)
    with log.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps([person, period, next(others), "accepted"]) + "\n")
    with pytest.raises(AssertionError, match="two answers in one period"):
        judged(folder)


def test_the_judge_sees_an_account_that_was_charged_twice(killed: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    folder = copied(killed[0], tmp_path)
    changed(folder / "home" / FILE, "UPDATE account SET reports = reports + 1 WHERE person = 1")
    with pytest.raises(AssertionError, match="in the accounts"):
        judged(folder)


def copied(folder: Path, to: Path) -> Path:
    """The files of a run, to be changed."""
    (to / "home").mkdir()
    for name in ("store.db", "receipts.txt", "kept.txt", f"home/{FILE}"):
        (to / name).write_bytes((folder / name).read_bytes())
    return to
