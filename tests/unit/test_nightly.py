"""The parts of `make nightly`: what is run, what is skipped, what is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import nightly
from tests.nightly import Outcome, counts_of, digest_files, list_parts, main, read_outcomes, run_part, summary


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two parts that note that they ran, of which one fails until a file is there."""
    note = f"open({str(tmp_path / 'ran')!r}, 'a').write"
    fails = f"import os, sys; {note}('b'); sys.exit(not os.path.exists({str(tmp_path / 'mended')!r}))"
    commands = {"first": python(f"{note}('a'); print('== 3 passed, 1 skipped in 0.5s ==')"), "second": python(fails)}
    monkeypatch.setattr(nightly, "list_parts", lambda: commands)
    monkeypatch.setattr(nightly, "FOLDER", tmp_path / "nightly")
    monkeypatch.setattr(nightly, "digest_files", lambda: "same")
    return tmp_path


def test_a_part_that_passed_is_skipped_until_files_change(
    parts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 1
    assert "second           FAILED" in capsys.readouterr().out
    (parts / "mended").touch()
    assert main([]) == 0
    assert (parts / "ran").read_text() == "abb"
    shown = capsys.readouterr().out
    assert "3 passed, 1 skipped; passed before on the same files" in shown
    assert "nightly: 2 parts passed, 0 failed" in shown
    assert main(["--fresh", "first"]) == 0
    monkeypatch.setattr(nightly, "digest_files", lambda: "other")
    assert main(["second"]) == 0
    assert (parts / "ran").read_text() == "abbab"


def test_without_git_nothing_is_skipped(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nightly, "digest_files", lambda: None)
    assert [main(["first"]), main(["first"])] == [0, 0]
    assert (parts / "ran").read_text() == "aa"


def test_an_unknown_part_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["sistem"])
    assert "unknown part sistem; choose from static, laws" in capsys.readouterr().err


def test_a_part_keeps_a_log(tmp_path: Path) -> None:
    outcome = run_part("one", python("print('5 passed in 1.25s'); raise SystemExit(3)"), "files", tmp_path)
    assert (outcome.passed, outcome.counts, outcome.files) == (False, "5 passed", "files")
    assert (tmp_path / "one.log").read_text() == "5 passed in 1.25s\n"
    assert read_outcomes(tmp_path) == {}


def test_counts_are_those_of_every_run_in_a_log() -> None:
    log = "...\n2 passed, 1 skipped in 3.20s\nmore\n=== 1 failed, 7 passed in 65.00s (0:01:05) ===\n"
    assert counts_of(log) == "2 passed, 1 skipped; 1 failed, 7 passed"
    assert counts_of("nothing ran\n") == ""


def test_the_summary_adds_up() -> None:
    shown = summary({"a": Outcome("", True, 60.0, "3 passed"), "b": Outcome("", False, 30.0)}, set())
    assert shown.splitlines()[-1] == "nightly: 1 parts passed, 1 failed, 1.5 minutes"


def test_the_digest_changes_with_a_file_that_git_would_track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert digest_files() is None
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("*.log\n")
    before = digest_files()
    (tmp_path / "a.log").write_text("ignored")
    assert digest_files() == before
    (tmp_path / "a.py").write_text("x = 1\n")
    assert digest_files() != before


def test_parts_name_targets_and_folders_that_exist() -> None:
    makefile = (nightly.ROOT / "Makefile").read_text("utf-8")
    for name, command in list_parts().items():
        targets = [word for word in command[2:] if "=" not in word]
        assert targets, name
        for target in targets:
            assert f"\n{target}:" in makefile, target
