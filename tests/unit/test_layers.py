"""A folder imports only the folders above it, and `import hush` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hush

ROOT = Path(hush.__file__).parent
LAYERS = [
    "_start", "errors", "types", "columns", "_json", "_statistics", "_index", "randomness", "domain", "datasets",
    "kernels", "files", "estimation", "analysis", "simulation", "mechanisms", "utility", "longitudinal", "multidim",
    "attacks", "audit", "planning", "testing", "engine", "collect", "reports", "reproduce", "workbench", "cli",
]  # fmt: skip
TOP = {"__init__.py", "__main__.py"}


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


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_layer_imports_only_those_above(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if path.parent == ROOT and path.name in TOP:
        assert layer in {"__init__", "__main__"}
        return
    assert layer in LAYERS, f"{layer} is not a layer of the design"
    allowed = {*LAYERS[: LAYERS.index(layer) + 1]}
    names = {name for name in imported(path) if name in LAYERS}
    assert names <= allowed, f"{path.name} imports {names - allowed}, which lie below {layer}"


def test_import_brings_no_heavy_package() -> None:
    heavy = ("numba", "scipy", "pyarrow", "matplotlib", "pandas", "typer")
    code = f"import sys, hush; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_public_names_exist_and_are_importable() -> None:
    for name in hush.__all__:
        assert getattr(hush, name) is not None
    assert len(set(hush.__all__)) == len(hush.__all__)
