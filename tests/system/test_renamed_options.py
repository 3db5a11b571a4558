"""One thing has one name in all commands, and what had another in version 0.1 is still understood."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from hush.cli import app
from hush.cli.asked.renamed import RENAMED
from tests.system.support import answer, refused, run

COUNTED = [(command, old, new) for command, names in RENAMED.items() for old, new in names.items()]
ULDP = ("uldp", "--k", 10, "--sensitive", "0-2", "--epsilon", 1)


def options(command: str) -> dict[str, tuple[bool, str]]:
    """Of each option whether it is a flag, and the kind of its value."""
    group = typer.main.get_command(app)
    made = group.get_command(None, command)  # type: ignore[attr-defined, arg-type]
    found = [option for option in made.params if option.param_type_name == "option"]
    return {name: (option.is_flag, option.metavar or "") for option in found for name in option.opts}


@pytest.mark.parametrize(("command", "old", "new"), COUNTED)
def test_an_old_name_is_not_an_option_of_its_own(command: str, old: str, new: str) -> None:
    assert new in options(command)
    assert old not in options(command)
    assert f"{old} " not in run(command, "--help", columns=200).stdout


def test_an_option_that_commands_share_is_of_one_kind() -> None:
    kinds: dict[str, set[bool]] = {}
    for command in typer.main.get_command(app).list_commands(None):  # type: ignore[attr-defined, arg-type]
        for name, (flag, _) in options(command).items():
            kinds.setdefault(name, set()).add(flag)
    assert not {name for name, flags in kinds.items() if len(flags) > 1}
    assert kinds["--clip"] == {True}


def test_pictures_and_folders_have_one_name() -> None:
    commands = typer.main.get_command(app).list_commands(None)  # type: ignore[attr-defined, arg-type]
    assert {c for c in commands if "--png" in options(c)} == {
        "plan", "budget", "capacity", "estimate", "simulate", "audit",
    }  # fmt: skip
    assert {c for c in commands if "--output" in options(c)} == {"privatize", "demo", "reproduce"}
    for c in commands:
        assert ("-o" in options(c)) == ("--output" in options(c))


@pytest.mark.parametrize("spelled", [("--plot", "{}"), ("--plot={}",)])
def test_an_old_name_warns_and_does_the_same(tmp_path: Path, spelled: tuple[str, ...]) -> None:
    told = run("plan", "--k", 5, "--n", 1000, *(word.format(tmp_path / "p.png") for word in spelled))
    assert told.exit_code == 0
    assert told.stderr.count("Warning: --plot is now --png; the old name goes in version 0.3.") == 1
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_an_old_name_changes_no_answer_and_no_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text("value,count\n" + "".join(f"{v},100\n" for v in range(10)))
    people = ("capacity", "--mechanism", "GRR", "--counts", file, "--cap", 3000, "--seed", 7)
    old = answer(*people, "--threshold", 0.05, "--metric", "error", "--clip", 8)["spec"]
    assert old == answer(*people, "--probability", 0.05, "--outcome", "error", "--clip-above", 8)["spec"]
    never = ("--max-epsilon", 0.002)
    assert run(*people, "--threshold", 0.05, *never).exit_code == run(*people, "--probability", 0.05, *never).exit_code
    assert run(*people, "--threshold", 0.05, *never).exit_code == 1
    assert "--probability must be a number above 0" in refused(*people, "--threshold", 7)


def test_an_old_name_beside_the_new_one_is_refused(tmp_path: Path) -> None:
    both = ("--plot", tmp_path / "a.png", "--png", tmp_path / "b.png")
    assert "--png must be given once, got it 2 times" in refused("plan", "--k", 5, "--n", 1000, *both)
    assert "--matters must be given once" in refused(*ULDP, "--matters", "bits", "--prefer", "bits")
    assert not list(tmp_path.iterdir())


def test_a_value_that_looks_like_an_old_name_is_a_value() -> None:
    said = refused("uldp", "--matters", "--prefer", "--k", 10, "--sensitive", "0", "--epsilon", 1)
    assert "--matters must be one of accuracy, bits, work, got '--prefer'" in said


@pytest.mark.parametrize(("old", "new"), [("utility", "accuracy"), ("computation", "work")])
def test_uldp_knows_the_old_words_for_what_matters(old: str, new: str) -> None:
    told = run(*ULDP, "--prefer", old)
    assert told.exit_code == 0
    assert f"--matters {old} is now {new}" in told.stderr
    assert answer(*ULDP, "--prefer", old) == answer(*ULDP, "--matters", new)
