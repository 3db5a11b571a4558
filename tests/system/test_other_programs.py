"""The command among other programs: closed pipes, full disks, closed streams, and signals at any moment."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.support import COIN, heard, shell, words, write_csv

OWN = (
    COIN
    + """

class Chatty(Coin):
    def sample(self, values, rng):
        print("x" * 100_000)
        return super().sample(values, rng)


class Severed(Coin):
    def sample(self, values, rng):
        raise BrokenPipeError(32, "Broken pipe")
"""
)
PEOPLE = ("--dataset", "zipf", "--k", 5, "--n", 1000)
TRIED = ("simulate", "--epsilon", 1.1, *PEOPLE, "--runs", 2, "--mechanism")
VIOLATION = ("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 2, "--claim", 1, "--trials", 4000, "--seed", 1)
WAYS: dict[str, tuple[object, ...]] = {
    "help": ("--help",),
    "version": ("--version",),
    "table": ("mechanisms",),
    "json": ("mechanisms", "--json"),
    "verdict": VIOLATION,
    "own mechanism": (*TRIED, "coin:Coin"),
    "own mechanism that prints": (*TRIED, "coin:Chatty"),
    "budget of one's own": ("budget", "--mechanism", "coin:Coin", *PEOPLE, "--loss", "l1", "--threshold", 0.5),
}
FULL = "standard output must take the whole answer, got No space left on device; make space, or send it elsewhere"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "coin.py").write_text(OWN)
    return tmp_path


def redirected(folder: Path, how: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a shell, its streams redirected."""
    line = f"exec {shlex.join(words(*arguments))} {how}"
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("way", WAYS)
def test_nobody_reads(folder: Path, way: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as nobody:
        done = subprocess.run(
            words(*WAYS[way]), cwd=folder, stdout=nobody, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 141
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
@pytest.mark.parametrize("way", WAYS)
def test_a_full_disk_is_nobodys_fault(folder: Path, way: str) -> None:
    done = redirected(folder, "> /dev/full", *WAYS[way])
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if "Error" in line] == [f"Error: {FULL}"]


def test_a_mechanisms_own_pipe_is_its_own_fault(folder: Path) -> None:
    done = shell(*TRIED, "coin:Severed", folder=folder)
    assert done.returncode == 2
    assert "mechanism coin:Severed failed in sample" in done.stderr


@pytest.mark.parametrize("how", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2> /dev/full"])
def test_a_verdict_keeps_its_code(folder: Path, how: str) -> None:
    if "/dev/full" in how and not Path("/dev/full").exists():
        pytest.skip("a disk that is always full is Linux's")
    junit = folder / "found.xml"
    done = redirected(folder, how, *VIOLATION, "--junit", junit)
    assert done.returncode == 1
    assert ("violation" in done.stdout) == (">&-" not in how.replace("2>&-", ""))
    assert junit.read_text().startswith("<?xml")  # and no stray line of a stream whose number it got


def test_a_reader_of_notes_who_left_changes_nothing(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as nobody:
        found = subprocess.run(words(*VIOLATION), stdout=subprocess.PIPE, stderr=nobody, text=True, check=False)
    assert found.returncode == 1
    assert "violation" in found.stdout


@pytest.mark.parametrize("arguments", [("mechanisms",), ("--help",), ("mechanisms", "--k", 1)])
def test_a_window_of_no_columns_is_no_window(folder: Path, arguments: tuple[object, ...]) -> None:
    plain, none = (shell(*arguments, folder=folder, COLUMNS=columns) for columns in ("", "0"))
    assert none.stdout + none.stderr
    assert (none.returncode, none.stdout, none.stderr) == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.parametrize("package", ["numpy", "typer"])
@pytest.mark.parametrize("started", ["module", "script"])
@pytest.mark.parametrize(("number", "said"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_a_signal_during_the_imports_is_quiet(
    tmp_path: Path, package: str, started: str, number: str, said: str
) -> None:
    """Of the library as of the command, even where the code that imports makes another error of it."""
    (tmp_path / "stand-in").mkdir()
    (tmp_path / "stand-in" / f"{package}.py").write_text(
        "import os, signal\n"
        "try:\n"
        f"    os.kill(os.getpid(), signal.{number})\n"
        "except BaseException:\n"
        "    raise ImportError('what C code makes of it')\n"
    )
    script = tmp_path / "hush"
    script.write_text("from hush.cli import main\nmain()\n")
    path = os.pathsep.join([str(tmp_path / "stand-in"), *sys.path])
    begin = [sys.executable, *(["-m", "hush"] if started == "module" else [str(script)])]
    done = subprocess.run(
        [*begin, "mechanisms"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=heard,
    )
    assert done.stderr == f"Error: {said}; no half-written file is left\n"
    assert done.returncode == {"SIGINT": 130, "SIGTERM": 143}[number]


def test_other_programs_keep_their_signals(tmp_path: Path) -> None:
    """Whatever they are called, and whichever thread imports the library."""
    script = tmp_path / "hush"
    script.write_text(
        "import signal, threading\n"
        "importing = threading.Thread(target=lambda: __import__('hush.errors'))\n"
        "importing.start()\n"
        "importing.join()\n"
        "import hush\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
        "print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)\n"
        "print(hush.GRR.__name__)\n"
    )
    for begin in ([str(script)], ["-c", script.read_text()]):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, *begin], env=env, capture_output=True, text=True, check=False, preexec_fn=heard
        )
        assert (done.stdout, done.stderr) == ("True\nTrue\nGRR\n", "")


def test_reports_that_do_not_fit_are_not_the_mechanisms_fault(folder: Path) -> None:
    write_csv(folder / "d.csv", {"v": [0, 1] * 100_000})
    chosen = ("--column", "v", "--k", "2", "--epsilon", "1.1", "--mechanism", "coin:Coin", "-o", "r.parquet")
    line = f"ulimit -f 8; exec {shlex.join(words('privatize', 'd.csv', *chosen))}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert said.startswith("Error: output must be a place where files can be written, got 'r.parquet'; ")
    assert "mechanism" not in said
    assert not list(folder.glob("*.part"))
