"""Files that appear whole: what is seen of them before, what is left of them, and what that does to the next run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hush
from hush import atomic
from hush.errors import ParameterError

linux = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
KILLED = """
import os, signal, sys
from pathlib import Path
from hush import atomic
with atomic.replacing(Path(sys.argv[1])) as part:
    part.write_bytes(b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(params=["without a name", "with one"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """As on Linux, and as where files have names alone."""
    if request.param == "with one":
        monkeypatch.setattr(atomic, "_unnamed", lambda folder: None)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("files without a name are Linux's")
    return str(request.param)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(either: str, tmp_path: Path) -> None:
    for content in (b"one", b"another"):
        with atomic.replacing(tmp_path / "a") as part:
            part.write_bytes(content)
            with part.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(b", and more")
            hidden = [name for name in names(tmp_path) if name != "a"]
            assert len(hidden) == (either == "with one")
        assert (tmp_path / "a").read_bytes() == content + b", and more"
        assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").stat().st_nlink == 1


def test_what_fails_leaves_what_was_there(either: str, tmp_path: Path) -> None:
    def interrupted() -> None:
        with atomic.replacing(tmp_path / "a") as part:
            part.write_bytes(b"half")
            raise KeyboardInterrupt

    for before in ([], ["a"]):
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert names(tmp_path) == before
        (tmp_path / "a").write_bytes(b"before")
    assert (tmp_path / "a").read_bytes() == b"before"


def test_permissions_are_those_of_other_files_or_of_what_was_there(either: str, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    atomic.write(tmp_path / "a", "new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "a").chmod(0o640)
    atomic.write(tmp_path / "a", "newer")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed(either: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    for content in ("one", "another"):
        atomic.write(tmp_path / "link", content)
        assert (tmp_path / "a").read_text() == content
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("name", ["no such folder/a", "x" * 300, "file/a"])
def test_a_place_that_cannot_be_is_told_before_the_work(either: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = pytest.raises(ParameterError, match="must be a place where files can be written")
    with refused as caught, atomic.replacing(tmp_path / name):
        raise AssertionError("the work has begun")
    assert str(tmp_path / name) in str(caught.value)
    assert names(tmp_path) == ["file"]


def test_a_long_name_leaves_room_for_a_hidden_one(either: str, tmp_path: Path) -> None:
    name = "é" * 127
    atomic.write(tmp_path / name, "one")
    atomic.write(tmp_path / name, "another")
    assert (tmp_path / name).read_text() == "another"
    atomic.hidden(tmp_path / name, ".part").touch()
    assert len(atomic.leftovers(tmp_path / name, ".part")) == 1


def test_a_folder_is_not_replaced(either: str, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(ParameterError, match="must be a place where files can be written"):
        atomic.write(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]


@linux
@pytest.mark.parametrize("before", [False, True])
def test_a_kill_leaves_nothing(before: bool, tmp_path: Path) -> None:
    if before:
        (tmp_path / "a").write_bytes(b"before")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], timeout=60)
    assert done.returncode == -9
    assert names(tmp_path) == ["a"] * before


def test_leftovers_are_those_of_one_place(tmp_path: Path) -> None:
    for name in ("out[1]", "out[1]-2026", "out", "outer", "out*"):
        atomic.hidden(tmp_path / name, ".part").touch()
    (tmp_path / ".hush-out-0123456789abcdef.parts").touch()
    (tmp_path / ".hush-out-mine.part").touch()
    for name in ("out[1]", "out"):
        (left,) = atomic.leftovers(tmp_path / name, ".part")
        assert left.name.startswith(f".hush-{name}-")
    assert atomic.leftovers(tmp_path / "new", ".part") == []


def test_reports_are_not_written_beside_those_of_a_run_that_was_cut_short(tmp_path: Path) -> None:
    spec = hush.Spec(hush.GRR(k=4, epsilon=1.0))
    left = atomic.hidden(tmp_path / "out.parquet", ".part")
    left.write_bytes(b"PAR1")
    with pytest.raises(ParameterError, match="must have nothing beside it of a run that was cut short") as caught:
        hush.write(tmp_path / "out.parquet", spec.privatize(np.zeros(10, int)), spec=spec)
    assert str(left) in str(caught.value)
    hush.write(tmp_path / "other.parquet", spec.privatize(np.zeros(10, int)), spec=spec)
    left.unlink()
    hush.write(tmp_path / "out.parquet", spec.privatize(np.zeros(10, int)), spec=spec)
    assert names(tmp_path) == ["other.parquet", "out.parquet"]
