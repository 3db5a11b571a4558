"""What a collection promises a person, and what a chain of collections comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hush.errors import HushError
from hush.mechanisms.spec import Spec
from hush.reports.words import described, many

Plain = Mapping[str, Any]


def spec_of(view: Plain) -> Spec | None:
    """The spec of a collection; None where this version does not know its mechanism."""
    try:
        return Spec.from_dict(view["spec"])
    except (HushError, KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class SpecPromise:
    """What one answer costs a person.

    Args:
        mechanism: Its name.
        over: What people may hold, in a few words.
        epsilon: The loss that counts in a chain: of one answer, or of all where answers are kept; None where there is
            no guarantee.
        kept: Whether answers are kept, so that the same value costs no more in later periods.
        words: Mechanism, values and guarantee together.
    """

    mechanism: str
    over: str
    epsilon: float | None
    kept: bool
    words: str

    @property
    def budget(self) -> str:
        """The loss as people write it.

        >>> SpecPromise("OUE", "4 answers", 1.0, False, "").budget
        'ε = 1'
        """
        return "no guarantee" if self.epsilon is None else f"ε = {self.epsilon:g}"


UNKNOWN = SpecPromise("a mechanism of your own", "", None, False, "a mechanism of your own, which is not known here")


def promised(spec: Spec | None) -> SpecPromise:
    """What a spec promises.

    >>> import hush
    >>> promised(hush.Spec(hush.OUE(k=4, epsilon=1.0))).budget
    'ε = 1'
    """
    if spec is None:
        return UNKNOWN
    m: Any = spec.mechanism
    kept = m.kind == "longitudinal"
    guarantee = None if kept else m.guarantee
    epsilon = m.epsilon_permanent if kept else getattr(guarantee, "epsilon", None)
    return SpecPromise(m.name(), _over(m), None if epsilon is None else float(epsilon), kept, described(spec))


def _over(m: Any) -> str:
    if hasattr(m, "sizes"):
        return many(len(m.sizes), "attribute", "attributes")
    if m.kind == "numeric":
        return f"numbers from {m.low:g} to {m.high:g}"
    return many(m.k, "answer", "answers")


@dataclass(frozen=True)
class Link:
    """One collection of a chain."""

    id: str
    name: str
    status: str
    promise: SpecPromise


@dataclass(frozen=True)
class Chain:
    """Collections of the same people, one after the other, the first one first.

    Args:
        links: The collections.
        here: The place of the one that is looked at.
        total: What one answer in each of them costs together, exactly; None where one promises nothing.
    """

    links: tuple[Link, ...]
    here: int
    total: Decimal | None

    @property
    def words(self) -> str:
        """What the chain costs a person, in sentences."""
        if self.total is None:
            return "One of these collections promises nothing, so nothing bounds what a person loses in all."
        fresh = any(not each.promise.kept for each in self.links)
        kept = any(each.promise.kept for each in self.links)
        more = " Each further period that somebody answers in adds that collection's ε again." if fresh else ""
        more += " Where answers are kept, ε holds for any number of periods while a value stays." if kept else ""
        if len(self.links) == 1:
            return f"Whoever answers once spends ε = {self.total.normalize():f}.{more}"
        number = many(len(self.links), "collection", "collections")
        return f"Whoever answers once in each of these {number} spends ε = {self.total.normalize():f} in all.{more}"


def chained(views: Sequence[Plain], id: str) -> Chain:
    """The chain of a collection, with what follows it.

    Args:
        views: Those of the chain, in any order; others are passed over.
        id: The collection that is looked at.
    """
    known = {str(view["id"]): view for view in views}
    before = [each for each in reversed(known[id]["chain"]) if each in known]
    ids = [*before]
    while len(following := [each for each, view in known.items() if view["predecessor"] == ids[-1]]) == 1:
        ids += following  # where a collection has several successors, the page of each shows its own
    links = tuple(_link(known[each]) for each in ids)
    budgets = [each.promise.epsilon for each in links]
    total = None if None in budgets else sum((Decimal(repr(each)) for each in budgets), Decimal(0))
    return Chain(links, ids.index(id), total)


def _link(view: Plain) -> Link:
    return Link(str(view["id"]), str(view["name"]), str(view["status"]), promised(spec_of(view)))
