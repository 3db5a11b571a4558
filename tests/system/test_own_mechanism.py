"""A mechanism of the user's own, by module:Class, in the folder where the command runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.support import COIN, shell, shells, write_csv

CHOSEN = ("--mechanism", "coin:Coin", "--epsilon", 1.0986122886681098, "--set", "w=3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "coin.py").write_text(COIN)
    (tmp_path / "broken.py").write_text("1 / 0")
    write_csv(tmp_path / "d.csv", {"v": [0] * 600 + [1] * 300 + [2] * 100})
    return tmp_path


def test_the_whole_road(folder: Path) -> None:
    made, untrusted, trusted = shells(
        ("privatize", "d.csv", "--column", "v", "--k", 3, *CHOSEN, "-o", "r.parquet"),
        ("estimate", "r.parquet"),
        ("estimate", "r.parquet", "--mechanism", "coin:Coin", "--json"),
        folder=folder,
    )
    assert made.returncode == 0, made.stderr
    assert untrusted.returncode == 2
    assert "runs no code a file names" in untrusted.stderr
    assert "--mechanism coin:Coin" in untrusted.stderr
    told = json.loads(trusted.stdout)
    assert told["spec"]["mechanism"]["mechanism"] == "coin:Coin"
    for row, truth in zip(told["estimate"], (0.6, 0.3, 0.1), strict=True):
        assert abs(row["frequency"] - truth) < 6 * row["stderr"]


def test_mechanisms_and_simulate(folder: Path) -> None:
    made = ("--k", 3, *CHOSEN, "--dataset", "uniform", "--n", 1000, "--runs", 3, "--seed", 7, "--json")
    listed, simulated = shells(
        ("mechanisms", "--mechanism", "coin:Coin", "--k", 3, "--json"), ("simulate", *made), folder=folder
    )
    row = json.loads(listed.stdout)
    assert row["mechanisms"][0]["name"] == "coin:Coin"
    assert row["mechanisms"][0]["p_star"] == 0.6
    told = json.loads(simulated.stdout)
    assert told["asr_expected"] == 0.6
    assert abs(told["asr"] - 0.6) < 6 * told["asr_stderr"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nope:Coin", ["importable as module:Class", "No module named 'nope'"]),
        ("coin:Coins", ["must name a class that coin has", "'coin:Coins'"]),
        ("broken:Coin", ["importable as module:Class", "ZeroDivisionError"]),
        ("coin:NOT_A_MECHANISM", ["--mechanism must be a mechanism class"]),
    ],
)
def test_refuses(folder: Path, name: str, words: list[str]) -> None:
    said = shell(
        "privatize",
        "d.csv",
        "--column",
        "v",
        "--k",
        3,
        "--epsilon",
        1,
        "--mechanism",
        name,
        "-o",
        "r.parquet",
        folder=folder,
    )
    assert said.returncode == 2
    assert all(word in said.stderr for word in words), said.stderr
    assert "Traceback" not in said.stderr
    assert not (folder / "r.parquet").exists()


def test_an_interrupt_leaves_nothing_behind(folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    chosen = ("--k", 3, "--epsilon", 1, "--mechanism", "coin:Interrupted")
    said = shell("privatize", "d.csv", "--column", "v", *chosen, "-o", "r.parquet", folder=folder)
    assert said.returncode == 130
    assert "interrupted" in said.stderr
    assert "Traceback" not in said.stderr
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == before
