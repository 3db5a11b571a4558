"""Everything public is documented: names, mechanisms, commands, options, errors and data sets."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import hush
import hush_studies
from tests.docs.pages import DOCS, ROOT, load_script, read_pages

pytestmark = [pytest.mark.peers]

SOURCE = Path(hush.__file__).parent


def test_every_public_name_is_mentioned() -> None:
    text = read_pages(*sorted(DOCS.glob("*.md")))
    missing = [name for name in hush.__all__ if not re.search(rf"\b(hush\.)?{name}\b", text)]
    assert not missing, f"mention {missing} on a page below docs"


def test_every_public_name_is_in_the_reference() -> None:
    page = read_pages(DOCS / "api.md")
    missing = [name for name in hush.__all__ if not re.search(rf"^::: hush\.{name}$", page, re.M)]
    assert not missing, f"add {missing} to docs/api.md"


@cache
def list_packages() -> list[str]:
    """List the packages that say what they offer; a family of mechanisms offers its classes as names of hush.

    The workbench is a program: its packages offer names to its pages alone, and its own page says what those do.
    """
    found = [info.name for info in pkgutil.walk_packages(hush.__path__, "hush.") if info.ispkg]
    families = [name for name in found if name.startswith("hush.mechanisms.") and name != "hush.mechanisms.numeric"]
    own = [name for name in found if name.startswith("hush.workbench.")]
    return [
        name for name in found if name not in (*families, *own) and hasattr(importlib.import_module(name), "__all__")
    ]


@cache
def list_reference() -> frozenset[str]:
    """List every name that the Python reference has, those of whole packages and lists of members included."""
    list_packages()  # imports them
    page = read_pages(DOCS / "api.md")
    files = {f"hush.{'.'.join(path.relative_to(SOURCE).with_suffix('').parts)}" for path in SOURCE.rglob("*.py")}
    names = set()
    for entry in re.finditer(r"^::: ([\w.]+)$(?:\n    options:\n      members: (false|\[.*\])$)?", page, re.M):
        whole, members = entry[1], entry[2]
        names.add(whole)
        shown = re.findall(r"\w+", members) if members else getattr(sys.modules.get(whole), "__all__", [])
        names |= {f"{whole}.{name}" for name in shown} - files  # of these it shows the file alone, where it is named
    return frozenset(names)


def test_every_name_of_every_package_is_in_the_reference() -> None:
    assert len(list_packages()) > 15
    missing = []
    for package in list_packages():
        module = sys.modules[package]
        offered = [name for name in module.__all__ if getattr(hush, name, None) is not getattr(module, name)]
        missing += [f"{package}.{name}" for name in offered if f"{package}.{name}" not in list_reference()]
    assert not missing, f"add {missing} to docs/api.md"


def test_everything_in_the_reference_is_found_from_hush() -> None:
    """What a page names, `dir(hush)` shows, and a plain `import hush` is enough for."""
    first = sorted({name.split(".")[1] for name in list_reference()})
    assert {"OUE", "plan", "estimation", "exact", "files"} <= {*first}
    assert not {*first} - {*dir(hush)}
    code = f"import hush\nfor name in {first}: getattr(hush, name)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_of_the_studies_is_on_their_page() -> None:
    page = read_pages(DOCS / "reproduce.md")
    missing = [name for name in hush_studies.__all__ if not re.search(rf"`(hush_studies\.)?{name}\b", page)]
    assert not missing, f"add {missing} to docs/reproduce.md"


def test_every_mechanism_is_described() -> None:
    page, readme = read_pages(DOCS / "mechanisms.md"), read_pages(ROOT / "README.md")
    names = [name for name in hush.registry() if ":" not in name]
    assert len(names) > 30
    missing = [f"mechanisms.md has no section on {n}" for n in names if not re.search(rf"^### .*\b{n}\b", page, re.M)]
    missing += [f"README has no row on {n}" for n in names if not re.search(rf"^\| \**\[?`?{n}`?\b", readme, re.M)]
    assert not missing, "\n".join(missing)


def test_every_command_and_option_is_documented() -> None:
    commands = load_script("commands").commands()
    page = read_pages(DOCS / "cli.md")
    assert commands
    missing = [name for name in commands if f"<!-- begin {name} -->" not in page]
    for name, command in commands.items():
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
        missing += [f"{name} {option}" for option in options if option != "--help" and f"`{option}`" not in page]
    assert not missing, f"docs/cli.md does not describe {missing}"


def test_every_error_is_described() -> None:
    page = read_pages(DOCS / "errors.md")
    items = vars(hush.errors).items()
    names = [name for name, item in items if isinstance(item, type) and issubclass(item, hush.HushError)]
    assert len(names) > 5
    missing = [name for name in names if f"`{name}`" not in page]
    assert not missing, f"add {missing} to docs/errors.md"


def test_every_dataset_is_described() -> None:
    page = read_pages(DOCS / "datasets.md")
    names = [
        name
        for name, item in vars(hush.datasets).items()
        if callable(item) and getattr(item, "__annotations__", {}).get("return") == "Population" and name[0] != "_"
    ]
    assert len(names) > 3
    missing = [name for name in names if f"`{name}" not in page]
    assert not missing, f"add {missing} to docs/datasets.md"
