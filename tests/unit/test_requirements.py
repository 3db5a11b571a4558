"""What is installed is what pyproject.toml allows, hashed, and each least version is the one that is tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hush
from tests import interpreters

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CORE: list[str] = PROJECT["project"]["dependencies"]
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]


def locked(name: str) -> dict[str, str]:
    """The versions of a file, by name."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("core", CORE),
        ("dev", [*CORE, *(each for extra in EXTRAS if extra not in ("dev", "spark") for each in EXTRAS[extra])]),
        ("spark", [*CORE, *EXTRAS["spark"]]),
    ],
)
def test_every_requirement_is_locked_at_a_version_that_it_allows(name: str, asked: list[str]) -> None:
    versions = locked(name)
    for requirement in map(Requirement, [*asked, *PROJECT["build-system"]["requires"]]):
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_core_is_a_part_of_dev() -> None:
    assert locked("core").items() <= locked("dev").items()


def test_the_least_versions_are_those_that_are_tested() -> None:
    versions = locked("minimum")
    tested = [*CORE, *(each for extra in ("pandas", "audit", "budget", "collect") for each in EXTRAS[extra])]
    for requirement in map(Requirement, tested):
        (least,) = (each.version for each in requirement.specifier if each.operator == ">=")
        assert Requirement(f"x=={least}").specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize("name", ["core", "dev", "minimum"])
def test_every_package_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    for block in re.split(r"\n(?=\S)", text.split("\n", 1)[1].rstrip("\n")):
        one = r"[\w.-]+==\S+( ; [\w .<>=!'\"]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+"
        assert re.fullmatch(one, block), block[:80]
    assert "://" not in text


def test_the_citation_is_of_this_version() -> None:
    told = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert told is not None
    assert told[1] == hush.__version__.split(".dev")[0]


def test_the_workflow_runs_the_two_commands_of_the_readme() -> None:
    shown = re.findall(r"^(make \w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    run = re.findall(r"- run: (.+)", (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    assert run == shown == ["make demo", "make test"]


def test_the_newest_python_that_starts_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shim that does not start, and one that is another version, are passed over."""
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))

    def put(path: str, said: str) -> Path:
        whole = tmp_path / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(f"#!/bin/sh\n{said}\n")
        whole.chmod(0o755)
        return whole

    assert interpreters.newest(["3.12", "3.13"]) is None
    put("shims/python3.13", "exit 127")
    put("versions/3.13.2/bin/python3.13", "echo 3.11")
    older = put("versions/3.12.9/bin/python3.12", "echo 3.12")
    assert interpreters.newest(["3.12", "3.13"]) == ("3.12", str(older))
    put("versions/3.13.4/bin/python3.13", "echo 3.13")
    later = put("versions/3.13.10/bin/python3.13", "echo 3.13")
    assert interpreters.newest(["3.12", "3.13"]) == ("3.13", str(later))
    put("shims/python3.13", "echo 3.13")
    assert interpreters.newest(["3.12", "3.13"]) == ("3.13", "python3.13")
