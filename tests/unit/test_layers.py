"""A folder imports only the folders above it, `import hush` stays light, and a class has a name of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hush
import hush_studies
from hush.cli._app import COMMANDS

ROOT = Path(hush.__file__).parent
LAYERS = [
    "_start", "_modules", "errors", "types", "rules", "strict_json", "canonical", "guarantee", "exact", "statistics",
    "randomness", "atomic", "people", "datasets",
    "kernels", "estimation", "analysis", "simulation", "mechanisms", "utility", "longitudinal", "multidim",
    "attacks", "audit", "planning", "testing", "files", "reports", "engine", "collect", "workbench", "cli",
]  # fmt: skip
ROOMS = {"shown": (), "process": ("shown",), "asked": ("shown", "process")}
"""What stands beside the commands, and which of it each room may use."""

STUDIES = Path(hush_studies.__file__).parent
INSIDE = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in LAYERS)
"""All files but those that hold the layers together."""


def imported(path: Path) -> set[str]:
    """The layers that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        if isinstance(node, ast.ImportFrom) and node.module == "hush":
            names = [f"hush.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("hush.")}
    return found


def test_every_file_belongs_to_a_layer() -> None:
    assert {path.name for path in {*ROOT.glob("*.py")} - {*INSIDE}} == {"__init__.py", "__main__.py"}
    assert {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in INSIDE} <= {*LAYERS}


@pytest.mark.parametrize("path", INSIDE, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_layer_imports_only_those_above(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    allowed = {*LAYERS[: LAYERS.index(layer) + 1]}
    names = {name for name in imported(path) if name in LAYERS}
    assert names <= allowed, f"{path.name} imports {names - allowed}, which lie below {layer}"


def test_the_design_page_lists_the_layers_in_their_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text(encoding="utf-8")
    first, *folders = page.partition("```text\n")[2].partition("```")[0].splitlines()
    listed = [*first.rpartition("     ")[0].split(), *(line.split()[0].removesuffix("/") for line in folders)]
    there = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in INSIDE}
    assert listed == [layer for layer in LAYERS if layer in there and not layer.startswith("_")]


def test_the_studies_stand_below_everything_but_the_command_that_runs_them() -> None:
    uses = {path for path in ROOT.rglob("*.py") if "hush_studies" in path.read_text(encoding="utf-8")}
    assert {path.relative_to(ROOT).as_posix() for path in uses} == {"cli/reproduce.py"}
    for path in STUDIES.rglob("*.py"):
        assert "cli" not in imported(path), path


def test_beside_commands_stand_their_three_rooms_and_nothing_else() -> None:
    cli = ROOT / "cli"
    files = {path.stem for path in cli.glob("*.py")}
    assert files == {*COMMANDS, "__init__", "_app"}
    assert {path.parent.name for path in cli.glob("*/*.py")} == {*ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_of_commands_imports_no_command_and_no_room_above_it(room: str) -> None:
    allowed = {*ROOMS[room], room}
    for path in (ROOT / "cli" / room).glob("*.py"):
        found = rooms_of(path)
        assert found <= allowed, f"{path.name} imports {found - allowed}"


def rooms_of(path: Path) -> set[str]:
    """What of the commands a file imports: rooms, or commands."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}" for node in nodes for alias in node.names]
    return {name.split(".")[2] for name in names if name.startswith("hush.cli.")}


def test_import_brings_no_heavy_package() -> None:
    heavy = ("numba", "scipy", "pyarrow", "matplotlib", "pandas", "typer")
    code = f"import sys, hush; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_public_names_exist_and_are_importable() -> None:
    for name in hush.__all__:
        assert getattr(hush, name) is not None
    assert len(set(hush.__all__)) == len(hush.__all__)


def test_no_class_name_is_defined_twice() -> None:
    places: dict[str, list[str]] = {}
    for root in (ROOT, STUDIES):
        for path in sorted(root.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(f"{path.relative_to(root.parent)}:{node.lineno}")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert len(places) > 100
    assert not twice, f"rename all but one of {twice}"


def test_unit_tests_mirror_the_source() -> None:
    """A folder of unit tests is of the package of that name; what is about all of them stands above the folders."""
    folders = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir() and any(path.glob("test_*.py"))}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders <= packages | {"studies"}
    assert {"analysis", "audit", "mechanisms", "planning"} <= folders
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert len(set(names)) == len(names)  # tests.versions and tests.quick know files by name


@pytest.mark.parametrize("root", [ROOT, STUDIES], ids=["hush", "hush_studies"])
def test_what_is_private_to_a_folder_stays_there(root: Path) -> None:
    """A name with an underscore is imported by its own folder, and by the folders in it."""
    strangers = []
    for path in sorted(root.rglob("*.py")):
        folder = ".".join(path.relative_to(root.parent).parent.parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("hush"):
                continue
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                parts = name.split(".")
                private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
                owner = None if private is None else ".".join(parts[:private])
                if (
                    owner is not None
                    and not f"{folder}.".startswith(f"{owner}.")
                    and not owner.startswith(f"{folder}.")
                ):
                    strangers.append(f"{path.relative_to(root.parent)} imports {name}")
    assert not strangers
