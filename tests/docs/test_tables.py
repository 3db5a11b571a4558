"""Tables that scripts write into the pages are current, and their counts add up."""

from __future__ import annotations

import re

import pytest

import hush
import hush_studies
from hush.cli._app import COMMANDS
from tests.docs.pages import DOCS, load_script, read_pages

pytestmark = [pytest.mark.processor, pytest.mark.peers]


def test_command_reference_is_current() -> None:
    """Run `python docs/commands.py` where this fails."""
    script = load_script("commands")
    page = read_pages(DOCS / "cli.md")
    assert script.rendered(page) == page
    words = dict(enumerate(("fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"), 15))
    assert f"`hush` has {words[len(COMMANDS)]} commands." in page


def test_tables_of_coverage_are_current() -> None:
    """Run `python docs/covered.py --write` where this fails; cells of many people are left out, which take long."""
    script = load_script("covered")
    page = read_pages(DOCS / "estimation.md")
    for name, k, epsilon in script.PURE:
        start = f"| {name}, k = {k:,}, ε = {epsilon:g} | "
        cells = page[page.index(start) + len(start) :].splitlines()[0].split(" | ")
        m = hush.registry()[name](k=k, epsilon=epsilon)
        assert cells[:3] == [script.cell(script.pure(m, n)) for n in script.SIZES[:3]]
    assert f"| SHE, ε = 1 | {script.cell(script.noise(hush.SHE(k=10, epsilon=1.0), 1))} | " in page
    assert f"| HR, k = 3, ε = 4 | {script.cell(script.enumerated(hush.HR(k=3, epsilon=4.0, blocks=4)))} |" in page


def test_counts_of_checks_add_up() -> None:
    """Each study's page says how many checks it has, and how many of each verdict."""
    counts = re.findall(r"^Of (\d+) checks, (.*?ours against ours)", read_pages(DOCS / "reproduce.md"), re.M)
    assert len(counts) == len(hush_studies.studies())
    for total, verdicts in counts:
        assert int(total) == sum(map(int, re.findall(r"\d+", verdicts))), verdicts
