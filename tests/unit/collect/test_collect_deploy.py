"""The image and the unit name what there is: files, commands, settings, and a user who may do little."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from hush.collect.server.running import Server
from hush.collect.settings import ServerSettings
from tests.system.support import run

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "deploy" / "hush-collector.service"
DOCKER = re.sub(r"\\\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
SETTINGS = {ServerSettings.variable(each.name) for each in fields(ServerSettings)}


def _instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKER, re.M)


def _environment() -> dict[str, str]:
    """What the image and the unit set."""
    pairs = [pair for line in _instructions("ENV") for pair in shlex.split(line)]
    pairs += re.findall(r"^Environment=(.*)$", UNIT.read_text(), re.M)
    return dict(pair.split("=", 1) for pair in pairs)


def test_the_image_copies_what_a_build_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = {word for line in _instructions("COPY") if "--from" not in line for word in line.split()[:-1]}
    assert {project["readme"], "LICENSE", "pyproject.toml", "src"} == copied
    assert all((ROOT / name).exists() for name in copied)
    assert "collect" in project["optional-dependencies"]
    assert "'.[collect]'" in DOCKER
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == allowed


def test_the_image_runs_as_nobody_of_importance_over_a_volume() -> None:
    assert _instructions("FROM") == ["python:3.11-slim AS build", "python:3.11-slim"]
    assert _instructions("USER") == ["hush"]
    assert f"--uid {ServerSettings.port} " in DOCKER
    (volume,) = _instructions("VOLUME")
    assert _instructions("WORKDIR")[-1] == volume
    assert _environment_of_image()["HUSH_STORE"] == f"{volume}/{ServerSettings.store}"
    assert _instructions("EXPOSE") == [str(ServerSettings.port)]
    assert DOCKER.index("\nUSER hush") < DOCKER.index("\nENTRYPOINT")


def _environment_of_image() -> dict[str, str]:
    return dict(pair.split("=", 1) for line in _instructions("ENV") for pair in shlex.split(line))


def test_what_they_set_are_settings() -> None:
    ours = {name for name in _environment() if name.startswith("HUSH_")}
    assert {"HUSH_STORE", "HUSH_FIRST_TOKEN"} <= ours <= SETTINGS
    values = {name: value.replace("%S", "/s") for name, value in _environment().items() if name in ours}
    assert ServerSettings.from_environment(values).first_token is False


def test_what_they_run_exists() -> None:
    (entry,), (command,) = _instructions("ENTRYPOINT"), _instructions("CMD")
    started = [*json.loads(entry), *json.loads(command)]
    (unit,) = re.findall(r"^ExecStart=\S+/bin/(.*)$", UNIT.read_text(), re.M)
    assert started == unit.split() == ["hush", "serve"]
    assert run("serve", "--help").exit_code == 0
    assert "/opt/hush/bin" in _environment_of_image()["PATH"]
    for text in (DOCKER, UNIT.read_text()):
        (made,) = re.findall(r"(collection token new --role admin.*)", text)
        words = [word for word in shlex.split(made) if word.startswith("--")]
        told = run("collection", "token", "new", "--help").stdout
        assert all(word in told for word in words)


def test_the_health_check_tells_a_server_that_answers_from_none(tmp_path: Path) -> None:
    (line,) = re.findall(r"HEALTHCHECK .*? CMD (\[.*\])$", DOCKER, re.M)
    program, *rest = json.loads(line)
    assert program == "python"
    with Server(ServerSettings(store=str(tmp_path / "store.db"), port=0)) as server:
        port = str(server.port)
        assert subprocess.run([sys.executable, *rest], env={"HUSH_PORT": port}, check=False).returncode == 0
    gone = subprocess.run([sys.executable, *rest], env={"HUSH_PORT": port}, capture_output=True, check=False)
    assert gone.returncode != 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_reads_the_unit_and_finds_little_to_attack(tmp_path: Path) -> None:
    installed = tmp_path / UNIT.name
    script = Path(sys.executable).with_name("hush")
    installed.write_text(UNIT.read_text().replace("/opt/hush/bin/hush", str(script)))
    verified = subprocess.run(["systemd-analyze", "verify", installed], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = ["systemd-analyze", "security", "--offline=true", "--threshold=20", installed]
    assert subprocess.run(judged, capture_output=True, check=False).returncode == 0
    for line in ("DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="):
        assert f"\n{line}\n" in UNIT.read_text()
