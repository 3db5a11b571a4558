"""The pages of the documentation, their fenced blocks, and the scripts that write their tables."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(?P<language>\w+)?(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.M | re.S)


@dataclass
class Block:
    """A fenced block and its line in the page."""

    language: str
    info: str
    code: str
    line: int


def find_blocks(page: Path) -> list[Block]:
    """Find the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(m["language"] or "", m["info"], m["code"], text[: m.start()].count("\n") + 1)
        for m in FENCE.finditer(text)
    ]


def read_pages(*pages: Path) -> str:
    """Join the texts of some pages."""
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def load_script(name: str) -> ModuleType:
    """Import a script of the docs folder by its name."""
    found = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
