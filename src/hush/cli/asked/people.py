"""Who takes part, as the options say: of a dataset, a file or an earlier collection, with values that may change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hush import rules
from hush.cli.asked.columns import read_priors
from hush.cli.asked.mechanism import MechanismOptions, allow
from hush.cli.asked.options import asked
from hush.cli.asked.reading import share, whole
from hush.cli.shown import bars
from hush.errors import NOTHING, ParameterError, message
from hush.estimation.population import estimated
from hush.files.counts import amount, read_amounts, read_counts
from hush.files.datasets import collect, opened
from hush.mechanisms.spec import Spec
from hush.people import Domain, Population, datasets
from hush.planning.capri import OnlyMean, only_mean
from hush.types import Ints

Rounds = Annotated[
    int | None,
    typer.Option(
        "--rounds", metavar="M", parser=whole("--rounds", 1, "12"), help="Over time: how often people report; 12."
    ),
]
Change = Annotated[
    float | None,
    typer.Option(
        "--change",
        metavar="P",
        parser=share("--change", "0.05"),
        help="Over time: how likely a value is drawn anew from one round to the next; 0.05.",
    ),
]


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
        if self.dataset in datasets.SHAPES:
            if self.k is None:
                raise ParameterError(message("--k", f"must be given for {self.dataset}", NOTHING, "add e.g. --k 100"))
            return datasets.named(self.dataset, rules.domain_size(self.k), self.n, rng=rng)
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
    if dataset in datasets.SHAPES:
        spec = choice.of_values()
        return datasets.named(dataset, spec.mechanism.k, n, rng=rng), spec
    people = _counted(dataset, counts).drawing(n).draw(rng)
    if choice.spec is None:
        if choice.k is not None and choice.k != people.k:
            rule = f"must be {people.k}, as in {people.name}"
            raise ParameterError(message("--k", rule, choice.k, "leave it out, or choose other people"))
        return people, choice.of_values(people.domain)
    spec = choice.of_values()
    size, where = people.k, f"--dataset {dataset}" if counts is None else "--counts"
    people = people.ordered_as(spec.domain, where)
    if spec.mechanism.k != people.k:
        rule = f"must be one of {size} values, as {people.name} has"
        raise ParameterError(message("--spec", rule, spec.mechanism.k, "choose other people, or another spec"))
    return people, spec


def holders(
    spec: Spec,
    dataset: str | None,
    counts: Path | None,
    k: int | None,
    n: int | None,
    rng: np.random.Generator,
    *,
    clip: bool,
) -> Population:
    """The people that the options describe; their amounts must lie in the mechanism's range, or are moved there."""
    one_source(dataset, counts)
    people, m = Source(dataset, counts, None, k, n).read(rng, None, quiet=True).draw(rng), spec.mechanism
    amounts = in_amounts(people, counts).amounts
    beyond = ((amounts < m.low) | (amounts > m.high)) & (people.counts > 0)
    if beyond.any() and not clip:
        rule = f"must lie in the range of {m.name()}, {m.low:,.12g} to {m.high:,.12g}"
        remedy = (
            "add --clip, so that those people count at its end, as `hush privatize --clip` does, or widen the range"
        )
        raise ParameterError(message(f"amounts of {people.name}", rule, float(amounts[beyond][0]), remedy))
    within = Domain(size=people.k, values=m.clip(amounts).tolist())
    moved = int(people.counts[beyond].sum())
    return replace(people, domain=within, clipped=moved, unclipped=float(amounts @ people.counts))


def one_source(dataset: str | None, counts: Path | None) -> None:
    """Refuse no people, and people of two kinds."""
    if (dataset is None) == (counts is None):
        got = NOTHING if dataset is None else [dataset, str(counts)]
        raise ParameterError(message("--dataset", "or --counts must be given, and not both", got, "use e.g. zipf"))


def _counted(dataset: str | None, counts: Path | None) -> Population:
    """People of a real dataset, or of a file."""
    if counts is not None:
        return read_counts(counts, "--counts")
    return asked(lambda: datasets.named(str(dataset)), {"dataset": "--dataset"})


def in_amounts(people: Population, counts: Path | None) -> Domain:
    """What each value adds to a total: a column `value` of the counts, the domain's own, or labels that are numbers."""
    written = None if counts is None else read_amounts(counts, "--counts")
    if written is None and people.domain.values is not None:
        return people.domain
    if written is None and people.domain.labels is not None:
        written = [amount(label, row, "--counts") for row, label in enumerate(people.domain.labels, 1)]
    return Domain(size=people.k, values=list(range(people.k)) if written is None else written)


def _collected(path: Path, mechanism: str | None, quiet: bool) -> Population:
    """Those whom an earlier collection estimated."""
    if mechanism is not None and ":" in mechanism:
        allow(mechanism)
    collection = collect([path], progress=partial(bars.progress, quiet=quiet))
    spec = collection.spec
    spent = float(getattr(spec.mechanism, "epsilon", 0.0))
    return replace(estimated(spec.estimate(collection.total)), name=path.stem, spent=spent)


def mean_of(path: Path, mechanism: str | None, *, quiet: bool) -> OnlyMean | None:
    """Those of whom an earlier collection told the mean; None where it told frequencies."""
    if mechanism is not None and ":" in mechanism:
        allow(mechanism)
    found = opened([path])
    if found.spec.mechanism.kind != "numeric":
        return None
    told = found.spec.estimate(found.merged(progress=partial(bars.progress, quiet=quiet)).total)
    return replace(only_mean(told), name=path.stem, spent=float(found.spec.mechanism.epsilon))


@dataclass(frozen=True)
class Crowd:
    """People who hold tuples, and the collection that is made of them."""

    spec: Spec
    name: str
    tuples: Ints


@dataclass(frozen=True)
class TupleOptions:
    """What was said about people who hold tuples."""

    choice: MechanismOptions
    attributes: str | None
    people: Path | None
    dataset: str | None
    counts: Path | None
    n: int | None

    def read(self, rng: np.random.Generator, *, clip: bool, quiet: bool) -> Crowd:
        """The people that the options describe; with --n, so many are drawn of those in a file."""
        from hush.files.people import read_tuples

        for option, value in {"--counts": self.counts, "--k": self.choice.k}.items():
            if value is not None:
                rule, remedy = (
                    "must be left out where people hold tuples",
                    "use --people, or --dataset and --attributes",
                )
                raise ParameterError(message(option, rule, str(value), remedy))
        if (self.dataset is None) == (self.people is None):
            got = NOTHING if self.dataset is None else [self.dataset, str(self.people)]
            raise ParameterError(message("--people", "or --dataset must be given, and not both", got, "use e.g. zipf"))
        spec = self._spec()
        if self.people is None:
            return Crowd(spec, f"independent, {self.dataset}", self._drawn(spec, rng, clip=clip))
        if spec.domain.names is None:
            rule = "must stand beside a --spec whose attributes have the names of its columns"
            raise ParameterError(
                message("--people", rule, str(self.people), "write one with `hush privatize --spec-out`")
            )
        progress = partial(bars.progress, quiet=quiet)
        held = read_tuples(self.people, spec, spec.domain.names, clip=clip, progress=progress)
        if not len(held):
            raise ParameterError(message("--people", "must hold at least one person", 0, "check the file"))
        chosen = held if self.n is None else held[rng.integers(len(held), size=self.n)]
        return Crowd(spec, self.people.stem, chosen)

    def _spec(self) -> Spec:
        from hush.multidim import Attributes

        if self.choice.spec is not None:
            if self.attributes is not None:
                rule = "must not stand beside --spec, which has its own"
                raise ParameterError(message("--attributes", rule, self.attributes, "leave it out"))
            return self.choice.of_tuples()
        if self.attributes is None:
            remedy = "add e.g. --attributes 7,10,12, or --spec"
            raise ParameterError(message("--attributes", "must be given for tuples", NOTHING, remedy))
        sizes = [whole("--attributes", 2, "7,10,12")(part) for part in self.attributes.split(",")]
        return self.choice.of_tuples(Attributes(tuple(Domain(size=k) for k in sizes)), read_priors)

    def _drawn(self, spec: Spec, rng: np.random.Generator, *, clip: bool) -> Ints:
        """Attributes of one shape, independent of each other."""
        if self.dataset not in datasets.SHAPES or clip:
            option, value = ("--clip", True) if clip else ("--dataset", self.dataset)
            rule = f"must be one of {', '.join(datasets.SHAPES)} for tuples" if not clip else "must stand with --people"
            raise ParameterError(message(option, rule, value, "use --people for people of your own"))
        each = [datasets.named(str(self.dataset), k, self.n, rng=rng) for k in spec.mechanism.sizes]
        return np.stack([one.values(rng) for one in each], axis=1)


@dataclass(frozen=True)
class RoundOptions:
    """What was said about rounds."""

    rounds: int | None
    change: float | None

    def refuse(self, spec: Spec) -> None:
        """Options that say nothing about a single report."""
        for option, value in {"--rounds": self.rounds, "--change": self.change}.items():
            if value is not None:
                rule = f"must be left out for {spec.mechanism.name()}, which reports once"
                raise ParameterError(message(option, rule, value, "use a protocol over time, e.g. LOSUE"))

    def histories(self, first: Ints, rng: np.random.Generator) -> Ints:
        """What people hold in every round."""
        from hush.planning.over_time import histories

        change = 0.05 if self.change is None else self.change
        if not 0 <= change <= 1:
            raise ParameterError(message("--change", "must be a probability", change, "write e.g. --change 0.05"))
        return histories(first, self.rounds or 12, change, rng)
