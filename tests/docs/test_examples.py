"""Examples of the pages run and print what they show."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

from hush.cli import app
from tests.docs.pages import PAGES, Block, find_blocks

pytestmark = [pytest.mark.slow, pytest.mark.processor, pytest.mark.peers]

mpl.use("Agg")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Top to bottom, in one namespace, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    namespace: dict[str, Any] = {"__name__": page.stem.replace("-", "_")}
    try:
        for block in find_blocks(page):
            run_block(block, namespace, page, tmp_path)
    finally:
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
                del sys.modules[name]


def run_block(block: Block, namespace: dict[str, Any], page: Path, folder: Path) -> None:
    """Run a block of Python or of the console, or write the file that it is."""
    if block.language == "python":
        title = re.search(r'title="([\w./]+)"', block.info)
        if title:
            (folder / title[1]).write_text(block.code, encoding="utf-8")
        elif ">>>" in block.code:
            run_session(block, namespace, page)
        else:
            padded = "\n" * block.line + block.code
            exec(compile(padded, str(page), "exec", dont_inherit=True), namespace)
    elif block.language == "console":
        expected = re.search(r"exit=(\d)", block.info)
        for line in block.code.replace("\\\n", " ").splitlines():
            if line.startswith("$ hush "):
                run_command(line, int(expected[1]) if expected else 0, page)


def run_session(block: Block, namespace: dict[str, Any], page: Path) -> None:
    """Run a session with prompts, and compare its output."""
    test = doctest.DocTestParser().get_doctest(block.code, namespace, page.name, str(page), block.line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    reports: list[str] = []
    runner.run(test, out=reports.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(reports)
    namespace.update(test.globs)


def run_command(line: str, code: int, page: Path) -> None:
    """Run a command line, and compare its exit code."""
    words = shlex.split(line.removeprefix("$ hush "), comments=True)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, f"{page.name}: {line}\n{result.output}\n{result.exception!r}"
