"""Collections of tuples that are simulated: who takes part, and what is shown of each attribute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hush import atomic
from hush.cli import _console, _grid, _progress
from hush.cli._choose import MechanismOptions
from hush.cli._columns import read_priors
from hush.cli._numbers import whole
from hush.errors import NOTHING, ParameterError, message
from hush.estimation import Estimate
from hush.files.people import read_tuples
from hush.mechanisms.spec import Spec
from hush.people import Domain, datasets
from hush.planning.trials import LEVEL
from hush.reports.tuples_in_words import of_tuples
from hush.reports.words import described, many, number
from hush.types import Ints


@dataclass(frozen=True)
class Crowd:
    """People who hold tuples, and the collection that is made of them."""

    spec: Spec
    name: str
    tuples: Ints


@dataclass(frozen=True)
class TupleOptions:
    """What was said about them."""

    choice: MechanismOptions
    attributes: str | None
    people: Path | None
    dataset: str | None
    counts: Path | None
    n: int | None

    def read(self, rng: np.random.Generator, *, clip: bool, quiet: bool) -> Crowd:
        """The people that the options describe; with --n, so many are drawn of those in a file."""
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
        progress = partial(_progress.progress, quiet=quiet)
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


def show(spec: Spec, found: dict[str, Any]) -> None:
    """Print a line for each attribute, and what a report costs."""
    runs = "one run" if found["runs"] == 1 else f"{found['runs']:,} runs"
    title = f"{described(spec)}; {found['population']}, {many(found['n'], 'person', 'people')}, {runs}"
    column = _grid.Column
    columns = [
        column("attribute", "left"),
        column("values", rank=4),
        column("mean squared error"),
        column("expected"),
        column("typical error", rank=1),
        column("95 % intervals that hold", rank=2),
        column("attack success"),
        column("expected"),
    ]
    _grid.show(_console.stdout(), columns, [_cells(each) for each in found["attributes"]], title)
    lost = [each for each in found["attributes"] if each["unreported"]]
    if lost:
        some = ", ".join(f"{each['attribute']} in {many(each['unreported'], 'run', 'runs')}" for each in lost)
        _console.warn(f"no report was about {some}: errors are those of the other runs.")
    attacked = many(found["attacked"], "report", "reports")
    _console.note(f"Measured ± standard error. The attack guesses each attribute from {attacked} of uniform tuples.")
    for sentence in of_tuples(spec):
        _console.note(sentence)


def _cells(each: dict[str, Any]) -> list[str]:
    root = None if each["mse"] is None else each["mse"] ** 0.5
    return [
        each["attribute"],
        f"{each['size']:,}",
        _plus(each["mse"], each["mse_stderr"]),
        number(each["analytic_variance"]),
        number(root),
        _plus(each["coverage"], each["coverage_stderr"]),
        _plus(each["asr"], each["asr_stderr"]),
        number(each["asr_expected"]),
    ]


def _plus(value: float | None, stderr: float | None) -> str:
    return number(value) + ("" if stderr is None else f" ± {number(stderr, 2)}")


def draw(crowd: Crowd, estimates: tuple[Estimate, ...], path: Path) -> None:
    """The last collection, a panel for each attribute, over the truth."""
    from hush.reports import figures

    series = []
    for j, (domain, one) in enumerate(zip(crowd.spec.domain.domains, estimates, strict=True)):
        truth = np.bincount(crowd.tuples[:, j], minlength=domain.size) / len(crowd.tuples)
        labels, (lower, upper) = [str(domain.label(i)) for i in range(domain.size)], one.interval(LEVEL)
        name = crowd.spec.domain.word(j)
        series.append(figures.Series(name, labels, one.frequencies, lower, upper, truth=truth))
    _console.warn_of_signs(figures.unprintable(series))
    title = f"{crowd.name}: one simulated collection, pointwise 95 % intervals"
    atomic.write(path, figures.png(figures.attributes(series, title)))
