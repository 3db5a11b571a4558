"""The command as a whole, and `hush mechanisms`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import hush
from tests.conftest import NAMES, UTILITY
from tests.system.support import answer, refused, run, shell, write_csv

COMMANDS = [
    "plan", "budget", "capacity", "uldp", "mechanisms", "privatize", "estimate", "combine", "serve", "collection",
    "simulate", "audit", "demo", "reproduce",
]  # fmt: skip


def test_version_in_a_process_of_its_own(tmp_path: Path) -> None:
    said = shell("--version", folder=tmp_path)
    assert (said.returncode, said.stdout) == (0, f"hush {hush.__version__}\n")


def test_the_script_is_installed(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("hush")
    said = subprocess.run([script, "mechanisms", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(said.stdout)["k"] == 100
    assert said.stderr == ""


def test_help() -> None:
    expected = {(): COMMANDS, **{(name,): ["--json"] for name in COMMANDS}}
    wrong = []
    for words, names in expected.items():
        result = run(*words, "--help")
        missing = [name for name in names if name not in result.stdout]
        if result.exit_code or missing:
            wrong.append(f"hush {' '.join(words)} --help leaves with {result.exit_code}, without {missing}")
    assert not wrong, "\n".join(wrong)


HEAVY = ("numba", "scipy", "pyarrow", "matplotlib", "sklearn", "pandas")


def imported_by(code: str, names: Sequence[str]) -> list[str]:
    """Which of some modules are there after some code, in a process of its own."""
    told = f"import sys\n{code}\nprint()\nprint(*[name for name in {tuple(names)!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return said.stdout.split("\n")[-2].split()


def test_importing_the_command_is_cheap() -> None:
    own = [f"hush.cli.{name}" for name in COMMANDS]
    assert imported_by("from hush.cli import app", [*HEAVY, *own, "rich.progress", "hush.planning"]) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_imports_nothing_heavy_before_it_runs(name: str) -> None:
    """Nor another command; imports stand at the top of its file, but for these."""
    others = [f"hush.cli.{each}" for each in COMMANDS if each != name]
    assert imported_by(f"import hush.cli.{name}", [*HEAVY, *others]) == []


def test_a_small_table_is_randomized_without_what_takes_long_to_import(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "d.csv", {"v": [0, 1, 2] * 3, "w": [1] * 9})
    made = ["privatize", str(table), "--column", "v", "--k", "3", "--mechanism", "OUE", "--epsilon", "1"]
    code = f"sys.argv[1:] = {[*made, '-o', str(tmp_path / 'r.parquet')]!r}\n"
    code += "from contextlib import suppress\nfrom hush.cli import app\nwith suppress(SystemExit): app()"
    assert run(*made, "-o", tmp_path / "r.parquet").exit_code == 0  # the kernels are kept now
    assert imported_by(code, ["pandas", "matplotlib", "sklearn", "scipy.linalg", "numba.np.linalg"]) == []


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
