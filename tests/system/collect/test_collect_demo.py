"""`hush demo --serve` at full size, in a process of its own, with a real server beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

import hush
from tests.system.support import heard, shell, words


def test_the_estimate_settles_at_the_truth_and_nothing_is_left_behind(tmp_path: Path) -> None:
    """Squared errors are nearly those of 17 normal laws: nine times their mean has a probability below 1e-20."""
    said = shell("demo", "--serve", "--json", folder=tmp_path, TMPDIR=str(tmp_path))
    assert (said.returncode, said.stderr) == (0, ""), said.stderr
    told = json.loads(said.stdout)
    data = hush.datasets.msnbc()
    assert (told["n"], told["k"], told["epsilon"], told["mechanism"]) == (data.n, 17, 1.0, "OUE")
    assert [row["truth"] for row in told["estimate"]] == list(data.frequencies)
    assert told["looks"][0]["n"] == 1000
    assert told["looks"][-1]["n"] == data.n
    widths = [look["widest"] for look in told["looks"]]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 20
    variance = hush.OUE(k=17, epsilon=1.0).variances(data.frequencies, data.n).mean()
    assert told["expected_rmse"] == pytest.approx(variance**0.5)
    assert told["rmse"] < 3 * told["expected_rmse"]
    assert list(tmp_path.iterdir()) == []


def test_a_person_who_does_not_watch_gets_lines_and_an_end_leaves_nothing_either(tmp_path: Path) -> None:
    process = subprocess.Popen(
        words("demo", "--serve"),
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heard,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first.startswith("    1,000 visitors: ±")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "terminated; no half-written file is left" in said
    assert list(tmp_path.iterdir()) == []
