"""A command that is stopped while it reads, or while it writes, leaves nothing: no part of the output, no rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hush
from tests.system.support import run, write_csv
from tests.waiting import wait_for_file

SLOW = """
import time
from pathlib import Path
from hush.cli import main
from hush.files import order, randomizing, reports, tables

order.MEMORY, randomizing.READ, reports._BATCH_ROWS = 1 << 14, 1 << 12, 1 << 10

def slowly(function, stage):
    def slow(*given):
        Path(stage).touch()
        while not Path("go on").exists():
            time.sleep(0.01)
        return function(*given)
    return slow

if {stage!r} == "reading":
    tables.TableFile._whole = slowly(tables.TableFile._whole, "reading")
else:
    reports.column_of = slowly(reports.column_of, "writing")
main()
"""


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("stage", ["reading", "writing"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left(tmp_path: Path, number: signal.Signals, stage: str, threads: str) -> None:
    """The command waits in the first of a hundred batches or more until the signal has been sent."""
    write_csv(tmp_path / "d.csv", {"v": [0, 1] * 250_000})
    (tmp_path / "wait").mkdir()
    (tmp_path / "r.parquet").write_bytes(b"what was there before")
    chosen = ["d.csv", "--column", "v", "--k", "2", "--mechanism", "GRR", "--epsilon", "1", "--temporary", "wait"]
    words = [sys.executable, "-c", SLOW.format(stage=stage), "privatize", *chosen, "-o", "r.parquet"]
    known = {**os.environ, "HUSH_THREADS": threads}
    with subprocess.Popen(words, cwd=tmp_path, env=known, stderr=subprocess.PIPE, text=True) as process:
        wait_for_file(tmp_path / stage, process)
        process.send_signal(number)
        (tmp_path / "go on").touch()
        _, said = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(number, -number)
    assert "Traceback" not in said
    assert (tmp_path / "r.parquet").read_bytes() == b"what was there before"
    assert list((tmp_path / "wait").iterdir()) == []
    if number != signal.SIGKILL or hasattr(os, "O_TMPFILE"):  # elsewhere some reports may lie in a hidden file
        expected = ["d.csv", "go on", "r.parquet", stage, "wait"]
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(expected)


def test_an_output_that_was_complete_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes it for lost and runs the command again has two reports of each person."""
    table, out = write_csv(tmp_path / "d.csv", {"v": [0, 1] * 100}), tmp_path / "r.parquet"
    chosen = ["--column", "v", "--k", "2", "--mechanism", "GRR", "--epsilon", "1", "-o", out]

    def stop(*_: object, **how: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hush.cli.privatize.Rows.write", stop)
    out.write_bytes(b"what was there before")
    said = run("privatize", table, *chosen)
    assert (said.exit_code, said.stderr) == (130, "Error: interrupted; no half-written file is left\n")
    monkeypatch.undo()
    monkeypatch.setattr("hush.cli.privatize._tell", stop)
    said = run("privatize", table, *chosen, columns=1000)
    warning, error = said.stderr.splitlines()
    assert warning == f"Warning: {out} is complete: it holds all reports, so do not run this again."
    assert (said.exit_code, error) == (130, "Error: interrupted; no half-written file is left")
    assert hush.read(out).n == 200
