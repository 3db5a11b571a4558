"""Who will report, for questions about the budget: a dataset by name, counts in a file, or an earlier collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.cli import _csv, _population
from hush.cli._usage import NOTHING
from hush.domain import Domain
from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Estimate

_PEOPLE = 100_000


@dataclass(frozen=True)
class Crowd:
    """People who will report.

    Args:
        name: What to call them.
        given: How many hold each value, or what an earlier collection estimated.
        n: How many are drawn from that in every run; None where the counts are taken as they are.
        domain: Their values.
        spent: What an earlier collection took from the same people.
    """

    name: str
    given: npt.NDArray[np.int64] | Estimate
    n: int | None
    domain: Domain
    spent: float = 0.0


@dataclass(frozen=True)
class Source:
    """What the options said about them."""

    dataset: str | None
    counts: Path | None
    earlier: Path | None
    k: int | None
    n: int | None

    def read(self, rng: np.random.Generator, mechanism: str | None, *, quiet: bool) -> Crowd:
        """The crowd that the options describe."""
        given = [each for each in (self.dataset, self.counts, self.earlier) if each is not None]
        if len(given) != 1:
            got: object = NOTHING if not given else [str(each) for each in given]
            rule = "or --counts or --earlier must be given, and only one of them"
            raise ParameterError(message("--dataset", rule, got, "use e.g. --dataset zipf"))
        if self.dataset in _population.SHAPES:
            return self._shape(self.dataset, rng)
        found = self._collected(self.earlier, mechanism, quiet) if self.earlier is not None else self._counted()
        if self.k is not None and self.k != found.domain.size:
            rule = f"must be {found.domain.size}, as in {found.name}"
            raise ParameterError(message("--k", rule, self.k, "leave it out, or choose other people"))
        return found

    def _shape(self, name: str, rng: np.random.Generator) -> Crowd:
        if self.k is None:
            raise ParameterError(message("--k", f"must be given for {name}", NOTHING, "add e.g. --k 100"))
        drawn = rng if name == "dirichlet" else None
        made = _population.SHAPES[name](rules.domain_size(self.k), self.n or _PEOPLE, rng=drawn)
        return Crowd(name, made.counts, None, Domain(size=made.k))

    def _counted(self) -> Crowd:
        read = _population._real(str(self.dataset)) if self.counts is None else _population._read(self.counts)
        return Crowd(read.name, read.counts, self.n, read.domain or Domain(size=read.counts.size))

    def _collected(self, path: Path, mechanism: str | None, quiet: bool) -> Crowd:
        from hush.cli._choose import allow
        from hush.cli._collect import collect

        if mechanism is not None and ":" in mechanism:
            allow(mechanism)
        collection = collect([path], None, None, quiet=quiet)
        spec = collection.spec
        spent = getattr(spec.mechanism, "epsilon", 0.0)
        return Crowd(path.stem, spec.estimate(collection.total), self.n, spec.domain, float(spent))


def in_amounts(crowd: Crowd, counts: Path | None) -> Domain:
    """What each value adds to a total: a column `value` of the counts, the domain's own, or labels that are numbers."""
    written = _column(counts, "value") if counts is not None else None
    if written is None and crowd.domain.values is not None:
        return crowd.domain
    labels: Any = crowd.domain.labels if written is None else written
    if labels is None:
        return Domain(size=crowd.domain.size, values=list(range(crowd.domain.size)))
    return Domain(size=crowd.domain.size, values=[_amount(label, row) for row, label in enumerate(labels, 1)])


def _column(path: Path, name: str) -> list[str] | None:
    """A column of a CSV file that was read before; None where it has none."""
    columns, rows = _csv.rows("--counts", path)
    if columns.count(name) > 1:
        rule = f"must have one column {name}"
        raise ParameterError(message("--counts", rule, columns.count(name), "rename the others in the first row"))
    return [row[name] for row in rows] if name in columns else None


def _amount(label: object, row: int, option: str = "--counts") -> float:
    try:
        number = float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        rule = f"must be amounts, to add up: numbers as labels, or in a column value of {option}"
        raise ParameterError(
            message("values", rule, Unsaid(f"something else in row {row}"), "say what each one amounts to")
        )
    return number
