"""Nothing that is read is written over, nothing but plain files is written, and one file is never counted twice."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.support import refused, run, write_csv

GRR = ("--mechanism", "GRR", "--epsilon", 1)
READS = "must not be a file that this command reads"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small collection; whatever a test does, its inputs must stay what they are."""
    monkeypatch.chdir(tmp_path)
    write_csv(Path("d.csv"), {"v": ["a", "b"] * 20})
    write_csv(Path("c.csv"), {"label": ["a", "b"], "count": [20, 20]})
    Path("l.json").write_text('["a", "b"]')
    made = ("privatize", "d.csv", "--column", "v", "--domain", "l.json", *GRR)
    assert run(*made, "-o", "r.parquet", "--spec-out", "s.json").exit_code == 0
    assert run("estimate", "r.parquet", "--aggregate-out", "a.hush").exit_code == 0
    Path("link.csv").symlink_to("c.csv")
    Path("link.png").symlink_to("new.png")
    Path("link.parquet").symlink_to("r.parquet")
    os.link("s.json", "hard.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    yield tmp_path
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("privatize d.csv --column v --domain l.json -o d.csv", ["--output", READS, "'d.csv'"]),
        ("privatize d.csv --column v --domain l.json -o n.parquet --spec-out l.json", ["--spec-out", READS]),
        ("privatize d.csv --column v --spec s.json -o n.parquet --spec-out hard.json", ["--spec-out", READS]),
        ("privatize d.csv --column v --spec link.parquet -o r.parquet", ["--output", READS]),
        ("privatize r.parquet --column v --spec s.json -o link.parquet", ["--output", READS]),
        ("estimate r.parquet --csv r.parquet", ["--csv", READS]),
        ("estimate a.hush --spec s.json --spec-out ./s.json", ["--spec-out", READS]),
        ("estimate a.hush --spec s.json --aggregate-out a.hush", ["--aggregate-out", READS]),
        ("estimate r.parquet --csv n.csv --png n.csv", ["--png must differ from --csv", "'n.csv'"]),
        ("estimate r.parquet --png new.png --csv link.png", ["--png must differ from --csv"]),
        ("simulate --counts c.csv --runs 1 --png link.csv", ["--png", READS]),
        ("simulate --counts c.csv --runs 1 --spec s.json --reports-out s.json", ["--reports-out", READS]),
        ("simulate --counts c.csv --runs 1 --png x.png --reports-out x.png", ["must differ from"]),
        ("privatize d.csv --column v --domain l.json -o -", ["--output must be the name of a file", "'-'"]),
        ("privatize d.csv --column v --domain l.json -o n.csv", ["--output must end in .parquet", "n.parquet"]),
        ("estimate r.parquet --png n.txt", ["--png must end in .png", "'n.txt'"]),
        ("estimate r.parquet --csv n.txt", ["--csv must end in .csv"]),
        ("estimate r.parquet --aggregate-out n.bin", ["--aggregate-out must end in .hush"]),
        ("estimate r.parquet --csv missing/n.csv", ["--csv must lie in a folder that exists", "make missing first"]),
        (
            "privatize d.csv --column v --domain l.json -o s3://b/n.parquet",
            ["--output must be a path of this machine", "'s3://b/n.parquet'", "copy it there"],
        ),
        (
            "privatize d.csv --column v --domain l.json -o gs://b/n --engine ray",
            ["--output must be a path of this machine", "'gs://b/n'"],
        ),
        ("estimate r.parquet --csv file:///tmp/n.csv", ["--csv must be a path of this machine", "name the path alone"]),
        ("estimate r.parquet r.parquet", ["reports must be different files", "'r.parquet'"]),
        ("estimate r.parquet link.parquet", ["reports must be different files", "'r.parquet' and 'link.parquet'"]),
        ("estimate a.hush ./a.hush --spec s.json", ["reports must be different files"]),
    ],
)  # fmt: skip
def test_refuses(folder: Path, arguments: str, words: list[str]) -> None:
    chosen = () if "--spec s" in arguments or "--spec l" in arguments or arguments[0] == "e" else GRR
    before = sorted(folder.iterdir())
    message = refused(*arguments.split(), *chosen)
    assert all(word in message for word in words), message
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_only_plain_files_are_replaced(folder: Path, kind: str) -> None:
    target = folder / "t.png"
    with socket.socket(socket.AF_UNIX) as listener:
        if kind == "pipe":
            os.mkfifo(target)
        elif kind == "socket":
            listener.bind("t.png")
        else:
            target.mkdir()
        mode = target.stat().st_mode
        message = refused("estimate", "r.parquet", "--png", target)
        assert f"--png must be a file, new or plain, got a {kind}" in message
        assert target.stat().st_mode == mode


def test_a_link_is_followed_and_permissions_stay(folder: Path) -> None:
    assert run("estimate", "r.parquet", "--png", "link.png").exit_code == 0
    assert Path("link.png").is_symlink()
    assert Path("new.png").read_bytes().startswith(b"\x89PNG")
    Path("new.png").chmod(0o600)
    assert run("estimate", "r.parquet", "--png", "new.png").exit_code == 0
    assert Path("new.png").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["/proc/hush-cannot-write-here.csv", "x" * 300 + ".csv"])
def test_a_place_that_cannot_be_written_is_named(folder: Path, name: str) -> None:
    """Linux makes no files in /proc, not even for root; and no file system takes so long a name."""
    message = refused("estimate", "r.parquet", "--csv", name)
    assert f"'{name}'" in message
    assert ".part" not in message
    assert not list(folder.glob("*.part"))
