"""Examples in docstrings of the source run and print what they show."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

import hush
import hush_studies
from tests.conftest import forget_registered

pytestmark = pytest.mark.peers  # examples of the workbench import NiceGUI

PACKAGES = {package.__name__: Path(package.__file__).parent for package in (hush, hush_studies)}
PROMPT = re.compile(r"^\s*>>> ", re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.REPORT_UDIFF
"""What pytest uses by default."""


def parse_examples(path: Path, text: str) -> list[doctest.DocTest]:
    """Parse every docstring of a file that has examples, without importing it.

    doctest's own finder would miss methods of public classes, whose `__module__` is `hush`, and functions like
    `hush.plan`, which `hush` imports only when they are used.
    """
    parser = doctest.DocTestParser()
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    return [
        parser.get_doctest(node.value.value, {}, f"{path.name}:{node.lineno}", str(path), node.lineno - 1)
        for node in statements
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) and ">>>" in node.value.value
    ]


def module_name(path: Path) -> str:
    """Return the name that a file of the source is imported by."""
    parts = path.relative_to(PACKAGES["hush"].parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def files_with_examples(package: str) -> dict[Path, str]:
    """Read every file of a package that shows an example."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGES[package].rglob("*.py"))}
    return {path: text for path, text in texts.items() if ">>>" in text}


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_print_what_they_show(package: str) -> None:
    """Each docstring starts with its module's names, and what it registers is forgotten after it."""
    reports: list[str] = []
    for path, text in files_with_examples(package).items():
        module = importlib.import_module(module_name(path))
        for test in parse_examples(path, text):
            test.globs = dict(vars(module))
            with forget_registered():
                doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=reports.append)
    assert not reports, "\n".join(reports)


def test_every_prompt_in_the_source_is_an_example() -> None:
    """Otherwise the test above could pass because it finds nothing."""
    missed = []
    total = 0
    for package in PACKAGES:
        for path, text in files_with_examples(package).items():
            shown = len(PROMPT.findall(text))
            found = sum(len(test.examples) for test in parse_examples(path, text))
            total += found
            if shown != found:
                missed.append(f"{module_name(path)} shows {shown} examples, {found} are found")
    assert total > 500
    assert not missed, "\n".join(missed)
