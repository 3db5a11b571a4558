"""The page "Run a collection" is true: its commands, run by a shell as they stand there, end in the chart."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.collect.serving import Running, serving

PAGE = (Path(__file__).parents[3] / "docs" / "run-a-collection.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<title>[\w.]+)")?\n(?P<text>.*?)^```$', re.M | re.S)


def _section(title: str) -> list[re.Match[str]]:
    return list(BLOCK.finditer(PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]))


def _commands(title: str) -> list[str]:
    shells = [block["text"] for block in _section(title) if block["kind"] == "sh"]
    return [line for text in shells for line in text.splitlines() if line]


class Shell:
    """Runs lines one after the other, with the variables that they exported."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._env = {name: value for name, value in os.environ.items() if not name.startswith("HUSH_")}
        self._env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._env["COLUMNS"] = "200"

    def __call__(self, line: str) -> str:
        """What a line prints; it must succeed."""
        if line.startswith("export "):
            self._env |= dict(pair.split("=", 1) for pair in line.removeprefix("export ").split())
            return ""
        done = subprocess.run(
            ["bash", "-c", line], cwd=self._folder, env=self._env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page."""
    made = tmp_path_factory.mktemp("page")
    for block in _section("Ten commands"):
        if block["title"]:
            (made / block["title"]).write_text(block["text"], encoding="utf-8")
    assert {path.name for path in made.iterdir()} == {"places.txt", "answers.py"}
    return made


def _as_here(line: str, server: Running, address: str) -> str:
    """A line with what a person would have copied: the address and the token that were printed."""
    line = re.sub(r"http://127\.0\.0\.1:8470/v1/collections/…", address, line)
    return line.replace("http://127.0.0.1:8470", server.url).replace("hush-admin-…", server.token)


def test_ten_commands_end_in_a_chart_and_the_others_do_what_they_say(folder: Path) -> None:
    lines = _commands("Ten commands")
    assert len(lines) == 10
    assert lines[1:3] == ["pip install '.[collect]'", "hush serve"]
    with serving(folder, HUSH_BACKUPS=".") as server:
        shell = Shell(folder)
        said, address = "", ""
        for line in lines[3:]:
            said = shell(_as_here(line, server, address))
            found = re.search(r"^address +(\S+)$", said, re.M)
            address = found[1] if found else address
            if line.startswith("python "):
                assert said == "['accepted']\n"
        assert all(place in said for place in ("museum", "park", "pool", "home"))
        assert (folder / "outings.png").read_bytes().startswith(b"\x89PNG")
        (group,) = json.loads(shell("hush estimate outings.parquet --json"))["groups"]
        truth = {"museum": 0.1, "park": 0.4, "pool": 0.2, "home": 0.3}
        assert group["n"] == 5000
        for row in group["estimate"]:  # chance of the draw and of the noise: eight standard errors
            assert abs(row["frequency"] - truth[row["label"]]) < 8 * row["stderr"]
        lines = _commands("While it runs")
        restoring = lines.pop()
        assert restoring.startswith("hush collection restore ")
        for line in lines:
            known = json.loads(shell("hush collection token list --json"))["tokens"] if "revoke" in line else []
            id = next((each["id"] for each in known if each["label"] == "ingest"), "")
            said = shell(line.replace("1f0c9a2e", id))
            assert said or ">" in line
        assert json.loads(shell("hush collection show outings --json"))["status"] == "closed"
        assert server.stop() == 0
    shell("export HUSH_SERVER= HUSH_TOKEN=")
    shell(restoring)
    assert json.loads(shell("hush collection show outings --json"))["n"] == 5000
