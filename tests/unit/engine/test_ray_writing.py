"""The two halves of writing on a cluster, here without one: what is drawn, what leaves a task, and in which order."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from collections import Counter
from itertools import permutations
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from pyarrow.fs import FSSpecHandler

import hush
from hush.engine.ray import connecting, scattering, writing
from hush.engine.ray.gathering import gather
from hush.engine.ray.keys import JobKeys, sealed, unsealed
from hush.engine.ray.scattering import Dealt, TablePiece, cut, groups_of, scatter
from hush.errors import ParameterError
from hush.files.kept import Groups
from hush.files.places import place_of
from hush.files.randomizing import Rows
from hush.statistics import counts_alarm
from tests.system.support import write_csv

SPEC = hush.Spec(hush.GRR(k=300, epsilon=25.0))
"""With such a budget a report is the value."""


def table(path: Path, n: int, size: int = 100) -> Rows:
    cells = {"value": np.arange(n) % 300, "region": pa.array([f"r{i % 3}" for i in range(n)], pa.string())}
    pq.write_table(pa.table(cells), path, row_group_size=size)
    return Rows([path], ["value"], ["region"], SPEC, False)


def parts_of(piece: TablePiece, buckets: int, key: bytes, seal: bytes) -> tuple[Dealt, list[Any]]:
    told, *parts = scatter(piece, buckets, key, seal)
    assert isinstance(told, Dealt)
    return told, [scattering.unpacked(unsealed(seal, part)) for part in parts]


def test_keys_are_apart_and_stay_where_they_are() -> None:
    keys, others = JobKeys(), JobKeys()
    found = {keys.of(purpose, i) for purpose in ("piece", "bucket", "seal") for i in range(200)}
    assert len(found) == 600
    assert all(len(key) == 16 for key in found)
    assert keys.of("piece", 3) == keys.of("piece", 3) != others.of("piece", 3)
    assert keys._secret.hex() not in repr(keys)
    assert repr(keys._secret) not in repr(keys)
    with pytest.raises(TypeError, match="stay with whoever began it"):
        pickle.dumps(keys)


def test_seals_never_repeat_and_open_only_with_their_key() -> None:
    data = np.frombuffer(b"a value in the clear, twice: a value in the clear", np.uint8)
    one, other = (sealed(bytes(16), data) for _ in range(2))
    assert not np.array_equal(one, other)
    assert b"clear" not in one.tobytes()
    assert np.array_equal(unsealed(bytes(16), one), data)
    assert not np.array_equal(unsealed(bytes(15) + b"x", one), data)
    assert unsealed(bytes(16), sealed(bytes(16), data[:0])).size == 0


def test_pieces_cover_every_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scattering, "_ROWS", 250)
    tables = [table(tmp_path / "a.parquet", 1030), table(tmp_path / "b.parquet", 90), table(tmp_path / "c.parquet", 0)]
    rows = Rows([path for each in tables for path in each.paths], ["value"], ["region"], SPEC, False)
    found = cut(rows, 512)
    assert [(Path(piece.rows.paths[0]).name, piece.before, piece.count) for piece in found] == [
        ("a.parquet", 0, 300), ("a.parquet", 300, 300), ("a.parquet", 600, 300), ("a.parquet", 900, 130),
        ("b.parquet", 0, 90), ("c.parquet", 0, 0),
    ]  # fmt: skip
    assert len(cut(rows, 2)) == 4  # as few as are asked for, but at least one for each file
    seen = [parts_of(piece, 1, bytes(16), bytes(16))[1][0]["report"].to_pylist() for piece in found]
    values = [int.from_bytes(report, "little") for part in seen for report in part]
    assert sorted(values) == sorted([i % 300 for n in (1030, 90) for i in range(n)])


def test_an_attempt_makes_the_same_reports_and_another_piece_others(tmp_path: Path) -> None:
    rows = Rows(table(tmp_path / "a.parquet", 500).paths, ["value"], [], hush.Spec(hush.GRR(k=300, epsilon=0.5)), False)
    piece = cut(rows, 8)[0]
    first, again = (parts_of(piece, 3, b"k" * 16, bytes(16))[1] for _ in range(2))
    assert [part.to_pylist() for part in first] == [part.to_pylist() for part in again]
    other = parts_of(piece, 3, b"l" * 16, bytes(16))[1]
    assert [part.to_pylist() for part in first] != [part.to_pylist() for part in other]


def test_reports_do_not_depend_on_how_a_reader_cuts_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(table(tmp_path / "a.parquet", 500).paths, ["value"], [], hush.Spec(hush.GRR(k=300, epsilon=0.5)), False)
    piece = cut(rows, 8)[0]
    first = parts_of(piece, 2, b"k" * 16, bytes(16))[1]
    monkeypatch.setattr("hush.files.randomizing.READ", 37)
    again = parts_of(piece, 2, b"k" * 16, bytes(16))[1]
    assert [part.to_pylist() for part in first] == [part.to_pylist() for part in again]


def test_no_value_leaves_a_task_in_the_clear(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "people.csv", {"value": ["confidential"] * 200 + ["public"] * 50})
    domain = hush.Domain(labels=["confidential", "public"])
    piece = cut(Rows([path], ["value"], [], hush.Spec(hush.GRR(k=2, epsilon=1.0), domain), False), 8)[0]
    told, *parts = scatter(piece, 2, bytes(16), bytes(16))
    assert isinstance(told, Dealt)
    assert told.count == 250
    for part in parts:
        assert not isinstance(part, Dealt)
        assert b"report" not in part.tobytes()
        plain = unsealed(bytes(16), part).tobytes()
        assert b"report" in plain
        assert b"confidential" not in plain


def test_no_kept_cell_leaves_a_task_in_the_clear(tmp_path: Path) -> None:
    """Not in what is told of the piece, either, which names each of them and can be large enough to be spilled."""
    path = write_csv(tmp_path / "p.csv", {"value": ["0"] * 3000, "at": [f"KEPT-{i // 2:05d}" for i in range(3000)]})
    rows = Rows([path], ["value"], ["at"], hush.Spec(hush.GRR(k=2, epsilon=1.0)), False)
    made = [*scatter(cut(rows, 8)[0], 2, bytes(16), bytes(16))]
    assert not any(b"KEPT" in pickle.dumps(each) for each in made)
    assert isinstance(made[0], Dealt)
    assert groups_of(made[0], bytes(16)).smallest == 2
    assert b"KEPT" in unsealed(bytes(16), made[0].groups).tobytes()


class Telling(hush.GRR):
    """Fails with the value in its words."""

    def sample(self, values: Any, rng: np.random.Generator) -> Any:
        raise ValueError(f"somebody holds {values.max()}")


def test_what_a_mechanism_says_of_people_stays_in_the_task(tmp_path: Path) -> None:
    rows = Rows(table(tmp_path / "a.parquet", 250).paths, ["value"], [], hush.Spec(Telling(k=300, epsilon=1.0)), False)
    with pytest.raises(ParameterError, match="ValueError, whose words are left out") as caught:
        next(scatter(cut(rows, 8)[0], 2, bytes(16), bytes(16)))
    assert "249" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_table_that_changed_is_not_read_again(tmp_path: Path) -> None:
    piece = cut(table(tmp_path / "a.parquet", 50), 8)[0]
    table(tmp_path / "a.parquet", 60)
    with pytest.raises(ParameterError, match="must stay as it is until all of it is randomized"):
        next(scatter(piece, 2, bytes(16), bytes(16)))


def test_numbers_of_pieces_add_up(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"value": ["a", "b", "x", "", "a"], "region": ["r", "s", "r", "r", "s"]})
    spec = hush.Spec(hush.GRR(k=3, epsilon=25.0), hush.Domain(labels=["a", "b", "rest"], other="rest"))
    told, parts = parts_of(cut(Rows([path], ["value"], ["region"], spec, False), 8)[0], 2, bytes(16), bytes(16))
    assert (told.count, told.unmatched, told.missing, told.blank) == (5, {"value": 1}, {"value": 1}, 0)
    assert groups_of(told, bytes(16)).smallest == 2
    seen = Counter(row["region"] for part in parts for row in part.to_pylist())
    assert seen == {"r": 3, "s": 2}


def test_groups_of_parts_are_those_of_the_whole() -> None:
    batches = [pa.record_batch({"a": ["x", "y", "y"]}), pa.record_batch({"a": ["x", "y", "z"]})]
    one, other, whole = Groups(), Groups(), Groups()
    one.add(batches[0])
    other.add(batches[1])
    for batch in batches:
        whole.add(batch)
    assert one.with_all(other).smallest == whole.smallest == 1
    assert one.with_all(Groups()).smallest == one.smallest == 1
    assert Groups().with_all(Groups()).smallest is None
    nested = Groups()
    nested.add(pa.record_batch({"a": [[1], [2]]}))
    for each, smallest in ((one, 1), (Groups(), None), (nested, None)):
        again = Groups.from_table(each.to_table())
        assert again.smallest == each.smallest == smallest
        assert again.with_all(one).smallest == each.with_all(one).smallest


def test_every_order_is_as_likely_as_any_other(tmp_path: Path) -> None:
    """Chi-square of the orders in which three rows of two pieces come out of two files; it fails in 1 of 10⁹ runs."""
    rows = Rows(table(tmp_path / "a.parquet", 3, size=2).paths, ["value"], [], SPEC, False)
    known: dict[str, Any] = {"rows": rows, "stamp": cut(rows, 8)[0].stamp}
    halves = [TablePiece(**known, units=range(i, i + 1), before=2 * i, count=2 - i) for i in (0, 1)]
    runs, seen = 600, Counter[tuple[int, ...]]()
    for _ in range(runs):
        keys = JobKeys()
        seal = keys.of("seal")
        dealt = [[*scatter(half, 2, keys.of("piece", i), seal)][1:] for i, half in enumerate(halves)]
        found: list[int] = []
        for b in range(2):
            made = gather(SPEC, str(tmp_path), keys.of("bucket", b), seal, *(parts[b] for parts in dealt))  # type: ignore[arg-type]
            path = tmp_path / made.name
            found += np.frombuffer(b"".join(pq.read_table(path)["report"].to_pylist()), "<u2").tolist()
            assert path.stat().st_size == made.size
            path.unlink()
        seen[tuple(found)] += 1
    assert set(seen) <= set(permutations(range(3)))
    expected = np.full(factorial(3), runs / factorial(3))
    assert not counts_alarm(expected, np.array([seen[order] for order in permutations(range(3))]))


def test_what_a_worker_would_have_to_hold_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scattering, "HELD", 1 << 12)
    path = write_csv(tmp_path / "p.csv", {"value": [0] * 5000})
    spec = hush.Spec(hush.GRR(k=300, epsilon=1.0))
    with pytest.raises(ParameterError, match="must be cut where its reports take more than"):
        next(scatter(cut(Rows([path], ["value"], [], spec, False), 8)[0], 2, bytes(16), bytes(16)))


def test_a_change_is_seen_where_a_filesystem_has_no_times() -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe("/x/a.csv", b"value\n0\n")
    place = place_of("memory://x/a.csv")
    before = scattering.stamp(place)
    assert before == scattering.stamp(place)
    memory.pipe("/x/a.csv", b"value\n1\n")
    assert before != scattering.stamp(place)

    class Timeless(FSSpecHandler):  # type: ignore[misc]
        """As a handler of one's own may be."""

    bare = Timeless(memory)
    bare.fs = None
    bare.get_file_info = lambda paths: [fs.FileInfo(path, fs.FileType.File, size=8) for path in paths]
    with pytest.raises(ParameterError, match="must lie on a filesystem that tells when a file changed"):
        scattering.stamp(place_of("a.csv", fs.PyFileSystem(bare)))


@pytest.mark.parametrize("to", ["empty", "nowhere"])
def test_a_folder_does_not_take_the_place_of_a_link(to: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "out").symlink_to(to)
    with pytest.raises(ParameterError, match="--output must be no link"), writing._appearing(tmp_path / "out"):
        raise AssertionError("the work has begun")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "out"]


def test_leftovers_of_other_outputs_are_not_in_the_way(tmp_path: Path) -> None:
    for name in ("out-2026", "outer"):
        (tmp_path / f".hush-{name}-0123456789abcdef.parts").mkdir()
    (tmp_path / ".hush-out[1]-0123456789abcdef.parts").mkdir()
    with writing._appearing(tmp_path / "out") as folder:
        (folder / "part-00000.parquet").touch()
    assert (tmp_path / "out" / "part-00000.parquet").exists()
    refused = pytest.raises(ParameterError, match="must have nothing beside it of a run that was cut short")
    with refused, writing._appearing(tmp_path / "out[1]"):
        raise AssertionError("the work has begun")
    with writing._appearing(tmp_path / ("x" * 250)):
        pass
    assert (tmp_path / ("x" * 250)).is_dir()


def test_a_cluster_that_speaks_tls_is_left_to_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing in the clear, as one with TLS does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(connecting, "_PATIENCE", 0.2)
        with pytest.raises(ParameterError, match="must be that of a running Ray"):
            connecting._answers(there, there)
        monkeypatch.setenv("RAY_USE_TLS", "1")
        connecting._answers(there, there)
    with pytest.raises(ParameterError, match="must be that of a running Ray"):
        connecting._answers(there, there)


def test_folders_of_dead_drivers_are_removed(tmp_path: Path) -> None:
    dead, alive, strange = (tmp_path / f"hush-ray-{name}" for name in ("dead", "alive", "strange"))
    for folder in (dead, alive, strange):
        (folder / "session").mkdir(parents=True)
    program = "import sys, os, signal; from pathlib import Path; from hush.engine.ray import connecting\n"
    program += "connecting._held(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
    assert subprocess.run([sys.executable, "-c", program, str(dead)]).returncode == -signal.SIGKILL
    held = connecting._held(alive)
    connecting._remove_stale(tmp_path)
    os.close(held)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hush-ray-alive", "hush-ray-strange"]


def test_an_interrupt_while_ray_ends_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    ended = []

    class Ray:
        def shutdown(self) -> None:
            ended.append(len([*tmp_path.iterdir()]))
            if len(ended) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(connecting, "_init", lambda *_, **how: None)
    monkeypatch.setattr(connecting, "_authenticate", lambda settings: None)
    monkeypatch.setattr(connecting.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(connecting, "_LONGEST", 1000)
    with pytest.raises(KeyboardInterrupt), connecting._started(Ray()):
        pass
    assert ended == [1, 1]  # the folder was there both times
    assert not [*tmp_path.iterdir()]
