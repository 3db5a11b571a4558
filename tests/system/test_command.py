"""The command as a whole, and `hush mechanisms`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hush
from tests.conftest import NAMES, UTILITY
from tests.system.support import answer, refused, run, shell

COMMANDS = [
    "plan", "budget", "capacity", "uldp", "mechanisms", "privatize", "estimate", "simulate", "audit", "demo",
    "reproduce",
]  # fmt: skip


def test_version_in_a_process_of_its_own(tmp_path: Path) -> None:
    said = shell("--version", folder=tmp_path)
    assert (said.returncode, said.stdout) == (0, f"hush {hush.__version__}\n")


def test_the_script_is_installed(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("hush")
    said = subprocess.run([script, "mechanisms", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(said.stdout)["k"] == 100
    assert said.stderr == ""


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help(command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in (COMMANDS if not command else ["--json"]))


def test_importing_the_command_is_cheap() -> None:
    heavy = "matplotlib", "pyarrow", "numba", "pandas", "rich.progress"
    code = f"import sys; from hush.cli import app; print([m for m in {heavy!r} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_mechanisms_agree_with_the_library() -> None:
    rows = {row["name"]: row for row in answer("mechanisms", "--k", 20, "--epsilon", 0.5)["mechanisms"]}
    assert set(NAMES) <= set(rows)
    assert not UTILITY & set(rows)
    m = hush.SS(k=20, epsilon=0.5)
    assert rows["SS"] == {
        "name": "SS",
        "full_name": "subset selection",
        "family": "subset",
        "guarantee": "0.5-LDP",
        "epsilon": 0.5,
        "delta": None,
        "exact_epsilon": m.exact_epsilon(),
        "p_star": m.p_star,
        "q_star": m.q_star,
        "parameters": {"omega": m.omega},
        "variance": m.variance(),
        "asr": m.asr(),
        "bits": m.bits,
        "bytes": m.report_dtype.itemsize,
    }
    assert rows["AGM"]["delta"] == 1e-5
    assert rows["SHE"]["p_star"] is rows["HR"]["p_star"] is None
    assert (rows["LHO"]["guarantee"], rows["LHO"]["exact_epsilon"]) == (None, "inf")
    assert rows["UE"]["parameters"] == {"p": 0.75}
    assert rows["LH"]["parameters"] == rows["LHO"]["parameters"] == {"g": 4}


def test_mechanisms_that_do_not_fit_say_why() -> None:
    rows = {row["name"]: row for row in answer("mechanisms", "--epsilon", 2, "--delta", 0.5)["mechanisms"]}
    assert "epsilon must be" in rows["GM"]["unavailable"]
    assert "delta must be" in rows["AOLH"]["unavailable"]
    shown = run("mechanisms", "--epsilon", 2, "--delta", 0.5).stdout
    assert "GM is not available here: epsilon must be" in shown


def test_mechanisms_takes_parameters_and_names() -> None:
    rows = answer("mechanisms", "--mechanism", "lh", "--mechanism", "UE", "--set", "g=8", "--set", "p=0.6")[
        "mechanisms"
    ]
    assert [(row["name"], row["parameters"]) for row in rows] == [("LH", {"g": 8}), ("UE", {"p": 0.6})]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--k", 1], ["k must be", "got 1"]),
        (["--epsilon", 0], ["epsilon must be", "got 0.0"]),
        (["--delta", 2], ["delta must be", "got 2.0"]),
        (["--set", "zap=1"], ["--set must name a parameter", "zap=1"]),
        (["--set", "g"], ["--set must look like name=value", "'g'"]),
        (["--set", "g=2", "--set", "g=3"], ["g must be given once"]),
        (["--mechanism", "OUF"], ["--mechanism must be a known name", "did you mean OUE"]),
        (["--mechanism", "zzzzzz"], ["--mechanism must be a known name", "use one of GRR"]),
        (["--k", "many"], ["--k must be a whole number", "'many'", "--k 100"]),
    ],
)
def test_mechanisms_refuses(arguments: list[object], words: list[str]) -> None:
    message = refused("mechanisms", *arguments)
    assert all(word in message for word in words), message
