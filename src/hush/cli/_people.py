"""Who takes part, as the options say: a dataset by name, counts in a file, or an earlier collection."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from hush import datasets, rules
from hush.cli import _progress
from hush.cli._choose import MechanismOptions, allow
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.estimation.population import estimated
from hush.files.collections import collect
from hush.files.counts import amount, read_amounts, read_counts
from hush.mechanisms.spec import Spec
from hush.people import Domain, Population

REAL = {"msnbc": datasets.msnbc, "adult_age": datasets.adult_age}
SHAPES = {
    "zipf": datasets.zipf,
    "spike": datasets.spike,
    "dirichlet": datasets.dirichlet,
    "geometric": datasets.geometric,
    "normal": datasets.normal,
    "uniform": datasets.uniform,
}
_PEOPLE = 100_000


@dataclass(frozen=True)
class Source:
    """What the options said about them."""

    dataset: str | None
    counts: Path | None
    earlier: Path | None
    k: int | None
    n: int | None

    def read(self, rng: np.random.Generator, mechanism: str | None, *, quiet: bool) -> Population:
        """The people that the options describe; with --n, so many are drawn of those who are counted or estimated."""
        given = [each for each in (self.dataset, self.counts, self.earlier) if each is not None]
        if len(given) != 1:
            got: object = NOTHING if not given else [str(each) for each in given]
            rule = "or --counts or --earlier must be given, and only one of them"
            raise ParameterError(message("--dataset", rule, got, "use e.g. --dataset zipf"))
        if self.dataset in SHAPES:
            if self.k is None:
                raise ParameterError(message("--k", f"must be given for {self.dataset}", NOTHING, "add e.g. --k 100"))
            return _shape(self.dataset, rules.domain_size(self.k), self.n, rng)
        found = (
            _counted(self.dataset, self.counts) if self.earlier is None else _collected(self.earlier, mechanism, quiet)
        )
        if self.k is not None and self.k != found.k:
            rule = f"must be {found.k}, as in {found.name}"
            raise ParameterError(message("--k", rule, self.k, "leave it out, or choose other people"))
        return found.drawing(self.n)


def population(
    choice: MechanismOptions, dataset: str | None, counts: Path | None, n: int | None, rng: np.random.Generator
) -> tuple[Population, Spec]:
    """The people of a simulation that the options describe, and the spec of the collection over them."""
    one_source(dataset, counts)
    if dataset in SHAPES:
        spec = choice.build()
        return _shape(dataset, spec.mechanism.k, n, rng), spec
    people = _counted(dataset, counts).drawing(n).draw(rng)
    if choice.spec is None:
        if choice.k is not None and choice.k != people.k:
            rule = f"must be {people.k}, as in {people.name}"
            raise ParameterError(message("--k", rule, choice.k, "leave it out, or choose other people"))
        return people, choice.build(people.domain)
    spec = choice.build()
    size, where = people.k, f"--dataset {dataset}" if counts is None else "--counts"
    people = _by_label(people, spec.domain, where)
    if spec.mechanism.k != people.k:
        rule = f"must be one of {size} values, as {people.name} has"
        raise ParameterError(message("--spec", rule, spec.mechanism.k, "choose other people, or another spec"))
    return people, spec


def _by_label(people: Population, domain: Domain, where: str) -> Population:
    """People who are counted by labels, in the order of a spec's; nobody holds a label that no row counts."""
    if people.domain.labels is None:
        return people
    counts, taken = np.zeros(domain.size, np.int64), set[int]()
    for row, (label, count) in enumerate(zip(people.domain.labels, people.counts, strict=True), 1):
        at = domain.find(label)
        if at is None or at in taken:
            rule = f"must have one of the spec's {domain.size} {'values' if domain.labels is None else 'labels'}, once"
            got, remedy = Unsaid("another one" if at is None else "one again"), "use the spec of these people"
            raise ParameterError(message(f"{where}, row {row}", rule, got, remedy))
        counts[at] = count
        taken.add(at)
    return replace(people, weights=counts, domain=domain)


def one_source(dataset: str | None, counts: Path | None) -> None:
    """Refuse no people, and people of two kinds."""
    if (dataset is None) == (counts is None):
        got = NOTHING if dataset is None else [dataset, str(counts)]
        raise ParameterError(message("--dataset", "or --counts must be given, and not both", got, "use e.g. zipf"))


def _counted(dataset: str | None, counts: Path | None) -> Population:
    """People of a real dataset, or of a file."""
    if counts is not None:
        return read_counts(counts, "--counts")
    if dataset not in REAL:
        known = [*REAL, *SHAPES]
        near = difflib.get_close_matches(str(dataset), known, n=1)
        remedy = f"did you mean {near[0]}?" if near else "give counts of your own with --counts"
        raise ParameterError(message("--dataset", f"must be one of {', '.join(known)}", dataset, remedy))
    return REAL[dataset]()


def in_amounts(people: Population, counts: Path | None) -> Domain:
    """What each value adds to a total: a column `value` of the counts, the domain's own, or labels that are numbers."""
    written = None if counts is None else read_amounts(counts, "--counts")
    if written is None and people.domain.values is not None:
        return people.domain
    if written is None and people.domain.labels is not None:
        written = [amount(label, row, "--counts") for row, label in enumerate(people.domain.labels, 1)]
    return Domain(size=people.k, values=list(range(people.k)) if written is None else written)


def _shape(name: str, k: int, n: int | None, rng: np.random.Generator) -> Population:
    return SHAPES[name](k, n or _PEOPLE, rng=rng if name == "dirichlet" else None)


def _collected(path: Path, mechanism: str | None, quiet: bool) -> Population:
    """Those whom an earlier collection estimated."""
    if mechanism is not None and ":" in mechanism:
        allow(mechanism)
    collection = collect([path], progress=partial(_progress.progress, quiet=quiet))
    spec = collection.spec
    spent = float(getattr(spec.mechanism, "epsilon", 0.0))
    return replace(estimated(spec.estimate(collection.total)), name=path.stem, spent=spent)
