"""Faults of a user's own mechanism and of ours, signals, and terminals that cannot spell."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hush.cli.process import guard
from tests.system.support import COIN, refused, run, shell, shells, words, write_csv
from tests.waiting import wait_for_file

ASCII = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "coin.py").write_text(COIN)
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    write_csv(tmp_path / "d.csv", {"v": [0, 1, 2]})
    return tmp_path


def made(name: str) -> tuple[object, ...]:
    return "privatize", "d.csv", "--column", "v", "--k", 3, "--epsilon", 1, "--mechanism", name, "-o", "r.parquet"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "coin:Raising",
            ["mechanism coin:Raising failed in sample (coin.py, line ", "with RuntimeError, whose words are left out"],
        ),
        ("coin:Leaving", ["mechanism coin:Leaving failed in sample", "with SystemExit"]),
        ("coin:Shapeless", ["mechanism coin:Shapeless failed in privatize", "with ValueError"]),
        ("coin:Picky", ["must accept its parameters, but coin:Picky did not", "OSError: not today"]),
        ("coin:Untyped", ["report_dtype of coin:Untyped must be a numpy dtype, got 'u1'"]),
        ("leaving:Coin", ["importable as module:Class", "SystemExit: 3", "where leaving can be imported"]),
        ("os:system", ["--mechanism must be a mechanism class", "'os:system'"]),
        ("hush:PureOracle", ["--mechanism must be a complete mechanism class", "lacks outputs, p_star"]),
        (":Coin", ["--mechanism must look like module:Class", "':Coin'"]),
        ("coin:", ["--mechanism must look like module:Class"]),
        (".coin:Coin", ["--mechanism must look like module:Class"]),
    ],
)
def test_one_line_names_the_fault(folder: Path, name: str, said: list[str]) -> None:
    found = shell(*made(name), folder=folder)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert all(each in found.stderr for each in said), found.stderr
    assert not (folder / "r.parquet").exists()
    assert not list(folder.glob(".*"))


def test_faults_while_estimating(folder: Path) -> None:
    wanted = ("estimate", "r.parquet", "--mechanism", "coin:Unsupporting")
    privatized, found = shells(made("coin:Unsupporting"), wanted, folder=folder)
    assert privatized.returncode == 0
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "mechanism coin:Unsupporting failed in supports" in found.stderr


def test_the_traceback_on_request(folder: Path) -> None:
    found = shell(*made("coin:Raising"), folder=folder, HUSH_TRACEBACK="1")
    assert found.returncode == 2
    assert "Traceback (most recent call last)" in found.stderr
    assert found.stderr.splitlines()[-1].startswith("Error: mechanism coin:Raising failed")


def test_our_own_faults_ask_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    from hush import rules

    def broken(value: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(rules, "domain_size", broken)
    result = run("mechanisms")
    assert result.exit_code == 70
    assert "internal error: ZeroDivisionError: oh; please report it; HUSH_TRACEBACK=1" in " ".join(
        result.stderr.split()
    )


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        (MemoryError("3 TB"), "memory must hold the work, got 3 TB", 2),
        (FileNotFoundError(2, "No such file or directory", "x"), "file 'x' cannot be used: No such file", 2),
        (OSError(28, "No space left on device"), "cannot be used: No space left on device", 2),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "a file's name must be readable", 2),
        (KeyboardInterrupt(), "interrupted", 130),
    ],
)
def test_every_error_has_its_code(
    error: BaseException, said: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        raise error

    assert guard.guarded(work) == code
    assert said in capsys.readouterr().err


def test_an_enumeration_that_would_not_end_is_not_begun(folder: Path) -> None:
    wanted = ("mechanisms", "--mechanism", "coin:Coin", "--k", 1_000_000)
    found, shown = shells((*wanted, "--json"), wanted, folder=folder)
    row = json.loads(found.stdout)["mechanisms"][0]
    assert (found.returncode, row["exact_epsilon"], row["asr"], row["bits"]) == (0, None, None, None)
    assert all("k must leave at most" in reason for reason in row["unknown"].values())
    assert "coin:Coin does not tell its exact_epsilon: k must leave" in shown.stdout


def test_a_termination_leaves_nothing_behind(folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    with subprocess.Popen(words(*made("coin:Waiting")), cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        wait_for_file(folder / "started", process)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert process.returncode == 143
    assert said == "Error: terminated; no half-written file is left\n"
    assert {path.name for path in folder.iterdir()} - {"__pycache__", "started"} == before


def test_an_interrupt_during_the_imports_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    code = "import sys; sys.path.insert(0, '.'); from hush.cli import main; main()"
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (130, "Error: interrupted; no half-written file is left\n")


@pytest.mark.parametrize("environment", ASCII)
def test_terminals_that_cannot_spell(folder: Path, environment: dict[str, str]) -> None:
    (folder / "l.json").write_text('["é", "日本"]')
    write_csv(folder / "u.csv", {"v": ["é", "日本"] * 10})
    chosen = ("--column", "v", "--domain", "l.json", "--mechanism", "GRR", "--epsilon", 1)
    fine = (
        ("privatize", "u.csv", *chosen, "-o", "r.parquet"),
        ("estimate", "r.parquet"),
        ("mechanisms", "--mechanism", "OUE"),
        ("--help",),
        ("estimate", "r.parquet", "--json"),
    )
    *found, wrong = shells(*fine, ("mechanisms", "--mechanism", "é"), folder=folder, **environment)
    for each in found:
        assert each.returncode == 0, each.stderr
        assert "Error" not in each.stderr
    assert wrong.returncode == 2
    told = json.loads(found[-1].stdout)
    assert [row["label"] for row in told["estimate"]] == ["é", "日本"]


def test_a_bare_command_helps() -> None:
    result = run()
    assert result.exit_code == 2
    assert result.output.count("Usage: hush") == 1
    assert "Error" not in result.stderr
    assert "command must be one of plan, budget, capacity, uldp, mechanisms" in refused("mechanism")


def bit_flipped(path: Path, column: int) -> None:
    """Change one bit of a column's last page, as a worn disk does."""
    import pyarrow.parquet as pq

    chunk = pq.read_metadata(path).row_group(0).column(column)
    content = bytearray(path.read_bytes())
    first = chunk.dictionary_page_offset or chunk.data_page_offset
    content[first + chunk.total_compressed_size - 1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("column", [0, 1])
def test_a_bit_that_flips_in_a_report_file_is_noticed(folder: Path, column: int) -> None:
    write_csv(folder / "d.csv", {"v": [0, 1, 2] * 100, "kept": list(range(300))})
    file = folder / "r.parquet"
    options = ("--keep", "kept", "--k", 3, "--epsilon", 1, "--mechanism", "OUE", "-o", file)
    assert run("privatize", folder / "d.csv", "--column", "v", *options).exit_code == 0
    assert run("estimate", file, "--by", "kept").exit_code == 0
    bit_flipped(file, column)
    said = refused("estimate", file, "--by", "kept")
    assert "input must be a readable Parquet file of reports" in said
    assert "checksum" in said


def test_a_bit_that_flips_in_an_input_is_noticed(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = folder / "d.parquet"
    pq.write_table(pa.table({"v": [0, 1, 2] * 100}), file, compression="none", write_page_checksum=True)
    bit_flipped(file, 0)
    options = ("--k", 3, "--epsilon", 1, "--mechanism", "OUE", "-o", folder / "r.parquet")
    assert "checksum" in refused("privatize", file, "--column", "v", *options)
    assert not (folder / "r.parquet").exists()
