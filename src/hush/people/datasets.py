"""Populations to try things on: two real ones, and six shapes.

The synthetic ones round n·p to whole people (largest remainder) so that they
are the same every time; give `rng` to draw the people at random instead.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np

from hush.errors import ParameterError, message
from hush.people.domain import Domain
from hush.people.population import Population, apportioned
from hush.randomness import source
from hush.types import Floats

PEOPLE = 100_000
"""How many a shape has where nobody says."""


def named(
    name: str, k: int | None = None, n: int | None = None, *, rng: np.random.Generator | None = None
) -> Population:
    """A population by its name.

    Args:
        name: One of `REAL`, whose people are as they are, or of `SHAPES`.
        k: How many values a shape has.
        n: How many people a shape has; 100,000 if left out.
        rng: Draws the frequencies of dirichlet.

    >>> named("zipf", 4, 10).counts.tolist()
    [5, 2, 2, 1]
    """
    if name in REAL:
        return REAL[name]()
    if name in SHAPES:
        return SHAPES[name](_whole("k", k, 2), PEOPLE if n is None else n, rng=rng if name == "dirichlet" else None)
    known = [*REAL, *SHAPES]
    near = difflib.get_close_matches(str(name), known, n=1)
    remedy = f"did you mean {near[0]}?" if near else "give counts of your own"
    raise ParameterError(message("dataset", f"must be one of {', '.join(known)}", name, remedy))


def _stored(file: str) -> dict[str, Any]:
    text = files("hush").joinpath("data", file).read_text(encoding="utf-8")
    stored: dict[str, Any] = json.loads(text)
    return stored


def msnbc() -> Population:
    """The most visited page category of 989,818 visitors of msnbc.com (17 categories).

    >>> msnbc().n, msnbc().k
    (989818, 17)
    """
    stored = _stored("msnbc.json")
    counts = np.array(stored["counts"], np.int64)
    return Population(counts, Domain(labels=stored["labels"]), "msnbc", stored["source"])


def adult_age() -> Population:
    """The ages 0..99 of 48,842 people of the 1994 US census sample.

    >>> adult_age().n, adult_age().k
    (48842, 100)
    """
    stored = _stored("adult_age.json")
    counts = np.array(stored["counts"], np.int64)
    return Population(counts, Domain(labels=range(100), values=range(100)), "adult_age", stored["source"])


def zipf(k: int, n: int, *, exponent: float = 1.0, rng: np.random.Generator | None = None) -> Population:
    """Frequencies proportional to rank ** -exponent."""
    _at_least("exponent", exponent, 0.0)
    return _made("zipf", k, n, lambda ranks: (ranks + 1.0) ** -exponent, rng, f"exponent {exponent}")


def spike(k: int, n: int, *, share: float = 0.5, rng: np.random.Generator | None = None) -> Population:
    """One value holds `share` of the people, the others the rest equally."""
    if not 0.0 <= share <= 1.0:
        raise ParameterError(message("share", "must lie in [0, 1]", share, "use e.g. 0.5"))
    return _made("spike", k, n, lambda r: np.where(r == 0, share, (1 - share) / (k - 1)), rng, f"share {share}")


def geometric(k: int, n: int, *, ratio: float = 0.9, rng: np.random.Generator | None = None) -> Population:
    """Each value is `ratio` times as frequent as the one before."""
    if not 0.0 < ratio <= 1.0:
        raise ParameterError(message("ratio", "must lie in (0, 1]", ratio, "use e.g. 0.9"))
    return _made("geometric", k, n, lambda ranks: ratio**ranks, rng, f"ratio {ratio}")


def normal(k: int, n: int, *, spread: float = 0.15, rng: np.random.Generator | None = None) -> Population:
    """A bell over the domain, its standard deviation `spread` times k."""
    _at_least("spread", spread, 1e-6)
    centre = (k - 1) / 2 if isinstance(k, int) else 0.0
    return _made("normal", k, n, lambda r: np.exp(-0.5 * ((r - centre) / (spread * k)) ** 2), rng, f"spread {spread}")


def uniform(k: int, n: int, *, rng: np.random.Generator | None = None) -> Population:
    """Every value equally frequent."""
    return _made("uniform", k, n, np.ones_like, rng, "")


def dirichlet(k: int, n: int, *, concentration: float = 1.0, rng: np.random.Generator | None = None) -> Population:
    """Frequencies drawn from a symmetric Dirichlet distribution, then people drawn from them."""
    _at_least("concentration", concentration, 1e-6)
    size = _whole("k", k, 2)
    drawing = source(rng)
    weights = drawing.dirichlet(np.full(size, float(concentration)))
    return _made("dirichlet", size, n, lambda _: weights, drawing, f"concentration {concentration}")


def _made(
    name: str, k: int, n: int, weigh: Callable[[Floats], Floats], rng: np.random.Generator | None, detail: str
) -> Population:
    size, people = _whole("k", k, 2), _whole("n", n, 0)
    weights = np.asarray(weigh(np.arange(size, dtype=np.float64)), dtype=np.float64)
    shares = weights / weights.sum()
    counts = apportioned(shares, people) if rng is None else rng.multinomial(people, shares)
    told = f"synthetic {name}, {detail}".rstrip(", ")
    return Population(counts.astype(np.int64), Domain(size=size), name, told)


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(message(name, f"must be an integer of at least {least}", value, f"use e.g. {least + 10}"))
    return int(value)


def _at_least(name: str, value: float, least: float) -> None:
    if not np.isfinite(value) or value < least:
        raise ParameterError(message(name, f"must be a finite number of at least {least}", value, "use e.g. 1.0"))


REAL = {"msnbc": msnbc, "adult_age": adult_age}
SHAPES = {
    "zipf": zipf,
    "spike": spike,
    "dirichlet": dirichlet,
    "geometric": geometric,
    "normal": normal,
    "uniform": uniform,
}
