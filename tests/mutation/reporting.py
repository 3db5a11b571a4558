"""Count which mutants the runs kill, and show those that survive."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from tests.mutation.operators import Mutant
from tests.mutation.project import Project
from tests.mutation.running import Result

MIN_OF_NIGHTLY = 0.95
"""The least share of the mutants that `make nightly` kills which `make test` kills."""

MIN_OF_ALL = 0.85
"""The least share of the mutants that are not equivalent which `make test` kills."""


@dataclass(frozen=True)
class Count:
    """How many mutants runs kill."""

    mutants: int
    equivalent: int
    pending: int
    """Those that have no result yet, or that survive samples and wait for the other tests."""
    nightly: int
    seeds: dict[int, int]

    def shares(self, seed: int) -> tuple[float, float]:
        """Return which share a sample kills: of what nightly kills, and of all that are decided and not equivalent."""
        decided = self.mutants - self.equivalent - self.pending
        return self.seeds[seed] / max(self.nightly, 1), self.seeds[seed] / max(decided, 1)

    def is_enough(self) -> bool:
        """Return whether every sample kills the required shares, and nothing is pending."""
        shares = [self.shares(seed) for seed in self.seeds]
        return not self.pending and all(a >= MIN_OF_NIGHTLY and b >= MIN_OF_ALL for a, b in shares)


def read_equivalents(project: Project) -> dict[str, str]:
    """Read the reasons why mutants are equivalent, by their keys."""
    if not project.equivalents.exists():
        return {}
    content = tomllib.loads(project.equivalents.read_text("utf-8"))
    return {each["mutant"]: each["reason"] for each in content.get("equivalent", [])}


def count_killed(
    mutants: Sequence[Mutant], results: dict[str, Result], equivalents: dict[str, str], seeds: Sequence[int]
) -> Count:
    """Count the mutants that each run kills."""
    found = [results[each.key] for each in mutants if each.key in results and each.key not in equivalents]
    decided = [each for each in found if each.nightly or each.others]
    equivalent = sum(each.key in equivalents for each in mutants)
    return Count(
        mutants=len(mutants),
        equivalent=equivalent,
        pending=len(mutants) - equivalent - len(decided),
        nightly=sum(each.nightly for each in decided),
        seeds={seed: sum(each.seeds.get(str(seed), False) for each in decided) for seed in seeds},
    )


def render_report(
    drawn: dict[str, list[Mutant]],
    results: dict[str, Result],
    equivalents: dict[str, str],
    seeds: Sequence[int],
    sources: dict[str, bytes],
) -> tuple[str, bool]:
    """Render the table of packages and the survivors; return it, and whether the shares suffice."""
    header = ["package", "mutants", "equivalent", "pending", "nightly", *(f"test, seed {seed}" for seed in seeds)]
    rows = [header]
    everything = [each for several in drawn.values() for each in several]
    for name, mutants in [*drawn.items(), ("total", everything)]:
        count = count_killed(mutants, results, equivalents, seeds)
        numbers = (count.mutants, count.equivalent, count.pending, count.nightly, *count.seeds.values())
        rows.append([name, *(str(each) for each in numbers)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = [
        "  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths)))  # noqa: B905
        for row in rows
    ]
    total = count_killed(everything, results, equivalents, seeds)
    lines.append("")
    for seed in seeds:
        of_nightly, of_all = total.shares(seed)
        lines.append(
            f"seed {seed}: `make test` kills {of_nightly:.1%} of what nightly kills (at least {MIN_OF_NIGHTLY:.0%}) "
            f"and {of_all:.1%} of all that are not equivalent (at least {MIN_OF_ALL:.0%})"
        )
    for each in everything:
        result = results.get(each.key)
        if result is not None and each.key not in equivalents and not all(result.seeds.get(str(s)) for s in seeds):
            lines += ["", *_describe_survivor(each, result, seeds, sources[each.file])]
    return "\n".join(lines), total.is_enough()


def _describe_survivor(mutant: Mutant, result: Result, seeds: Sequence[int], source: bytes) -> list[str]:
    survives = [f"seed {seed}" for seed in seeds if not result.seeds.get(str(seed))]
    survives += [] if result.nightly else ["nightly"]
    return [
        f"{mutant.file}:{mutant.line}: {mutant.key}, {mutant.operator}, survives {', '.join(survives)}; "
        f"{result.covering} tests cover it" + (f"; killed by {result.killers[0]}" if result.killers else ""),
        f"    {mutant.difference(source)}",
    ]
