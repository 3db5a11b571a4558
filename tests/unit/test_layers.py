"""A folder imports only the folders above it, `import hush` stays light, and a class has a name of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


@dataclass(frozen=True)
class Contents:
    """What a file imports and defines."""

    names: tuple[str, ...]
    """Modules that it imports, or imports from: `a.b` of `from a.b import c`."""

    members: tuple[str, ...]
    """Names that it imports from modules: `a.b.c` of `from a.b import c`."""

    classes: tuple[tuple[str, int], ...]
    """Classes and their lines."""

    mentions_studies: bool


@cache
def read_contents(path: Path) -> Contents:
    """Read a file once for all tests."""
    text = path.read_text(encoding="utf-8")
    names: list[str] = []
    members: list[str] = []
    classes: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
            names += found if node.module == "hush" else [node.module or ""]
            members += found
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ClassDef):
            classes.append((node.name, node.lineno))
    return Contents(tuple(names), tuple(members), tuple(classes), "hush_studies" in text)


def imported_layers(path: Path) -> set[str]:
    """Return the layers that a file imports."""
    return {name.split(".")[1] for name in read_contents(path).names if name.startswith("hush.")}


def layer_of(path: Path) -> str:
    """Return the layer that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_file_belongs_to_a_layer() -> None:
    assert {path.name for path in {*ROOT.glob("*.py")} - {*INSIDE}} == {"__init__.py", "__main__.py"}
    assert {layer_of(path) for path in INSIDE} <= {*LAYERS}


def test_layers_import_only_those_above() -> None:
    assert len(INSIDE) > 500
    wrong = []
    for path in INSIDE:
        layer = layer_of(path)
        below = {*LAYERS[LAYERS.index(layer) + 1 :]} & imported_layers(path)
        wrong += [f"{path.relative_to(ROOT)} imports {name}, which is below {layer}" for name in sorted(below)]
    assert not wrong, "\n".join(wrong)


def test_the_design_page_lists_the_layers_in_their_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text(encoding="utf-8")
    first, *folders = page.partition("```text\n")[2].partition("```")[0].splitlines()
    listed = [*first.rpartition("     ")[0].split(), *(line.split()[0].removesuffix("/") for line in folders)]
    there = {layer_of(path) for path in INSIDE}
    assert listed == [layer for layer in LAYERS if layer in there and not layer.startswith("_")]


def test_the_studies_stand_below_everything_but_the_command_that_runs_them() -> None:
    uses = {path for path in ROOT.rglob("*.py") if read_contents(path).mentions_studies}
    assert {path.relative_to(ROOT).as_posix() for path in uses} == {"cli/reproduce.py"}
    wrong = [str(path.relative_to(STUDIES)) for path in STUDIES.rglob("*.py") if "cli" in imported_layers(path)]
    assert not wrong, f"{wrong} import hush.cli"


def test_beside_commands_stand_their_three_rooms_and_nothing_else() -> None:
    cli = ROOT / "cli"
    files = {path.stem for path in cli.glob("*.py")}
    assert files == {*COMMANDS, "__init__", "_app"}
    assert {path.parent.name for path in cli.glob("*/*.py")} == {*ROOMS}


def test_rooms_of_commands_import_no_command_and_no_room_above_them() -> None:
    wrong = []
    for room, others in ROOMS.items():
        for path in (ROOT / "cli" / room).glob("*.py"):
            names = {name.split(".")[2] for name in read_contents(path).members if name.startswith("hush.cli.")}
            wrong += [f"{room}/{path.name} imports {name}" for name in sorted(names - {*others, room})]
    assert not wrong, "\n".join(wrong)


def test_import_brings_no_heavy_package() -> None:
    heavy = ("numba", "scipy", "pyarrow", "matplotlib", "pandas", "typer")
    code = f"import sys, hush; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_no_class_name_is_defined_twice() -> None:
    places: dict[str, list[str]] = {}
    for root in (ROOT, STUDIES):
        for path in sorted(root.rglob("*.py")):
            for name, line in read_contents(path).classes:
                places.setdefault(name, []).append(f"{path.relative_to(root.parent)}:{line}")
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
    assert len(set(names)) == len(names)  # so that a name means one file


def test_what_is_private_to_a_folder_stays_there() -> None:
    """A name with an underscore is imported by its own folder, and by the folders in it."""
    strangers = []
    for root in (ROOT, STUDIES):
        for path in sorted(root.rglob("*.py")):
            folder = ".".join(path.relative_to(root.parent).parent.parts)
            names = [name for name in read_contents(path).members if name.startswith("hush")]
            wrong = [name for name in names if not may_import(folder, name)]
            strangers += [f"{path.relative_to(root.parent)} imports {name}" for name in wrong]
    assert not strangers, "\n".join(strangers)


def may_import(folder: str, name: str) -> bool:
    """Return whether files of a folder may import a name, by its underscores."""
    parts = name.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
    if private is None:
        return True
    owner = ".".join(parts[:private])
    return f"{folder}.".startswith(f"{owner}.") or owner.startswith(f"{folder}.")
