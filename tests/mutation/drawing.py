"""Draw mutants by a seed, spread over the packages in proportion to their lines."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from tests.mutation.operators import Mutant, find_mutants, is_valid
from tests.mutation.project import Project


def allocate(lines: dict[str, int], count: int) -> dict[str, int]:
    """Share `count` among packages in proportion to their lines, with at least one each (largest remainders)."""
    if count < len(lines):
        raise SystemExit(f"--count must be at least {len(lines)}, one for each package, got {count}")
    left, total = count - len(lines), sum(lines.values())
    exact = {name: left * each / total for name, each in lines.items()}
    shares = {name: 1 + int(each) for name, each in exact.items()}
    rest = sorted(lines, key=lambda name: (int(exact[name]) - exact[name], name))
    for name in rest[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def draw_mutants(project: Project, *, seed: int, count: int) -> dict[str, list[Mutant]]:
    """Draw mutants of every package, at most one on a line.

    A package with fewer lines that can be changed than its share gets as many as it has; one without any gets none.

    Returns:
        The mutants by package, in the order of their files and lines.
    """
    sources = project.sources()
    lines: dict[str, int] = {}
    candidates: dict[str, list[Mutant]] = {}
    for file, source in sources.items():
        package = project.package_of(file)
        lines[package] = lines.get(package, 0) + source.count(b"\n")
        candidates.setdefault(package, []).extend(find_mutants(source, file))
    shares = allocate({name: each for name, each in lines.items() if candidates[name]}, count)
    drawn = {}
    for package, share in sorted(shares.items()):
        drawn[package] = _draw(candidates[package], share, seed, sources)
    return drawn


def _draw(candidates: list[Mutant], share: int, seed: int, sources: dict[str, bytes]) -> list[Mutant]:
    """Take lines in an order by the seed, and of each line one of its mutants."""

    def number(text: str) -> bytes:
        return sha256(f"{seed} {text}".encode()).digest()

    lines: dict[tuple[str, int], list[Mutant]] = {}
    for each in candidates:
        lines.setdefault((each.file, each.line), []).append(each)
    # The key of a mutant survives edits elsewhere in its file, so that few mutants change with the source.
    order = sorted(lines.values(), key=lambda line: min(number("line " + each.key) for each in line))
    drawn: list[Mutant] = []
    for line in order:
        if len(drawn) == share:
            break
        for each in sorted(line, key=lambda each: number(each.key)):
            if is_valid(each, sources[each.file]):
                drawn.append(each)
                break
    return sorted(drawn, key=lambda each: (each.file, each.line))


def store_drawn(project: Project, drawn: dict[str, list[Mutant]], *, seed: int, count: int) -> None:
    """Store what was drawn."""
    packages = {package: [asdict(each) for each in several] for package, several in drawn.items()}
    content = {"seed": seed, "count": count, "excluded": project.excluded, "source": project.digest()}
    content["packages"] = packages
    project.store.mkdir(exist_ok=True)
    (project.store / "drawn.json").write_text(json.dumps(content, indent=1), encoding="utf-8")


def load_drawn(project: Project) -> dict[str, list[Mutant]]:
    """Read the mutants that were drawn last, by package."""
    path = project.store / "drawn.json"
    if not path.exists():
        raise SystemExit("No mutants are drawn. Run the step `draw` first.")
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    if content["source"] != project.digest():
        raise SystemExit("The sources have changed since mutants were drawn. Run the step `draw` again.")
    return {
        package: [Mutant(**{**each, "statement": tuple(each["statement"])}) for each in several]
        for package, several in content["packages"].items()
    }
