"""Pages are linked, listed in the navigation, and speak of nothing that a clone does not have."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, FENCE, PAGES, ROOT, find_blocks, read_pages

LANGUAGES = {
    "python",  # run; a block with >>> is checked for its output; one with a title is a file to import
    "console",  # each line that starts with "$ hush" is run and must succeed, or end as "exit=2" says
    "sh", "json", "text", "javascript", "typescript", "html",  # shown
}  # fmt: skip


def test_every_block_has_a_known_language() -> None:
    blocks = [(page, block) for page in PAGES for block in find_blocks(page)]
    assert len(blocks) > 100
    unknown = [f"{page.name}:{b.line}: {b.language!r}" for page, b in blocks if b.language not in LANGUAGES]
    assert not unknown, "\n".join(unknown)


def test_readme_shows_five_lines_of_python() -> None:
    first = next(block for block in find_blocks(ROOT / "README.md") if block.language == "python")
    assert len([line for line in first.code.splitlines() if line.strip()]) == 5


def test_every_page_is_in_the_navigation() -> None:
    text = read_pages(ROOT / "mkdocs.yml")
    missing = [page.name for page in DOCS.glob("*.md") if f": {page.name}" not in text]
    assert not missing, f"add {missing} to mkdocs.yml"


def test_links_between_pages_lead_somewhere() -> None:
    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", FENCE.sub("", read_pages(page)))
        if "://" not in target
    ]
    assert len(links) > 100
    broken = [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()]
    assert not broken, "\n".join(broken)


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
    read, found = 0, []
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT).parts
        if any(part in skipped or (part.startswith(".") and part != ".ci") for part in inside):
            continue
        if path.is_file() and path.suffix in kinds:
            read += 1
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{'/'.join(inside)} mentions {word}" for word in words if word in text]
    assert read > 1000
    assert not found, "\n".join(found)
