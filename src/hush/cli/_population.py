"""The people of a simulation: a dataset by name, or counts from a file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hush import datasets
from hush.cli import _csv
from hush.cli._choose import Choice
from hush.cli._domains import from_entries
from hush.cli._labels import Coder
from hush.cli._paths import existing
from hush.cli._usage import NOTHING
from hush.domain import Domain
from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.spec import Spec

REAL = {"msnbc": datasets.msnbc, "adult_age": datasets.adult_age}
SHAPES = {
    "zipf": datasets.zipf,
    "spike": datasets.spike,
    "dirichlet": datasets.dirichlet,
    "geometric": datasets.geometric,
    "normal": datasets.normal,
    "uniform": datasets.uniform,
}
_DEFAULT_PEOPLE = 100_000
_LARGEST = 2**53 - 1


@dataclass(frozen=True)
class Population:
    """How many people hold each value."""

    name: str
    counts: npt.NDArray[np.int64]
    domain: Domain | None

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @property
    def frequencies(self) -> npt.NDArray[np.float64]:
        """Share of each value."""
        return np.asarray(self.counts / self.n, dtype=np.float64)

    def values(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """One value a person, in random order."""
        people = np.repeat(np.arange(self.counts.size, dtype=np.int64), self.counts)
        rng.shuffle(people)
        return people


def population(
    choice: Choice, dataset: str | None, counts: Path | None, n: int | None, rng: np.random.Generator
) -> tuple[Population, Spec]:
    """The people that the options describe, and the spec of the collection over them."""
    one_source(dataset, counts)
    if dataset in SHAPES:
        spec = choice.build()
        return _shape(dataset, spec, n or _DEFAULT_PEOPLE, rng), spec
    people = _read(counts) if counts is not None else _real(str(dataset))
    if n is not None:
        people = replace(people, counts=rng.multinomial(n, people.frequencies).astype(np.int64))
    size = people.counts.size
    if choice.spec is None:
        if choice.k is not None and choice.k != size:
            rule = f"must be {size}, as in {people.name}"
            raise ParameterError(message("--k", rule, choice.k, "leave it out, or choose other people"))
        return people, choice.build(people.domain or Domain(size=size))
    spec = choice.build()
    people = _by_label(people, spec.domain, "--counts" if counts is not None else f"--dataset {dataset}")
    if spec.mechanism.k != people.counts.size:
        rule = f"must be one of {size} values, as {people.name} has"
        raise ParameterError(message("--spec", rule, spec.mechanism.k, "choose other people, or another spec"))
    return people, spec


def _by_label(people: Population, domain: Domain, where: str) -> Population:
    """People who are counted by labels, in the order of a spec's; nobody holds a label that no row counts."""
    if people.domain is None or people.domain.labels is None:
        return people
    coder, counts, taken = Coder(domain, "label"), np.zeros(domain.size, np.int64), set[int]()
    for row, (label, count) in enumerate(zip(people.domain.labels, people.counts, strict=True), 1):
        at = coder.code(label)
        if at < 0 or at in taken:
            rule = f"must have one of the spec's {domain.size} {'values' if domain.labels is None else 'labels'}, once"
            got, remedy = Unsaid("one again" if at in taken else "another one"), "use the spec of these people"
            raise ParameterError(message(f"{where}, row {row}", rule, got, remedy))
        counts[at] = count
        taken.add(at)
    return replace(people, counts=counts, domain=domain)


def one_source(dataset: str | None, counts: Path | None) -> None:
    """Refuse no people, and people of two kinds."""
    if (dataset is None) == (counts is None):
        got = NOTHING if dataset is None else [dataset, str(counts)]
        raise ParameterError(message("--dataset", "or --counts must be given, and not both", got, "use e.g. zipf"))


def _shape(name: str, spec: Spec, n: int, rng: np.random.Generator) -> Population:
    drawn = rng if name == "dirichlet" else None
    made = SHAPES[name](spec.mechanism.k, n, rng=drawn)
    return Population(name, made.counts, None)


def _real(name: str) -> Population:
    if name not in REAL:
        known = [*REAL, *SHAPES]
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {near[0]}?" if near else "give counts of your own with --counts"
        raise ParameterError(message("--dataset", f"must be one of {', '.join(known)}", name, remedy))
    made = REAL[name]()
    return Population(name, made.counts, made.domain)


def _read(path: Path) -> Population:
    """Counts from a CSV file with a column `count`, and a column `label` if there are labels."""
    existing("--counts", path)
    columns, rows = _csv.rows("--counts", path)
    for name in ("count", "label"):
        if columns.count(name) > 1:
            rule = f"must have one column {name}"
            raise ParameterError(message("--counts", rule, columns.count(name), "rename the others in the first row"))
    if "count" not in columns:
        found = Unsaid(f"{len(columns)} others in '{path}'" if columns else f"an empty file, '{path}'")
        raise ParameterError(
            message("--counts", "must have a column count", found, "name the column in the first line")
        )
    numbers = [_whole(row["count"], i + 1) for i, row in enumerate(rows)]
    if sum(numbers) == 0:
        raise ParameterError(message("--counts", "must hold at least one person", 0, "check the column count"))
    if len(numbers) < 2:
        raise ParameterError(message("--counts", "must have at least two rows", len(numbers), "count every value"))
    labels = [row["label"] for row in rows] if "label" in columns else None
    domain = None if labels is None else from_entries({"labels": labels}, None, str(path))
    return Population(path.stem, np.array(numbers, np.int64), domain)


def _whole(text: str, row: int, option: str = "--counts") -> int:
    try:
        number: int | None = int(text)
    except ValueError:
        number = None
    if number is None or not 0 <= number <= _LARGEST:
        rule = f"must have a whole count of at {f'most {_LARGEST:,}' if number and number > 0 else 'least 0'}"
        got = Unsaid("something else") if number is None else number
        raise ParameterError(message(f"{option}, row {row}", rule, got, "count the people of each value"))
    return number
