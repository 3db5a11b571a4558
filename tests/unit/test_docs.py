"""The documentation is true: its examples run, its numbers come out, and nothing public goes unmentioned."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

import hush
import hush_studies
from hush.cli import app
from hush.cli._app import COMMANDS

mpl.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCE = Path(hush.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(?P<language>\w+)?(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.M | re.S)
LANGUAGES = {
    "python",  # run; a block with >>> is checked for its output; one with a title is a file to import
    "console",  # each line that starts with "$ hush" is run and must succeed, or end as "exit=2" says
    "sh", "json", "text", "javascript", "typescript", "html",  # shown
}  # fmt: skip


@dataclass
class Block:
    """A fenced block and where it stands."""

    language: str
    info: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(m["language"] or "", m["info"], m["code"], text[: m.start()].count("\n") + 1)
        for m in FENCE.finditer(text)
    ]


def written(pages: list[Path]) -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def identify(page: Path) -> str:
    return page.name


# Examples.


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Top to bottom, in one namespace, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    space: dict[str, Any] = {"__name__": page.stem.replace("-", "_")}
    try:
        for block in blocks(page):
            run(block, space, page, tmp_path)
    finally:
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
                del sys.modules[name]


def run(block: Block, space: dict[str, Any], page: Path, folder: Path) -> None:
    if block.language == "python":
        title = re.search(r'title="([\w./]+)"', block.info)
        if title:
            (folder / title[1]).write_text(block.code, encoding="utf-8")
        elif ">>>" in block.code:
            compare(block, space, page)
        else:
            padded = "\n" * block.line + block.code
            exec(compile(padded, str(page), "exec", dont_inherit=True), space)
    elif block.language == "console":
        expected = re.search(r"exit=(\d)", block.info)
        for line in block.code.replace("\\\n", " ").splitlines():
            if line.startswith("$ hush "):
                command(line, int(expected[1]) if expected else 0, page)


def compare(block: Block, space: dict[str, Any], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, space, page.name, str(page), block.line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    heard: list[str] = []
    runner.run(test, out=heard.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(heard)
    space.update(test.globs)


def command(line: str, code: int, page: Path) -> None:
    words = shlex.split(line.removeprefix("$ hush "), comments=True)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, f"{page.name}: {line}\n{result.output}\n{result.exception!r}"


def test_every_block_has_a_known_language() -> None:
    for page in PAGES:
        for block in blocks(page):
            assert block.language in LANGUAGES, f"{page.name}:{block.line}: {block.language!r}"


def test_readme_shows_five_lines_of_python() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len([line for line in first.code.splitlines() if line.strip()]) == 5


# Nothing goes unmentioned.


@pytest.mark.parametrize("name", hush.__all__)
def test_every_public_name_is_mentioned(name: str) -> None:
    assert re.search(rf"\b(hush\.)?{name}\b", written(sorted(DOCS.glob("*.md"))))


@pytest.mark.parametrize("name", hush.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    assert re.search(rf"^::: hush\.{name}$", (DOCS / "api.md").read_text(encoding="utf-8"), re.M)


def packages() -> list[str]:
    """The packages that say what they offer; a family of mechanisms offers its classes as names of hush.

    The workbench is a program: its packages offer names to its pages alone, and its own page says what those do.
    """
    found = [info.name for info in pkgutil.walk_packages(hush.__path__, "hush.") if info.ispkg]
    families = [name for name in found if name.startswith("hush.mechanisms.") and name != "hush.mechanisms.numeric"]
    own = [name for name in found if name.startswith("hush.workbench.")]
    return [
        name for name in found if name not in (*families, *own) and hasattr(importlib.import_module(name), "__all__")
    ]


def reference() -> set[str]:
    """Every name that the Python reference has, those of whole packages and lists of members included."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    names = set()
    for entry in re.finditer(r"^::: ([\w.]+)$(?:\n    options:\n      members: (false|\[.*\])$)?", page, re.M):
        whole, members = entry[1], entry[2]
        names.add(whole)
        shown = re.findall(r"\w+", members) if members else getattr(sys.modules.get(whole), "__all__", [])
        files = {f"hush.{'.'.join(path.relative_to(SOURCE).with_suffix('').parts)}" for path in SOURCE.rglob("*.py")}
        names |= {f"{whole}.{name}" for name in shown} - files  # of these it shows the file alone, where it is named
    return names


@pytest.mark.parametrize("package", packages())
def test_every_name_of_every_package_is_in_the_reference(package: str) -> None:
    module, there = sys.modules[package], reference()
    offered = {name for name in module.__all__ if getattr(hush, name, None) is not getattr(module, name)}
    missing = {name for name in offered if f"{package}.{name}" not in there}
    assert not missing, f"add {sorted(missing)} to docs/api.md"


def test_everything_in_the_reference_is_found_from_hush() -> None:
    """What a page names, `dir(hush)` shows, and a plain `import hush` is enough for."""
    first = sorted({name.split(".")[1] for name in reference()})
    assert {"OUE", "plan", "estimation", "exact", "files"} <= {*first}
    assert not {*first} - {*dir(hush)}
    code = f"import hush\nfor name in {first}: getattr(hush, name)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", hush_studies.__all__)
def test_every_name_of_the_studies_is_on_their_page(name: str) -> None:
    assert re.search(rf"`(hush_studies\.)?{name}\b", (DOCS / "reproduce.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in hush.registry() if ":" not in name])
def test_every_mechanism_is_described(name: str) -> None:
    page = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
    assert re.search(rf"^### .*\b{name}\b", page, re.M), f"mechanisms.md has no section on {name}"
    assert re.search(rf"^\| \**\[?`?{name}`?\b", written([ROOT / "README.md"]), re.M), f"README has no row on {name}"


def loaded(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_command_reference_is_current() -> None:
    """Run `python docs/commands.py` where this fails."""
    reference = loaded("commands")
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert reference.rendered(page) == page
    said = dict(enumerate(("fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"), 15))
    assert f"`hush` has {said[len(COMMANDS)]} commands." in page


def test_tables_of_coverage_are_current() -> None:
    """Run `python docs/covered.py --write` where this fails; cells of many people are left out, which take long."""
    made = loaded("covered")
    page = (DOCS / "estimation.md").read_text(encoding="utf-8")
    for name, k, epsilon in made.PURE:
        start = f"| {name}, k = {k:,}, ε = {epsilon:g} | "
        cells = page[page.index(start) + len(start) :].splitlines()[0].split(" | ")
        m = hush.registry()[name](k=k, epsilon=epsilon)
        assert cells[:3] == [made.cell(made.pure(m, n)) for n in made.SIZES[:3]]
    assert f"| SHE, ε = 1 | {made.cell(made.noise(hush.SHE(k=10, epsilon=1.0), 1))} | " in page
    assert f"| HR, k = 3, ε = 4 | {made.cell(made.enumerated(hush.HR(k=3, epsilon=4.0, blocks=4)))} |" in page


def test_counts_of_checks_add_up() -> None:
    """Each study's page says how many checks it has, and how many of each verdict."""
    said = re.findall(r"^Of (\d+) checks, (.*?ours against ours)", (DOCS / "reproduce.md").read_text("utf-8"), re.M)
    assert len(said) == len(hush_studies.studies())
    for total, verdicts in said:
        assert int(total) == sum(map(int, re.findall(r"\d+", verdicts))), verdicts


def test_every_command_and_option_is_documented() -> None:
    reference = loaded("commands")
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert reference.commands()
    for name, command_ in reference.commands().items():
        assert f"<!-- begin {name} -->" in page
        for parameter in command_.params:
            for option in parameter.opts:
                assert not option.startswith("-") or option == "--help" or f"`{option}`" in page, (
                    f"hush {name} {option}"
                )


def test_every_error_is_described() -> None:
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    for name, item in vars(hush.errors).items():
        if isinstance(item, type) and issubclass(item, hush.HushError):
            assert f"`{name}`" in page


def test_every_dataset_is_described() -> None:
    page = (DOCS / "datasets.md").read_text(encoding="utf-8")
    for name, item in vars(hush.datasets).items():
        if callable(item) and getattr(item, "__annotations__", {}).get("return") == "Population" and name[0] != "_":
            assert f"`{name}" in page


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert f": {page.name}" in text, page.name


def test_all_is_sorted() -> None:
    """As ruff sorts it: constants, then classes, then the rest."""

    def key(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert sorted(hush.__all__, key=key) == list(hush.__all__)
    assert len(set(hush.__all__)) == len(hush.__all__)
    for name in hush.__all__:
        assert hasattr(hush, name)


# Nothing that a stranger's clone does not have.


def test_no_file_speaks_of_another_place() -> None:
    slash = "/"
    words = (
        f"..{slash}sha" + "red",
        f"{slash}wor" + f"k{slash}",
        "py" + "pi.org",
        "python" + "hosted",
        "npm" + "js.com",
    )
    kinds = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".cfg", ".sh", ".c", ".js", ".html", ""}
    skipped = {"site", "hush-demo", "hush-reproduce", "build", "__pycache__", "node_modules"}
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT).parts
        if any(part in skipped or (part.startswith(".") and part != ".ci") for part in inside):
            continue
        if path.is_file() and path.suffix in kinds:
            text = path.read_text(encoding="utf-8", errors="replace")
            for word in words:
                assert word not in text, f"{'/'.join(inside)} mentions {word}"


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", FENCE.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"
