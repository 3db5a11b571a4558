"""The smallest ε that tells a total from a capacity: who consumes how much, and how often the alarm may be wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import hush
from hush.errors import HushError
from hush.mechanisms.spec import Spec
from hush.people import Population
from hush.people.domain import Domain
from hush.planning import capri
from hush.planning.capri.build import builder
from hush.reports import capacity_in_words
from hush.workbench.plan.counted import amounts
from hush.workbench.plan.question import Mistakes
from hush.workbench.plan.reading import one_of, real
from hush.workbench.plan.searched import Searched, named_mechanisms, tidy

KINDS = ("frequency", "numeric")
_STEPS = 0.9  # of what is left, after each budget that is tried: nobody knows how many there will be
_NAMES = {"cap": "cap", "threshold": "wrong", "counts": "counts", "domain": "counts", "mechanism": "mechanism"}


@dataclass(frozen=True, kw_only=True)
class CapacityWish:
    """What is asked."""

    mechanism: str
    cap: float
    wrong: float
    amounts: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> float:
        """Of all amounts."""
        return float(np.dot(self.amounts, self.counts))


def read_capacity(said: Mapping[str, str]) -> CapacityWish:
    """The wish, checked.

    Raises:
        Mistakes: By field: mechanism, cap, wrong or counts.
    """
    mistakes: dict[str, str] = {}

    def taken(name: str, reader: Callable[[str], object]) -> object:
        try:
            return reader(said.get(name, "").strip())
        except ValueError as error:
            mistakes[name] = str(error)
            return None

    found = taken("counts", amounts)
    held, people = found if isinstance(found, tuple) else ((), ())
    given: dict[str, object] = {
        "mechanism": taken("mechanism", lambda text: one_of(text, tuple(named_mechanisms(KINDS)))),
        "cap": taken("cap", lambda text: real(text, -1e15, 1e15)),
        "wrong": taken("wrong", lambda text: real(text, 0.0, 99.9) / 100),
    }
    if mistakes:
        raise Mistakes(mistakes)
    return CapacityWish(**given, amounts=held, counts=people)  # type: ignore[arg-type]


def search_capacity(progress: Callable[..., None], wish: CapacityWish) -> Searched:
    """The search, as a job of the workbench."""
    domain = Domain(size=len(wish.amounts), values=wish.amounts)
    crowd = Population(np.array(wish.counts, np.int64), domain)
    left = [1.0]

    def watched(_: object) -> None:
        left[0] *= _STEPS
        progress(1 - left[0], "Trying budgets")

    try:
        people = capri.population(crowd, domain=domain)
        rng = hush.seeded(7)
        answer = capri.capacity(
            wish.mechanism, crowd, domain=domain, cap=wish.cap, threshold=wish.wrong, rng=rng, watch=watched
        )
    except HushError as error:
        field = _NAMES.get(error.parameter or "")
        raise Mistakes({field: f"This {error.rule}; {error.remedy}."}) if field else error from error
    said = capacity_in_words.decision(answer)
    spec = ""
    if answer.epsilon is not None:
        m = builder(wish.mechanism, people, None)(answer.epsilon)
        seen = capri.exposure(m, people, prior=people.counts / people.n, rng=rng)
        said += [capacity_in_words.promised(m, 0.0).strip(), capacity_in_words.exposed(seen)]
        spec = Spec(m, domain if m.kind == "frequency" else None).to_json()
    tried, shares = tidy((e.epsilon, e.probability if e.exact is None else e.exact) for e in answer.evidence)
    return Searched(tuple(said), answer.epsilon, tried, shares, wish.wrong, "chance of a wrong decision", spec)
